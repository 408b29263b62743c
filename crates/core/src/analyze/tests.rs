//! Statistics of rows that are written here, kept by later commits, and gone with their schema.

use std::sync::Arc;

use arrow_array::{Float64Array, Int32Array, RecordBatch, StringArray};
use linn_format::schema::{SchemaChange, TableSchema};
use linn_format::snapshot::{CommitKind, Statistics};
use linn_format::types::{DataField, DataType, Kind, arrow_schema};
use linn_format::{ErrorKind, SnapshotId};

use super::{AnalyzeColumns, statistics_of};
use crate::commit::Commit;
use crate::fixture::{memory, schema, table};
use crate::schema::Schemas;
use crate::snapshot::Snapshots;
use crate::system;
use crate::table::Table;

/// `k INT`, `v STRING`, `d DOUBLE`, `l ARRAY<INT>`.
fn wide() -> TableSchema {
    let mut schema = schema(false, false, &[("bucket", "-1")]);
    schema.fields.push(DataField::new(2, "d", DataType::nullable(Kind::Double)));
    schema.fields.push(DataField::new(
        3,
        "l",
        DataType::nullable(Kind::Array(Box::new(DataType::nullable(Kind::Int)))),
    ));
    schema.highest_field_id = 3;
    schema
}

/// Rows with every third text null, doubles counting down.
async fn write(table: &Table, identifier: i64, keys: std::ops::Range<i32>) {
    let schema = Arc::new(arrow_schema(&table.schema().fields).unwrap().as_ref().clone());
    let lists = arrow_array::new_null_array(schema.field(3).data_type(), keys.len());
    let batch = RecordBatch::try_new(
        schema,
        vec![
            Arc::new(Int32Array::from_iter_values(keys.clone())),
            Arc::new(keys.clone().map(|k| (k % 3 != 0).then(|| format!("é{k}"))).collect::<StringArray>()),
            Arc::new(Float64Array::from_iter_values(keys.map(|k| f64::from(-k)))),
            lists,
        ],
    )
    .unwrap();
    let mut writer = table.writer("u").unwrap();
    writer.write(&batch, None).await.unwrap();
    let messages = writer.prepare_commit(true).await.unwrap();
    table.committer("u").commit(Commit::streaming(identifier, messages)).await.unwrap();
    writer.close().await.unwrap();
}

async fn current(table: &Table) -> Option<Statistics> {
    let latest = Snapshots::new(table).latest().await.unwrap().unwrap();
    statistics_of(table, &latest).await.unwrap()
}

#[tokio::test]
async fn rows_and_columns_are_looked_at() {
    let table = table(memory(), wide()).await;
    assert_eq!(table.analyze(AnalyzeColumns::All).await.unwrap(), None);
    write(&table, 1, 0..60).await;
    write(&table, 2, 60..100).await;
    let found = table.analyze(AnalyzeColumns::All).await.unwrap().unwrap();
    assert_eq!((found.snapshot_id, found.merged_record_count), (SnapshotId(2), Some(100)));
    assert!(found.merged_record_size.unwrap() > 0);
    let [(k, of_k), (v, of_v), (d, of_d)] = found.col_stats.0.as_slice() else { panic!("{found:?}") };
    assert_eq!((k.as_str(), v.as_str(), d.as_str()), ("k", "v", "d"));
    assert_eq!((of_k.min.as_deref(), of_k.max.as_deref(), of_k.null_count), (Some("0"), Some("99"), Some(0)));
    assert_eq!((of_k.avg_len, of_k.max_len), (Some(4), Some(4)));
    assert!((98..=100).contains(&of_k.distinct_count.unwrap()), "{of_k:?}");
    assert_eq!((of_v.min.as_deref(), of_v.null_count, of_v.max_len), (None, Some(34), Some(3)));
    assert_eq!(of_v.avg_len, Some(3));
    assert_eq!((of_d.min.as_deref(), of_d.max.as_deref()), (Some("-99.0"), Some("0.0")));
    let latest = Snapshots::new(&table).latest().await.unwrap().unwrap();
    assert_eq!((latest.commit_kind, latest.delta_record_count), (CommitKind::Analyze, Some(0)));
    assert_eq!(current(&table).await, Some(found.clone()));
    let shown = system::read(&table, "statistics").await.unwrap();
    assert_eq!(shown.batches.iter().map(RecordBatch::num_rows).sum::<usize>(), 1);
    // Later commits carry it on, until the schema changes.
    write(&table, 3, 100..101).await;
    assert_eq!(current(&table).await, Some(found));
    let set = SchemaChange::SetOption { key: "write-only".into(), value: "true".into() };
    Schemas::new(&table).commit(&table, &[set]).await.unwrap();
    write(&table, 4, 101..102).await;
    assert_eq!(current(&table).await, None);
}

#[tokio::test]
async fn columns_can_be_chosen() {
    let table = table(memory(), wide()).await;
    write(&table, 1, 0..10).await;
    let none = table.analyze(AnalyzeColumns::None).await.unwrap().unwrap();
    assert_eq!((none.merged_record_count, none.col_stats.0.len()), (Some(10), 0));
    let named = |names: &[&str]| AnalyzeColumns::Named(names.iter().map(|name| (*name).to_owned()).collect());
    let one = table.analyze(named(&["v"])).await.unwrap().unwrap();
    assert_eq!(one.col_stats.0.len(), 1);
    assert_eq!(table.analyze(named(&["l"])).await.unwrap_err().kind(), ErrorKind::Unsupported);
    assert_eq!(table.analyze(named(&["x"])).await.unwrap_err().kind(), ErrorKind::NotFound);
}
