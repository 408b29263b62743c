//! What a read must return: the commits up to a snapshot, replayed in the order of snapshots.

use std::collections::BTreeSet;
use std::sync::Arc;

use linn_core::Table;
use linn_format::snapshot::{CommitKind, Snapshot};
use linn_format::types::DataType;
use linn_format::{Result, SnapshotId};

use super::actor::increment;
use super::row::Row;
use super::shape::Shape;
use super::world::{Record, World};

/// The ledger's name of a snapshot's commit, if a writer made it. What follows a dot in the user's name names a process.
pub fn commit_of(snapshot: &Snapshot) -> Option<(String, i64)> {
    let made = matches!(snapshot.commit_kind, CommitKind::Append | CommitKind::Overwrite);
    let user = snapshot.commit_user.split('.').next().unwrap_or_default();
    let is_writer = ["writer-", "deleter-", increment::PREFIX].iter().any(|prefix| user.starts_with(prefix));
    (made && is_writer).then(|| (user.to_owned(), snapshot.commit_identifier))
}

/// The rows of a table at a snapshot, but for those of partitions and files that wait to be compacted before reads
/// see them.
pub fn expected(world: &World, shape: &Shape, id: SnapshotId, waiting: &[(String, i32)]) -> Vec<Row> {
    let record = world.record();
    let waiting: BTreeSet<(&(String, i64), i32)> =
        waiting.iter().filter_map(|(file, p)| record.files.get(file).map(|commit| (commit, *p))).collect();
    let written = written(&record, id, |commit, row| !waiting.contains(&(commit, row.p)));
    shape.fold(written)
}

/// The rows that the commits up to a snapshot left, in the order in which they were written.
fn written(record: &Record, id: SnapshotId, keep: impl Fn(&(String, i64), &Row) -> bool) -> Vec<&Row> {
    let mut rows: Vec<&Row> = Vec::new();
    for (_, snapshot) in record.snapshots.range(..=id.0) {
        let Some(commit) = commit_of(snapshot) else {
            if let Some(partition) = record.dropped.filter(|_| snapshot.commit_kind == CommitKind::Overwrite) {
                rows.retain(|row| row.p != partition);
            }
            continue;
        };
        let Some(entry) = record.ledger.get(&commit) else { continue };
        if let Some(partition) = entry.replaces {
            rows.retain(|row| row.p != partition);
        }
        if !entry.deletes.is_empty() {
            rows.retain(|row| !row.values.w.as_ref().is_some_and(|w| entry.deletes.contains(w)));
        }
        rows.extend(entry.rows.iter().filter(|row| keep(&commit, row)));
    }
    rows
}

/// The files of level 0 and their partitions at a snapshot.
///
/// # Errors
/// What planning yields.
pub async fn waiting(table: &Table, snapshot: &Arc<Snapshot>) -> Result<Vec<(String, i32)>> {
    let plan = table.scan().snapshot(Arc::clone(snapshot)).every_level().plan().await?;
    let types: Vec<DataType> = table.schema().partition_fields().iter().map(|field| field.data_type.clone()).collect();
    let mut files = Vec::new();
    for split in &plan.splits {
        let values = split.partition.datums(types.iter())?;
        let p = match values.first() {
            Some(Some(linn_format::datum::Datum::Int(p))) => *p,
            _ => continue,
        };
        let names = split.files.iter().filter(|file| file.level == 0).map(|file| (file.file_name.clone(), p));
        files.extend(names);
    }
    Ok(files)
}

/// What is different between two sorted lists of rows, in words.
pub fn difference(read: &[Row], expected: &[Row]) -> Option<String> {
    if read == expected {
        return None;
    }
    let side = |one: &[Row], other: &[Row]| {
        let mut left = other.to_vec();
        let rows: Vec<String> = one
            .iter()
            .filter(|row| match left.iter().position(|other| other == *row) {
                Some(at) => {
                    left.swap_remove(at);
                    false
                }
                None => true,
            })
            .take(3)
            .map(|row| format!("{}/{} {:?}", row.p, row.k, row.values))
            .collect();
        rows.join("; ")
    };
    Some(format!(
        "{} rows instead of {}; too many: [{}]; missing: [{}]",
        read.len(),
        expected.len(),
        side(read, expected),
        side(expected, read)
    ))
}
