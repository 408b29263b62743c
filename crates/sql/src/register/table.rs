//! A table that queries read and INSERT writes.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::datasource::sink::DataSinkExec;
use datafusion::error::Result as DfResult;
use datafusion::logical_expr::dml::InsertOp;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use linn::{Error, Result, Table};

use super::sink::TableSink;
use crate::error::theirs;
use crate::provider::LinnTable;

/// A table of the warehouse: read as of when it was opened, written as it is when it is written.
#[derive(Debug)]
pub(super) struct WritableTable {
    table: Table,
    read: LinnTable,
}

impl WritableTable {
    pub(super) async fn open(table: Table) -> Result<Self> {
        Ok(Self { read: LinnTable::open(table.clone()).await?, table })
    }
}

#[async_trait]
impl TableProvider for WritableTable {
    fn schema(&self) -> SchemaRef {
        self.read.schema()
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
        self.read.scan(state, projection, filters, limit).await
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> DfResult<Vec<TableProviderFilterPushDown>> {
        self.read.supports_filters_pushdown(filters)
    }

    async fn insert_into(
        &self,
        _state: &dyn Session,
        input: Arc<dyn ExecutionPlan>,
        insert_op: InsertOp,
    ) -> DfResult<Arc<dyn ExecutionPlan>> {
        let overwrites = match insert_op {
            InsertOp::Append => false,
            InsertOp::Overwrite => true,
            InsertOp::Replace => {
                let error = Error::unsupported("REPLACE INTO").with("table", self.table.name());
                let hint = "INSERT INTO a table with a primary key replaces rows of the same key";
                return Err(theirs(error.with_hint(hint)));
            }
        };
        let sink = TableSink::new(self.table.clone(), self.schema(), overwrites);
        Ok(Arc::new(DataSinkExec::new(input, Arc::new(sink), None)))
    }
}
