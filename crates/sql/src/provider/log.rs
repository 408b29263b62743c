//! `t$audit_log` and `t$binlog` as DataFusion sees them.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::error::Result as DfResult;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use linn::core::system::{ChangeLog, Log};
use linn::{Result, Table};

use super::partition::{Pushdown, Taken};
use super::scan::ScanExec;
use crate::error::theirs;

/// A log of a table as of now, of the time its options ask for, or of the changes between two points.
#[derive(Debug)]
pub(super) struct LogTable {
    log: Log,
    table: Table,
    schema: SchemaRef,
}

impl LogTable {
    /// Pins what the table's options ask for, as [`LinnTable::open`](super::LinnTable::open) does.
    ///
    /// # Errors
    /// As there; `Invalid` for sequence numbers of a table that has none.
    pub(super) async fn open(log: Log, table: Table) -> Result<Self> {
        let table = table.pinned().await?;
        let schema = log.schema(&table)?;
        Ok(Self { log, table, schema })
    }

    /// What leaves out files: the columns of the binlog are lists of the table's.
    fn pushdown(&self) -> Option<Pushdown<'_>> {
        (self.log == Log::Audit).then(|| Pushdown::of(&self.table))
    }
}

#[async_trait]
impl TableProvider for LogTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::View
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        _limit: Option<usize>,
    ) -> DfResult<Arc<dyn ExecutionPlan>> {
        let taken = match self.pushdown() {
            Some(pushdown) => pushdown.take(state, filters)?,
            None => Taken::default(),
        };
        let log = ChangeLog::open(self.log, &self.table, projection.map(Vec::as_slice)).map_err(theirs)?;
        let target = state.config().target_partitions();
        let plan = ScanExec::plan_log(self.table.name(), log, taken, target).await.map_err(theirs)?;
        Ok(Arc::new(plan))
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> DfResult<Vec<TableProviderFilterPushDown>> {
        let loose = |kind| match kind {
            TableProviderFilterPushDown::Exact => TableProviderFilterPushDown::Inexact,
            kind => kind,
        };
        Ok(match self.pushdown() {
            Some(pushdown) => pushdown.kinds(filters).into_iter().map(loose).collect(),
            None => vec![TableProviderFilterPushDown::Unsupported; filters.len()],
        })
    }
}
