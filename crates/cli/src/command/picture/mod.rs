//! `linn files picture`: the state of a table to look at, in the terminal or as a page.

mod data;
mod html;
mod runs;
mod text;

use linn::{Error, Result};

use super::{files, snapshot};
use crate::args::{OutputFormat, PictureArgs};
use crate::context::Context;
use crate::output::Document;
use crate::say::say;

pub(super) async fn run(context: &Context, args: &PictureArgs) -> Result<()> {
    let table = context.table(&args.table).await?;
    let buckets = files::buckets(&table, args.snapshot).await?;
    let id = match args.snapshot {
        None if buckets.is_empty() => None,
        id => Some(snapshot::find(&table, id).await?.id),
    };
    let picture = data::collect(&table, id, &buckets, args).await?;
    if let Some(path) = &args.html {
        std::fs::write(path, html::page(&picture))
            .map_err(|e| Error::unavailable("page cannot be written").with("file", path.display()).with_source(e))?;
        say!("Wrote {}.", path.display());
        return Ok(());
    }
    let width = crossterm::terminal::size().map_or(80, |(columns, _)| usize::from(columns)).clamp(60, 160);
    let text = match context.output {
        OutputFormat::Json | OutputFormat::Ndjson => String::new(),
        _ => text::draw(&picture, width),
    };
    Document { json: data::json(&picture), text }.show(context.output)
}
