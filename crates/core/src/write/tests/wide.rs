//! Timestamps that Arrow's nanoseconds do not reach, through writing, merging, compaction and reading (decision 0003).

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, Int32Array, RecordBatch, StringArray, StructArray, TimestampNanosecondArray};
use futures::TryStreamExt;
use linn_format::ErrorKind;
use linn_format::types::{DataField, DataType, Kind};

use super::block_on;
use crate::commit::Commit;
use crate::fixture::{memory, schema, table};
use crate::table::Table;

/// In the order of time, which is not that of the texts.
const TIMES: [&str; 7] = [
    "-0044-03-15 12:00:00.000000001",
    "0001-01-01 00:00:00.000000000",
    "1677-09-21 00:12:43.145224191",
    "1969-12-31 23:59:59.999999999",
    "2262-04-11 23:47:16.854775808",
    "9999-12-31 23:59:59.999999999",
    "+12345-06-07 08:09:10.000000011",
];

/// A table `t TIMESTAMP(9)` (the key), `k INT`, `v ROW<x TIMESTAMP(9) WITH LOCAL TIME ZONE>`.
async fn new(options: &[(&str, &str)]) -> Table {
    let mut schema = schema(false, true, options);
    let zoned = DataType::nullable(Kind::LocalZonedTimestamp(9));
    schema.fields = vec![
        DataField::new(0, "t", DataType::required(Kind::Timestamp(9))),
        DataField::new(1, "k", DataType::nullable(Kind::Int)),
        DataField::new(2, "v", DataType::nullable(Kind::Row(vec![DataField::new(3, "x", zoned)]))),
    ];
    schema.highest_field_id = 3;
    schema.primary_keys = vec!["t".to_owned()];
    table(memory(), schema).await
}

fn as_text(table: &Table) -> Table {
    table.with_options(&[("linn.read.wide-timestamps", "text")].into_iter().collect()).unwrap()
}

fn batch(times: &[&str], number: i32) -> RecordBatch {
    let t: ArrayRef = Arc::new(StringArray::from(times.to_vec()));
    let x = Arc::new(arrow_schema::Field::new("x", arrow_schema::DataType::Utf8, true));
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("t", t.clone()),
        ("k", Arc::new(Int32Array::from(vec![number; times.len()]))),
        ("v", Arc::new(StructArray::from(vec![(x, t)]))),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

async fn write(table: &Table, identifier: i64, batch: &RecordBatch) {
    let mut writer = table.writer("test").unwrap();
    writer.write(batch, None).await.unwrap();
    let messages = writer.prepare_commit(true).await.unwrap();
    table.committer("test").commit(Commit::streaming(identifier, messages)).await.unwrap();
    writer.close().await.unwrap();
}

async fn read(table: &Table) -> linn_format::Result<Vec<(String, i32, String)>> {
    let read = table.read().build()?;
    let mut rows = Vec::new();
    for split in table.scan().plan().await?.splits {
        for batch in read.stream(&split).await?.try_collect::<Vec<_>>().await? {
            assert_eq!(batch.schema_ref(), read.schema());
            let (t, x) = (batch.column(0).as_string::<i32>(), batch.column(2).as_struct().column(0).clone());
            let (k, x) = (batch.column(1).as_primitive::<arrow_array::types::Int32Type>(), x.as_string::<i32>());
            rows.extend((0..batch.num_rows()).map(|i| (t.value(i).to_owned(), k.value(i), x.value(i).to_owned())));
        }
    }
    Ok(rows)
}

#[test]
fn they_are_kept_to_the_nanosecond_and_ordered_as_times() {
    block_on(async {
        let table = new(&[("bucket", "1"), ("write-only", "true"), ("file-index.bloom-filter.columns", "t")]).await;
        let reversed: Vec<&str> = TIMES.iter().rev().copied().collect();
        write(&table, 1, &batch(&reversed, 1)).await;
        write(&table, 2, &batch(&TIMES[4..], 2)).await;
        let row = |(i, t): (usize, &&str)| ((*t).to_owned(), if i < 4 { 1 } else { 2 }, (*t).to_owned());
        let expected: Vec<_> = TIMES.iter().enumerate().map(row).collect();
        let shown = as_text(&table);
        assert_eq!(read(&shown).await.unwrap(), expected);
        let messages = table.compact(None, true).await.unwrap();
        assert!(!messages.is_empty());
        table.committer("test").commit(Commit::streaming(3, messages)).await.unwrap();
        assert_eq!(read(&shown).await.unwrap(), expected);
        let error = read(&table).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.hint().is_some_and(|hint| hint.contains("linn.read.wide-timestamps")), "{error}");
    });
}

#[test]
fn nanoseconds_of_arrow_are_taken_too() {
    block_on(async {
        let table = new(&[("bucket", "1")]).await;
        let t: ArrayRef = Arc::new(TimestampNanosecondArray::from(vec![-1]));
        let x = t.as_primitive::<arrow_array::types::TimestampNanosecondType>().clone().with_timezone("UTC");
        let field = Arc::new(arrow_schema::Field::new("x", arrow_array::Array::data_type(&x).clone(), true));
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("t", t),
            ("k", Arc::new(Int32Array::from(vec![7]))),
            ("v", Arc::new(StructArray::from(vec![(field, Arc::new(x) as ArrayRef)]))),
        ];
        write(&table, 1, &RecordBatch::try_from_iter(columns).unwrap()).await;
        let time = "1969-12-31 23:59:59.999999999".to_owned();
        assert_eq!(read(&as_text(&table)).await.unwrap(), [(time.clone(), 7, time)]);
        let batches = crate::read::collect(
            table.read().build().unwrap().stream(&table.scan().plan().await.unwrap().splits[0]).await.unwrap(),
        );
        let batches = batches.await.unwrap();
        let read = batches[0].column(0).as_primitive::<arrow_array::types::TimestampNanosecondType>();
        assert_eq!(read.values().to_vec(), [-1]);
    });
}

#[test]
fn text_that_is_no_time_is_refused() {
    block_on(async {
        let table = new(&[("bucket", "1")]).await;
        let mut writer = table.writer("test").unwrap();
        let error = writer.write(&batch(&["yesterday"], 1), None).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(error.to_string().contains("yesterday"), "{error}");
        writer.close().await.unwrap();
    });
}
