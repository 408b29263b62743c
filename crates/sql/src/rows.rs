//! Queries over rows that were made elsewhere.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::streaming::StreamingTable;
use datafusion::error::DataFusionError;
use datafusion::execution::context::SessionContext;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::PartitionStream;
use datafusion::prelude::SessionConfig;
use futures::TryStreamExt;
use linn::Result;
use linn::format::BatchStream;

use crate::error::{ours, theirs};
use crate::session::{Output, stream};

/// The name that [`query_rows`] gives to the rows.
pub const ROWS: &str = "rows";

/// Runs a query over the table [`ROWS`], whose rows are these. They are read once, as they come.
///
/// # Errors
/// `Invalid` for text that is no query of these rows, and whatever running it can give.
pub async fn query_rows(schema: SchemaRef, rows: BatchStream, query: &str) -> Result<Output> {
    let mut config = SessionConfig::new();
    config.options_mut().sql_parser.enable_ident_normalization = false;
    let context = SessionContext::new_with_config(config);
    let given = Given { schema: Arc::clone(&schema), rows: Mutex::new(Some(rows)) };
    let table = StreamingTable::try_new(schema, vec![Arc::new(given)]).map_err(ours)?;
    context.register_table(ROWS, Arc::new(table)).map_err(ours)?;
    let frame = context.sql(query).await.map_err(ours)?;
    let rows = frame.execute_stream().await.map_err(ours)?;
    Ok(Output::Rows { schema: rows.schema(), stream: stream(rows) })
}

struct Given {
    schema: SchemaRef,
    rows: Mutex<Option<BatchStream>>,
}

impl fmt::Debug for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Given").field("schema", &self.schema).finish_non_exhaustive()
    }
}

impl PartitionStream for Given {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _: Arc<TaskContext>) -> SendableRecordBatchStream {
        let rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner).take();
        let rows = rows.map_or_else(
            || {
                let again = DataFusionError::Internal("rows that are read once were asked for twice".to_owned());
                Box::pin(futures::stream::iter([Err(again)])) as futures::stream::BoxStream<'static, _>
            },
            |rows| Box::pin(rows.map_err(theirs)),
        );
        Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), rows))
    }
}
