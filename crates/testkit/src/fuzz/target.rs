//! What is done with the bytes: every decoder of the format, and every question that a decoded value answers.

use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures::TryStreamExt;
use linn_format::datum::Datum;
use linn_format::file::{FileRead, RangeReader, blob, format_named, key_value_batch_fields};
use linn_format::index::IndexFile;
use linn_format::lookup::{BlockSource, LookupReader, Processor, RemoteName};
use linn_format::manifest::{
    DeletionVectorMeta, StatsColumns, read_index_manifest, read_manifest, read_manifest_columns, read_manifest_list,
};
use linn_format::options::{OPTIONS, Options, check_value, parse_duration, parse_list, parse_map, parse_memory};
use linn_format::partition::parse_partition_path;
use linn_format::predicate::{CompareOp, Predicate};
use linn_format::row::{BinaryRow, CompactOrder, columns_from_rows};
use linn_format::schema::{NewTable, TableSchema};
use linn_format::snapshot::{Consumer, Snapshot, Tag, parse_hint};
use linn_format::types::{DataField, DataType};
use linn_format::{Error, Result, index, vector};

/// A decoder.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Its name, which is also that of its corpus.
    pub name: &'static str,
    /// Decodes.
    pub run: fn(&[u8]),
}

/// All decoders of the format.
pub const TARGETS: &[Target] = &[
    Target { name: "snapshot", run: snapshot },
    Target { name: "schema", run: schema },
    Target { name: "manifest", run: manifest },
    Target { name: "manifest_list", run: manifest_list },
    Target { name: "index_manifest", run: index_manifest },
    Target { name: "deletion_vector", run: deletion_vector },
    Target { name: "lookup", run: lookup },
    Target { name: "file_index", run: file_index },
    Target { name: "blob", run: blob_file },
    Target { name: "parquet", run: |bytes| data("parquet", bytes) },
    Target { name: "orc", run: |bytes| data("orc", bytes) },
    Target { name: "avro", run: |bytes| data("avro", bytes) },
    Target { name: "row", run: row },
    Target { name: "options", run: options },
    Target { name: "types", run: types },
];

/// Runs the target of a name.
///
/// # Panics
/// When there is none, and when the decoder does what it must not.
pub fn run(name: &str, bytes: &[u8]) {
    let target = TARGETS.iter().find(|target| target.name == name).expect("a target of this name");
    (target.run)(bytes);
}

fn snapshot(bytes: &[u8]) {
    if let Ok(snapshot) = Snapshot::from_json(bytes) {
        snapshot.to_json().ok();
    }
    if let Ok(tag) = Tag::from_json(bytes) {
        tag.to_json().ok();
    }
    Consumer::from_json(bytes).ok();
    let _ = parse_hint(bytes);
}

fn schema(bytes: &[u8]) {
    if let Ok(schema) = TableSchema::from_json(bytes) {
        let written = schema.to_json();
        assert_eq!(TableSchema::from_json(&written).ok().map(|schema| schema.to_json()), Some(written));
    }
}

fn manifest(bytes: &[u8]) {
    let bytes = Bytes::copy_from_slice(bytes);
    read_manifest_columns(&bytes, StatsColumns::Keys).ok();
    let Ok(batch) = read_manifest(&bytes) else { return };
    batch.partitions().ok();
    for i in 0..batch.len() {
        batch.entry(i).ok();
        batch.file(i).ok();
        batch.key_stats(i).ok();
        batch.value_stats(i).ok();
        batch.value_stats_cols(i).ok();
        batch.embedded_index(i).ok();
        let _ = (batch.identity(i), batch.min_key(i), batch.max_key(i), batch.kind(i));
    }
}

fn manifest_list(bytes: &[u8]) {
    read_manifest_list(&Bytes::copy_from_slice(bytes)).ok();
}

fn index_manifest(bytes: &[u8]) {
    read_index_manifest(&Bytes::copy_from_slice(bytes)).ok();
}

fn deletion_vector(bytes: &[u8]) {
    let size = i32::try_from(bytes.len()).unwrap_or(i32::MAX);
    // The stored length, as either encoding has it, so that what is behind the checks of lengths is reached too.
    let stored = bytes.get(1..5).and_then(|size| size.try_into().ok()).map_or(0, i32::from_be_bytes);
    for length in [stored, stored.saturating_add(8), size] {
        let meta = DeletionVectorMeta { data_file: "f".to_owned(), offset: 1, length, cardinality: None };
        vector::range(&meta, bytes.len() as u64).ok();
        vector::read(bytes, &meta).ok();
    }
}

struct Memory(Bytes);

impl BlockSource for Memory {
    fn read(&self, offset: u64, len: usize) -> Result<Bytes> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let end = start.saturating_add(len);
        match start <= self.0.len() && end <= self.0.len() {
            true => Ok(self.0.slice(start..end)),
            false => Err(Error::corrupt("the file is too short")),
        }
    }
}

