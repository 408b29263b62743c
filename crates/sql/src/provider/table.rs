//! A table at one snapshot.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::error::Result as DfResult;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use linn::format::predicate::Predicate;
use linn::format::types::arrow_schema;
use linn::{Result, Table};

use super::filter::{all, predicate, pushdown};
use super::scan::ScanExec;
use crate::error::theirs;

/// A table as of now or of the time its options ask for. Reading it twice gives the same rows.
#[derive(Debug)]
pub struct LinnTable {
    table: Table,
    schema: SchemaRef,
}

impl LinnTable {
    /// Pins the snapshot that the table's options choose, the latest by default, and takes its schema when the options
    /// travel in time.
    ///
    /// # Errors
    /// `NotFound` when the options name a snapshot, tag or time that is not there.
    pub async fn open(table: Table) -> Result<Self> {
        let table = table.pinned().await?;
        let schema = arrow_schema(&table.visible_fields()?)?;
        Ok(Self { table, schema })
    }

    /// The table.
    pub fn table(&self) -> &Table {
        &self.table
    }
}

#[async_trait]
impl TableProvider for LinnTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> DfResult<Arc<dyn ExecutionPlan>> {
        let (filters, condition): (Vec<Predicate>, Vec<String>) =
            filters.iter().filter_map(|f| Some((predicate(f, self.table.schema())?, words(f)))).unzip();
        let filter = all(filters);
        let columns = match projection {
            Some(columns) => columns.clone(),
            None => (0..self.schema.fields().len()).collect(),
        };
        let target = state.config().target_partitions();
        let plan = ScanExec::plan(&self.table, &columns, filter, limit, target).await.map_err(theirs)?;
        Ok(Arc::new(plan.described(condition.join(" AND "))))
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> DfResult<Vec<TableProviderFilterPushDown>> {
        Ok(pushdown(filters, self.table.schema()))
    }
}

/// A conjunct as it is shown in plans.
fn words(filter: &Expr) -> String {
    let text = filter.human_display().to_string();
    match filter {
        Expr::BinaryExpr(BinaryExpr { op: Operator::Or, .. }) => format!("({text})"),
        _ => text,
    }
}
