//! What is known of a table at one moment, from its metadata.

use std::sync::Arc;

use linn::core::Snapshots;
use linn::core::seam::{Clock, SystemClock};
use linn::core::stream::Consumers;
use linn::format::snapshot::{CommitKind, Snapshot};
use linn::{ErrorKind, Result, SnapshotId, Table};
use serde_json::{Value, json};

use crate::command::files;

/// The time over which rates are taken.
const WINDOW_MILLIS: i64 = 300_000;
/// Snapshots that are looked at for that, at the most.
const SNAPSHOTS: usize = 300;

/// A table.
#[derive(Debug, Clone)]
pub(super) struct State {
    pub(super) table: String,
    pub(super) latest: Option<SnapshotId>,
    /// Snapshots of the last minutes, newest first; the latest one is always among them.
    pub(super) recent: Vec<Arc<Snapshot>>,
    pub(super) buckets: Vec<BucketState>,
    pub(super) consumers: Vec<ConsumerState>,
    pub(super) records: i64,
}

/// A bucket.
#[derive(Debug, Clone)]
pub(super) struct BucketState {
    pub(super) name: String,
    pub(super) runs: usize,
    pub(super) level0: usize,
    pub(super) files: usize,
    pub(super) bytes: i64,
    /// Why a compaction of it is due.
    pub(super) due: Option<String>,
}

/// A consumer.
#[derive(Debug, Clone)]
pub(super) struct ConsumerState {
    pub(super) id: String,
    pub(super) next: SnapshotId,
    /// Snapshots that it has not read.
    pub(super) behind: i64,
    /// When the oldest of them was committed.
    pub(super) since: Option<i64>,
}

impl State {
    /// The state of a table; buckets are those of `before` while there is no new snapshot.
    pub(super) async fn of(table: &Table, before: Option<Self>) -> Result<Self> {
        let snapshots = Snapshots::new(table);
        let latest = snapshots.latest_id().await?;
        let buckets = match before {
            Some(before) if before.latest == latest => before.buckets,
            _ => buckets(table).await?,
        };
        let recent = recent(&snapshots, latest).await?;
        let records = recent.first().and_then(|snapshot| snapshot.total_record_count).unwrap_or(0);
        let consumers = consumers(table, &snapshots, latest).await?;
        Ok(Self { table: table.name().to_owned(), latest, recent, buckets, consumers, records })
    }

    /// Commits of a minute, and rows of a second, in the last minutes.
    pub(super) fn rates(&self, now: i64) -> (f64, f64) {
        let inside = |snapshot: &&Arc<Snapshot>| snapshot.time_millis >= now - WINDOW_MILLIS;
        let written = |snapshot: &&Arc<Snapshot>| snapshot.commit_kind != CommitKind::Compact;
        let all: Vec<_> = self.recent.iter().filter(inside).filter(written).collect();
        let rows: i64 = all.iter().filter_map(|snapshot| snapshot.delta_record_count).map(i64::abs).sum();
        let seconds = WINDOW_MILLIS as f64 / 1000.0;
        (all.len() as f64 / (seconds / 60.0), rows as f64 / seconds)
    }

    /// The most runs of a bucket, and how many they are on average.
    pub(super) fn runs(&self) -> (usize, f64) {
        let most = self.buckets.iter().map(|bucket| bucket.runs).max().unwrap_or(0);
        let all: usize = self.buckets.iter().map(|bucket| bucket.runs).sum();
        (most, all as f64 / self.buckets.len().max(1) as f64)
    }

    /// Buckets of which a compaction is due.
    pub(super) fn due(&self) -> usize {
        self.buckets.iter().filter(|bucket| bucket.due.is_some()).count()
    }
}

async fn recent(snapshots: &Snapshots, latest: Option<SnapshotId>) -> Result<Vec<Arc<Snapshot>>> {
    let now = SystemClock.now_millis();
    let mut recent: Vec<Arc<Snapshot>> = Vec::new();
    let mut id = latest;
    while let Some(at) = id.filter(|at| at.0 > 0 && recent.len() < SNAPSHOTS) {
        let snapshot = match snapshots.get(at).await {
            Ok(snapshot) => snapshot,
            // Expired.
            Err(e) if e.kind() == ErrorKind::NotFound => break,
            Err(e) => return Err(e),
        };
        let old = snapshot.time_millis < now - WINDOW_MILLIS;
        if old && recent.len() >= 8 {
            break;
        }
        recent.push(snapshot);
        id = Some(SnapshotId(at.0 - 1));
    }
    Ok(recent)
}

async fn buckets(table: &Table) -> Result<Vec<BucketState>> {
    // A plan is metadata only; where none can be made, nothing is said of what is due.
    let due = table.plan_compaction(None, false).await.unwrap_or_default();
    let keyed = table.schema().is_primary_key_table();
    let mut all = Vec::new();
    for bucket in files::buckets(table, None).await? {
        let level0 = bucket.files.iter().filter(|file| file.level == 0).count();
        let mut levels: Vec<i32> = bucket.files.iter().map(|file| file.level).filter(|level| *level > 0).collect();
        levels.dedup();
        let mut reason = None;
        for plan in due.iter().filter(|plan| plan.bucket == bucket.bucket) {
            if files::partition(table, &plan.partition)? == bucket.partition {
                reason = Some(format!("{:?}", plan.choice.reason));
            }
        }
        let name = match bucket.partition.as_str() {
            "" => format!("bucket {}", bucket.bucket),
            partition => format!("{partition} bucket {}", bucket.bucket),
        };
        all.push(BucketState {
            name,
            runs: if keyed { level0 + levels.len() } else { usize::from(!bucket.files.is_empty()) },
            level0: if keyed { level0 } else { 0 },
            files: bucket.files.len(),
            bytes: bucket.files.iter().map(|file| file.file_size).sum(),
            due: reason,
        });
    }
    Ok(all)
}

async fn consumers(table: &Table, snapshots: &Snapshots, latest: Option<SnapshotId>) -> Result<Vec<ConsumerState>> {
    let mut all = Vec::new();
    for (id, consumer) in Consumers::new(table).list().await? {
        let next = consumer.next_snapshot;
        let behind = latest.map_or(0, |latest| (latest.0 - next.0 + 1).max(0));
        let since = match behind {
            0 => None,
            // One that has expired is as old as nobody knows.
            _ => snapshots.get(next).await.ok().map(|snapshot| snapshot.time_millis),
        };
        all.push(ConsumerState { id, next, behind, since });
    }
    Ok(all)
}

/// The states as data.
pub(super) fn json(all: &[State]) -> Value {
    let now = SystemClock.now_millis();
    let bucket = |b: &BucketState| json!({"bucket": b.name, "runs": b.runs, "level_0": b.level0, "files": b.files, "bytes": b.bytes, "due": b.due});
    let consumer = |c: &ConsumerState| {
        json!({"consumer": c.id, "next_snapshot": c.next.0, "behind": c.behind,
               "lag_millis": c.since.map(|since| (now - since).max(0))})
    };
    let table = |state: &State| {
        let (commits, rows) = state.rates(now);
        json!({
            "table": state.table,
            "snapshot": state.latest.map(|id| id.0),
            "records": state.records,
            "commits_per_minute": commits,
            "rows_per_second": rows,
            "buckets": state.buckets.iter().map(bucket).collect::<Vec<_>>(),
            "compactions_due": state.due(),
            "consumers": state.consumers.iter().map(consumer).collect::<Vec<_>>(),
        })
    };
    all.iter().map(table).collect()
}
