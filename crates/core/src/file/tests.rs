//! Tests of writing and reading the data files of a table in memory.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, Int8Array, Int32Array, Int64Array, RecordBatch, StringArray};
use futures::TryStreamExt;
use linn_format::datum::Datum;
use linn_format::file::layout::key_value_batch_fields;
use linn_format::file::{DataFileMeta, FileSource};
use linn_format::predicate::{CompareOp, Predicate};
use linn_format::row::BinaryRow;
use linn_format::schema::SchemaChange;
use linn_format::types::{DataField, DataType, Kind, SEQUENCE_NUMBER_ID, arrow_schema};
use linn_format::{ErrorKind, vector};

use super::DeletionFile;
use super::*;
use crate::fixture::{NOW, memory, row, schema, table};
use crate::schema::Schemas;
use crate::storage::Memory;
use crate::table::Table;

/// Keys from `keys`, values `v<key>`, sequence numbers from 100; every tenth row is a deletion.
fn key_values(keys: std::ops::Range<i32>) -> RecordBatch {
    let fields = key_value_batch_fields(&schema(false, true, &[]).fields);
    let n = keys.len() as i64;
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int32Array::from_iter_values(keys.clone())),
        Arc::new(StringArray::from_iter_values(keys.clone().map(|k| format!("v{k}")))),
        Arc::new(Int64Array::from_iter_values(100..100 + n)),
        Arc::new(Int8Array::from_iter_values(keys.map(|k| if k % 10 == 0 { 3 } else { 0 }))),
    ];
    RecordBatch::try_new(arrow_schema(&fields).unwrap(), columns).unwrap()
}

fn rows(keys: std::ops::Range<i32>) -> RecordBatch {
    key_values(keys).project(&[0, 1]).unwrap()
}

async fn write(table: &Table, kind: FileKind, batches: &[RecordBatch]) -> Vec<Arc<DataFileMeta>> {
    let partition = BinaryRow::empty();
    let mut writer = RollingWriter::new(table, &partition, 0, 0, FileSource::Append, kind).unwrap();
    for batch in batches {
        writer.write(batch).await.unwrap();
    }
    writer.close().await.unwrap()
}

fn query(fields: &[DataField]) -> FileQuery {
    FileQuery::all(fields.to_vec(), 1000)
}

async fn read(
    table: &Table,
    file: &DataFileMeta,
    deletion: Option<&DeletionFile>,
    query: FileQuery,
) -> Vec<RecordBatch> {
    let stream = read_file(table, &BinaryRow::empty(), 0, file, deletion, query).await.unwrap();
    stream.try_collect().await.unwrap()
}

fn joined(batches: &[RecordBatch]) -> RecordBatch {
    arrow_select::concat::concat_batches(&batches[0].schema(), batches).unwrap()
}

fn keys(batches: &[RecordBatch]) -> Vec<i32> {
    batches.iter().flat_map(|b| b.column(0).as_primitive::<Int32Type>().values().to_vec()).collect()
}

async fn keyed(options: &[(&str, &str)]) -> (Arc<Memory>, Table) {
    let store = memory();
    (store.clone(), table(store, schema(false, true, options)).await)
}

#[tokio::test]
async fn a_key_value_file_comes_back_and_its_metadata_says_what_is_in_it() {
    for format in ["parquet", "avro"] {
        let (store, table) = keyed(&[("file.format", format)]).await;
        let written = key_values(5..505);
        let files = write(&table, FileKind::KeyValue, &[written.slice(0, 200), written.slice(200, 300)]).await;
        let [file] = &files[..] else { panic!("{} files", files.len()) };
        let fields = key_value_batch_fields(&table.schema().fields);
        assert_eq!(joined(&read(&table, file, None, query(&fields)).await), written);

        assert!(file.file_name.starts_with("data-") && file.file_name.ends_with(&format!("-0.{format}")));
        assert_eq!((file.min_key.clone(), file.max_key.clone()), (row(&[5]), row(&[504])));
        assert_eq!((file.min_sequence_number, file.max_sequence_number), (100, 599));
        assert_eq!((file.row_count, file.delete_row_count), (500, Some(50)));
        assert_eq!(file.key_stats.min, row(&[5]));
        assert_eq!(file.key_stats.null_counts, [Some(0)]);
        assert_eq!(file.value_stats_cols, None);
        let text = DataType::string();
        assert_eq!(file.value_stats.max.datum(1, &text).unwrap(), Some(Datum::String("v99".to_owned())));
        assert_eq!(file.creation_time, Some(NOW));
        let path = format!("db.db/t/bucket-0/{}", file.file_name);
        let entry = crate::seam::Storage::stat(&*store, &path).await.unwrap();
        assert_eq!(entry.size, file.file_size.unsigned_abs());
    }
}

