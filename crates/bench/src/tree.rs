//! The primary-key table, written, read and compacted.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use futures::StreamExt;
use linn_core::seam::SystemIds;
use linn_core::storage::Local;
use linn_core::{Commit, Env, Schemas, Snapshots, Table};
use serde_json::Value;

use crate::data::{Size, batches, schema};
use crate::measure::{record, size_of, start};

const PATH: &str = "bench.db/t";

/// Makes the table in a folder.
pub(crate) async fn create(dir: &Path, options: &[(&str, &str)]) -> Result<Table> {
    let storage = Arc::new(Local::new(dir, Arc::new(SystemIds)));
    Schemas::at(storage, PATH).create(&schema(options)?).await?;
    open(dir).await
}

/// Opens the table with nothing cached.
pub(crate) async fn open(dir: &Path) -> Result<Table> {
    let env = Env::system(Arc::new(Local::new(dir, Arc::new(SystemIds))))?;
    let schema = Schemas::at(env.storage.clone(), PATH).latest().await?.context("no table")?;
    Ok(Table::new("bench.t", PATH, (*schema).clone(), env))
}

/// Writes all commits; making the rows is not timed, compaction is waited for.
pub(crate) async fn ingest(dir: &Path, size: Size, buckets: usize, write_only: bool) -> Result<Value> {
    let (buckets, write_only) = (buckets.to_string(), write_only.to_string());
    let table = create(dir, &[("bucket", &buckets), ("write-only", &write_only)]).await?;
    let committer = table.committer("bench");
    let mut writer = table.writer("bench")?;
    let mut time = Duration::ZERO;
    for (identifier, commit) in (1..).zip(0..size.commits) {
        let input = batches(size, commit)?;
        let clock = start();
        for batch in &input {
            writer.write(batch, None).await?;
        }
        let messages = writer.prepare_commit(true).await?;
        committer.commit(Commit::streaming(identifier, messages)).await?;
        time += clock.elapsed();
    }
    writer.close().await?;
    Ok(record(size.rows * size.commits, size_of(dir)?, time))
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

/// Compacts everything and commits it.
pub(crate) async fn compact(dir: &Path) -> Result<Value> {
    let (table, bytes) = (open(dir).await?, size_of(dir)?);
    let before = Snapshots::new(&table).latest().await?.context("the table is empty")?;
    let clock = start();
    let messages = table.compact(None, true).await?;
    let rows: i64 = messages.iter().flat_map(|m| &m.compact_before).map(|file| file.row_count).sum();
    table.committer("compact").commit(Commit::batch(messages)).await?;
    let time = clock.elapsed();
    let after = Snapshots::new(&table).latest().await?.context("the table is empty")?;
    ensure!(after.id != before.id, "nothing was compacted");
    Ok(record(usize::try_from(rows)?, bytes, time))
}
