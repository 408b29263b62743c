//! Whether a change of deletion vectors in buckets still fits the table that it meets (spec: format.md C.17; cases D5,
//! D10). Pure: entries in, the reason against it out. Tables without buckets pair files with vectors instead, see
//! [`conflict`](super::conflict).
//!
//! What must hold: the index file of a bucket is replaced from the one that the change was made on, vectors are of files
//! that are there, no file with a vector goes without it, and what a compaction took to be above its result is.

use std::collections::{BTreeMap, BTreeSet};

use linn_format::manifest::{DELETION_VECTORS_INDEX, FileKind, IndexManifestEntry};

use super::change::Basis;
use super::conflict::{Base, Simple};

/// A bucket: serialised partition and number.
type Bucket = (Box<[u8]>, i32);

/// Index files that a change removes and adds in one bucket.
#[derive(Default)]
struct Swap<'a> {
    removed: BTreeSet<&'a str>,
    added: Vec<&'a IndexManifestEntry>,
}

/// Checks the lines that a change removes and adds against those of the table, and the files that it removes.
pub(super) fn check(
    base: &Base,
    delta: &[Simple],
    lines: &[IndexManifestEntry],
    change: &[IndexManifestEntry],
) -> Option<String> {
    let mut current: BTreeMap<Bucket, Vec<&IndexManifestEntry>> = BTreeMap::new();
    for line in vectors(lines).filter(|line| line.kind == FileKind::Add) {
        current.entry(bucket_of(line)).or_default().push(line);
    }
    let mut swaps: BTreeMap<Bucket, Swap<'_>> = BTreeMap::new();
    for line in vectors(change) {
        let swap = swaps.entry(bucket_of(line)).or_default();
        match line.kind {
            FileKind::Add => swap.added.push(line),
            FileKind::Delete => drop(swap.removed.insert(&line.file_name)),
        }
    }
    for (bucket, swap) in &swaps {
        let there: BTreeSet<&str> =
            current.get(bucket).into_iter().flatten().map(|line| line.file_name.as_str()).collect();
        if there != swap.removed {
            return Some(format!("the deletion vectors of bucket {} were changed by another commit", bucket.1));
        }
        let live = live(base, delta, bucket);
        let gone = files(&swap.added).find(|file| !live.contains(file));
        if let Some(file) = gone {
            return Some(format!("file {file} gets a deletion vector, but is not in the table any more"));
        }
    }
    for (bucket, lines) in current.iter().filter(|(bucket, _)| !swaps.contains_key(*bucket)) {
        let mut touched =
            delta.iter().filter(|entry| entry.kind == FileKind::Delete && is_in(entry, bucket)).peekable();
        if touched.peek().is_none() {
            continue;
        }
        let live = live(base, delta, bucket);
        let mut removed = touched.filter(|entry| !live.contains(&*entry.key.file_name));
        if let Some(entry) = removed.find(|entry| files(lines).any(|file| file == &*entry.key.file_name)) {
            let file = &entry.key.file_name;
            return Some(format!("file {file} is to be removed, but got a deletion vector from another commit"));
        }
    }
    None
}

/// Checks that buckets have above level 0 the files that compactions took them to have.
pub(super) fn check_bases(base: &Base, bases: &[Basis]) -> Option<String> {
    bases.iter().find_map(|basis| {
        let bucket = (basis.partition.clone(), basis.bucket);
        let above = base.values().filter(|entry| entry.key.level > 0 && is_in(entry, &bucket));
        let above: BTreeSet<&str> = above.map(|entry| &*entry.key.file_name).collect();
        let differs = above.len() != basis.files.len() || !basis.files.iter().all(|file| above.contains(file.as_str()));
        differs.then(|| format!("another commit changed the files above level 0 of bucket {}", basis.bucket))
    })
}

fn vectors(lines: &[IndexManifestEntry]) -> impl Iterator<Item = &IndexManifestEntry> {
    lines.iter().filter(|line| line.index_type == DELETION_VECTORS_INDEX)
}

/// The data files that have vectors in these index files.
fn files<'a>(lines: &'a [&IndexManifestEntry]) -> impl Iterator<Item = &'a str> {
    lines.iter().flat_map(|line| line.deletion_vectors.iter().flatten()).map(|vector| vector.data_file.as_str())
}

fn bucket_of(line: &IndexManifestEntry) -> Bucket {
    (line.partition.to_serialized().to_vec().into_boxed_slice(), line.bucket)
}

fn is_in(entry: &Simple, (partition, bucket): &Bucket) -> bool {
    entry.key.bucket == *bucket && entry.key.partition == *partition
}

/// Names of the files that a bucket has after the change.
fn live<'a>(base: &'a Base, delta: &'a [Simple], bucket: &Bucket) -> BTreeSet<&'a str> {
    let name = |entry: &'a Simple| &*entry.key.file_name;
    let mut live: BTreeSet<&str> = base.values().filter(|entry| is_in(entry, bucket)).map(name).collect();
    let of_kind = |kind| delta.iter().filter(move |e| e.kind == kind && is_in(e, bucket)).map(name);
    for file in of_kind(FileKind::Delete) {
        live.remove(file);
    }
    live.extend(of_kind(FileKind::Add));
    live
}

#[cfg(test)]
mod tests;