#[tokio::test]
async fn files_roll_at_their_size_and_their_rows() {
    let (_, table) = keyed(&[("target-file-row-num", "30")]).await;
    let files = write(&table, FileKind::KeyValue, &[key_values(0..100)]).await;
    assert_eq!(files.iter().map(|f| f.row_count).collect::<Vec<_>>(), [30, 30, 30, 10]);
    assert_eq!(files[1].min_key, row(&[30]));
    assert_eq!(files[3].file_name.rsplit_once('-').unwrap().1, "3.parquet");

    let (_, table) = keyed(&[("target-file-size", "100 kb"), ("file.compression", "none")]).await;
    let batches: Vec<_> = (0..10).map(|i| key_values(i * 10_000..(i + 1) * 10_000)).collect();
    let files = write(&table, FileKind::KeyValue, &batches).await;
    assert!(files.len() > 3, "{} files", files.len());
    assert_eq!(files.iter().map(|f| f.row_count).sum::<i64>(), 100_000);
}

#[tokio::test]
async fn append_files_count_their_sequence_numbers_on() {
    let store = memory();
    let table = table(store, schema(false, false, &[("target-file-row-num", "30")])).await;
    let files = write(&table, FileKind::Append { first_sequence: 7 }, &[rows(0..50)]).await;
    let ranges: Vec<_> = files.iter().map(|f| (f.min_sequence_number, f.max_sequence_number)).collect();
    assert_eq!(ranges, [(7, 36), (37, 56)]);
    assert_eq!((files[0].min_key.arity(), files[0].key_stats.min.arity()), (0, 0));
    assert_eq!(keys(&read(&table, &files[1], None, query(&table.schema().fields)).await), (30..50).collect::<Vec<_>>());
}

#[tokio::test]
async fn nothing_is_written_without_rows_and_nothing_is_left_after_giving_up() {
    let (store, table) = keyed(&[("target-file-row-num", "30"), ("file-index.bloom-filter.columns", "v")]).await;
    let before = store.paths();
    assert!(write(&table, FileKind::KeyValue, &[]).await.is_empty());
    assert_eq!(store.paths(), before);
    let partition = BinaryRow::empty();
    let mut writer = RollingWriter::new(&table, &partition, 0, 0, FileSource::Append, FileKind::KeyValue).unwrap();
    writer.write(&key_values(0..100)).await.unwrap();
    assert!(store.paths().len() > before.len());
    writer.abort().await.unwrap();
    assert_eq!(store.paths(), before);
}

#[tokio::test]
async fn a_null_key_is_refused() {
    let store = memory();
    let table = table(store, schema(false, false, &[])).await;
    let columns: Vec<ArrayRef> =
        vec![Arc::new(Int32Array::from(vec![None])), Arc::new(StringArray::from(vec![Some("x")]))];
    let mut fields = table.schema().fields.clone();
    fields[0].data_type.nullable = true;
    let batch = RecordBatch::try_new(arrow_schema(&fields).unwrap(), columns).unwrap();
    let kind = FileKind::Append { first_sequence: 0 };
    let mut writer = RollingWriter::new(&table, &BinaryRow::empty(), 0, 0, FileSource::Append, kind).unwrap();
    assert_eq!(writer.write(&batch).await.unwrap_err().kind(), ErrorKind::Invalid);
    writer.abort().await.unwrap();
}

