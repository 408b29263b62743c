//! What follows a commit: tags are made and removed; partitions, consumers, snapshots and changelogs expire as the options of the table say, within the
//! commit or beside it (spec: features.md B14). Nothing of it can fail a commit, which is made by then.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use async_trait::async_trait;
use futures::FutureExt;
use futures::future::BoxFuture;
use linn_format::{Result, SnapshotId};

use super::changelog::ChangelogExpiry;
use super::drop::drop_partitions;
use super::retain::Retention;
use super::snapshot::SnapshotExpiry;
use crate::commit::BATCH_IDENTIFIER;
use crate::partition::expired_partitions;
use crate::seam::{Pool, panicked};
use crate::snapshot::Snapshots;
use crate::stream::Consumers;
use crate::table::{AfterCommit, CommitHooks, Table};
use crate::tag::DueTags;

/// How long nobody looks for snapshots to expire after what was due could not go.
const HELD_MILLIS: i64 = 10_000;
/// How long nobody looks for consumers that stand still, once that was done.
const LOOK_MILLIS: i64 = 60_000;

/// The upkeep that the options of a table ask for.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Upkeep;

impl CommitHooks for Upkeep {
    fn begin(&self) -> Arc<dyn AfterCommit> {
        Arc::new(Keeper::default())
    }
}

/// What a committer knows about what is due.
#[derive(Debug, Default)]
struct Keeper {
    tags: tokio::sync::Mutex<DueTags>,
    expiry: Expiry,
}

#[async_trait]
impl AfterCommit for Keeper {
    async fn wants_snapshot(&self, table: &Table) -> bool {
        self.tags.lock().await.waits(table).await
    }

    async fn committed(&self, table: &Table, identifier: i64) {
        self.tags.lock().await.run(table, identifier == BATCH_IDENTIFIER).await;
    }

    async fn settled(&self, table: &Table, newest: SnapshotId, identifier: i64) {
        self.expiry.after(table, newest, identifier).await;
    }

    async fn rewound(&self) {
        *self.tags.lock().await = DueTags::default();
    }
}

/// Expiry of partitions, consumers, snapshots and changelogs.
#[derive(Debug, Clone, Default)]
struct Expiry {
    state: Arc<tokio::sync::Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    /// The oldest snapshot, as far as known; it only ever grows, unless the table is rolled back.
    earliest: Option<SnapshotId>,
    /// Whether everything that was due at the last look is gone.
    looked: bool,
    /// When the snapshot after the oldest was committed, where that is known.
    succeeded: Option<i64>,
    /// Until when nobody looks, because what was due could not go.
    held: Option<i64>,
    /// When consumers were looked at last.
    consumers: Option<i64>,
    /// When partitions were looked at last, milliseconds since the epoch.
    partitions: Option<i64>,
}

impl Expiry {
    /// Does what is due after a commit whose newest snapshot is this. When another commit of the same committer is at it,
    /// nothing is done: what is due then is due after the next one.
    async fn after(&self, table: &Table, newest: SnapshotId, identifier: i64) {
        let options = table.options();
        if options.write_only().unwrap_or(true) {
            return;
        }
        // Failures of options are said by whoever reads them.
        if !options.snapshot_expire_async().unwrap_or(false) || identifier == BATCH_IDENTIFIER {
            return self.run(table, newest, identifier).await;
        }
        let (this, table) = (self.clone(), table.clone());
        let env = table.env().clone();
        let run = async move {
            let ran = AssertUnwindSafe(this.run(&table, newest, identifier)).catch_unwind().await;
            if let Err(panic) = ran {
                tracing::warn!(table = table.name(), error = %panicked(&*panic), "upkeep after a commit failed");
            }
        };
        env.spawn.spawn(Pool::Work, Box::pin(run));
    }

    /// Boxed, because dropping partitions is a commit.
    fn run<'a>(&'a self, table: &'a Table, newest: SnapshotId, identifier: i64) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let Ok(mut state) = self.state.try_lock() else { return };
            let name = table.name();
            if let Err(e) = state.partitions(table, identifier).await {
                tracing::warn!(table = name, error = %e, "partitions do not expire");
            }
            if let Err(e) = state.consumers(table).await {
                tracing::warn!(table = name, error = %e, "consumers do not expire");
            }
            if let Err(e) = state.snapshots(table, newest).await {
                tracing::warn!(table = name, error = %e, "snapshots do not expire");
            }
        })
    }
}

