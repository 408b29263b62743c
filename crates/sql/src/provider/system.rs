//! System tables: `t$snapshots` and the like, and those of the database `sys`. Rows are made while the query takes them; what
//! the filters say of names, numbers and places is left to the metadata.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::datasource::MemTable;
use datafusion::error::Result as DfResult;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
use futures::{TryFutureExt, TryStreamExt};
use linn::core::catalog::read_global;
use linn::core::system::SystemTable;
use linn::format::predicate::Predicate;
use linn::{Catalog, Result, Table};

use super::filter::{predicate, pushdown_loosely};
use crate::error::{ours, theirs};

/// Opens the system table `name` of a table.
///
/// # Errors
/// `NotFound` for a name that is no system table.
pub(super) fn open(table: &Table, name: &str) -> Result<Arc<dyn TableProvider>> {
    Ok(Arc::new(SystemProvider { system: SystemTable::open(table, name)? }))
}

/// Opens the table `name` of the database `sys`.
///
/// # Errors
/// `NotFound` for another name.
pub(super) async fn open_global(catalog: &dyn Catalog, name: &str) -> Result<Arc<dyn TableProvider>> {
    let rows = read_global(catalog, name).await?;
    Ok(Arc::new(MemTable::try_new(rows.schema, vec![rows.batches]).map_err(ours)?))
}

/// A system table of a table.
#[derive(Debug)]
struct SystemProvider {
    system: SystemTable,
}

#[async_trait]
impl TableProvider for SystemProvider {
    fn schema(&self) -> SchemaRef {
        Arc::clone(self.system.schema())
    }

    fn table_type(&self) -> TableType {
        TableType::View
    }

    async fn scan(
        &self,
        _state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> DfResult<Arc<dyn ExecutionPlan>> {
        let wanted = filters.iter().filter_map(|filter| predicate(filter, self.system.fields()));
        let rows = Rows { system: self.system.clone(), filter: Predicate::and(wanted) };
        let partitions: Vec<Arc<dyn PartitionStream>> = vec![Arc::new(rows)];
        // Rows that do not match are only left out above.
        let limit = limit.filter(|_| filters.is_empty());
        Ok(Arc::new(StreamingTableExec::try_new(self.schema(), partitions, projection, [], false, limit)?))
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> DfResult<Vec<TableProviderFilterPushDown>> {
        Ok(pushdown_loosely(filters, self.system.fields()))
    }
}

/// The rows of one scan.
#[derive(Debug)]
struct Rows {
    system: SystemTable,
    filter: Predicate,
}

impl PartitionStream for Rows {
    fn schema(&self) -> &SchemaRef {
        self.system.schema()
    }

    fn execute(&self, _context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let (system, filter) = (self.system.clone(), self.filter.clone());
        let rows = async move { system.stream(filter).await }.try_flatten_stream().map_err(theirs);
        Box::pin(RecordBatchStreamAdapter::new(Arc::clone(self.system.schema()), rows))
    }
}