#[tokio::test]
async fn files_of_older_schemas_are_read_by_field_id() {
    let (_, old) = keyed(&[]).await;
    let files = write(&old, FileKind::KeyValue, &[key_values(0..20)]).await;
    let changes = [
        SchemaChange::RenameColumn { path: vec!["v".to_owned()], new_name: "text".to_owned() },
        SchemaChange::AddColumn {
            path: vec!["added".to_owned()],
            data_type: DataType::nullable(Kind::Int),
            description: None,
            position: None,
        },
    ];
    let schema = Schemas::new(&old).commit(&old, &changes).await.unwrap();
    let new = old.with_schema(schema.as_ref().clone());
    let mut asked = query(&new.schema().fields);
    let got = joined(&read(&new, &files[0], None, asked.clone()).await);
    assert_eq!(got.schema().fields().iter().map(|f| f.name().as_str()).collect::<Vec<_>>(), ["k", "text", "added"]);
    assert_eq!(got.column(1), key_values(0..20).column(1));
    assert_eq!(got.column(2).null_count(), 20);
    asked.filter = Some(Predicate::Compare { field_id: 1, op: CompareOp::Eq, literal: Datum::String("v7".to_owned()) });
    asked.exact_filter = true;
    assert_eq!(keys(&read(&new, &files[0], None, asked.clone()).await), [7]);
    let added = new.schema().fields[2].id;
    asked.filter = Some(Predicate::IsNull { field_id: added, negated: true });
    assert!(read(&new, &files[0], None, asked).await.is_empty());
}

async fn delete(table: &Table, file: &DataFileMeta, positions: &[u64]) -> DeletionFile {
    let positions = positions.iter().copied().collect();
    let (bytes, metas) = vector::write(vector::VectorKind::Bitmap32, [(file.file_name.as_str(), &positions)]).unwrap();
    let path = "db.db/t/index/index-0".to_owned();
    table.storage().put(&path, bytes.into()).await.unwrap();
    DeletionFile { path, meta: metas[0].clone() }
}

#[tokio::test]
async fn deleted_rows_are_left_out_and_positions_count_them() {
    let store = memory();
    let table = table(store, schema(false, false, &[])).await;
    let files = write(&table, FileKind::Append { first_sequence: 0 }, &[rows(100..110)]).await;
    let deletion = delete(&table, &files[0], &[0, 4, 9]).await;
    let alive = [101, 102, 103, 105, 106, 107, 108];
    let fields = table.schema().fields.clone();
    assert_eq!(keys(&read(&table, &files[0], Some(&deletion), query(&fields)).await), alive);

    let mut asked = query(&fields[..1]);
    asked.filter = Some(Predicate::Compare { field_id: 0, op: CompareOp::Gt, literal: Datum::Int(105) });
    asked.exact_filter = true;
    let partition = BinaryRow::empty();
    let stream = read_positions(&table, &partition, 0, &files[0], Some(&deletion), asked).await.unwrap();
    let got = joined(&stream.try_collect::<Vec<_>>().await.unwrap());
    assert_eq!(got.column(1).as_primitive::<Int64Type>().values(), &[6, 7, 8]);

    // Row ids count on from the file's first; the sequence number is the file's.
    let tracked = DataFileMeta { first_row_id: Some(1000), max_sequence_number: 5, ..files[0].as_ref().clone() };
    let sequence = DataField::new(SEQUENCE_NUMBER_ID, "_SEQUENCE_NUMBER", DataType::nullable(Kind::BigInt));
    let asked = query(&[row_id_field(), sequence, fields[0].clone()]);
    let got = joined(&read(&table, &tracked, Some(&deletion), asked).await);
    assert_eq!(got.column(0).as_primitive::<Int64Type>().values()[..2], [1001, 1002]);
    assert_eq!(got.column(1).as_primitive::<Int64Type>().values()[..2], [5, 5]);
    assert_eq!(got.column(2).as_primitive::<Int32Type>().values(), &alive);
}

#[tokio::test]
async fn file_indexes_spare_files_and_rows() {
    for (threshold, embedded) in [("10 mb", true), ("1 b", false)] {
        let options = [
            ("file-index.bitmap.columns", "v"),
            ("file-index.in-manifest-threshold", threshold),
            ("metadata.stats-mode", "none"),
        ];
        let (_, table) = keyed(&options).await;
        let files = write(&table, FileKind::KeyValue, &[key_values(0..50)]).await;
        assert_eq!(files[0].embedded_index.is_some(), embedded);
        assert_eq!(files[0].extra_files.len(), usize::from(!embedded));
        assert_eq!(files[0].value_stats_cols, Some(Vec::new()));
        let mut asked = query(&table.schema().fields);
        let equals = |text: &str| {
            Some(Predicate::Compare { field_id: 1, op: CompareOp::Eq, literal: Datum::String(text.to_owned()) })
        };
        asked.filter = equals("v20");
        assert_eq!(keys(&read(&table, &files[0], None, asked.clone()).await), [20]);
        asked.filter = equals("v200");
        assert!(read(&table, &files[0], None, asked).await.is_empty());
    }
}

