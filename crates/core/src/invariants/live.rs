//! The files that a history leaves, followed change by change.

use std::collections::HashMap;

use linn_format::manifest::{EntryBatch, FileKind, ManifestEntry};
use linn_format::{Result, SchemaId, SnapshotId};

use super::report::{Report, Rule};
use crate::file::{extra_file_path, place_of};
use crate::table::Table;

/// What identifies a file among all entries of a table.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) partition: Box<[u8]>,
    pub(super) bucket: i32,
    pub(super) level: i32,
    pub(super) name: Box<str>,
    rest: Box<[u8]>,
}

impl Key {
    fn of(batch: &EntryBatch, i: usize) -> Self {
        let identity = batch.identity(i);
        Self {
            partition: identity.partition.into(),
            bucket: identity.bucket,
            level: identity.level,
            name: identity.file_name.into(),
            rest: identity.rest.into(),
        }
    }
}

/// What the checks need to know of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Facts {
    pub(super) rows: i64,
    pub(super) bytes: i64,
    pub(super) schema: SchemaId,
    pub(super) total_buckets: i32,
    pub(super) min_key: Box<[u8]>,
    pub(super) max_key: Box<[u8]>,
    pub(super) sequences: (i64, i64),
    pub(super) deletes: Option<i64>,
}

/// Live files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Live {
    pub(super) files: HashMap<Key, Facts>,
    pub(super) rows: i64,
}

/// Files that must be there, by path: their size where it is known, and the last snapshot that has them.
pub(super) type Wanted = HashMap<String, (Option<i64>, SnapshotId)>;

impl Live {
    /// Applies a manifest's entries. What comes back is by how much the rows grew.
    ///
    /// # Errors
    /// `Corrupt` when an entry cannot be decoded.
    pub(super) fn apply(
        &mut self,
        batch: &EntryBatch,
        at: SnapshotId,
        place: &str,
        report: &mut Report,
    ) -> Result<i64> {
        let mut grown: i64 = 0;
        for i in 0..batch.len() {
            let key = Key::of(batch, i);
            let name = key.name.clone();
            match batch.kind(i) {
                FileKind::Add => {
                    grown = grown.saturating_add(batch.row_count(i));
                    if self.files.insert(key, facts(&batch.entry(i)?)).is_some() {
                        report
                            .fault(Rule::Files, place, format!("file {name} is added although it exists already"))
                            .until(at);
                    }
                }
                FileKind::Delete => {
                    grown = grown.saturating_sub(batch.row_count(i));
                    if self.files.remove(&key).is_none() {
                        report.fault(Rule::Files, place, format!("file {name} is removed but did not exist")).until(at);
                    }
                }
            }
        }
        self.rows = self.rows.saturating_add(grown);
        Ok(grown)
    }
}

fn facts(entry: &ManifestEntry) -> Facts {
    let file = &entry.file;
    Facts {
        rows: file.row_count,
        bytes: file.file_size,
        schema: file.schema_id,
        total_buckets: entry.total_buckets,
        min_key: file.min_key.to_serialized().to_vec().into_boxed_slice(),
        max_key: file.max_key.to_serialized().to_vec().into_boxed_slice(),
        sequences: (file.min_sequence_number, file.max_sequence_number),
        deletes: file.delete_row_count,
    }
}

/// Notes the files of entries: those that are added must be there from now on, those that are removed need not be after the
/// snapshot before.
///
/// # Errors
/// `Corrupt` when an entry cannot be decoded or says nothing of its place.
pub(super) fn note(table: &Table, batch: &EntryBatch, at: SnapshotId, wanted: &mut Wanted) -> Result<()> {
    for i in 0..batch.len() {
        let entry = batch.entry(i)?;
        let place = place_of(table, &entry.partition, entry.bucket, &entry.file)?;
        // Of a file that holds several, no entry tells the whole size.
        let size = place.part.is_none().then_some(entry.file.file_size);
        let extras = entry.file.extra_files.iter();
        let extras = extras
            .map(|extra| extra_file_path(table, &entry.partition, entry.bucket, &entry.file, extra).map(|p| (p, None)));
        for file in std::iter::once(Ok((place.path.clone(), size))).chain(extras) {
            let (path, size) = file?;
            match entry.kind {
                FileKind::Add => drop(wanted.insert(path, (size, SnapshotId(i64::MAX)))),
                FileKind::Delete => {
                    if let Some((_, last)) = wanted.get_mut(&path) {
                        *last = SnapshotId(at.0 - 1);
                    }
                }
            }
        }
    }
    Ok(())
}
