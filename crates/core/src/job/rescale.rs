//! Rescaling: partitions are read and written again with another number of buckets (spec: features.md B6; cases B6, B7).
//!
//! Only rows that have a bucket are read and replaced. Invariant: rows that others commit meanwhile are not lost, as the
//! commit is refused then.

use std::collections::HashSet;
use std::sync::Arc;

use futures::StreamExt;
use linn_format::row::BinaryRow;
use linn_format::schema::Bucketing;
use linn_format::{Error, Result};

use crate::commit::{Commit, CommitMessage, CommitOutcome, Overwrite};
use crate::scan::Plan;
use crate::snapshot::Snapshots;
use crate::table::Table;
use crate::write::TableWriter;

/// Partitions that are written again and not committed yet.
pub(crate) struct Rescaled {
    /// The table with the new number of buckets.
    table: Table,
    user: String,
    partitions: Vec<BinaryRow>,
    messages: Vec<CommitMessage>,
}

impl Table {
    /// Gives all or some partitions another number of buckets: `None` for the number that the table's options say.
    /// Nothing happens where there are no rows.
    ///
    /// # Errors
    /// `Invalid` for a number of buckets that cannot be, for a table with postponed buckets and no number, and while
    /// files wait to be compacted before they can be read. As reading and writing.
    pub async fn rescale(
        &self,
        user: &str,
        buckets: Option<i32>,
        partitions: Option<&[BinaryRow]>,
    ) -> Result<CommitOutcome> {
        match self.begin_rescale(user, buckets, partitions).await? {
            Some(rescaled) => rescaled.commit().await,
            None => Ok(CommitOutcome::Committed(Vec::new())),
        }
    }

    pub(crate) async fn begin_rescale(
        &self,
        user: &str,
        buckets: Option<i32>,
        partitions: Option<&[BinaryRow]>,
    ) -> Result<Option<Rescaled>> {
        let target = self.rescaled(buckets).map_err(|e| e.with("table", self.name()))?;
        let Some(snapshot) = Snapshots::new(self).latest().await? else { return Ok(None) };
        // Rows that wait have no bucket to be replaced.
        let placed = self.with_options(&[("postpone.merge-on-read", "false")].into_iter().collect())?;
        let plan = |every_level: bool| {
            let mut scan = placed.scan().snapshot(Arc::clone(&snapshot));
            if let Some(partitions) = partitions {
                scan = scan.partitions(partitions.to_vec());
            }
            async move { if every_level { scan.every_level().plan().await } else { scan.plan().await } }
        };
        let (visible, all) = (plan(false).await?, plan(true).await?);
        let files = |plan: &Plan| plan.splits.iter().map(|split| split.files.len()).sum::<usize>();
        if files(&visible) != files(&all) {
            return Err(Error::invalid("files of the table that are not yet compacted would be lost")
                .with("table", self.name())
                .with_hint("compact the table completely, then rescale it"));
        }
        if visible.splits.is_empty() {
            return Ok(None);
        }
        let touched: HashSet<BinaryRow> = visible.splits.iter().map(|split| split.partition.clone()).collect();
        let mut writer = target.overwriter(user)?;
        let messages = copy(self, &visible, &mut writer).await;
        let closed = writer.close().await;
        let mut messages = messages?;
        closed?;
        for message in &mut messages {
            message.made_at = Some(snapshot.id);
        }
        let partitions = touched.into_iter().collect();
        Ok(Some(Rescaled { table: target, user: user.to_owned(), partitions, messages }))
    }

    fn rescaled(&self, buckets: Option<i32>) -> Result<Self> {
        let now = self.schema().bucketing()?;
        let hint = "give a number of buckets above 0";
        match buckets {
            None if now == Bucketing::Postponed => {
                Err(Error::invalid("partitions of a table with postponed buckets have different numbers of buckets")
                    .with_hint(hint))
            }
            None => Ok(self.clone()),
            Some(count) if count > 0 && matches!(now, Bucketing::Dynamic | Bucketing::Unaware) => {
                Err(Error::invalid("the table does not have a fixed number of buckets")
                    .with_hint("leave the number out to redistribute its rows"))
            }
            Some(count) if count > 0 => {
                self.with_options(&[("bucket", count.to_string().as_str())].into_iter().collect())
            }
            Some(count) => Err(Error::invalid(format!("a partition cannot have {count} buckets")).with_hint(hint)),
        }
    }
}

async fn copy(table: &Table, plan: &Plan, writer: &mut TableWriter) -> Result<Vec<CommitMessage>> {
    let read = table.read().strict().build()?;
    for split in &plan.splits {
        let mut rows = read.stream(split).await?;
        while let Some(batch) = rows.next().await {
            writer.write_stored(&batch?, None).await?;
        }
    }
    writer.prepare_commit(true).await
}

impl Rescaled {
    /// Replaces the partitions.
    pub(crate) async fn commit(self) -> Result<CommitOutcome> {
        let committer = self.table.committer(self.user);
        let commit = Commit { operation: Some("OVERWRITE".into()), ..Commit::batch(self.messages.clone()) };
        let outcome = committer.overwrite(Overwrite::Rows(self.partitions), commit).await;
        if matches!(outcome, Ok(CommitOutcome::Conflict(_))) {
            committer.abort(&self.messages).await?;
        }
        outcome
    }
}
