//! Tables without data files, for the tests of everything that only handles metadata.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array, RecordBatch, StringArray};
use linn_format::file::{DataFileMeta, FileSource};
use linn_format::manifest::{DELETION_VECTORS_INDEX, DeletionVectorMeta, FileKind, IndexManifestEntry};
use linn_format::options::Options;
use linn_format::row::BinaryRow;
use linn_format::schema::TableSchema;
use linn_format::stats::SimpleStats;
use linn_format::types::{DataField, DataType, Kind};
use linn_format::{SchemaId, datum::Datum};

use crate::commit::CommitMessage;
use crate::schema::Schemas;
use crate::seam::{Env, LocalSpawn, ManualClock, SeededIds, Storage};
use crate::storage::Memory;
use crate::table::Table;

pub(crate) const NOW: i64 = 1_700_000_000_000;

pub(crate) fn clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::new(NOW))
}

pub(crate) fn memory() -> Arc<Memory> {
    Arc::new(Memory::new(clock()))
}

pub(crate) fn env(storage: Arc<dyn Storage>, seed: u64) -> Env {
    Env::new(storage, clock(), Arc::new(SeededIds::new(seed)), Arc::new(LocalSpawn), std::env::temp_dir())
}

/// `p INT` (when partitioned), `k INT` (key when there is one), `v STRING`.
pub(crate) fn schema(partitioned: bool, keyed: bool, options: &[(&str, &str)]) -> TableSchema {
    let int = || DataType::required(Kind::Int);
    let mut fields = vec![DataField::new(0, "k", int()), DataField::new(1, "v", DataType::string())];
    let (mut partition_keys, mut primary_keys) = (Vec::new(), Vec::new());
    if partitioned {
        fields.insert(0, DataField::new(2, "p", int()));
        partition_keys.push("p".to_owned());
    }
    if keyed {
        primary_keys.extend(partition_keys.iter().cloned());
        primary_keys.push("k".to_owned());
    }
    TableSchema {
        version: 3,
        id: SchemaId(0),
        fields,
        highest_field_id: 2,
        partition_keys,
        primary_keys,
        options: options.iter().copied().collect::<Options>(),
        comment: None,
        time_millis: NOW,
    }
}

/// A table that exists in the store.
pub(crate) async fn table(storage: Arc<dyn Storage>, schema: TableSchema) -> Table {
    let schemas = Schemas::at(Arc::clone(&storage), "db.db/t");
    if schemas.latest().await.unwrap().is_none() {
        schemas.create(&schema).await.unwrap();
    }
    Table::new("db.t", "db.db/t", schema, env(storage, 1))
}

pub(crate) fn row(values: &[i32]) -> BinaryRow {
    let int = DataType::required(Kind::Int);
    let datums: Vec<_> = values.iter().map(|value| (Some(Datum::Int(*value)), &int)).collect();
    BinaryRow::from_datums(&datums).unwrap()
}

fn no_stats() -> SimpleStats {
    SimpleStats { min: BinaryRow::empty(), max: BinaryRow::empty(), null_counts: Vec::new() }
}

/// A file of one row, or of keys from `keys.0` to `keys.1`.
pub(crate) fn file(name: &str, level: i32, keys: Option<(i32, i32)>) -> Arc<DataFileMeta> {
    let (min_key, max_key) =
        keys.map_or((BinaryRow::empty(), BinaryRow::empty()), |(min, max)| (row(&[min]), row(&[max])));
    Arc::new(DataFileMeta {
        file_name: name.to_owned(),
        file_size: 100,
        row_count: keys.map_or(1, |(min, max)| i64::from(max - min) + 1),
        min_key,
        max_key,
        key_stats: no_stats(),
        value_stats: no_stats(),
        min_sequence_number: 0,
        max_sequence_number: 0,
        schema_id: SchemaId(0),
        level,
        extra_files: Vec::new(),
        creation_time: Some(NOW),
        delete_row_count: Some(0),
        embedded_index: None,
        file_source: Some(FileSource::Append),
        value_stats_cols: Some(Vec::new()),
        external_path: None,
        first_row_id: None,
        write_cols: None,
        write_cols_sequences: None,
    })
}

/// The line of an index file with deletion vectors of these files, in bucket 0 of the partition 1.
pub(crate) fn vector_line(kind: FileKind, name: &str, files: &[&str]) -> IndexManifestEntry {
    let vector =
        |file: &&str| DeletionVectorMeta { data_file: (*file).into(), offset: 1, length: 1, cardinality: None };
    IndexManifestEntry {
        kind,
        partition: row(&[1]),
        bucket: 0,
        index_type: DELETION_VECTORS_INDEX.into(),
        file_name: name.into(),
        file_size: 1,
        row_count: 1,
        deletion_vectors: Some(files.iter().map(vector).collect()),
        external_path: None,
        global_index: None,
    }
}

/// New files in bucket 0 of the only partition of an append table.
pub(crate) fn added(names: &[&str]) -> CommitMessage {
    let mut message = CommitMessage::new(BinaryRow::empty(), 0, -1);
    message.new_files = names.iter().map(|name| file(name, 0, None)).collect();
    message
}

/// Rows of the partitioned, keyed [`schema`]: each key in partition `key % 2`, with a value that ends in the key.
pub(crate) fn keyed_rows(keys: &[i32], value: &str) -> RecordBatch {
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("p", Arc::new(Int32Array::from_iter_values(keys.iter().map(|k| k.rem_euclid(2))))),
        ("k", Arc::new(Int32Array::from(keys.to_vec()))),
        ("v", Arc::new(StringArray::from_iter_values(keys.iter().map(|k| format!("{value}{k}"))))),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

/// Runs a test's work on this thread.
pub(crate) fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(work)
}
