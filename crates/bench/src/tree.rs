//! The primary-key table, written, read and compacted.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use futures::StreamExt;
use linn_core::seam::SystemIds;
use linn_core::storage::Local;
use linn_core::{Commit, CommitMessage, Env, Schemas, Snapshots, Table};
use linn_format::file::DataFileMeta;
use serde_json::{Value, json};

use crate::data::{Rows, Size};
use crate::measure::{Spent, record, size_of, start};

const PATH: &str = "bench.db/t";
/// What the last compaction read and made, for [`crate::plain::rewrite`].
pub(crate) const COMPACTED: &str = "compacted.json";

/// Makes the table in a folder.
pub(crate) async fn create(dir: &Path, data: Rows, options: &[(String, String)]) -> Result<Table> {
    let storage = Arc::new(Local::new(dir, Arc::new(SystemIds)));
    Schemas::at(storage, PATH).create(&data.schema(options)?).await?;
    open(dir).await
}

/// Opens the table with nothing cached.
pub(crate) async fn open(dir: &Path) -> Result<Table> {
    let env = Env::system(Arc::new(Local::new(dir, Arc::new(SystemIds))))?;
    let schema = Schemas::at(env.storage.clone(), PATH).latest().await?.context("no table")?;
    Ok(Table::new("bench.t", PATH, (*schema).clone(), env))
}

/// Writes commits, to a new table when the first of all is among them; making the rows is not timed, compaction is waited
/// for.
pub(crate) async fn ingest(dir: &Path, data: Rows, size: Size, options: &[(String, String)]) -> Result<Value> {
    let table = if size.first == 0 { create(dir, data, options).await? } else { open(dir).await? };
    let committer = table.committer("bench");
    let mut writer = table.writer("bench")?;
    let (mut spent, mut rows) = (Spent::default(), 0);
    for (identifier, commit) in (1..).zip(0..size.commits).skip(size.first) {
        let input = data.batches(size, commit)?;
        let clock = start();
        for batch in &input {
            rows += batch.num_rows();
            writer.write(batch, None).await?;
        }
        let messages = writer.prepare_commit(true).await?;
        committer.commit(Commit::streaming(identifier, messages)).await?;
        spent += clock.elapsed();
    }
    writer.close().await?;
    Ok(record(rows, size_of(dir)?, spent))
}

/// Reads the latest snapshot, one split after the other. `rows` are those in the files, before the merge.
pub(crate) async fn read(dir: &Path, columns: &str) -> Result<Value> {
    let clock = start();
    let table = open(dir).await?;
    let plan = table.scan().plan().await?;
    let mut read = table.read();
    if columns != "all" {
        read = read.project(&columns.split(',').collect::<Vec<_>>())?;
    }
    let read = read.build()?;
    let (mut input, mut output) = (0, 0);
    for split in &plan.splits {
        input += usize::try_from(split.row_count())?;
        let mut stream = read.stream(split).await?;
        while let Some(batch) = stream.next().await {
            output += batch?.num_rows();
        }
    }
    let mut measured = record(input, size_of(dir)?, clock.elapsed());
    measured["merged_rows"] = output.into();
    Ok(measured)
}

/// Compacts everything, or what is due, and commits it. `bytes` are those of the files that were read; `moved_rows` and
/// `moved_bytes` are all that was read, looked up and written.
pub(crate) async fn compact(dir: &Path, full: bool) -> Result<Value> {
    let table = open(dir).await?;
    let before = Snapshots::new(&table).latest().await?.context("the table is empty")?;
    // By a table of its own, so that nothing is cached.
    let splits = open(dir).await?.scan().plan().await?.splits;
    let all = moved(splits.iter().flat_map(|split| &split.files));
    let clock = start();
    let messages = table.compact(None, full).await?;
    let compacted = paths(dir, &messages);
    let read = moved(messages.iter().flat_map(|m| &m.compact_before));
    let told = moved(messages.iter().flat_map(|m| &m.compact_changelog));
    let made = moved(messages.iter().flat_map(|m| &m.compact_after));
    table.committer("compact").commit(Commit::batch(messages)).await?;
    let spent = clock.elapsed();
    let after = Snapshots::new(&table).latest().await?.context("the table is empty")?;
    ensure!(after.id != before.id, "nothing was compacted");
    std::fs::write(dir.join(COMPACTED), compacted.to_string())?;
    let mut measured = record(usize::try_from(read.0)?, u64::try_from(read.1 + told.1)?, spent);
    measured["changelog_rows"] = told.0.into();
    // What tells changes has read all that is there.
    let read = if told.0 > 0 { all } else { read };
    measured["moved_rows"] = (read.0 + made.0 + told.0).into();
    measured["moved_bytes"] = (read.1 + made.1 + told.1).into();
    Ok(measured)
}

/// Rows and bytes of files.
fn moved<'a>(files: impl Iterator<Item = &'a Arc<DataFileMeta>>) -> (i64, i64) {
    files.fold((0, 0), |(rows, bytes), file| (rows + file.row_count, bytes + file.file_size))
}

fn paths(dir: &Path, messages: &[CommitMessage]) -> Value {
    let path = |m: &CommitMessage, name: &str| dir.join(PATH).join(format!("bucket-{}", m.bucket)).join(name);
    let read: Vec<_> = messages.iter().flat_map(|m| m.compact_before.iter().map(|f| path(m, &f.file_name))).collect();
    let made: Vec<_> = messages.iter().flat_map(|m| m.compact_after.iter().map(|f| path(m, &f.file_name))).collect();
    json!({ "read": read, "made": made })
}
