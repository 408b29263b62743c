//! `linn error`: the codes of errors, with cause and cure.

use linn::{Error, Result};
use serde_json::json;

use crate::args::ErrorCommand;
use crate::context::Context;
use crate::error::{ENTRIES, find};
use crate::output::{Columns, Document};

pub(super) fn run(context: &Context, command: &ErrorCommand) -> Result<()> {
    match command {
        ErrorCommand::List => Columns::new()
            .text("code", ENTRIES.iter().map(|entry| entry.code))
            .text("error", ENTRIES.iter().map(|entry| entry.title))
            .text("cause", ENTRIES.iter().map(|entry| entry.cause))
            .text("cure", ENTRIES.iter().map(|entry| entry.cure))
            .show(context.output),
        ErrorCommand::Explain { code } => {
            let entry = find(code).ok_or_else(|| {
                Error::not_found(format!("there is no error code '{code}'"))
                    .with_hint("`linn error list` lists all codes")
            })?;
            let text = format!("{}: {}\n\n{}\n\n{}", entry.code, entry.title, entry.cause, entry.cure);
            let json = json!({"code": entry.code, "error": entry.title, "cause": entry.cause, "cure": entry.cure});
            Document { json, text }.show(context.output)
        }
    }
}
