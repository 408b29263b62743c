//! The tries of one commit: read what it is built on, judge whether it fits, build the next snapshot, publish; and again when
//! another commit came first (spec: format.md C.17).

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use linn_format::snapshot::{CommitKind, Snapshot};
use linn_format::{Error, Result, SchemaId, SnapshotId};

use super::alone::Alone;
use super::build::{Built, Plan, Written};
use super::files::Files;
use super::history::{History, Seen};
use super::judge::{NewIndex, Verdict, judge};
use super::phase::{Phase, Provider};
use super::publish::publish;
use super::read::Base;
use super::settings::Settings;
use super::{BATCH_IDENTIFIER, restore};
use crate::schema::Schemas;
use crate::seam::{Attempt, Published};
use crate::snapshot::Snapshots;
use crate::table::{AfterCommit, Table};

/// How one phase ended without an error.
#[derive(Debug)]
pub(super) enum Committed {
    /// In this snapshot.
    In(SnapshotId),
    /// In an earlier snapshot, which may have expired.
    Earlier,
    /// Not at all, because of this.
    Conflict(String),
    /// Perhaps; this happened.
    Unknown(String),
}

/// A snapshot of which nobody knows whether it is there.
#[derive(Debug)]
struct Unresolved {
    snapshot: Snapshot,
    names: Vec<String>,
}

/// What a committer keeps from commit to commit.
#[derive(Debug)]
pub(super) struct State {
    pub(super) files: Files,
    pub(super) snapshots: Snapshots,
    pub(super) history: History,
    pub(super) checked_buckets: HashMap<Box<[u8]>, i32>,
    unresolved: Option<Unresolved>,
    /// The newest snapshot that this committer has made.
    pub(super) last_own: Option<SnapshotId>,
    pub(super) alone: Alone,
    /// The last batch phase that was published: files of its change and its snapshot.
    pub(super) last_batch: Option<(Vec<String>, SnapshotId)>,
    /// The newest snapshot that was seen; while it is there everything above holds.
    pub(super) seen_latest: Option<Arc<Snapshot>>,
    pub(super) after: Arc<dyn AfterCommit>,
}

/// What a try came to.
enum Tried {
    Done(Committed),
    Lost(String),
}

impl State {
    pub(super) fn new(table: &Table, after: Arc<dyn AfterCommit>) -> Self {
        Self {
            files: Files::new(table),
            snapshots: Snapshots::new(table),
            history: History::default(),
            checked_buckets: HashMap::new(),
            unresolved: None,
            last_own: None,
            alone: Alone::default(),
            last_batch: None,
            seen_latest: None,
            after,
        }
    }

    pub(super) fn table(&self) -> &Table {
        self.files.table()
    }

    pub(super) fn is_unresolved(&self) -> bool {
        self.unresolved.is_some()
    }

    /// The user's last identifier.
    pub(super) async fn last_identifier(&mut self, user: &str) -> Result<Option<i64>> {
        let latest = self.snapshots.latest().await?;
        self.follow(latest.as_ref()).await?;
        if let Some(latest) = latest {
            self.history.advance(&self.snapshots, &latest, user).await?;
        }
        Ok(self.history.last_identifier())
    }

    /// Commits one phase.
    pub(super) async fn commit(&mut self, user: &str, settings: &Settings, phase: Phase) -> Result<Committed> {
        let done = self.commit_phase(user, settings, &phase).await?;
        if let (Some(reads), false) = (self.table().reads(), phase.reads.is_empty()) {
            match &done {
                Committed::In(_) | Committed::Earlier => reads.committed(),
                Committed::Conflict(_) => reads.lose(self.table()),
                Committed::Unknown(_) => {}
            }
        }
        Ok(done)
    }

    async fn commit_phase(&mut self, user: &str, settings: &Settings, phase: &Phase) -> Result<Committed> {
        if let Some(done) = self.resolve(user, phase).await? {
            return Ok(done);
        }
        let clock = Arc::clone(&self.table().env().clock);
        let started = clock.now_millis();
        let mut written = Written::default();
        let mut tries = 0;
        loop {
            let why = match self.attempt(user, settings, phase, &mut written).await {
                Ok(Tried::Done(done @ (Committed::Conflict(_) | Committed::Earlier))) => {
                    written.discard(&self.files).await;
                    return Ok(done);
                }
                Ok(Tried::Done(done)) => return Ok(done),
                Ok(Tried::Lost(why)) => why,
                Err(e) => {
                    written.discard(&self.files).await;
                    return Err(e);
                }
            };
            let waited = u128::try_from(clock.now_millis().saturating_sub(started)).unwrap_or(0);
            if tries >= settings.max_retries || settings.timeout.is_some_and(|timeout| waited > timeout.as_millis()) {
                written.discard(&self.files).await;
                return Err(Error::unavailable(format!(
                    "other commits came first {} times in {waited} ms; the last: {why}",
                    tries + 1
                ))
                .with_hint("raise commit.max-retries or let fewer jobs commit to this table"));
            }
            clock.sleep(settings.wait(tries, self.table().env().ids.jitter())).await;
            tries += 1;
        }
    }

