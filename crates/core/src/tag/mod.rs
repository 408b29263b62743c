//! Tags: names that keep a snapshot; made by hand or by themselves, and gone when their time is over (spec: format.md C.2,
//! features.md B14).
//!
//! A tag holds the whole snapshot, so it outlives it. What makes tags and removes them after commits never fails the commit,
//! which is done by then.

mod auto;
mod batch;
mod expire;
mod pair;
mod period;
mod read;
mod store;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use linn_format::options::TagCreation;
use linn_format::snapshot::Snapshot;
use linn_format::{Error, ErrorKind, Result, SnapshotId};

pub use expire::{Expired, OlderThan};
pub(crate) use pair::automatic_pair;
pub use read::READ_TAG_PREFIX;
pub(crate) use read::protect;
pub use store::{Tagged, Tags};

use crate::maintain::free_tagged;
use crate::snapshot::Snapshots;
use crate::table::Table;

/// Which snapshot a new tag is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TagOf {
    /// The latest one.
    Latest,
    /// This one, or that of another tag when it has expired.
    Id(SnapshotId),
    /// The oldest one that was committed then (milliseconds since the epoch) or later.
    Time(i64),
    /// The oldest one whose watermark has reached this.
    Watermark(i64),
}

/// How long a new tag is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retained {
    /// As the option `tag.default-time-retained` says; without it, until it is deleted.
    Default,
    /// For this long.
    For(Duration),
}

impl Table {
    /// The snapshot that a new tag would be of; snapshots that only tags keep are among the choice.
    ///
    /// # Errors
    /// `NotFound` when there is none.
    pub async fn snapshot_to_tag(&self, of: TagOf) -> Result<Arc<Snapshot>> {
        let snapshots = Snapshots::new(self);
        let found = match of {
            TagOf::Latest => snapshots.latest().await?,
            TagOf::Id(id) => match snapshots.get(id).await {
                Err(e) if e.kind() == ErrorKind::NotFound => self.tagged(|snapshot| snapshot.id == id).await?,
                result => Some(result?),
            },
            TagOf::Time(millis) => {
                let live = snapshots.at_or_after_time(millis).await?;
                let tagged = self.tagged(|snapshot| snapshot.time_millis >= millis).await?;
                older(live, tagged)
            }
            TagOf::Watermark(watermark) => {
                let live = snapshots.at_or_after_watermark(watermark).await?;
                let tagged = self.tagged(|snapshot| snapshot.watermark.is_some_and(|w| w >= watermark)).await?;
                older(live, tagged)
            }
        };
        found.ok_or_else(|| {
            let what = match of {
                TagOf::Latest => "the table has no snapshots".to_owned(),
                TagOf::Id(id) => format!("snapshot {id} does not exist"),
                TagOf::Time(millis) => format!("no snapshot was committed at {millis} or later"),
                TagOf::Watermark(watermark) => format!("no snapshot has reached watermark {watermark}"),
            };
            Error::not_found(what).with("table", self.name())
        })
    }

    /// The oldest snapshot of a tag for which this holds.
    async fn tagged(&self, holds: impl Fn(&Snapshot) -> bool) -> Result<Option<Arc<Snapshot>>> {
        let all = Tags::new(self).snapshots().await?;
        Ok(all.into_values().map(|tagged| tagged.snapshot).find(|snapshot| holds(snapshot)).map(Arc::new))
    }

    /// Makes a tag. What comes back is the snapshot it is of.
    ///
    /// # Errors
    /// `NotFound` when there is no such snapshot, `AlreadyExists` when the name is taken, `Invalid` for a name that cannot be
    /// one.
    pub async fn create_tag(&self, name: &str, of: TagOf, retained: Retained) -> Result<Arc<Snapshot>> {
        let snapshot = self.snapshot_to_tag(of).await?;
        let tags = Tags::new(self);
        tags.create(name, &snapshot, self.retention(retained)?).await?;
        // Expiry removes a snapshot before it looks for tags of it: if it is there still, this one is seen.
        let seen = Snapshots::new(self).exists(snapshot.id).await?
            || tags.snapshots().await?.get(&snapshot.id).is_some_and(|tagged| tagged.names.len() > 1);
        if !seen {
            tags.delete(name).await?;
            return Err(Error::not_found(format!("snapshot {} has expired", snapshot.id)).with("table", self.name()));
        }
        Ok(snapshot)
    }

    /// Makes a tag be of another snapshot. What comes back is the snapshot it is of now.
    ///
    /// # Errors
    /// `NotFound` when there is no such snapshot or tag.
    pub async fn replace_tag(&self, name: &str, of: TagOf, time_retained: Option<Duration>) -> Result<Arc<Snapshot>> {
        let tags = Tags::new(self);
        let snapshot = self.snapshot_to_tag(of).await?;
        tags.replace(name, &snapshot, time_retained).await?;
        Ok(snapshot)
    }

