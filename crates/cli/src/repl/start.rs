//! `linn sql`: statements from an argument, a file, or a terminal.

use std::io::{IsTerminal, Read};

use linn::{Error, Result};
use linn_sql::Output;

use crate::args::SqlArgs;
use crate::command::show_result;
use crate::context::Context;

/// Runs the statements of an argument or a file, or those that are typed.
pub(crate) async fn sql(context: &Context, args: SqlArgs) -> Result<()> {
    let session = context.session(&args.database)?;
    let text = match (args.command, args.file) {
        (Some(text), _) => text,
        (None, Some(path)) if path.as_os_str() == "-" => stdin()?,
        (None, Some(path)) => std::fs::read_to_string(&path).map_err(|e| {
            Error::not_found("file of statements cannot be read").with("file", path.display()).with_source(e)
        })?,
        (None, None) if std::io::stdin().is_terminal() => return super::run(context, &session).await,
        (None, None) => stdin()?,
    };
    session.run(&text, async |output: Output| show_result(context, output).await.map(|_| ())).await
}

fn stdin() -> Result<String> {
    let mut text = String::new();
    std::io::stdin()
        .read_to_string(&mut text)
        .map_err(|e| Error::invalid("standard input is not text").with_source(e))?;
    Ok(text)
}
