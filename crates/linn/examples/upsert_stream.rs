//! Upserts a stream of rows, each step exactly once: a step that is repeated after a crash is not committed again.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use linn::core::{Commit, CommitOutcome};
use linn::{Error, Options, Result, Warehouse};

/// The user of this job: the same over all its restarts, and that of no other job.
const USER: &str = "totals-job";

fn step(identifier: i64) -> Result<RecordBatch> {
    let key: ArrayRef = Arc::new(Int64Array::from(vec![1, identifier]));
    let total: ArrayRef = Arc::new(Int64Array::from(vec![identifier * 10, identifier]));
    Ok(RecordBatch::try_from_iter([("key", key), ("total", total)])?)
}

/// Writes the steps that are not in the table yet.
async fn run(table: &linn::Table, steps: &[i64]) -> Result<usize> {
    let committer = table.committer(USER);
    let mut writer = table.writer(USER)?;
    let due = committer.filter_committed(steps).await?;
    for identifier in &due {
        writer.write(&step(*identifier)?, None).await?;
        let messages = writer.prepare_commit(false).await?;
        let outcome = committer.commit(Commit::streaming(*identifier, messages)).await?;
        writer.settle(&outcome).await?;
        match outcome {
            CommitOutcome::Committed(_) | CommitOutcome::CompactionLost { .. } => {}
            CommitOutcome::Conflict(why) => return Err(Error::conflict(why)),
            // The job starts again, with this step as the first.
            CommitOutcome::Unknown(why) => return Err(Error::unknown_outcome(why)),
        }
    }
    writer.close().await?;
    Ok(due.len())
}

#[tokio::main]
pub async fn main() -> Result<()> {
    let warehouse = Warehouse::open("memory:", Options::new())?;
    let builder = warehouse.create("totals").column("key", "BIGINT")?.column("total", "BIGINT")?;
    let table = builder.primary_key(["key"]).option("bucket", "1").run().await?;
    assert_eq!(run(table.core(), &[1, 2]).await?, 2);
    // After a restart the source sends the last steps once more.
    assert_eq!(run(table.core(), &[1, 2, 3]).await?, 1);
    let rows = table.read().collect().await?;
    let keys: usize = rows.iter().map(RecordBatch::num_rows).sum();
    println!("{keys} keys");
    assert_eq!(keys, 3);
    Ok(())
}