    /// Deletes a tag, with the files that nothing else needs; where that cannot be told they stay for orphan cleaning.
    ///
    /// # Errors
    /// `NotFound` when there is none of this name.
    pub async fn delete_tag(&self, name: &str) -> Result<()> {
        let tags = Tags::new(self);
        let tag = tags.find(name).await;
        tags.delete(name).await?;
        if let Ok(Some(tag)) = tag
            && let Err(e) = free_tagged(self, &tag.snapshot).await
        {
            tracing::warn!(table = self.name(), tag = name, error = %e, "files of a deleted tag are left to orphan cleaning");
        }
        Ok(())
    }

    fn retention(&self, retained: Retained) -> Result<Option<Duration>> {
        match retained {
            Retained::Default => self.options().tag_default_time_retained(),
            Retained::For(time) => Ok(Some(time)),
        }
    }

    /// Makes the tags that are due by the snapshots there are, as `tag.automatic-creation` says, and removes those beyond
    /// `tag.num-retained-max`; the names of the new ones. Tags of batch jobs are not made here.
    ///
    /// # Errors
    /// `Invalid` for options that cannot be read, and what reading and writing can give. Trying again goes on.
    pub async fn create_due_tags(&self) -> Result<Vec<String>> {
        match auto::Progress::load(self).await? {
            Some(mut due) => due.advance(self).await,
            None => Ok(Vec::new()),
        }
    }

    /// Removes the tags whose time is over; with `older_than`, those as well that are older than that.
    ///
    /// # Errors
    /// What reading and deleting can give; tags that are gone by then stay gone.
    pub async fn expire_tags(&self, older_than: Option<OlderThan>) -> Result<Vec<String>> {
        let expired = expire::expired(self, older_than).await?;
        for tag in &expired {
            match self.delete_tag(&tag.name).await {
                // Somebody else deleted it.
                Err(e) if e.kind() == ErrorKind::NotFound => {}
                result => result?,
            }
        }
        Ok(expired.into_iter().map(|tag| tag.name).collect())
    }

    /// The tags that [`expire_tags`](Self::expire_tags) would remove.
    ///
    /// # Errors
    /// What reading can give.
    pub async fn expired_tags(&self, older_than: Option<OlderThan>) -> Result<Vec<Expired>> {
        expire::expired(self, older_than).await
    }
}

/// What a committer does about tags after its commits: it keeps in mind how far it has looked.
#[derive(Debug, Default)]
pub(crate) struct AfterCommit {
    due: Option<auto::Progress>,
    expired_at: Option<i64>,
}

/// How tags of batch jobs begin that have no name of their own.
const AUTO_BATCH: &str = "batch-write-";

/// How long a committer does not look for tags whose time is over, once it has looked.
const LOOK_MILLIS: i64 = 60_000;

impl AfterCommit {
    /// Makes and removes tags as the options say; `batch` tells whether the commit is that of a batch job. Failures are only
    /// logged.
    pub(crate) async fn run(&mut self, table: &Table, batch: bool) {
        if let Err(e) = self.try_run(table, batch).await {
            self.due = None;
            tracing::warn!(table = table.name(), error = %e, "tags are not as the options want them yet");
        }
    }

    /// Whether a tag is due that only waits for a snapshot.
    pub(crate) async fn waits(&mut self, table: &Table) -> bool {
        let waits = async {
            if table.options().write_only()? {
                return Ok(false);
            }
            if self.due.is_none() {
                self.due = auto::Progress::load(table).await?;
            }
            match &self.due {
                Some(due) => due.waits(table).await,
                None => Ok(false),
            }
        };
        waits.await.unwrap_or_else(|e: Error| {
            tracing::warn!(table = table.name(), error = %e, "cannot tell whether a tag is due");
            false
        })
    }

    async fn try_run(&mut self, table: &Table, batch: bool) -> Result<()> {
        let options = table.options();
        if options.write_only()? {
            return Ok(());
        }
        match options.tag_creation()? {
            TagCreation::Batch if batch => batch::create(table).await?,
            TagCreation::None | TagCreation::Batch => {}
            TagCreation::ProcessTime | TagCreation::Watermark => {
                if self.due.is_none() {
                    self.due = auto::Progress::load(table).await?;
                }
                if let Some(due) = &mut self.due {
                    due.advance(table).await?;
                }
            }
        }
        let now = table.env().clock.now_millis();
        if options.tag_time_expire()? && self.expired_at.is_none_or(|at| now.saturating_sub(at) >= LOOK_MILLIS) {
            table.expire_tags(None).await?;
            self.expired_at = Some(now);
        }
        Ok(())
    }
}

/// The one that was committed first.
fn older(a: Option<Arc<Snapshot>>, b: Option<Arc<Snapshot>>) -> Option<Arc<Snapshot>> {
    match (a, b) {
        (Some(a), Some(b)) => Some(if b.id < a.id { b } else { a }),
        (a, b) => a.or(b),
    }
}
