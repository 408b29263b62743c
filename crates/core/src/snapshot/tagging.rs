//! Tagging a snapshot: which one a new tag is of, and how long it is kept.

use std::sync::Arc;
use std::time::Duration;

use linn_format::snapshot::Snapshot;
use linn_format::{Error, ErrorKind, Result, SnapshotId};

use super::{Snapshots, Tags};
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

    fn retention(&self, retained: Retained) -> Result<Option<Duration>> {
        match retained {
            Retained::Default => self.options().tag_default_time_retained(),
            Retained::For(time) => Ok(Some(time)),
        }
    }
}

/// The one that was committed first.
fn older(a: Option<Arc<Snapshot>>, b: Option<Arc<Snapshot>>) -> Option<Arc<Snapshot>> {
    match (a, b) {
        (Some(a), Some(b)) => Some(if b.id < a.id { b } else { a }),
        (a, b) => a.or(b),
    }
}