impl State {
    async fn partitions(&mut self, table: &Table, identifier: i64) -> Result<()> {
        let options = table.options();
        if options.partition_expiration_time()?.is_none() || table.schema().partition_keys.is_empty() {
            return Ok(());
        }
        let interval = i64::try_from(options.partition_expiration_interval()?.as_millis()).unwrap_or(i64::MAX);
        let now = table.env().clock.now_millis();
        // The first look comes at some time within the interval, so that short jobs take their turn.
        let jitter = table.env().ids.jitter();
        let last = *self.partitions.get_or_insert(now.saturating_sub((interval as f64 * jitter) as i64));
        let at_end = identifier == BATCH_IDENTIFIER && options.end_input_expires_partitions()?;
        if interval > 0 && now.saturating_sub(last) <= interval && !at_end {
            return Ok(());
        }
        self.partitions = Some(now);
        let expired = expired_partitions(table).await?;
        if expired.is_empty() {
            return Ok(());
        }
        // Its commits must not come back here.
        let quiet = table.with_options(&[("write-only", "true")].into_iter().collect())?;
        let rows: Vec<_> = expired.into_iter().map(|partition| partition.partition).collect();
        drop_partitions(&quiet, &rows).await?;
        tracing::info!(table = table.name(), partitions = rows.len(), "partitions expired");
        Ok(())
    }

    /// Most commits come when nothing can be due: what was seen at the last look tells until when, without asking the store.
    async fn snapshots(&mut self, table: &Table, newest: SnapshotId) -> Result<()> {
        let retention = Retention::of_snapshots(table)?;
        let now = table.env().clock.now_millis();
        if self.held.is_some_and(|until| now < until) {
            return Ok(());
        }
        let snapshots = Snapshots::new(table);
        let earliest = match self.earliest {
            Some(earliest) => Some(earliest),
            None => snapshots.hinted_earliest_id().await?,
        };
        let Some(earliest) = earliest else { return Ok(()) };
        self.earliest = Some(earliest);
        let age = now.saturating_sub(retention.older_than);
        let too_many = |earliest: SnapshotId| newest.0.saturating_sub(retention.max) >= earliest.0;
        if newest.0.saturating_sub(retention.min) < earliest.0 {
            return Ok(());
        }
        let expiry = SnapshotExpiry::new(table)?;
        if !too_many(earliest) {
            if self.succeeded.is_none() {
                self.succeeded = expiry.succeeded_at(earliest).await?;
            }
            if self.succeeded.is_some_and(|time| time >= retention.older_than) {
                return Ok(());
            }
        }
        // The first look, and the next after one that failed, takes in what an expiry that was cut off has left below the hint.
        let range = match std::mem::take(&mut self.looked) {
            false => expiry.range(&retention).await?,
            true => match snapshots.earliest_id().await? {
                Some(earliest) => expiry.range_between(&retention, earliest, newest.max(earliest)).await?,
                None => None,
            },
        };
        self.succeeded = None;
        let earliest = match range {
            Some((begin, end)) => {
                expiry.run(begin, end).await?;
                Some(end)
            }
            None => {
                // A reader, or another job that was faster: neither is worth a look at every commit.
                self.held = Some(now.saturating_add(age.clamp(0, HELD_MILLIS)));
                snapshots.earliest_id().await?
            }
        };
        (self.earliest, self.looked) = (earliest, true);
        if table.options().changelog_decoupled()? {
            let expiry = ChangelogExpiry::new(table);
            let due = expiry.due(&Retention::of_changelogs(table)?).await?;
            expiry.run(&due).await?;
        }
        Ok(())
    }

    /// Forgets consumers that stand still; looked at once in a while.
    async fn consumers(&mut self, table: &Table) -> Result<()> {
        let Some(age) = table.options().consumer_expiration_time()? else { return Ok(()) };
        let now = table.env().clock.now_millis();
        let pause = i64::try_from(age.as_millis()).unwrap_or(i64::MAX).min(LOOK_MILLIS);
        if self.consumers.is_none_or(|last| now.saturating_sub(last) >= pause) {
            self.consumers = Some(now);
            Consumers::new(table).expire(age).await?;
        }
        Ok(())
    }
}
