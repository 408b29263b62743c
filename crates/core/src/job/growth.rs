//! Partitions that a batch job outgrew by far get more buckets (`postpone.batch-write-fixed-bucket.rescale-load-factor`).
//!
//! The rows are committed before, into the buckets that there were: only how fast they are read is at stake, so that a job
//! whose partitions could not be enlarged has not failed.

use std::collections::{BTreeMap, HashMap};

use linn_format::Result;
use linn_format::row::BinaryRow;

use crate::commit::{CommitMessage, CommitOutcome};
use crate::table::Table;
use crate::write::postpone::{Load, enlarge};

/// What one batch job has added to partitions that have buckets.
#[derive(Debug, Default)]
pub struct Growth(HashMap<BinaryRow, (i32, Load)>);

impl Growth {
    /// Counts the new files of messages.
    pub fn note(&mut self, messages: &[CommitMessage]) {
        for message in messages.iter().filter(|message| message.bucket >= 0 && message.total_buckets > 0) {
            let new = || (message.total_buckets, Load::default());
            let (_, load) = self.0.entry(message.partition.clone()).or_insert_with(new);
            for file in &message.new_files {
                load.rows = load.rows.saturating_add(file.row_count.unsigned_abs());
                load.bytes = load.bytes.saturating_add(file.file_size.unsigned_abs());
            }
        }
    }
}

impl Table {
    /// Gives the partitions that a batch job outgrew more buckets; how many there were. To be called when all of the job is
    /// committed, and of use for tables with postponed buckets only. When another job comes first, its partitions stay.
    ///
    /// # Errors
    /// As [`Table::rescale`].
    pub async fn enlarge(&self, growth: &Growth) -> Result<usize> {
        if !self.places_at_once()? {
            return Ok(0);
        }
        let mut larger: BTreeMap<i32, Vec<BinaryRow>> = BTreeMap::new();
        for (partition, (count, load)) in &growth.0 {
            if let Some(count) = enlarge(self.options(), *load, *count)? {
                larger.entry(count).or_default().push(partition.clone());
            }
        }
        let mut enlarged = 0;
        for (count, mut partitions) in larger {
            partitions.sort_by_cached_key(BinaryRow::to_serialized);
            match self.rescale(&self.new_user(), Some(count), Some(&partitions)).await? {
                CommitOutcome::Committed(_) => enlarged += partitions.len(),
                other => tracing::info!(table = self.name(), ?other, "partitions were not enlarged"),
            }
        }
        Ok(enlarged)
    }
}
