//! How much lies in each bucket, summed up over the columns of manifests without materialising a file.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use linn_format::Result;
use linn_format::manifest::StatsColumns;
use linn_format::row::BinaryRow;

use super::Scan;

/// What lies in one bucket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BucketLoad {
    /// Partition.
    pub partition: BinaryRow,
    /// Bucket.
    pub bucket: i32,
    /// Sorted runs: files of level 0, and levels above it.
    pub runs: usize,
    /// Files.
    pub files: usize,
    /// Bytes of all files.
    pub bytes: i64,
}

#[derive(Default)]
struct Sum {
    level_0: usize,
    levels: BTreeSet<i32>,
    files: usize,
    bytes: i64,
}

impl Scan {
    /// The load of every bucket that the scan would find, in no particular order.
    ///
    /// # Errors
    /// As [`Scan::plan`].
    pub async fn bucket_loads(&self) -> Result<Vec<BucketLoad>> {
        let Some(snapshot) = self.travel().await? else { return Ok(Vec::new()) };
        let files = self.live(&snapshot, StatsColumns::Keys).await?;
        let mut sums: HashMap<(Arc<BinaryRow>, i32), Sum> = HashMap::new();
        for (batch, entries) in &files.batches {
            let partitions: Vec<Arc<BinaryRow>> = batch.partitions()?.into_iter().map(Arc::new).collect();
            for i in entries.iter().map(|i| *i as usize) {
                let Some(partition) = partitions.get(batch.partition_id(i) as usize) else { continue };
                let sum = sums.entry((Arc::clone(partition), batch.bucket(i))).or_default();
                match batch.level(i) {
                    0 => sum.level_0 += 1,
                    level => {
                        sum.levels.insert(level);
                    }
                }
                sum.files += 1;
                sum.bytes = sum.bytes.saturating_add(batch.file_size(i));
            }
        }
        Ok(sums
            .into_iter()
            .map(|((partition, bucket), sum)| BucketLoad {
                partition: BinaryRow::clone(&partition),
                bucket,
                runs: sum.level_0 + sum.levels.len(),
                files: sum.files,
                bytes: sum.bytes,
            })
            .collect())
    }
}
