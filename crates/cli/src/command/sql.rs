//! `linn sql`: statements from an argument, a file, or a terminal.

use std::io::{IsTerminal, Read};

use futures::StreamExt;
use linn::{Error, Result};
use linn_sql::Output;

use crate::args::SqlArgs;
use crate::context::Context;
use crate::output::sink;
use crate::repl;
use crate::say::say;

pub(super) async fn run(context: &Context, args: SqlArgs) -> Result<()> {
    let session = context.session(&args.database)?;
    let text = match (args.command, args.file) {
        (Some(text), _) => text,
        (None, Some(path)) if path.as_os_str() == "-" => stdin()?,
        (None, Some(path)) => std::fs::read_to_string(&path).map_err(|e| {
            Error::not_found("file of statements cannot be read").with("file", path.display()).with_source(e)
        })?,
        (None, None) if std::io::stdin().is_terminal() => return repl::run(context, &session).await,
        (None, None) => stdin()?,
    };
    session.run(&text, async |output: Output| show(context, output).await.map(|_| ())).await
}

fn stdin() -> Result<String> {
    let mut text = String::new();
    std::io::stdin()
        .read_to_string(&mut text)
        .map_err(|e| Error::invalid("standard input is not text").with_source(e))?;
    Ok(text)
}

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
