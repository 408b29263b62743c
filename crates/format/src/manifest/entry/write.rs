//! Manifests, writing side.

use super::VERSION;
use crate::Result;
use crate::file::DataFileMeta;
use crate::manifest::ManifestEntry;
use crate::manifest::avro::{Codec, Writer, put_bytes, put_long};
use crate::stats::SimpleStats;

const SCHEMA: &str = r#"{"type":"record","name":"record","namespace":"org.apache.paimon.avro.generated","fields":[{"name":"_VERSION","type":"int"},{"name":"_KIND","type":"int"},{"name":"_PARTITION","type":"bytes"},{"name":"_BUCKET","type":"int"},{"name":"_TOTAL_BUCKETS","type":"int"},{"name":"_FILE","type":{"type":"record","name":"record__FILE","fields":[{"name":"_FILE_NAME","type":"string"},{"name":"_FILE_SIZE","type":"long"},{"name":"_ROW_COUNT","type":"long"},{"name":"_MIN_KEY","type":"bytes"},{"name":"_MAX_KEY","type":"bytes"},{"name":"_KEY_STATS","type":{"type":"record","name":"record__FILE__KEY_STATS","fields":[{"name":"_MIN_VALUES","type":"bytes"},{"name":"_MAX_VALUES","type":"bytes"},{"name":"_NULL_COUNTS","type":["null",{"type":"array","items":["null","long"]}],"default":null}]}},{"name":"_VALUE_STATS","type":{"type":"record","name":"record__FILE__VALUE_STATS","fields":[{"name":"_MIN_VALUES","type":"bytes"},{"name":"_MAX_VALUES","type":"bytes"},{"name":"_NULL_COUNTS","type":["null",{"type":"array","items":["null","long"]}],"default":null}]}},{"name":"_MIN_SEQUENCE_NUMBER","type":"long"},{"name":"_MAX_SEQUENCE_NUMBER","type":"long"},{"name":"_SCHEMA_ID","type":"long"},{"name":"_LEVEL","type":"int"},{"name":"_EXTRA_FILES","type":{"type":"array","items":"string"}},{"name":"_CREATION_TIME","type":["null",{"type":"long","logicalType":"timestamp-millis"}],"default":null},{"name":"_DELETE_ROW_COUNT","type":["null","long"],"default":null},{"name":"_EMBEDDED_FILE_INDEX","type":["null","bytes"],"default":null},{"name":"_FILE_SOURCE","type":["null","int"],"default":null},{"name":"_VALUE_STATS_COLS","type":["null",{"type":"array","items":"string"}],"default":null},{"name":"_EXTERNAL_PATH","type":["null","string"],"default":null},{"name":"_FIRST_ROW_ID","type":["null","long"],"default":null},{"name":"_WRITE_COLS","type":["null",{"type":"array","items":"string"}],"default":null},{"name":"_WRITE_COLS_SEQUENCES","type":["null",{"type":"array","items":"long"}],"default":null}]}}]}"#;

/// Writes one manifest into memory; the caller closes it at the size it wants.
pub struct ManifestWriter {
    writer: Writer,
    len: usize,
}

impl ManifestWriter {
    /// An empty manifest.
    pub fn new(codec: Codec) -> Self {
        Self { writer: Writer::new(SCHEMA, codec), len: 0 }
    }

    /// Appends an entry.
    ///
    /// # Errors
    /// None in practice; `Internal` when a codec fails.
    pub fn write(&mut self, entry: &ManifestEntry) -> Result<()> {
        self.len += 1;
        self.writer.record(|out| put_entry(out, entry))
    }

    /// Entries so far.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no entry yet.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes so far; those of the block that is still open count uncompressed.
    pub fn size(&self) -> usize {
        self.writer.size()
    }

    /// The bytes of the file.
    ///
    /// # Errors
    /// None in practice; `Internal` when a codec fails.
    pub fn finish(self) -> Result<Vec<u8>> {
        self.writer.finish()
    }
}

fn put_entry(out: &mut Vec<u8>, entry: &ManifestEntry) {
    put_long(out, VERSION);
    put_long(out, entry.kind as i64);
    put_bytes(out, &entry.partition.to_serialized());
    put_long(out, entry.bucket.into());
    put_long(out, entry.total_buckets.into());
    put_file(out, &entry.file);
}

fn put_file(out: &mut Vec<u8>, file: &DataFileMeta) {
    put_bytes(out, file.file_name.as_bytes());
    put_long(out, file.file_size);
    put_long(out, file.row_count);
    put_bytes(out, &file.min_key.to_serialized());
    put_bytes(out, &file.max_key.to_serialized());
    put_stats(out, &file.key_stats);
    put_stats(out, &file.value_stats);
    put_long(out, file.min_sequence_number);
    put_long(out, file.max_sequence_number);
    put_long(out, file.schema_id.0);
    put_long(out, file.level.into());
    put_texts(out, &file.extra_files);
    put_opt_long(out, file.creation_time);
    put_opt_long(out, file.delete_row_count);
    put_opt_bytes(out, file.embedded_index.as_deref());
    put_opt_long(out, file.file_source.map(|s| s as i64));
    put_opt_texts(out, file.value_stats_cols.as_deref());
    put_opt_bytes(out, file.external_path.as_deref().map(str::as_bytes));
    put_opt_long(out, file.first_row_id);
    put_opt_texts(out, file.write_cols.as_deref());
    put_long(out, i64::from(file.write_cols_sequences.is_some()));
    if let Some(all) = &file.write_cols_sequences {
        put_longs(out, all);
    }
}

/// A nullable number.
pub(in crate::manifest) fn put_opt_long(out: &mut Vec<u8>, value: Option<i64>) {
    put_long(out, i64::from(value.is_some()));
    if let Some(value) = value {
        put_long(out, value);
    }
}

/// Nullable bytes or text.
pub(in crate::manifest) fn put_opt_bytes(out: &mut Vec<u8>, value: Option<&[u8]>) {
    put_long(out, i64::from(value.is_some()));
    if let Some(value) = value {
        put_bytes(out, value);
    }
}

/// Statistics; null counts are always there, possibly none of them.
pub(in crate::manifest) fn put_stats(out: &mut Vec<u8>, stats: &SimpleStats) {
    put_bytes(out, &stats.min.to_serialized());
    put_bytes(out, &stats.max.to_serialized());
    put_long(out, 1);
    put_nulls(out, &stats.null_counts);
}

/// An array of nullable numbers.
pub(super) fn put_nulls(out: &mut Vec<u8>, counts: &[Option<i64>]) {
    if !counts.is_empty() {
        put_long(out, counts.len() as i64);
    }
    counts.iter().for_each(|count| put_opt_long(out, *count));
    put_long(out, 0);
}

/// An array of numbers.
pub(super) fn put_longs(out: &mut Vec<u8>, values: &[i64]) {
    if !values.is_empty() {
        put_long(out, values.len() as i64);
    }
    values.iter().for_each(|value| put_long(out, *value));
    put_long(out, 0);
}

/// An array of text.
pub(super) fn put_texts(out: &mut Vec<u8>, values: &[String]) {
    if !values.is_empty() {
        put_long(out, values.len() as i64);
    }
    values.iter().for_each(|value| put_bytes(out, value.as_bytes()));
    put_long(out, 0);
}

fn put_opt_texts(out: &mut Vec<u8>, values: Option<&[String]>) {
    put_long(out, i64::from(values.is_some()));
    if let Some(values) = values {
        put_texts(out, values);
    }
}
