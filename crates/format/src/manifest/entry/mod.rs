//! Manifests: the entries of data files, decoded column by column (spec: format.md C.4, C.5).
//!
//! The writer's schema is compiled once a file into a list of steps ([`program`]); each entry runs through them
//! ([`decode`]) into an [`EntryBatch`], which keeps numbers in columns and all variable parts in one buffer; partitions and
//! what many names of files begin with are kept once.

use bytes::Bytes;

mod batch;
mod build;
mod decode;
mod ints;
mod name;
mod program;
mod slots;
mod write;

pub use batch::{EntryBatch, FileIdentity};
pub use name::FileName;
pub use write::ManifestWriter;
pub(super) use write::{put_opt_bytes, put_opt_long, put_stats};

use super::avro::{self, Codec, Record};
use super::{FileKind, ManifestEntry, list, records};
use crate::file::{DataFileMeta, FileSource};
use crate::row::BinaryRow;
use crate::{Error, Result, SchemaId};

/// Version of the entry layout.
pub(super) const VERSION: i64 = 2;

/// Which statistics of entries are kept when a manifest is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StatsColumns {
    /// All; needed when entries are written again.
    All,
    /// None: entries come out as if their files had been written without value statistics.
    Keys,
}

/// Reads a manifest of any writer with all statistics.
///
/// # Errors
/// `Corrupt`; the caller adds the path.
pub fn read_manifest(bytes: &Bytes) -> Result<EntryBatch> {
    read_manifest_columns(bytes, StatsColumns::All)
}

/// Reads a manifest of any writer with some statistics.
///
/// # Errors
/// `Corrupt`; the caller adds the path.
pub fn read_manifest_columns(bytes: &Bytes, stats: StatsColumns) -> Result<EntryBatch> {
    if avro::is_container(bytes) {
        return decode::read(bytes, stats);
    }
    let mut entries = records::read(bytes)?.iter().map(entry).collect::<Result<Vec<_>>>()?;
    if stats == StatsColumns::Keys {
        entries.iter_mut().for_each(|e| batch::drop_value_stats(&mut e.file));
    }
    EntryBatch::from_entries(&entries)
}

/// Writes a manifest.
///
/// # Errors
/// None in practice; `Internal` when a codec fails.
pub fn write_manifest<'a>(entries: impl IntoIterator<Item = &'a ManifestEntry>, codec: Codec) -> Result<Vec<u8>> {
    let mut writer = ManifestWriter::new(codec);
    for entry in entries {
        writer.write(entry)?;
    }
    writer.finish()
}

fn entry(record: &Record) -> Result<ManifestEntry> {
    list::check_version(record, VERSION)?;
    Ok(ManifestEntry {
        kind: FileKind::from_number(record.long("_KIND")?)?,
        partition: BinaryRow::from_serialized(record.bytes("_PARTITION")?)?,
        bucket: record.int("_BUCKET")?,
        total_buckets: record.int("_TOTAL_BUCKETS")?,
        file: file(record.record("_FILE")?)?,
    })
}

fn file(record: &Record) -> Result<DataFileMeta> {
    let sequences = record.opt_longs("_WRITE_COLS_SEQUENCES")?.map(|all| all.into_iter().collect::<Option<Vec<_>>>());
    Ok(DataFileMeta {
        file_name: record.string("_FILE_NAME")?,
        file_size: record.long("_FILE_SIZE")?,
        row_count: record.long("_ROW_COUNT")?,
        min_key: BinaryRow::from_serialized(record.bytes("_MIN_KEY")?)?,
        max_key: BinaryRow::from_serialized(record.bytes("_MAX_KEY")?)?,
        key_stats: list::stats(record.record("_KEY_STATS")?)?,
        value_stats: list::stats(record.record("_VALUE_STATS")?)?,
        min_sequence_number: record.long("_MIN_SEQUENCE_NUMBER")?,
        max_sequence_number: record.long("_MAX_SEQUENCE_NUMBER")?,
        schema_id: SchemaId(record.long("_SCHEMA_ID")?),
        level: record.int("_LEVEL")?,
        extra_files: record.opt_strings("_EXTRA_FILES")?.unwrap_or_default(),
        creation_time: record.opt_long("_CREATION_TIME")?,
        delete_row_count: record.opt_long("_DELETE_ROW_COUNT")?,
        embedded_index: record.opt_bytes("_EMBEDDED_FILE_INDEX")?,
        file_source: record.opt_long("_FILE_SOURCE")?.map(FileSource::from_number).transpose()?,
        value_stats_cols: record.opt_strings("_VALUE_STATS_COLS")?,
        external_path: record.opt_string("_EXTERNAL_PATH")?,
        first_row_id: record.opt_long("_FIRST_ROW_ID")?,
        write_cols: record.opt_strings("_WRITE_COLS")?,
        write_cols_sequences: sequences
            .map(|all| all.ok_or_else(|| Error::corrupt("a sequence number of _WRITE_COLS_SEQUENCES is null")))
            .transpose()?,
    })
}
