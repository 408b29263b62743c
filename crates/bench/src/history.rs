//! A table of many files and a long history, laid down as metadata: manifests, lists and snapshots through the writers of the
//! format, as a committer would leave them, but without its checks of every one of ten thousand commits.
//!
//! The first snapshot adds all files. Each later one is a compaction that replaces a few of them by files with the same keys.
//! Only the files that are replaced exist, empty, so that expiry has something to delete; nothing reads the others.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use futures::TryStreamExt;
use linn_core::maintain::{Retention, SnapshotExpiry};
use linn_core::system::SystemTable;
use linn_core::{Snapshots, Table};
use linn_format::manifest::{Codec, FileKind, ManifestEntry, ManifestMeta, ManifestWriter, write_manifest_list};
use linn_format::predicate::Predicate;
use linn_format::row::BinaryRow;
use linn_format::snapshot::{CommitKind, Snapshot};
use linn_format::stats::SimpleStats;
use linn_format::{SchemaId, SnapshotId};
use serde_json::Value;

use crate::data::Rows;
use crate::measure::{record, size_of, start};
use crate::metadata::{BUCKETS, LEVEL, file};
use crate::tree::{create, open};

/// Size at which a manifest is full: the default of `manifest.target-file-size`.
const FULL: usize = 8 << 20;
/// Small manifests that are put together: the default of `manifest.merge-min-count`.
const TOGETHER: usize = 30;
/// Entries after which a manifest that was put together grows no more, so that writing it again and again ends.
const GROWN: usize = 20_000;
/// Codec of manifests: the default of `manifest.compression`.
const CODEC: Codec = Codec::Zstd(1);
/// Files that one snapshot replaces.
const REPLACED: usize = 10;
/// Snapshots that stay.
const KEPT: i64 = 1;

/// Lays down a table of `files` files, with so many snapshots that replace some.
pub(crate) async fn lay(dir: &Path, files: usize, snapshots: usize) -> Result<Value> {
    ensure!(snapshots * REPLACED <= files, "{snapshots} snapshots replace more than {files} files");
    let table = create(dir, Rows::Narrow, &[("bucket".to_owned(), BUCKETS.to_string())]).await?;
    let clock = start();
    let mut layer = Layer { table, next: 0 };
    let mut id = SnapshotId::FIRST;
    let first = layer.added(files).await?;
    layer.snapshot(id, &[], &first, CommitKind::Append).await?;
    let mut base = first;
    // The manifest that grows, and what waits to be put into it.
    let (mut grown, mut waiting): (Vec<ManifestEntry>, Vec<ManifestMeta>) = (Vec::new(), Vec::new());
    let mut apart = Vec::new();
    for number in 0..snapshots {
        id = id.next();
        let entries = layer.replacement(number, files)?;
        layer.make_files(&entries).await?;
        let delta = layer.manifest(&entries).await?;
        layer
            .snapshot(id, &[base.as_slice(), &waiting].concat(), std::slice::from_ref(&delta), CommitKind::Compact)
            .await?;
        apart.extend(entries);
        waiting.push(delta);
        if waiting.len() == TOGETHER {
            if !grown.is_empty() {
                base.pop();
            }
            grown.append(&mut apart);
            waiting.clear();
            base.push(layer.manifest(&grown).await?);
            if grown.len() >= GROWN {
                grown.clear();
            }
        }
    }
    let history = Snapshots::new(&layer.table);
    let folder = layer.table.snapshot_dir();
    for (hint, id) in [("EARLIEST", SnapshotId::FIRST), ("LATEST", id)] {
        layer.table.storage().put(&format!("{folder}/{hint}"), id.0.to_string().into()).await?;
    }
    ensure!(history.latest_id().await? == Some(id), "the history does not end where it should");
    Ok(record(files, size_of(dir)?, clock.elapsed()))
}

struct Layer {
    table: Table,
    /// Number of the next metadata file.
    next: usize,
}

impl Layer {
    /// Manifests that add the first `files` files.
    async fn added(&mut self, files: usize) -> Result<Vec<ManifestMeta>> {
        let mut manifests = Vec::new();
        let (mut writer, mut count) = (ManifestWriter::new(CODEC), 0);
        for number in 0..files {
            writer.write(&self.entry(FileKind::Add, number, number)?)?;
            count += 1;
            if writer.size() >= FULL || number + 1 == files {
                let full = std::mem::replace(&mut writer, ManifestWriter::new(CODEC));
                manifests.push(self.write(full, count, 0).await?);
                count = 0;
            }
        }
        Ok(manifests)
    }

    /// What the `number`-th replacement does: new files of the keys of old ones.
    fn replacement(&self, number: usize, files: usize) -> Result<Vec<ManifestEntry>> {
        let old = number * REPLACED..(number + 1) * REPLACED;
        let removed = old.clone().map(|file| self.entry(FileKind::Delete, file, file));
        let added = old.map(|file| self.entry(FileKind::Add, files + file, file));
        removed.chain(added).collect()
    }

    /// The file `name` with the keys of the file `keys`.
    fn entry(&self, kind: FileKind, name: usize, keys: usize) -> Result<ManifestEntry> {
        let bucket = i32::try_from(keys % usize::try_from(BUCKETS)?)?;
        let file = file(self.table.schema(), i64::try_from(name)?, i64::try_from(keys)?)?;
        Ok(ManifestEntry { kind, partition: BinaryRow::empty(), bucket, total_buckets: BUCKETS, file })
    }