    /// Finishes what an earlier call left open, if this is the same commit again.
    async fn resolve(&mut self, user: &str, phase: &Phase) -> Result<Option<Committed>> {
        let Some(open) = &self.unresolved else { return Ok(None) };
        let names = phase.names();
        // The new rows of a batch commit whose compaction is the open one: their identifier does not tell them apart.
        if let Some((published, id)) = &self.last_batch
            && phase.identifier == BATCH_IDENTIFIER
            && *published == names
        {
            return Ok(Some(Committed::In(*id)));
        }
        let same = open.snapshot.commit_identifier == phase.identifier
            && (open.snapshot.commit_kind == CommitKind::Compact) == (phase.kind == CommitKind::Compact)
            && open.names == names;
        if !same {
            return Ok(None);
        }
        let id = open.snapshot.id;
        let passed = self.snapshots.latest_id().await?.is_some_and(|latest| latest >= id);
        if passed && !self.snapshots.exists(id).await? {
            // Creating it now would put a snapshot below the earliest one.
            return Ok(Some(Committed::Unknown(format!("snapshot {id} expired before it was checked for conflicts"))));
        }
        match publish(self.table(), &self.snapshots, &open.snapshot, Attempt::AfterUncertain).await? {
            Published::Done => {
                let snapshot = open.snapshot.clone();
                self.unresolved = None;
                Ok(Some(self.published(user, names, snapshot).await))
            }
            Published::Taken => {
                self.unresolved = None;
                Ok(None)
            }
            Published::Failed(e) | Published::Uncertain(e) => Ok(Some(Committed::Unknown(e.to_string()))),
        }
    }

    async fn published(&mut self, user: &str, names: Vec<String>, snapshot: Snapshot) -> Committed {
        let id = snapshot.id;
        self.last_own = Some(id);
        if snapshot.commit_identifier == BATCH_IDENTIFIER {
            self.last_batch = Some((names, id));
        }
        self.history.note(&snapshot, user);
        self.snapshots.hint_latest(id).await;
        if id == SnapshotId::FIRST {
            self.snapshots.hint_earliest(id).await;
        }
        self.table().commits().announce();
        tracing::info!(
            table = self.table().name(),
            snapshot = id.0,
            kind = snapshot.commit_kind.as_str(),
            user,
            "committed"
        );
        let snapshot = Arc::new(snapshot);
        self.seen_latest = Some(Arc::clone(&snapshot));
        self.snapshots.remember(snapshot);
        Committed::In(id)
    }

    async fn attempt(
        &mut self,
        user: &str,
        settings: &Settings,
        phase: &Phase,
        written: &mut Written,
    ) -> Result<Tried> {
        let latest = self.snapshots.latest().await?;
        self.follow(latest.as_ref()).await?;
        if let Some(latest) = &latest
            && let Some(done) = self.seen(user, phase, latest).await?
        {
            return Ok(Tried::Done(done));
        }
        let base = self.read(user, settings, phase, latest).await?;
        let (written_buckets, index) = match judge(&base, &self.checks(settings, phase)?)? {
            Verdict::Fits { buckets, index } => (buckets, index),
            Verdict::Conflict(why) => return Ok(Tried::Done(Committed::Conflict(why))),
        };
        self.remember_buckets(written_buckets);
        let Base { latest, manifests, index: previous_index, change, .. } = base;
        if matches!(change, Cow::Owned(_)) || phase.is_stamped(settings) {
            // What an earlier try wrote of its change is of another one.
            written.discard_change(&self.files).await;
        }
        let index = match index {
            NewIndex::Same => previous_index,
            NewIndex::None => None,
            NewIndex::Lines(lines) => Some(written.write_index(&self.files, &lines, settings.manifests).await?),
        };
        let schema_id = self.schema_id().await?;
        let plan = Plan { files: &self.files, settings, user, phase, change: &change, schema_id };
        let mut built = plan.build(latest.as_deref(), manifests, index, written).await?;
        if let Provider::Restore(target) = &phase.provider {
            restore::carry(&mut built.snapshot, target);
        }
        self.publish(user, phase, built, written).await
    }

    async fn publish(&mut self, user: &str, phase: &Phase, built: Built, written: &mut Written) -> Result<Tried> {
        match publish(self.table(), &self.snapshots, &built.snapshot, Attempt::First).await? {
            Published::Done => {
                written.keep_published(&self.files, &built.base).await;
                Ok(Tried::Done(self.published(user, phase.names(), built.snapshot).await))
            }
            Published::Taken => {
                written.discard_try(&self.files).await;
                Ok(Tried::Lost(format!("snapshot {} is another commit's", built.snapshot.id)))
            }
            Published::Failed(e) => Err(e),
            Published::Uncertain(e) => {
                let why = format!("snapshot {} may or may not have been committed: {e}", built.snapshot.id);
                self.unresolved = Some(Unresolved { snapshot: built.snapshot, names: phase.names() });
                Ok(Tried::Done(Committed::Unknown(why)))
            }
        }
    }

    /// Looks at the snapshots since the last time; whether this commit is among them or before.
    async fn seen(&mut self, user: &str, phase: &Phase, latest: &Arc<Snapshot>) -> Result<Option<Committed>> {
        if phase.identifier == BATCH_IDENTIFIER {
            self.history.skip_to(latest.id);
        }
        if self.history.advance(&self.snapshots, latest, user).await? {
            self.checked_buckets.clear();
        }
        if phase.identifier == BATCH_IDENTIFIER {
            return Ok(None);
        }
        Ok(match self.history.seen(phase.identifier, phase.kind) {
            Seen::No => None,
            Seen::In(id) => Some(Committed::In(id)),
            Seen::Passed => Some(Committed::Earlier),
        })
    }

    /// The newest schema's number, which may be newer than the schema that the rows were written with.
    async fn schema_id(&self) -> Result<SchemaId> {
        let ids = Schemas::new(self.table()).list().await?;
        ids.last()
            .copied()
            .ok_or_else(|| Error::not_found("the table has been dropped").with("table", self.table().name()))
    }
}
