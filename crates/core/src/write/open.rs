//! The writer of one bucket, of whatever kind the table is.

use std::sync::Arc;

use arrow_array::{Int8Array, RecordBatch};
use linn_format::row::BinaryRow;
use linn_format::schema::Bucketing;
use linn_format::{Error, Result};

use super::bucket::BucketWriter;
use super::settings::Settings;
use super::writer::Buckets;
use crate::append::{self, AppendWriter};
use crate::commit::CommitMessage;
use crate::compact;
use crate::spill::MemoryBudget;

/// Opens the writers of a table.
#[derive(Clone)]
pub(crate) enum Opener {
    /// Buckets are merge trees.
    MergeTree(Arc<dyn Buckets>, Arc<Settings>),
    /// Rows have no key. Where sequence numbers go on, the buckets tell; else they begin at 0.
    Append(Option<Arc<dyn Buckets>>, Arc<append::Settings>),
    /// Rows may wait for a bucket, or be in one that is a merge tree.
    Postponed(Arc<append::Settings>, Arc<dyn Buckets>, Arc<Settings>),
}

impl Opener {
    /// What the writers' compactions follow; `None` where they do not compact.
    pub(crate) fn compaction(&self) -> Option<&compact::Settings> {
        match self {
            Self::MergeTree(_, settings) | Self::Postponed(_, _, settings) => settings.compaction.as_deref(),
            Self::Append(..) => None,
        }
    }

    /// Says that buckets of these partitions, and no others for now, will be opened at once.
    pub(crate) async fn announce(&self, partitions: &[BinaryRow]) -> Result<()> {
        match self {
            Self::MergeTree(buckets, _) | Self::Append(Some(buckets), _) | Self::Postponed(_, buckets, _) => {
                buckets.announce(partitions).await
            }
            Self::Append(None, _) => Ok(()),
        }
    }

    /// Opens the writer of a bucket.
    pub(crate) async fn open(&self, partition: &BinaryRow, bucket: i32, budget: &MemoryBudget) -> Result<OneBucket> {
        match self {
            Self::Postponed(waiting, ..) if bucket == Bucketing::POSTPONED => {
                let writer = AppendWriter::new(partition.clone(), bucket, waiting.clone(), 0, budget);
                Ok(OneBucket::Append(Box::new(writer)))
            }
            Self::MergeTree(buckets, settings) | Self::Postponed(_, buckets, settings) => {
                let open = buckets.open(partition, bucket).await?;
                let writer = BucketWriter::new(partition.clone(), bucket, settings.clone(), open, budget);
                Ok(OneBucket::MergeTree(Box::new(writer)))
            }
            Self::Append(buckets, settings) => {
                let last = match buckets {
                    Some(buckets) => {
                        buckets.open(partition, bucket).await?.live.iter().map(|f| f.max_sequence_number).max()
                    }
                    None => None,
                };
                let next = last.map_or(0, |last| last.saturating_add(1));
                let writer = AppendWriter::new(partition.clone(), bucket, settings.clone(), next, budget);
                Ok(OneBucket::Append(Box::new(writer)))
            }
        }
    }
}

/// The writer of one bucket.
pub(crate) enum OneBucket {
    /// Of a merge tree.
    MergeTree(Box<BucketWriter>),
    /// Of rows that are not merged.
    Append(Box<AppendWriter>),
}

impl OneBucket {
    /// Bytes in memory.
    pub(crate) fn memory(&self) -> u64 {
        match self {
            Self::MergeTree(writer) => writer.memory(),
            Self::Append(writer) => writer.memory(),
        }
    }

    /// Takes rows.
    pub(crate) async fn write(&mut self, rows: RecordBatch, kinds: Int8Array) -> Result<()> {
        match self {
            Self::MergeTree(writer) => writer.write(&rows, kinds),
            Self::Append(writer) => writer.write(rows, kinds).await,
        }
    }

    /// Empties the buffer for want of memory.
    pub(crate) async fn free_memory(&mut self) -> Result<()> {
        match self {
            Self::MergeTree(writer) => writer.free_memory().await,
            Self::Append(writer) => writer.free_memory().await,
        }
    }

    /// Asks for a compaction of what is there.
    pub(crate) async fn compact(&mut self, full: bool) -> Result<()> {
        match self {
            Self::MergeTree(writer) => writer.compact(full).await,
            Self::Append(_) => Err(Error::unsupported("compaction by the writer of an append table")
                .with_hint("compact the table as a job of its own")),
        }
    }

    /// Whether rows were written since the last commit.
    pub(crate) fn has_rows(&self) -> bool {
        match self {
            Self::MergeTree(writer) => writer.has_rows(),
            Self::Append(_) => false,
        }
    }

    /// Hands over what changed since the last call, compacted completely where that is asked for; `None` when nothing
    /// did.
    pub(crate) async fn prepare_commit(&mut self, wait: bool, full: bool) -> Result<Option<CommitMessage>> {
        match self {
            Self::MergeTree(writer) => writer.prepare_commit(wait, full).await,
            Self::Append(writer) => writer.prepare_commit().await,
        }
    }

    /// Goes on with the same rows on top of what the table holds now. With `lost` the compaction of the last message was
    /// not committed, and its files go.
    pub(crate) async fn move_to(&mut self, newer: &mut Self, lost: bool) {
        if let (Self::MergeTree(old), Self::MergeTree(newer)) = (self, newer) {
            old.move_to(newer, lost).await;
        }
    }

    /// Whether files that the writer counts on are gone from the table.
    pub(crate) fn is_stale(&self) -> bool {
        matches!(self, Self::MergeTree(writer) if writer.is_stale())
    }

    /// Takes a message back that will not be committed now.
    pub(crate) fn take_back(&mut self, message: CommitMessage) {
        match self {
            Self::MergeTree(writer) => writer.take_back(message),
            Self::Append(writer) => writer.take_back(message),
        }
    }

    /// Whether the writer, having nothing to hand over, can be let go.
    pub(crate) fn is_idle(&self) -> bool {
        match self {
            Self::MergeTree(writer) => writer.is_idle(),
            Self::Append(_) => true,
        }
    }

    /// Gives up what was not handed over, and deletes its files.
    pub(crate) async fn abort(&mut self) {
        match self {
            Self::MergeTree(writer) => writer.abort().await,
            Self::Append(writer) => writer.abort().await,
        }
    }
}
