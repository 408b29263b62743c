//! Index manifests (spec: format.md C.4).

use bytes::Bytes;

use super::avro::{Codec, Record, Value, Writer, put_bytes, put_long};
use super::entry::{put_opt_bytes, put_opt_long};
use super::{DeletionVectorMeta, FileKind, GlobalIndexMeta, IndexManifestEntry, list, records};
use crate::row::BinaryRow;
use crate::{Error, Result};

const VERSION: i64 = 1;
const SCHEMA: &str = r#"{"type":"record","name":"record","namespace":"org.apache.paimon.avro.generated","fields":[{"name":"_VERSION","type":"int"},{"name":"_KIND","type":"int"},{"name":"_PARTITION","type":"bytes"},{"name":"_BUCKET","type":"int"},{"name":"_INDEX_TYPE","type":"string"},{"name":"_FILE_NAME","type":"string"},{"name":"_FILE_SIZE","type":"long"},{"name":"_ROW_COUNT","type":"long"},{"name":"_DELETIONS_VECTORS_RANGES","type":["null",{"type":"array","items":["null",{"type":"record","name":"record__DELETIONS_VECTORS_RANGES","fields":[{"name":"f0","type":"string"},{"name":"f1","type":"int"},{"name":"f2","type":"int"},{"name":"_CARDINALITY","type":["null","long"],"default":null}]}]}],"default":null},{"name":"_EXTERNAL_PATH","type":["null","string"],"default":null},{"name":"_GLOBAL_INDEX","type":["null",{"type":"record","name":"record__GLOBAL_INDEX","fields":[{"name":"_ROW_RANGE_START","type":"long"},{"name":"_ROW_RANGE_END","type":"long"},{"name":"_INDEX_FIELD_ID","type":"int"},{"name":"_EXTRA_FIELD_IDS","type":["null",{"type":"array","items":"int"}],"default":null},{"name":"_INDEX_META","type":["null","bytes"],"default":null},{"name":"_SOURCE_META","type":["null","bytes"],"default":null}]}],"default":null}]}"#;

/// Reads an index manifest of any writer.
///
/// # Errors
/// `Corrupt`; the caller adds the path.
pub fn read_index_manifest(bytes: &Bytes) -> Result<Vec<IndexManifestEntry>> {
    records::read(bytes)?.iter().map(entry).collect()
}

/// Writes an index manifest.
///
/// # Errors
/// None in practice; `Internal` when a codec fails.
pub fn write_index_manifest(entries: &[IndexManifestEntry], codec: Codec) -> Result<Vec<u8>> {
    let mut writer = Writer::new(SCHEMA, codec);
    for entry in entries {
        writer.record(|out| put_entry(out, entry))?;
    }
    writer.finish()
}

fn entry(record: &Record) -> Result<IndexManifestEntry> {
    list::check_version(record, VERSION)?;
    Ok(IndexManifestEntry {
        kind: FileKind::from_number(record.long("_KIND")?)?,
        partition: BinaryRow::from_serialized(record.bytes("_PARTITION")?)?,
        bucket: record.int("_BUCKET")?,
        index_type: record.string("_INDEX_TYPE")?,
        file_name: record.string("_FILE_NAME")?,
        file_size: record.long("_FILE_SIZE")?,
        row_count: record.long("_ROW_COUNT")?,
        deletion_vectors: record
            .opt_array("_DELETIONS_VECTORS_RANGES")?
            .map(|items| items.iter().map(vector).collect::<Result<_>>())
            .transpose()?,
        external_path: record.opt_string("_EXTERNAL_PATH")?,
        global_index: record.opt_record("_GLOBAL_INDEX")?.map(global).transpose()?,
    })
}

fn vector(item: &Value) -> Result<DeletionVectorMeta> {
    let Value::Record(record) = item else {
        return Err(Error::corrupt("a deletion vector range is not a record"));
    };
    Ok(DeletionVectorMeta {
        data_file: record.string("f0")?,
        offset: record.int("f1")?,
        length: record.int("f2")?,
        cardinality: record.opt_long("_CARDINALITY")?,
    })
}

fn global(record: &Record) -> Result<GlobalIndexMeta> {
    let extra = record.opt_longs("_EXTRA_FIELD_IDS")?.map(|ids| {
        let ids = ids.into_iter().map(|id| id.and_then(|id| i32::try_from(id).ok()));
        ids.collect::<Option<Vec<_>>>().ok_or_else(|| Error::corrupt("an extra field id of a global index is not one"))
    });
    Ok(GlobalIndexMeta {
        row_range_start: record.long("_ROW_RANGE_START")?,
        row_range_end: record.long("_ROW_RANGE_END")?,
        index_field_id: record.int("_INDEX_FIELD_ID")?,
        extra_field_ids: extra.transpose()?,
        index_meta: record.opt_bytes("_INDEX_META")?,
        source_meta: record.opt_bytes("_SOURCE_META")?,
    })
}

fn put_entry(out: &mut Vec<u8>, entry: &IndexManifestEntry) {
    put_long(out, VERSION);
    put_long(out, entry.kind as i64);
    put_bytes(out, &entry.partition.to_serialized());
    put_long(out, entry.bucket.into());
    put_bytes(out, entry.index_type.as_bytes());
    put_bytes(out, entry.file_name.as_bytes());
    put_long(out, entry.file_size);
    put_long(out, entry.row_count);
    put_long(out, i64::from(entry.deletion_vectors.is_some()));
    if let Some(vectors) = &entry.deletion_vectors {
        put_vectors(out, vectors);
    }
    put_opt_bytes(out, entry.external_path.as_deref().map(str::as_bytes));
    put_long(out, i64::from(entry.global_index.is_some()));
    if let Some(global) = &entry.global_index {
        put_global(out, global);
    }
}

fn put_vectors(out: &mut Vec<u8>, vectors: &[DeletionVectorMeta]) {
    if !vectors.is_empty() {
        put_long(out, vectors.len() as i64);
    }
    for vector in vectors {
        put_long(out, 1);
        put_bytes(out, vector.data_file.as_bytes());
        put_long(out, vector.offset.into());
        put_long(out, vector.length.into());
        put_opt_long(out, vector.cardinality);
    }
    put_long(out, 0);
}

fn put_global(out: &mut Vec<u8>, global: &GlobalIndexMeta) {
    put_long(out, global.row_range_start);
    put_long(out, global.row_range_end);
    put_long(out, global.index_field_id.into());
    put_long(out, i64::from(global.extra_field_ids.is_some()));
    if let Some(ids) = &global.extra_field_ids {
        if !ids.is_empty() {
            put_long(out, ids.len() as i64);
        }
        ids.iter().for_each(|id| put_long(out, (*id).into()));
        put_long(out, 0);
    }
    put_opt_bytes(out, global.index_meta.as_deref());
    put_opt_bytes(out, global.source_meta.as_deref());
}
