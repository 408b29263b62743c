//! Whether a change still fits the table that it meets (spec: format.md C.17; reliability.md H12–H15). Pure: entries in, the
//! reason against it out.
//!
//! What must hold: a file is added once and removed once, a removed file is there, deletion vectors are replaced from the
//! state they were made on, key ranges within a level above 0 are disjoint, a partition has one bucket count.

use std::cmp::Ordering;
use std::collections::HashMap;

use linn_format::manifest::{DELETION_VECTORS_INDEX, EntryBatch, FileKind, IndexManifestEntry};
use linn_format::row::BinaryRow;
use linn_format::types::DataType;
use linn_format::{Error, Result};

/// What identifies a file, with the index file of its deletion vector where those are checked.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) partition: Box<[u8]>,
    pub(super) bucket: i32,
    pub(super) level: i32,
    pub(super) file_name: Box<str>,
    pub(super) rest: Box<[u8]>,
    pub(super) vector: Option<String>,
}

/// What conflicts are about, of one entry.
#[derive(Debug, Clone)]
pub(super) struct Simple {
    pub(super) kind: FileKind,
    pub(super) key: Key,
    pub(super) total_buckets: i32,
    pub(super) min_key: Box<[u8]>,
    pub(super) max_key: Box<[u8]>,
}

impl Simple {
    /// Entry `i` of a batch.
    pub(super) fn of(batch: &EntryBatch, i: usize) -> Self {
        let identity = batch.identity(i);
        Self {
            kind: batch.kind(i),
            key: Key {
                partition: identity.partition.into(),
                bucket: identity.bucket,
                level: identity.level,
                file_name: identity.file_name.into(),
                rest: identity.rest.into(),
                vector: None,
            },
            total_buckets: batch.total_buckets(i),
            min_key: batch.min_key(i).into(),
            max_key: batch.max_key(i).into(),
        }
    }

    fn with_vector(&self, kind: FileKind, vector: Option<&str>) -> Self {
        let mut entry = self.clone();
        entry.kind = kind;
        entry.key.vector = vector.map(str::to_owned);
        entry
    }
}

/// The files that are in the changed buckets.
pub(super) type Base = HashMap<Key, Simple>;

/// What is checked beyond the files themselves.
#[derive(Debug, Default)]
pub(super) struct Rules {
    /// Types of the trimmed primary key, when levels must be disjoint.
    pub(super) key_types: Option<Vec<DataType>>,
    /// Whether the bucket count may change.
    pub(super) may_rescale: bool,
}

/// Applies `delta` to `base`; the reason when it does not fit.
pub(super) fn check(
    base: &Base,
    buckets: &HashMap<Box<[u8]>, i32>,
    delta: &[Simple],
    rules: &Rules,
) -> Result<Option<String>> {
    if let Some(why) = check_delta(delta) {
        return Ok(Some(why));
    }
    if !rules.may_rescale
        && let Some(why) = check_buckets(buckets, delta)
    {
        return Ok(Some(why));
    }
    let mut added = Vec::new();
    for entry in delta {
        let there = base.contains_key(&entry.key);
        match entry.kind {
            FileKind::Add if there => {
                return Ok(Some(format!(
                    "file {} of bucket {} is in the table already",
                    entry.key.file_name, entry.key.bucket
                )));
            }
            FileKind::Add => added.push(entry),
            FileKind::Delete if !there => {
                return Ok(Some(format!(
                    "file {} (level {}) of bucket {} is to be removed, but is not in the table any more{}",
                    entry.key.file_name,
                    entry.key.level,
                    entry.key.bucket,
                    if entry.key.vector.is_some() { " with this deletion vector" } else { "" }
                )));
            }
            FileKind::Delete => {}
        }
    }
    match &rules.key_types {
        Some(types) => check_levels(base, delta, &added, types),
        None => Ok(None),
    }
}

/// A file that a change names twice would be lost or doubled by whoever merges entries.
fn check_delta(delta: &[Simple]) -> Option<String> {
    let mut seen = HashMap::with_capacity(delta.len());
    let twice = delta.iter().find(|entry| seen.insert(&entry.key, ()).is_some())?;
    Some(format!("file {} occurs twice in a commit", twice.key.file_name))
}

/// The bucket counts that a change writes with, by partition; the reason when a partition has two.
pub(super) fn written_buckets(delta: &[Simple]) -> Result<HashMap<Box<[u8]>, i32>, String> {
    let mut counts: HashMap<Box<[u8]>, i32> = HashMap::new();
    for entry in delta.iter().filter(|entry| entry.kind == FileKind::Add && entry.total_buckets > 0) {
        let count = *counts.entry(entry.key.partition.clone()).or_insert(entry.total_buckets);
        if count != entry.total_buckets {
            return Err(format!("a commit writes a partition with {count} and with {} buckets", entry.total_buckets));
        }
    }
    Ok(counts)
}

fn check_buckets(buckets: &HashMap<Box<[u8]>, i32>, delta: &[Simple]) -> Option<String> {
    let written = match written_buckets(delta) {
        Ok(written) => written,
        Err(why) => return Some(why),
    };
    let (old, new) = written.iter().find_map(|(partition, new)| {
        let old = buckets.get(partition)?;
        (old != new).then_some((old, new))
    })?;
    Some(format!(
        "a partition has {old} buckets and this writes it with {new}; rescale or overwrite the partition to change the count"
    ))
}

