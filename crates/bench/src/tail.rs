//! How long a commit takes to reach who follows the table.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use futures::StreamExt;
use linn_core::stream::ChangeStream;
use linn_core::{Commit, Table};
use linn_format::options::Options;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::data::{Rows, Size};
use crate::measure::{Spent, now, record, size_of};
use crate::tree::{create, open};

/// Rows of a commit.
const ROWS: usize = 1000;
/// Between two looks of a reader that no commit wakes.
pub(crate) const INTERVAL_MILLIS: u64 = 100;

/// Commits and, meanwhile, follows the table: through the same handle, whose commits wake the reader, or through another one,
/// as another process would, which looks every [`INTERVAL_MILLIS`]. Each commit waits until the one before was delivered.
pub(crate) async fn tail(dir: &Path, count: usize, apart: bool) -> Result<Value> {
    let options = [("bucket", "1"), ("changelog-producer", "input"), ("write-only", "true")];
    let options: Vec<_> = options.map(|(key, value)| (key.to_owned(), value.to_owned())).into();
    let table = create(dir, Rows::Narrow, &options).await?;
    let reader = if apart { open(dir).await? } else { table.clone() };
    let stream = follow(&reader).await?;
    let (told, mut heard) = mpsc::unbounded_channel();
    let following = tokio::spawn(async move { listen(stream, count * ROWS, &told).await });
    let committer = table.committer("bench");
    let mut writer = table.writer("bench")?;
    let size = Size { rows: ROWS, first: 0, commits: count };
    let (mut delivered, mut acknowledged, mut total) = (Vec::new(), Vec::new(), Spent::default());
    for (identifier, commit) in (1..).zip(0..count) {
        for batch in Rows::Narrow.batches(size, commit)? {
            writer.write(&batch, None).await?;
        }
        let messages = writer.prepare_commit(true).await?;
        // Commits of a real table do not come in step with the looks of a reader.
        table.env().clock.sleep(commit as u64 * 37 % INTERVAL_MILLIS).await;
        let clock = crate::measure::start();
        let begun = now();
        committer.commit(Commit::streaming(identifier, messages)).await?;
        let published = now();
        let (mut rows, mut last) = (0, begun);
        while rows < ROWS {
            let (more, when) = heard.recv().await.context("the reader has ended")?;
            rows += more;
            last = when;
        }
        total += clock.elapsed();
        delivered.push(last - begun);
        acknowledged.push(last.saturating_duration_since(published));
    }
    writer.close().await?;
    following.await??;
    let mut measured = record(count * ROWS, size_of(dir)?, total);
    measured["from_begin_of_commit"] = spread(&mut delivered);
    measured["from_end_of_commit"] = spread(&mut acknowledged);
    Ok(measured)
}

async fn follow(table: &Table) -> Result<ChangeStream> {
    let interval = format!("{INTERVAL_MILLIS} ms");
    let options: Options =
        [("scan.snapshot-id", "1"), ("continuous.discovery-interval", interval.as_str())].into_iter().collect();
    Ok(table.with_options(&options)?.changes().open().await?)
}

async fn listen(
    mut stream: ChangeStream,
    mut rows: usize,
    told: &mpsc::UnboundedSender<(usize, Instant)>,
) -> Result<()> {
    while rows > 0 {
        let changes = stream.next().await.context("the stream has ended")??;
        let some = changes.rows.num_rows();
        rows = rows.saturating_sub(some);
        told.send((some, now()))?;
    }
    Ok(())
}

/// Seconds: the median, the 99th percentile and the greatest.
fn spread(times: &mut [Duration]) -> Value {
    times.sort_unstable();
    let at = |part: f64| times.get(((times.len() as f64 - 1.0) * part).round() as usize).map(Duration::as_secs_f64);
    json!({ "median": at(0.5), "p99": at(0.99), "max": at(1.0) })
}
