//! `linn table explain`: what a read would touch, from the snapshot down to the files, and the plan of the query.

use futures::StreamExt;
use linn::core::Snapshots;
use linn::core::manifest::Manifests;
use linn::{Options, Result, Split, Table};
use linn_sql::{Output, Reading};
use serde_json::{Value, json};

use super::read::{options, query};
use crate::args::ReadArgs;
use crate::context::{Context, DATABASE};
use crate::output::{Document, size, time};

pub(super) async fn run(context: &Context, args: &ReadArgs) -> Result<()> {
    let session = context.session(DATABASE)?;
    let mut dynamic = Options::new();
    for (key, value) in options(args)? {
        dynamic.set(key, value);
    }
    let table = context.table(&args.table).await?.with_options(&dynamic)?;
    let query = query(args)?;
    let read = session.readings(&query).await?;
    let (mut text, mut json) = storage(&table, &read).await?;
    let mut plans = serde_json::Map::new();
    if let Output::Rows { mut stream, .. } = session.execute(&format!("EXPLAIN {query}")).await? {
        while let Some(batch) = stream.next().await {
            let batch = batch?;
            for row in 0..batch.num_rows() {
                let cell = |column| arrow::util::display::array_value_to_string(batch.column(column), row);
                if batch.num_columns() > 1 {
                    let (name, plan) = (cell(0)?, cell(1)?);
                    text.push_str(&format!("\n{name}\n{}\n", indented(&plan)));
                    plans.insert(name, plan.into());
                }
            }
        }
    }
    json["plans"] = plans.into();
    Document { json, text }.show(context.output)
}

/// What the snapshot has, and what of it is left to be read.
async fn storage(table: &Table, read: &[Reading]) -> Result<(String, Value)> {
    let Some(snapshot) = Snapshots::new(table).travel().await? else {
        let text = format!("table      {}\nsnapshot   none: the table is empty\n", table.name());
        return Ok((text, json!({"table": table.name(), "snapshot": null})));
    };
    let manifests = Manifests::new(table).of_snapshot(&snapshot).await?.len();
    let splits = table.scan().snapshot(snapshot.clone()).every_level().plan().await?.splits;
    let sum = |of: fn(&Reading) -> i64| read.iter().map(of).sum::<i64>();
    let count = |of: fn(&Reading) -> usize| read.iter().map(of).sum::<usize>();
    let files = |files: usize, bytes: i64, rows: i64| format!("{files} of {} with {rows} records", size(bytes));
    let (all_files, all_bytes, all_rows) = (
        splits.iter().map(|split| split.files.len()).sum(),
        splits.iter().map(|split| split.files.bytes()).sum(),
        splits.iter().map(Split::row_count).sum(),
    );
    let json = json!({
        "table": table.name(),
        "snapshot": snapshot.id.0,
        "manifests": manifests,
        "files": all_files, "bytes": all_bytes, "records": all_rows,
        "read_files": count(|r| r.files), "read_bytes": sum(|r| r.bytes), "read_records": sum(|r| r.rows),
        "splits": count(|r| r.splits), "merged_splits": count(|r| r.merged),
    });
    let text = format!(
        "table      {}\nsnapshot   {} of {}\nmanifests  {manifests}\nfiles      {}\nto read    {}\n\
         splits     {}, of which {} need a merge\n",
        table.name(),
        snapshot.id,
        time(snapshot.time_millis),
        files(all_files, all_bytes, all_rows),
        files(count(|r| r.files), sum(|r| r.bytes), sum(|r| r.rows)),
        count(|r| r.splits),
        count(|r| r.merged),
    );
    Ok((text, json))
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}
