//! The deletion vectors of append tables: a change of some files' rows as lines of the index to remove and to add.

use std::collections::BTreeMap;

use linn_format::Result;
use linn_format::manifest::IndexManifestEntry;
use linn_format::row::BinaryRow;
use roaring::RoaringTreemap;

use crate::compact::TableFiles;
use crate::table::Table;
use crate::vector::{BucketVectors, is_unaware};

/// Marks rows in files of a bucket and forgets others of its files: the lines to remove and to add. `lines` are all of the
/// table. Without buckets only the index files that hold vectors of changed files are written anew.
pub(crate) async fn changes(
    table: &Table,
    lines: &[IndexManifestEntry],
    partition: &BinaryRow,
    bucket: i32,
    marks: &BTreeMap<String, RoaringTreemap>,
    gone: &[&str],
) -> Result<Vec<IndexManifestEntry>> {
    let unaware = is_unaware(table)?;
    let changed = |line: &IndexManifestEntry| {
        let mut files = line.deletion_vectors.iter().flatten().map(|vector| vector.data_file.as_str());
        files.any(|file| marks.contains_key(file) || gone.contains(&file))
    };
    let touched = lines.iter().filter(|l| l.partition == *partition && l.bucket == bucket);
    let touched = touched.filter(|line| !unaware || changed(line)).cloned().collect();
    let mut vectors = BucketVectors::load(table, touched).await?;
    vectors.mark(marks);
    for file in gone {
        vectors.remove(file);
    }
    let files = TableFiles { table: table.clone(), partition: partition.clone(), bucket, batch_size: 0, alone: false };
    vectors.hand_over(&files).await
}
