//! What statements give, as results.

use futures::StreamExt;
use linn::Result;
use linn_sql::Output;

use crate::context::Context;
use crate::output::sink;
use crate::say::say;

/// Writes what a statement gave: rows to standard output, anything else to standard error. Returns how many rows there were.
pub(crate) async fn show(context: &Context, output: Output) -> Result<Option<usize>> {
    match output {
        Output::Rows { schema, mut stream } => {
            let mut sink = sink(context.output, schema, &context.style)?;
            let bar = context.progress.query(context.output);
            let done = async {
                while let Some(batch) = stream.next().await {
                    let batch = batch?;
                    bar.inc(batch.num_rows() as u64);
                    sink.write(&batch)?;
                    if sink.is_full() {
                        break;
                    }
                }
                Ok(())
            };
            let done: Result<()> = done.await;
            bar.finish_and_clear();
            done?;
            sink.finish().map(Some)
        }
        Output::Done { message, .. } => {
            say!("{message}");
            Ok(None)
        }
    }
}
