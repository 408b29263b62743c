//! The tries of one commit: read the latest snapshot, check the change against it, build the next one, publish; and again
//! when another commit came first (spec: format.md C.17).

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use linn_format::snapshot::{CommitKind, Snapshot};
use linn_format::{Error, Result, SchemaId, SnapshotId};

use super::alone::{Alone, Since};
use super::build::{Built, Plan, Written};
use super::change::Change;
use super::files::Files;
use super::fits::Fits;
use super::history::{History, Seen};
use super::overwrite::Target;
use super::publish::{Published, publish};
use super::reads::Noted;
use super::settings::Settings;
use super::{BATCH_IDENTIFIER, Commit, alone, index, isolation, restore, strict};
use crate::schema::Schemas;
use crate::snapshot::Snapshots;
use crate::table::Table;
use crate::tag::AfterCommit;

/// One snapshot to be made.
#[derive(Debug)]
pub(super) struct Phase {
    pub(super) identifier: i64,
    pub(super) watermark: Option<i64>,
    pub(super) properties: BTreeMap<String, String>,
    pub(super) operation: Option<String>,
    pub(super) kind: CommitKind,
    pub(super) check: bool,
    pub(super) provider: Provider,
    /// The statistics file that the snapshot brings.
    pub(super) statistics: Option<String>,
    /// The last snapshot of others that it may build upon, as its messages say.
    since: Option<SnapshotId>,
    /// Since when no other user may have written rows, and where.
    alone: Since,
    /// What the statement has read of the table, when its commit depends on that.
    reads: Vec<Noted>,
}

/// Where the change comes from.
#[derive(Debug)]
pub(super) enum Provider {
    /// It is what the writer made.
    Fixed(Change),
    /// It removes what the target holds at the time, and adds what the writer made.
    Overwrite {
        /// What is replaced.
        target: Target,
        /// What comes instead.
        added: Change,
    },
    /// It makes the table what it was at this snapshot.
    Restore(Box<Snapshot>),
}

impl Phase {
    pub(super) fn new(table: &Table, commit: &Commit, kind: CommitKind, check: bool, provider: Provider) -> Self {
        let reads = table.reads().filter(|_| !matches!(kind, CommitKind::Compact | CommitKind::Analyze));
        Self {
            identifier: commit.identifier,
            watermark: commit.watermark,
            properties: commit.properties.clone(),
            operation: commit.operation.clone(),
            kind,
            check,
            provider,
            statistics: None,
            since: commit.messages.iter().filter_map(|message| message.made_at).min(),
            alone: if kind == CommitKind::Compact { Since::new() } else { alone::since(table, &commit.messages) },
            reads: reads.map(|reads| reads.of(table)).unwrap_or_default(),
        }
    }

    /// Whether the lines of the index manifest matter; most commits carry it on unread.
    fn wants_index(&self, settings: &Settings) -> bool {
        match &self.provider {
            Provider::Fixed(change) => {
                !change.index.is_empty() || !change.hash_bases.is_empty() || (settings.deletion_vectors && self.check)
            }
            Provider::Overwrite { .. } => true,
            Provider::Restore(_) => false,
        }
    }

    /// Whether its new files carry the number of the snapshot, so that they differ from try to try. What a compaction
    /// writes, and what comes back, keeps the numbers of the rows' own snapshots.
    pub(super) fn is_stamped(&self, settings: &Settings) -> bool {
        let old = self.kind == CommitKind::Compact || matches!(self.provider, Provider::Restore(_));
        settings.snapshot_ordering && !old
    }

    /// Names of the files that the writer made; tell whether a batch commit is the same one again.
    fn names(&self) -> Vec<String> {
        match &self.provider {
            Provider::Fixed(change) | Provider::Overwrite { added: change, .. } => {
                let files = change.names().into_iter().map(str::to_owned);
                files.chain(self.statistics.clone()).collect()
            }
            Provider::Restore(target) => vec![format!("snapshot-{}", target.id)],
        }
    }
}

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
    pub(super) tags: AfterCommit,
}

