//! Rows of a plan of DataFusion into a table, in one commit.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::datasource::sink::DataSink;
use datafusion::error::Result as DfResult;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::{DisplayAs, DisplayFormatType};
use futures::StreamExt;
use linn::Table;

use crate::error::{ours, theirs};
use crate::run::{fitted, overwrite, write};

/// Writes rows with the table's columns, in their order.
#[derive(Debug)]
pub(super) struct TableSink {
    table: Table,
    schema: SchemaRef,
    /// Whether the rows replace the partitions that they are in, or all rows of a table without partitions.
    overwrites: bool,
}

impl TableSink {
    pub(super) fn new(table: Table, schema: SchemaRef, overwrites: bool) -> Self {
        Self { table, schema, overwrites }
    }
}

impl DisplayAs for TableSink {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operation = if self.overwrites { "OVERWRITE" } else { "INSERT" };
        write!(f, "LinnWrite: table={}, operation={operation}", self.table.name())
    }
}

#[async_trait]
impl DataSink for TableSink {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    async fn write_all(&self, data: SendableRecordBatchStream, _context: &Arc<TaskContext>) -> DfResult<u64> {
        let fields = self.table.visible_fields().map_err(theirs)?;
        let rows = data.map(move |batch| {
            let batch = batch.map_err(ours)?;
            Ok((fitted(batch.columns().iter(), &fields)?, None))
        });
        match self.overwrites {
            true => overwrite(&self.table, &Vec::new(), rows.boxed()).await,
            false => write(&self.table, rows.boxed()).await,
        }
        .map_err(theirs)
    }
}