#[async_trait]
impl RangeReader for Memory {
    fn size(&self) -> u64 {
        self.0.len() as u64
    }

    fn path(&self) -> &str {
        "memory"
    }

    async fn read(&self, range: Range<u64>) -> Result<Bytes> {
        let len = usize::try_from(range.end.saturating_sub(range.start)).unwrap_or(usize::MAX);
        BlockSource::read(self, range.start, len)
    }
}

fn lookup(bytes: &[u8]) {
    let bytes = Bytes::copy_from_slice(bytes);
    RemoteName::parse(&String::from_utf8_lossy(&bytes));
    let order = CompactOrder::new(&[DataType::parse("BIGINT").unwrap()]).unwrap();
    let len = bytes.len() as u64;
    let Ok(reader) = LookupReader::open(Memory(bytes.clone()), len, order) else { return };
    let _ = reader.may_have(&[0; 9]);
    reader.find(&[0; 9]).ok();
    let each = |_: &[u8], value: &[u8]| {
        for processor in [Processor::Value, Processor::PositionAndValue, Processor::Position, Processor::Empty] {
            processor.split(value).ok();
        }
        Ok(())
    };
    reader.scan(each).ok();
}

fn file_index(bytes: &[u8]) {
    let bytes = Bytes::copy_from_slice(bytes);
    IndexFile::parse(&bytes).ok();
    let fields = data_fields();
    let equals = |at: usize, literal| Predicate::Compare { field_id: fields[at].id, op: CompareOp::Eq, literal };
    for predicate in [equals(1, Datum::Int(3)), equals(2, Datum::BigInt(7)), equals(5, Datum::String("a".into()))] {
        index::evaluate(&bytes, &fields, &predicate).ok();
    }
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(work)
}

fn blob_file(bytes: &[u8]) {
    let file = Memory(Bytes::copy_from_slice(bytes));
    blob::payload(&file.0).ok();
    let Ok(entries) = block_on(blob::entries(&file)) else { return };
    drop(entries);
}

/// The columns of the tables that the corpora come from.
pub(super) fn data_fields() -> Vec<DataField> {
    let columns = ["p INT NOT NULL", "k INT NOT NULL", "s BIGINT", "a BIGINT", "b BIGINT", "w STRING"];
    let field = |(i, column): (usize, &str)| {
        let (name, sql) = column.split_once(' ').unwrap();
        DataField::new(i32::try_from(i).unwrap(), name, DataType::parse(sql).unwrap())
    };
    columns.into_iter().enumerate().map(field).collect()
}

fn data(format: &str, bytes: &[u8]) {
    let format = format_named(format).unwrap();
    let source = Arc::new(Memory(Bytes::copy_from_slice(bytes)));
    let all = key_value_batch_fields(&data_fields());
    for fields in [all.clone(), all[5..6].to_vec()] {
        let read = FileRead { fields, filter: None, exact_filter: false, deleted: None, batch_size: 64, counts: None };
        block_on(async {
            let Ok(stream) = format.read(source.clone(), read).await else { return };
            stream.try_for_each(|_| async { Ok(()) }).await.ok();
        });
    }
}

fn row(bytes: &[u8]) {
    let sql =
        ["INT", "BIGINT", "STRING", "DECIMAL(20, 2)", "TIMESTAMP(9)", "ARRAY<INT>", "ROW<a INT, b STRING>", "BYTES"];
    let types: Vec<DataType> = sql.iter().map(|sql| DataType::parse(sql).unwrap()).collect();
    let rows = [BinaryRow::from_serialized(bytes.to_vec()), BinaryRow::from_bytes(types.len(), bytes.to_vec().into())];
    for row in rows.into_iter().flatten() {
        for (i, data_type) in types.iter().enumerate() {
            if i < row.arity() {
                let _ = row.is_null(i);
                row.datum(i, data_type).ok();
            }
        }
        row.kind().ok();
        let _ = row.hash();
        columns_from_rows(&[row], &types).ok();
    }
}

fn options(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let options: Options = text.lines().filter_map(|line| line.split_once('=')).collect();
    for (_, value) in options.iter() {
        parse_duration(value).ok();
        parse_memory(value).ok();
        let _ = (parse_list(value), parse_map(value));
        OPTIONS.iter().for_each(|def| drop(check_value(def, value)));
    }
    let new = NewTable {
        columns: data_fields(),
        primary_keys: vec!["p".to_owned(), "k".to_owned()],
        partition_keys: vec!["p".to_owned()],
        options,
        ..NewTable::default()
    };
    TableSchema::create(new, 0).ok();
}

fn types(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    DataType::parse(&text).ok();
    parse_partition_path(&text).ok();
    if let Ok(json) = serde_json::from_slice(bytes) {
        DataType::from_json(&json).ok();
        DataField::from_json(&json).ok();
    }
}