/// Two files of one level whose keys overlap would hide rows of one another.
fn check_levels(base: &Base, delta: &[Simple], added: &[&Simple], types: &[DataType]) -> Result<Option<String>> {
    type Level<'a> = (&'a [u8], i32, i32);
    fn level(entry: &Simple) -> Level<'_> {
        (&entry.key.partition, entry.key.bucket, entry.key.level)
    }
    let touched: std::collections::HashSet<Level<'_>> =
        added.iter().filter(|entry| entry.key.level > 0).map(|entry| level(entry)).collect();
    if touched.is_empty() {
        return Ok(None);
    }
    let removed: std::collections::HashSet<&Key> =
        delta.iter().filter(|entry| entry.kind == FileKind::Delete).map(|entry| &entry.key).collect();
    let stay = base.values().filter(|entry| !removed.contains(&entry.key));
    let mut levels: HashMap<Level<'_>, Vec<&Simple>> = HashMap::new();
    for entry in stay.chain(added.iter().copied()).filter(|entry| touched.contains(&level(entry))) {
        levels.entry(level(entry)).or_default().push(entry);
    }
    for files in levels.into_values() {
        if let Some((a, b)) = overlap(&files, types)? {
            return Ok(Some(format!(
                "files {} and {} of level {} in bucket {} have overlapping keys",
                a.key.file_name, b.key.file_name, a.key.level, a.key.bucket
            )));
        }
    }
    Ok(None)
}

fn overlap<'a>(files: &[&'a Simple], types: &[DataType]) -> Result<Option<(&'a Simple, &'a Simple)>> {
    let mut ranges = Vec::with_capacity(files.len());
    for file in files {
        let row = |bytes: &[u8]| BinaryRow::from_serialized(bytes.to_vec());
        let min = row(&file.min_key)?.datums(types.iter())?;
        let max = row(&file.max_key)?.datums(types.iter())?;
        ranges.push((min, max, *file));
    }
    // Keys of one table are of the same types, so they always compare.
    ranges.sort_by(|a, b| compare(&a.0, &b.0));
    let pair = ranges.windows(2).find(|pair| compare(&pair[0].1, &pair[1].0).is_ge());
    Ok(pair.map(|pair| (pair[0].2, pair[1].2)))
}

/// Keys in order, nulls first.
pub(crate) fn compare(a: &[Option<linn_format::datum::Datum>], b: &[Option<linn_format::datum::Datum>]) -> Ordering {
    let order = |(a, b): (&Option<linn_format::datum::Datum>, &Option<linn_format::datum::Datum>)| match (a, b) {
        (Some(a), Some(b)) => a.compare(b).unwrap_or(Ordering::Equal),
        (a, b) => a.is_some().cmp(&b.is_some()),
    };
    a.iter().zip(b).map(order).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

/// Names the deletion vector of every file, so that whoever changes the vector of a file must have seen the one it has
/// (append tables without buckets; in bucketed ones a bucket has one writer).
///
/// # Errors
/// `Corrupt` when two index files of the table hold a vector for one file.
pub(super) fn pair_base(base: Base, index: &[IndexManifestEntry]) -> Result<Base> {
    let mut vectors: HashMap<&str, &str> = HashMap::new();
    for entry in index.iter().filter(|e| e.kind == FileKind::Add && e.index_type == DELETION_VECTORS_INDEX) {
        for vector in entry.deletion_vectors.iter().flatten() {
            if vectors.insert(&vector.data_file, &entry.file_name).is_some() {
                return Err(Error::corrupt(format!("file {} has two deletion vectors", vector.data_file)));
            }
        }
    }
    let pair = |entry: Simple| {
        let paired = entry.with_vector(FileKind::Add, vectors.get(&*entry.key.file_name).copied());
        (paired.key.clone(), paired)
    };
    Ok(base.into_values().map(pair).collect())
}

/// The same for a change: a new vector on a file removes the file with the old vector and adds it with the new one. `base` is
/// what [`pair_base`] made. `Err` is the reason against the change.
pub(super) fn pair_delta(base: &Base, delta: Vec<Simple>, index: &[IndexManifestEntry]) -> Result<Vec<Simple>, String> {
    let mut vectors: std::collections::BTreeMap<&str, Vec<(FileKind, &str)>> = std::collections::BTreeMap::new();
    for entry in index.iter().filter(|e| e.index_type == DELETION_VECTORS_INDEX) {
        for vector in entry.deletion_vectors.iter().flatten() {
            vectors.entry(&vector.data_file).or_default().push((entry.kind, &entry.file_name));
        }
    }
    let mut paired = Vec::with_capacity(delta.len());
    for entry in &delta {
        match vectors.remove(&*entry.key.file_name).as_deref() {
            None => paired.push(entry.clone()),
            Some([(_, vector)]) => paired.push(entry.with_vector(entry.kind, Some(vector))),
            Some(_) => {
                return Err(format!("file {} is changed together with two deletion vectors", entry.key.file_name));
            }
        }
    }
    if vectors.is_empty() {
        return Ok(paired);
    }
    let files: HashMap<&str, &Simple> = base.values().map(|entry| (&*entry.key.file_name, entry)).collect();
    for (file, changes) in vectors {
        let Some(there) = files.get(file) else {
            return Err(format!("file {file} gets a deletion vector, but is not in the table any more"));
        };
        paired.extend(changes.iter().map(|(kind, vector)| there.with_vector(*kind, Some(vector))));
        if let [(FileKind::Add, _)] = changes.as_slice() {
            paired.push(there.with_vector(FileKind::Delete, None));
        }
    }
    Ok(paired)
}

#[cfg(test)]
mod tests;
