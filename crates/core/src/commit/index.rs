//! The next index manifest from the last one and a change; it is always written whole (spec: format.md C.4).

use std::collections::BTreeMap;
use std::sync::Arc;

use linn_format::manifest::{DELETION_VECTORS_INDEX, FileKind, HASH_INDEX, IndexManifestEntry};

/// Applies the changes. `unaware` says that the table has no buckets, where an index file of deletion vectors holds those of
/// any files and lines are therefore told apart by file name. `Err` is the reason against the change.
pub(super) fn combine(
    previous: Vec<IndexManifestEntry>,
    changes: &[IndexManifestEntry],
    unaware: bool,
) -> Result<Vec<IndexManifestEntry>, String> {
    let mut lines = previous;
    // Removals first, so that what replaces a line is not removed in its stead.
    for change in changes.iter().filter(|change| change.kind == FileKind::Delete) {
        let before = lines.len();
        lines.retain(|line| !replaces(change, line, unaware));
        if before == lines.len() && is_named(change, unaware) {
            return Err(format!("index file {} is to be removed, but is not in the table any more", change.file_name));
        }
    }
    for change in changes.iter().filter(|change| change.kind == FileKind::Add) {
        if is_named(change, unaware) {
            if lines.iter().any(|line| line.file_name == change.file_name) {
                return Err(format!("index file {} is in the table already", change.file_name));
            }
        } else {
            lines.retain(|line| !replaces(change, line, unaware));
        }
        lines.push(change.clone());
    }
    twice(&lines, unaware).map_or(Ok(lines), Err)
}

/// Whether every partition has the hash index files that its new rows were given their buckets by; else the reason.
/// Whoever wrote the partition meanwhile may have put the same key into another bucket (cases B8).
pub(super) fn check_hashes(
    lines: &[IndexManifestEntry],
    bases: &BTreeMap<Vec<u8>, Arc<[String]>>,
) -> Result<(), String> {
    if bases.is_empty() {
        return Ok(());
    }
    let mut now: BTreeMap<Vec<u8>, Vec<&str>> = bases.keys().map(|partition| (partition.clone(), Vec::new())).collect();
    for line in lines.iter().filter(|line| line.index_type == HASH_INDEX) {
        if let Some(names) = now.get_mut(&*line.partition.to_serialized()) {
            names.push(&line.file_name);
        }
    }
    for (partition, base) in bases {
        let names = now.entry(partition.clone()).or_default();
        names.sort_unstable();
        if !names.iter().copied().eq(base.iter().map(String::as_str)) {
            return Err(
                "another job has written new keys to a partition with dynamic buckets, which can have one writer \
                        at a time"
                    .to_owned(),
            );
        }
    }
    Ok(())
}

/// Whether lines of this type stand for themselves rather than for their bucket.
fn is_named(entry: &IndexManifestEntry, unaware: bool) -> bool {
    match entry.index_type.as_str() {
        HASH_INDEX => false,
        DELETION_VECTORS_INDEX => unaware,
        _ => true,
    }
}

fn replaces(change: &IndexManifestEntry, line: &IndexManifestEntry, unaware: bool) -> bool {
    if change.index_type != line.index_type {
        return false;
    }
    if is_named(change, unaware) {
        return change.file_name == line.file_name;
    }
    change.partition == line.partition && change.bucket == line.bucket
}

/// A data file must not have two deletion vectors.
fn twice(lines: &[IndexManifestEntry], unaware: bool) -> Option<String> {
    if !unaware {
        return None;
    }
    let mut vectors = BTreeMap::new();
    let all = lines.iter().filter(|line| line.index_type == DELETION_VECTORS_INDEX);
    for (line, vector) in all.flat_map(|line| line.deletion_vectors.iter().flatten().map(move |vector| (line, vector)))
    {
        if let Some(other) = vectors.insert(&vector.data_file, &line.file_name) {
            return Some(format!(
                "file {} would have deletion vectors in {other} and {}",
                vector.data_file, line.file_name
            ));
        }
    }
    None
}
