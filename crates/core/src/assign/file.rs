//! The hash index files of a table: which there are, reading and writing them (spec: format.md C.11).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use linn_format::hash::{hash_index_name, read_hash_index, write_hash_index};
use linn_format::manifest::{FileKind, HASH_INDEX, IndexManifestEntry};
use linn_format::row::BinaryRow;
use linn_format::{Result, ResultExt, SnapshotId};

use crate::manifest::Manifests;
use crate::snapshot::Snapshots;
use crate::table::Table;

/// Lines of a partition by bucket.
pub(super) type Lines = BTreeMap<i32, IndexManifestEntry>;

/// The hash index files of one table.
pub(super) struct IndexFiles {
    table: Table,
    uuid: String,
    counter: AtomicU64,
    /// The last index manifest that was read. Writers ask for many partitions of one snapshot.
    read: Option<(String, Arc<BTreeMap<BinaryRowKey, Lines>>)>,
}

/// A partition in its serialised form, which has an order.
type BinaryRowKey = Vec<u8>;

impl IndexFiles {
    pub(super) fn new(table: &Table) -> Self {
        Self { table: table.clone(), uuid: table.env().ids.uuid(), counter: AtomicU64::new(0), read: None }
    }

    /// The latest snapshot, 0 for an empty table, and the lines of every partition at it.
    pub(super) async fn latest(&mut self) -> Result<(SnapshotId, Arc<BTreeMap<BinaryRowKey, Lines>>)> {
        let Some(latest) = Snapshots::new(&self.table).latest().await? else {
            return Ok((SnapshotId(0), Arc::default()));
        };
        let id = latest.id;
        let Some(name) = latest.index_manifest.clone() else { return Ok((id, Arc::default())) };
        if let Some((read, lines)) = &self.read
            && *read == name
        {
            return Ok((id, Arc::clone(lines)));
        }
        let mut lines: BTreeMap<BinaryRowKey, Lines> = BTreeMap::new();
        for line in Manifests::new(&self.table).read_index(&name).await? {
            if line.index_type == HASH_INDEX && line.kind == FileKind::Add {
                let partition = line.partition.to_serialized().to_vec();
                lines.entry(partition).or_default().insert(line.bucket, line);
            }
        }
        let lines = Arc::new(lines);
        self.read = Some((name, Arc::clone(&lines)));
        Ok((id, lines))
    }

    /// The hashes of a line's file.
    pub(super) async fn hashes(&self, line: &IndexManifestEntry) -> Result<Vec<i32>> {
        let path = self.table.index_file_path(line)?;
        let bytes = self.table.storage().read(&path, None).await.context("path", &path)?;
        read_hash_index(&line.file_name, &bytes, line.row_count).context("path", path)
    }

    /// Writes the hashes of a bucket; the line that a commit adds for them.
    pub(super) async fn write(&self, partition: &BinaryRow, bucket: i32, hashes: &[i32]) -> Result<IndexManifestEntry> {
        let bytes = write_hash_index(hashes);
        let unused = format!("index-{}-{}", self.uuid, self.counter.fetch_add(1, Ordering::Relaxed));
        let line = IndexManifestEntry {
            kind: FileKind::Add,
            partition: partition.clone(),
            bucket,
            index_type: HASH_INDEX.to_owned(),
            file_name: hash_index_name(&unused, &bytes),
            file_size: i64::try_from(bytes.len()).unwrap_or(i64::MAX),
            row_count: i64::try_from(hashes.len()).unwrap_or(i64::MAX),
            deletion_vectors: None,
            external_path: None,
            global_index: None,
        };
        let path = self.table.index_file_path(&line)?;
        self.table.storage().put(&path, bytes).await.context("path", path)?;
        Ok(line)
    }

    /// Deletes a file that no commit was given.
    pub(super) async fn delete(&self, line: &IndexManifestEntry) {
        if let Ok(path) = self.table.index_file_path(line) {
            self.table.storage().delete(&path).await.ok();
        }
    }
}
