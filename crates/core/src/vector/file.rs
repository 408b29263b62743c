//! Index files of deletion vectors: where they lie, reading all of one, writing some.

use std::sync::Arc;

use bytes::Bytes;
use linn_format::manifest::{DELETION_VECTORS_INDEX, FileKind, IndexManifestEntry};
use linn_format::row::BinaryRow;
use linn_format::schema::Bucketing;
use linn_format::snapshot::Snapshot;
use linn_format::vector::{DeletionVectorWriter, VectorKind};
use linn_format::{Result, ResultExt, vector};

use crate::file::Positions;
use crate::manifest::Manifests;
use crate::table::Table;

/// All vectors of an index file.
///
/// # Errors
/// `NotFound` when the file is gone, `Corrupt` with the path when a vector is not what the line says.
pub(super) async fn read(table: &Table, entry: &IndexManifestEntry) -> Result<Positions> {
    let path = table.index_file_path(entry)?;
    let read = async {
        let bytes = table.storage().read(&path, None).await?;
        let metas = entry.deletion_vectors.iter().flatten();
        metas.map(|meta| Ok((meta.data_file.clone(), Arc::new(vector::read(&bytes, meta)?)))).collect()
    };
    let read: Result<Positions> = read.await;
    read.context("path", &path).context("table", table.name())
}

/// Writes vectors of a bucket into new index files, and returns their lines. With buckets that is one file; without,
/// files roll at `deletion-vector.index-file.target-size`.
///
/// # Errors
/// `Invalid` for a position that the encoding cannot hold, `Unavailable` when the store fails; then nothing is left.
pub(crate) async fn write(
    table: &Table,
    partition: &BinaryRow,
    bucket: i32,
    vectors: &Positions,
) -> Result<Vec<IndexManifestEntry>> {
    let mut lines = Vec::new();
    let written = write_all(table, partition, bucket, vectors, &mut lines).await;
    match written.context("table", table.name()) {
        Ok(()) => Ok(lines),
        Err(e) => {
            for line in &lines {
                delete(table, line).await.ok();
            }
            Err(e)
        }
    }
}

async fn write_all(
    table: &Table,
    partition: &BinaryRow,
    bucket: i32,
    vectors: &Positions,
    lines: &mut Vec<IndexManifestEntry>,
) -> Result<()> {
    let options = table.options();
    let kind = match options.deletion_vectors_bitmap64()? {
        true => VectorKind::Bitmap64,
        false => VectorKind::Bitmap32,
    };
    let target = match is_unaware(table)? {
        true => usize::try_from(options.deletion_vector_file_size()?).unwrap_or(usize::MAX),
        false => usize::MAX,
    };
    let mut rest = vectors.iter().peekable();
    while rest.peek().is_some() {
        let mut writer = DeletionVectorWriter::new(kind);
        for (file, positions) in rest.by_ref() {
            writer.add(file, positions)?;
            if writer.size() > target {
                break;
            }
        }
        let (bytes, metas) = writer.finish();
        let line = IndexManifestEntry {
            kind: FileKind::Add,
            partition: partition.clone(),
            bucket,
            index_type: DELETION_VECTORS_INDEX.to_owned(),
            file_name: format!("index-{}-0", table.env().ids.uuid()),
            file_size: i64::try_from(bytes.len()).unwrap_or(i64::MAX),
            row_count: i64::try_from(metas.len()).unwrap_or(i64::MAX),
            deletion_vectors: Some(metas),
            external_path: None,
            global_index: None,
        };
        table.storage().put(&table.index_file_path(&line)?, Bytes::from(bytes)).await?;
        lines.push(line);
    }
    Ok(())
}

/// Deletes an index file that no snapshot ever named; absent is fine.
pub(crate) async fn delete(table: &Table, entry: &IndexManifestEntry) -> Result<()> {
    table.storage().delete(&table.index_file_path(entry)?).await
}

/// Whether the table has no buckets.
pub(crate) fn is_unaware(table: &Table) -> Result<bool> {
    Ok(table.schema().bucketing()? == Bucketing::Unaware)
}

/// The lines of all deletion vectors of a snapshot.
pub(crate) async fn vector_lines(table: &Table, snapshot: &Snapshot) -> Result<Vec<IndexManifestEntry>> {
    let lines = Manifests::new(table).index_of(snapshot).await?;
    Ok(lines.into_iter().filter(|l| l.kind == FileKind::Add && l.index_type == DELETION_VECTORS_INDEX).collect())
}