    /// Makes the files that go, empty.
    async fn make_files(&self, entries: &[ManifestEntry]) -> Result<()> {
        for entry in entries.iter().filter(|entry| entry.kind == FileKind::Delete) {
            let folder = self.table.bucket_path(&entry.partition, entry.bucket)?;
            self.table.storage().put(&format!("{folder}/{}", entry.file.file_name), Vec::new().into()).await?;
        }
        Ok(())
    }

    async fn manifest(&mut self, entries: &[ManifestEntry]) -> Result<ManifestMeta> {
        let mut writer = ManifestWriter::new(CODEC);
        entries.iter().try_for_each(|entry| writer.write(entry))?;
        let deletes = entries.iter().filter(|entry| entry.kind == FileKind::Delete).count();
        self.write(writer, entries.len() - deletes, deletes).await
    }

    async fn write(&mut self, writer: ManifestWriter, adds: usize, deletes: usize) -> Result<ManifestMeta> {
        let bytes = writer.finish()?;
        let file_size = i64::try_from(bytes.len())?;
        let file_name = self.put("manifest", bytes).await?;
        let level = i32::from(LEVEL);
        Ok(ManifestMeta {
            file_name,
            file_size,
            num_added_files: i64::try_from(adds)?,
            num_deleted_files: i64::try_from(deletes)?,
            partition_stats: SimpleStats { min: BinaryRow::empty(), max: BinaryRow::empty(), null_counts: Vec::new() },
            schema_id: SchemaId(0),
            min_bucket: Some(0),
            max_bucket: Some(BUCKETS - 1),
            min_level: Some(level),
            max_level: Some(level),
            min_row_id: None,
            max_row_id: None,
        })
    }

    async fn put(&mut self, kind: &str, bytes: Vec<u8>) -> Result<String> {
        let name = format!("{kind}-7d2f0e51-94c1-4a8e-b6a3-0c2d9f1e5b77-{}", self.next);
        self.next += 1;
        self.table.storage().put(&self.table.manifest_path(&name), bytes.into()).await?;
        Ok(name)
    }

    async fn snapshot(
        &mut self,
        id: SnapshotId,
        base: &[ManifestMeta],
        delta: &[ManifestMeta],
        commit_kind: CommitKind,
    ) -> Result<()> {
        let (base, delta) = (write_manifest_list(base, CODEC)?, write_manifest_list(delta, CODEC)?);
        let sizes = [i64::try_from(base.len())?, i64::try_from(delta.len())?];
        let snapshot = Snapshot {
            version: 3,
            uuid: None,
            id,
            schema_id: SchemaId(0),
            base_manifest_list: self.put("manifest-list", base).await?,
            base_manifest_list_size: Some(sizes[0]),
            delta_manifest_list: self.put("manifest-list", delta).await?,
            delta_manifest_list_size: Some(sizes[1]),
            changelog_manifest_list: None,
            changelog_manifest_list_size: None,
            index_manifest: None,
            commit_user: "bench".to_owned(),
            writer_version: None,
            commit_identifier: id.0,
            commit_kind,
            time_millis: 1_700_000_000_000 + id.0 * 60_000,
            total_record_count: None,
            delta_record_count: None,
            changelog_record_count: None,
            watermark: None,
            statistics: None,
            properties: None,
            next_row_id: None,
            operation: None,
        };
        let path = Snapshots::new(&self.table).path(id);
        self.table.storage().put(&path, snapshot.to_json()?.into()).await?;
        Ok(())
    }
}

/// Expires all snapshots but the last, in a process that has read nothing of the table yet. `rows` are snapshots, `bytes` those
/// that the metadata says went.
pub(crate) async fn expire(dir: &Path) -> Result<Value> {
    let clock = start();
    let table = open(dir).await?;
    let expiry = SnapshotExpiry::new(&table)?;
    let keep = Retention { max: KEPT, min: KEPT, older_than: i64::MAX, limit: i64::MAX, consumers_hold: true };
    let (begin, end) = expiry.range(&keep).await?.context("nothing can expire")?;
    let expired = expiry.run(begin, end).await?;
    let mut measured = record(expired.snapshots.len(), expired.removal.bytes(), clock.elapsed());
    let gone = expired.removal.data.len();
    ensure!(gone == expired.snapshots.len() * REPLACED, "{gone} data files went");
    ensure!(expired.left == 0, "{} files could not be removed", expired.left);
    let table = open(dir).await?;
    ensure!(Snapshots::new(&table).list().await?.len() == usize::try_from(KEPT)?, "other snapshots than the last stay");
    let plan = table.scan().plan().await?;
    measured["files_that_stay"] = plan.splits.iter().map(|split| split.files.len()).sum::<usize>().into();
    measured["data_files_removed"] = gone.into();
    measured["metadata_files_removed"] = expired.removal.metadata.len().into();
    Ok(measured)
}

/// Reads the system table `files` to its end, dropping its rows, in a process that has read nothing of the table yet.
pub(crate) async fn system_files(dir: &Path) -> Result<Value> {
    let clock = start();
    let table = open(dir).await?;
    let mut stream = SystemTable::open(&table, "files")?.stream(Predicate::Constant(true)).await?;
    let (mut rows, mut bytes, mut first) = (0, 0, None);
    while let Some(batch) = stream.try_next().await? {
        first.get_or_insert_with(|| clock.elapsed().time.as_secs_f64());
        rows += batch.num_rows();
        bytes += batch.get_array_memory_size();
    }
    let mut measured = record(rows, u64::try_from(bytes)?, clock.elapsed());
    measured["first_rows_seconds"] = first.into();
    Ok(measured)
}
