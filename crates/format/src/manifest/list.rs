//! Manifest lists (spec: format.md C.4).

use bytes::Bytes;

use super::avro::{Codec, Record, Writer, put_bytes, put_long};
use super::entry::{put_opt_long, put_stats};
use super::{ManifestMeta, records};
use crate::row::BinaryRow;
use crate::stats::SimpleStats;
use crate::{Error, Result, SchemaId};

const VERSION: i64 = 2;
const SCHEMA: &str = r#"{"type":"record","name":"record","namespace":"org.apache.paimon.avro.generated","fields":[{"name":"_VERSION","type":"int"},{"name":"_FILE_NAME","type":"string"},{"name":"_FILE_SIZE","type":"long"},{"name":"_NUM_ADDED_FILES","type":"long"},{"name":"_NUM_DELETED_FILES","type":"long"},{"name":"_PARTITION_STATS","type":{"type":"record","name":"record__PARTITION_STATS","fields":[{"name":"_MIN_VALUES","type":"bytes"},{"name":"_MAX_VALUES","type":"bytes"},{"name":"_NULL_COUNTS","type":["null",{"type":"array","items":["null","long"]}],"default":null}]}},{"name":"_SCHEMA_ID","type":"long"},{"name":"_MIN_BUCKET","type":["null","int"],"default":null},{"name":"_MAX_BUCKET","type":["null","int"],"default":null},{"name":"_MIN_LEVEL","type":["null","int"],"default":null},{"name":"_MAX_LEVEL","type":["null","int"],"default":null},{"name":"_MIN_ROW_ID","type":["null","long"],"default":null},{"name":"_MAX_ROW_ID","type":["null","long"],"default":null}]}"#;

/// Reads a manifest list of any writer.
///
/// # Errors
/// `Corrupt`; the caller adds the path.
pub fn read_manifest_list(bytes: &Bytes) -> Result<Vec<ManifestMeta>> {
    records::read(bytes)?.iter().map(meta).collect()
}

/// Writes a manifest list.
///
/// # Errors
/// None in practice; `Internal` when a codec fails.
pub fn write_manifest_list(manifests: &[ManifestMeta], codec: Codec) -> Result<Vec<u8>> {
    let mut writer = Writer::new(SCHEMA, codec);
    for meta in manifests {
        writer.record(|out| put_meta(out, meta))?;
    }
    writer.finish()
}

fn meta(record: &Record) -> Result<ManifestMeta> {
    check_version(record, VERSION)?;
    Ok(ManifestMeta {
        file_name: record.string("_FILE_NAME")?,
        file_size: record.long("_FILE_SIZE")?,
        num_added_files: record.long("_NUM_ADDED_FILES")?,
        num_deleted_files: record.long("_NUM_DELETED_FILES")?,
        partition_stats: stats(record.record("_PARTITION_STATS")?)?,
        schema_id: SchemaId(record.long("_SCHEMA_ID")?),
        min_bucket: record.opt_int("_MIN_BUCKET")?,
        max_bucket: record.opt_int("_MAX_BUCKET")?,
        min_level: record.opt_int("_MIN_LEVEL")?,
        max_level: record.opt_int("_MAX_LEVEL")?,
        min_row_id: record.opt_long("_MIN_ROW_ID")?,
        max_row_id: record.opt_long("_MAX_ROW_ID")?,
    })
}

fn put_meta(out: &mut Vec<u8>, meta: &ManifestMeta) {
    put_long(out, VERSION);
    put_bytes(out, meta.file_name.as_bytes());
    put_long(out, meta.file_size);
    put_long(out, meta.num_added_files);
    put_long(out, meta.num_deleted_files);
    put_stats(out, &meta.partition_stats);
    put_long(out, meta.schema_id.0);
    for value in [meta.min_bucket, meta.max_bucket, meta.min_level, meta.max_level] {
        put_opt_long(out, value.map(i64::from));
    }
    put_opt_long(out, meta.min_row_id);
    put_opt_long(out, meta.max_row_id);
}

/// Refuses records of another layout version.
pub(super) fn check_version(record: &Record, want: i64) -> Result<()> {
    match record.long("_VERSION")? {
        version if version == want => Ok(()),
        version => Err(Error::corrupt(format!("layout version {version} is not {want}"))),
    }
}

/// A `SimpleStats` record.
pub(super) fn stats(record: &Record) -> Result<SimpleStats> {
    Ok(SimpleStats {
        min: BinaryRow::from_serialized(record.bytes("_MIN_VALUES")?)?,
        max: BinaryRow::from_serialized(record.bytes("_MAX_VALUES")?)?,
        null_counts: record.opt_longs("_NULL_COUNTS")?.unwrap_or_default(),
    })
}