#[tokio::test]
async fn damaged_and_missing_files_say_which() {
    let (store, table) = keyed(&[]).await;
    let files = write(&table, FileKind::KeyValue, &[key_values(0..50)]).await;
    let path = format!("db.db/t/bucket-0/{}", files[0].file_name);
    let longer = DataFileMeta { file_size: files[0].file_size + 1, ..files[0].as_ref().clone() };
    let partition = BinaryRow::empty();
    let fails = async |file: &DataFileMeta| {
        let stream = read_file(&table, &partition, 0, file, None, query(&table.schema().fields)).await;
        let error = match stream {
            Ok(stream) => stream.try_collect::<Vec<_>>().await.unwrap_err(),
            Err(error) => error,
        };
        assert!(error.context().iter().any(|(key, value)| *key == "path" && value.ends_with(&path)), "{error}");
        error.kind()
    };
    assert_eq!(fails(&longer).await, ErrorKind::Corrupt);
    crate::seam::Storage::delete(&*store, &path).await.unwrap();
    assert_eq!(fails(&files[0]).await, ErrorKind::NotFound);
}

#[tokio::test]
async fn compacted_changelogs_are_parts_of_a_file() {
    let (_, table) = keyed(&[]).await;
    let file =
        |name: &str| DataFileMeta { file_name: name.to_owned(), ..crate::fixture::file("x", 0, None).as_ref().clone() };
    let place = |name: &str| place_of(&table, &BinaryRow::empty(), 1, &file(name));
    let real = "db.db/t/bucket-0/compacted-changelog-u$0-10.cc-parquet".to_owned();
    let part = place("compacted-changelog-u$0-10-10-7.cc-parquet").unwrap();
    assert_eq!(part, Place { path: real, part: Some(10..17) });
    let own = place("compacted-changelog-u$1-10.cc-parquet").unwrap();
    assert_eq!(own.part, Some(0..10));
    assert!(own.path.ends_with("bucket-1/compacted-changelog-u$1-10.cc-parquet"));
    assert_eq!(place("compacted-changelog-u.cc-parquet").unwrap_err().kind(), ErrorKind::Corrupt);
}

#[tokio::test]
async fn files_of_the_same_rows_are_put_side_by_side() {
    let store = memory();
    let table = table(store, schema(false, false, &[])).await;
    let files = write(&table, FileKind::Append { first_sequence: 0 }, &[rows(0..25)]).await;
    let newer = write(&table, FileKind::Append { first_sequence: 0 }, &[rows(100..125)]).await;
    let whole = DataFileMeta { first_row_id: Some(0), max_sequence_number: 1, ..files[0].as_ref().clone() };
    // Rewrites one column of the same rows.
    let column = DataFileMeta {
        first_row_id: Some(0),
        max_sequence_number: 2,
        write_cols: Some(vec!["v".to_owned()]),
        ..newer[0].as_ref().clone()
    };
    let other = DataFileMeta { first_row_id: Some(25), ..whole.clone() };
    let groups = row_groups(&[Arc::new(whole), Arc::new(other), Arc::new(column)]);
    assert_eq!(groups.iter().map(Vec::len).collect::<Vec<_>>(), [2, 1]);

    let mut asked = query(&[row_id_field(), table.schema().fields[0].clone(), table.schema().fields[1].clone()]);
    asked.batch_size = 10;
    asked.filter = Some(Predicate::Compare { field_id: 0, op: CompareOp::GtEq, literal: Datum::Int(3) });
    asked.exact_filter = true;
    let stream = read_group(&table, &BinaryRow::empty(), 0, &groups[0], asked).await.unwrap();
    let got = joined(&stream.try_collect::<Vec<_>>().await.unwrap());
    assert_eq!(got.column(0).as_primitive::<Int64Type>().values(), &(3..25).collect::<Vec<i64>>()[..]);
    assert_eq!(got.column(1), rows(3..25).column(0));
    assert_eq!(got.column(2), rows(103..125).column(1));
}
