//! Messages as manifest entries: what the new rows change, and what compaction changes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use linn_format::Result;
use linn_format::manifest::{DELETION_VECTORS_INDEX, FileKind, IndexManifestEntry, ManifestEntry};

use super::CommitMessage;
use crate::table::Table;

/// What one snapshot changes.
#[derive(Debug, Clone, Default)]
pub(super) struct Change {
    pub(super) entries: Vec<ManifestEntry>,
    pub(super) changelog: Vec<ManifestEntry>,
    pub(super) index: Vec<IndexManifestEntry>,
    /// Hash index files that partitions must have for the change to fit.
    pub(super) hash_bases: BTreeMap<Vec<u8>, Arc<[String]>>,
    pub(super) bases: Vec<Basis>,
}

/// What a compaction took to be all files above level 0 of its bucket.
#[derive(Debug, Clone)]
pub(super) struct Basis {
    pub(super) partition: Box<[u8]>,
    pub(super) bucket: i32,
    pub(super) files: BTreeSet<String>,
}

/// What one commit changes.
#[derive(Debug, Clone, Default)]
pub(super) struct Changes {
    pub(super) append: Change,
    pub(super) compact: Change,
}

impl Changes {
    pub(super) fn of(messages: &[CommitMessage]) -> Self {
        let mut changes = Self::default();
        for message in messages {
            let entry = |kind, file: &Arc<linn_format::file::DataFileMeta>| ManifestEntry {
                kind,
                partition: message.partition.clone(),
                bucket: message.bucket,
                total_buckets: message.total_buckets,
                file: (**file).clone(),
            };
            let append = &mut changes.append;
            append.entries.extend(message.new_files.iter().map(|file| entry(FileKind::Add, file)));
            append.entries.extend(message.deleted_files.iter().map(|file| entry(FileKind::Delete, file)));
            append.changelog.extend(message.changelog_files.iter().map(|file| entry(FileKind::Add, file)));
            append.index.extend(message.index_changes.iter().cloned());
            if let Some(base) = &message.hash_base {
                append.hash_bases.insert(message.partition.to_serialized().to_vec(), base.clone());
            }
            let compact = &mut changes.compact;
            compact.entries.extend(message.compact_before.iter().map(|file| entry(FileKind::Delete, file)));
            compact.entries.extend(message.compact_after.iter().map(|file| entry(FileKind::Add, file)));
            compact.changelog.extend(message.compact_changelog.iter().map(|file| entry(FileKind::Add, file)));
            compact.index.extend(message.compact_index_changes.iter().cloned());
            compact.bases.extend(message.compact_basis.iter().map(|files| Basis {
                partition: message.partition.to_serialized().to_vec().into_boxed_slice(),
                bucket: message.bucket,
                files: files.clone(),
            }));
        }
        changes
    }

    pub(super) fn is_empty(&self) -> bool {
        self.append.is_empty() && self.compact.is_empty()
    }
}

impl Change {
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.changelog.is_empty() && self.index.is_empty()
    }

    /// Whether rows that are in the table go away, by their file or by a deletion vector.
    pub(super) fn removes(&self) -> bool {
        self.entries.iter().any(|entry| entry.kind == FileKind::Delete)
            || self.index.iter().any(|entry| entry.index_type == DELETION_VECTORS_INDEX)
    }

    /// Whether files enter levels whose key ranges must stay disjoint.
    pub(super) fn adds_above_level_zero(&self) -> bool {
        self.entries.iter().any(|entry| entry.kind == FileKind::Add && entry.file.level > 0)
    }

    /// Names of all files of the change, in order; equal for equal changes.
    pub(super) fn names(&self) -> Vec<&str> {
        let files = self.entries.iter().chain(&self.changelog).map(|entry| entry.file.file_name.as_str());
        files.chain(self.index.iter().map(|entry| entry.file_name.as_str())).collect()
    }
}

/// Rows that entries add less those that they remove.
pub(super) fn row_count(entries: &[ManifestEntry]) -> i64 {
    entries.iter().fold(0_i64, |rows, entry| match entry.kind {
        FileKind::Add => rows.saturating_add(entry.file.row_count),
        FileKind::Delete => rows.saturating_sub(entry.file.row_count),
    })
}

/// Paths of all files that the messages would bring into the table. A file that compaction only moved to another level is
/// in the table already and is not among them.
pub(super) fn new_files(table: &Table, messages: &[CommitMessage]) -> Result<Vec<String>> {
    let mut paths = Vec::new();
    for message in messages {
        let dir = table.bucket_path(&message.partition, message.bucket)?;
        let moved = |name: &str| message.compact_before.iter().any(|file| file.file_name == name);
        let made = message.new_files.iter().chain(&message.changelog_files).chain(&message.compact_changelog);
        let upgraded = message.compact_after.iter().filter(|file| !moved(&file.file_name));
        for file in made.chain(upgraded).filter(|file| file.external_path.is_none()) {
            paths.push(format!("{dir}/{}", file.file_name));
            paths.extend(file.extra_files.iter().map(|extra| format!("{dir}/{extra}")));
        }
        let index = message.index_changes.iter().chain(&message.compact_index_changes);
        let added = index.filter(|entry| entry.kind == FileKind::Add && entry.external_path.is_none());
        for entry in added {
            paths.push(table.index_file_path(entry)?);
        }
    }
    Ok(paths)
}
