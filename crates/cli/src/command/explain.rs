//! `linn table explain`: what a read would touch, from the snapshot down to the files, and the plan of the query.

use futures::StreamExt;
use linn::core::Snapshots;
use linn::core::manifest::Manifests;
use linn::{Options, Result, Table};
use linn_sql::Output;

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
    let mut text = storage(&table).await?;
    if let Output::Rows { mut stream, .. } = session.execute(&format!("EXPLAIN {}", query(args)?)).await? {
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

async fn storage(table: &Table) -> Result<String> {
    let Some(snapshot) = Snapshots::new(table).travel().await? else {
        return Ok(format!("table     {}\nsnapshot  none: the table is empty\n", table.name()));
    };
    let manifests = Manifests::new(table).of_snapshot(&snapshot).await?;
    let plan = table.scan().snapshot(snapshot.clone()).plan().await?;
    let files = || plan.splits.iter().flat_map(|split| &split.files);
    let raw = plan.splits.iter().filter(|split| split.raw_convertible).count();
    Ok(format!(
        "table     {}\nsnapshot  {} of {}\nmanifests {}\nfiles     {} of {} with {} records, before the condition\n\
         splits    {}, of which {raw} need no merge\n",
        table.name(),
        snapshot.id,
        time(snapshot.time_millis),
        manifests.len(),
        files().count(),
        size(files().map(|f| f.file_size).sum()),
        files().map(|f| f.row_count).sum::<i64>(),
        plan.splits.len(),
    ))
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}