/// What a try came to.
enum Tried {
    Done(Committed),
    Lost(String),
}

impl State {
    pub(super) fn new(table: &Table) -> Self {
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
            tags: AfterCommit::default(),
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
        match publish(self.table(), &self.snapshots, &open.snapshot, true).await? {
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
        let manifests = match &latest {
            Some(latest) => self.files.manifests_of(latest).await?,
            None => Vec::new(),
        };
        let previous_index = latest.as_ref().and_then(|latest| latest.index_manifest.clone());
        let lines = match &previous_index {
            Some(name) if phase.wants_index(settings) => self.files.index(name).await?,
            _ => Vec::new(),
        };
        let provided;
        let change = match &phase.provider {
            Provider::Fixed(change) => change,
            Provider::Overwrite { target, added } => {
                written.discard_change(&self.files).await;
                provided = target.change(&self.files, &manifests, &lines, added).await?;
                &provided
            }
            Provider::Restore(target) => {
                written.discard_change(&self.files).await;
                provided = restore::change(&self.files, &manifests, target).await?;
                &provided
            }
        };
        let reduced;
        let restored = match &phase.provider {
            Provider::Restore(target) => Some(target),
            Provider::Fixed(_) | Provider::Overwrite { .. } => None,
        };
        // What the table was fits what it was.
        let fits = match restored {
            Some(_) => Fits::Yes,
            None => self.fits(settings, phase, &manifests, &lines, change).await?,
        };
        let change = match fits {
            Fits::Yes => change,
            Fits::Without(kept) => {
                written.discard_change(&self.files).await;
                reduced = kept;
                &reduced
            }
            Fits::No(why) => return Ok(Tried::Done(Committed::Conflict(why))),
        };
        if let Some(latest) = &latest
            && let Some(why) =
                self.alone.check(self.files.table(), &self.snapshots, user, &phase.alone, latest.id).await?
        {
            return Ok(Tried::Done(Committed::Conflict(why)));
        }
        if let Some(latest) = &latest
            && let Some(safe) = self.safe(settings, phase)
            && let Some(why) =
                strict::check(self.table(), &self.snapshots, user, safe, latest.id, phase.kind, change).await?
        {
            return Ok(Tried::Done(Committed::Conflict(why)));
        }
        let overwrites = matches!(phase.provider, Provider::Overwrite { .. });
        if let Some(why) =
            isolation::check(self.table(), &self.snapshots, &phase.reads, latest.as_deref(), change, overwrites).await?
        {
            return Ok(Tried::Done(Committed::Conflict(why)));
        }
        if let Err(why) = index::check_hashes(&lines, &change.hash_bases) {
            return Ok(Tried::Done(Committed::Conflict(why)));
        }
        if phase.is_stamped(settings) {
            written.discard_change(&self.files).await;
        }
        let schema_id = self.schema_id().await?;
        let plan = Plan { files: &self.files, settings, user, phase, change, schema_id };
        let unaware = self.is_unaware()?;
        let index = if change.index.is_empty() {
            previous_index
        } else {
            match index::combine(lines, &change.index, unaware) {
                Ok(lines) if lines.is_empty() => None,
                Ok(lines) => Some(written.write_index(&self.files, &lines, settings.manifests).await?),
                Err(why) => return Ok(Tried::Done(Committed::Conflict(why))),
            }
        };
        let mut built = plan.build(latest.as_deref(), manifests, index, written).await?;
        if let Some(target) = restored {
            restore::carry(&mut built.snapshot, target);
        }
        self.publish(user, phase, built, written).await
    }

    /// The last snapshot of others that this phase may build upon, if that matters.
    fn safe(&self, settings: &Settings, phase: &Phase) -> Option<SnapshotId> {
        let by_option = settings.last_safe.and_then(|first| self.last_own.max(first));
        [by_option, phase.since].into_iter().flatten().min()
    }

    async fn publish(&mut self, user: &str, phase: &Phase, built: Built, written: &mut Written) -> Result<Tried> {
        match publish(self.table(), &self.snapshots, &built.snapshot, false).await? {
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
