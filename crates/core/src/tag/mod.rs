//! Tags: names that keep a snapshot; made by hand or by themselves, and gone when their time is over (spec: format.md C.2,
//! features.md B14).
//!
//! A tag holds the whole snapshot, so it outlives it. What makes tags and removes them after commits never fails the commit,
//! which is done by then.

mod auto;
mod batch;
mod expire;
#[cfg(test)]
mod tests;

use linn_format::options::TagCreation;
use linn_format::{Error, ErrorKind, Result};

pub use expire::{Expired, OlderThan};

use crate::reclaim::free_tagged;
pub use crate::scan::READ_TAG_PREFIX;
pub use crate::snapshot::{Retained, TagOf, Tagged, Tags};
use crate::table::Table;

impl Table {
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
pub(crate) struct DueTags {
    due: Option<auto::Progress>,
    expired_at: Option<i64>,
}

/// How tags of batch jobs begin that have no name of their own.
const AUTO_BATCH: &str = "batch-write-";

/// How long a committer does not look for tags whose time is over, once it has looked.
const LOOK_MILLIS: i64 = 60_000;

impl DueTags {
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
