//! `linn table explain`: what a read would touch, from the snapshot down to the files, and the plan of the query.

use futures::StreamExt;
use linn::core::Snapshots;
use linn::core::manifest::Manifests;
use linn::{Options, Result, Split, Table};
use linn_sql::{Output, Reading};

use super::read::{options, query};
use crate::args::ReadArgs;
use crate::context::{Context, DATABASE};
use crate::output::{print, size, time};

pub(super) async fn run(context: &Context, args: &ReadArgs) -> Result<()> {
    let session = context.session(DATABASE)?;
    let mut dynamic = Options::new();
    for (key, value) in options(args)? {
        dynamic.set(key, value);
    }
    let table = context.table(&args.table).await?.with_options(&dynamic)?;
    let query = query(args)?;
    let read = session.readings(&query).await?;
    let mut text = storage(&table, &read).await?;
    if let Output::Rows { mut stream, .. } = session.execute(&format!("EXPLAIN {query}")).await? {
        while let Some(batch) = stream.next().await {
            let batch = batch?;
            for row in 0..batch.num_rows() {
                let cell = |column| arrow::util::display::array_value_to_string(batch.column(column), row);
                if batch.num_columns() > 1 {
                    text.push_str(&format!("\n{}\n{}\n", cell(0)?, indented(&cell(1)?)));
                }
            }
        }
    }
    print(&text)
}

/// What the snapshot has, and what of it is left to be read.
async fn storage(table: &Table, read: &[Reading]) -> Result<String> {
    let Some(snapshot) = Snapshots::new(table).travel().await? else {
        return Ok(format!("table      {}\nsnapshot   none: the table is empty\n", table.name()));
    };
    let manifests = Manifests::new(table).of_snapshot(&snapshot).await?.len();
    let splits = table.scan().snapshot(snapshot.clone()).every_level().plan().await?.splits;
    let sum = |of: fn(&Reading) -> i64| read.iter().map(of).sum::<i64>();
    let count = |of: fn(&Reading) -> usize| read.iter().map(of).sum::<usize>();
    let files = |files: usize, bytes: i64, rows: i64| format!("{files} of {} with {rows} records", size(bytes));
    Ok(format!(
        "table      {}\nsnapshot   {} of {}\nmanifests  {manifests}\nfiles      {}\nto read    {}\n\
         splits     {}, of which {} need a merge\n",
        table.name(),
        snapshot.id,
        time(snapshot.time_millis),
        files(
            splits.iter().map(|split| split.files.len()).sum(),
            splits.iter().map(|split| split.files.bytes()).sum(),
            splits.iter().map(Split::row_count).sum(),
        ),
        files(count(|r| r.files), sum(|r| r.bytes), sum(|r| r.rows)),
        count(|r| r.splits),
        count(|r| r.merged),
    ))
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}
