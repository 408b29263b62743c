//! Keys and partitions of DOUBLE: every NaN is one, and the zeros are two.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type};
use arrow_array::{ArrayRef, Float64Array, Int32Array, RecordBatch};
use futures::TryStreamExt;
use linn_format::types::{DataField, DataType, Kind};

use super::block_on;
use crate::commit::Commit;
use crate::fixture::{memory, schema, table};
use crate::invariants::{Depth, check};
use crate::table::Table;

const OTHER_NAN: f64 = f64::from_bits(0xfff8_0000_0000_0007);

/// A table `p DOUBLE` (the partition), `d DOUBLE` (with it the key), `k INT`.
async fn new() -> Table {
    let mut schema = schema(true, true, &[("bucket", "4"), ("write-only", "true")]);
    let double = || DataType::required(Kind::Double);
    schema.fields = vec![
        DataField::new(0, "p", double()),
        DataField::new(1, "d", double()),
        DataField::new(2, "k", DataType::nullable(Kind::Int)),
    ];
    schema.highest_field_id = 2;
    schema.partition_keys = vec!["p".to_owned()];
    schema.primary_keys = vec!["p".to_owned(), "d".to_owned()];
    table(memory(), schema).await
}

async fn write(table: &Table, identifier: i64, rows: &[(f64, f64, i32)]) {
    let double = |of: fn(&(f64, f64, i32)) -> f64| -> ArrayRef {
        Arc::new(rows.iter().map(of).collect::<Vec<_>>().into_iter().collect::<Float64Array>())
    };
    let numbers: Int32Array = rows.iter().map(|row| Some(row.2)).collect();
    let columns = vec![("p", double(|row| row.0)), ("d", double(|row| row.1)), ("k", Arc::new(numbers) as ArrayRef)];
    let mut writer = table.writer("test").unwrap();
    writer.write(&RecordBatch::try_from_iter(columns).unwrap(), None).await.unwrap();
    let messages = writer.prepare_commit(true).await.unwrap();
    table.committer("test").commit(Commit::streaming(identifier, messages)).await.unwrap();
    writer.close().await.unwrap();
}

/// Rows as text, as `-0.0 == 0.0` and no NaN equals another.
async fn read(table: &Table) -> Vec<String> {
    let read = table.read().build().unwrap();
    let mut rows = Vec::new();
    for split in table.scan().plan().await.unwrap().splits {
        for batch in read.stream(&split).await.unwrap().try_collect::<Vec<_>>().await.unwrap() {
            let (p, d) = (batch.column(0).as_primitive::<Float64Type>(), batch.column(1).as_primitive::<Float64Type>());
            let k = batch.column(2).as_primitive::<Int32Type>();
            rows.extend((0..batch.num_rows()).map(|i| format!("{:?} {:?} {}", p.value(i), d.value(i), k.value(i))));
        }
    }
    rows.sort();
    rows
}

#[test]
fn every_nan_is_one_key_and_one_partition() {
    block_on(async {
        let table = new().await;
        write(&table, 1, &[(f64::NAN, f64::NAN, 1), (f64::NAN, -0.0, 2), (0.0, 1.5, 3), (-0.0, 1.5, 4)]).await;
        write(&table, 2, &[(-f64::NAN, OTHER_NAN, 5), (OTHER_NAN, 0.0, 6), (-f64::NAN, f64::NEG_INFINITY, 7)]).await;
        let expected = ["-0.0 1.5 4", "0.0 1.5 3", "NaN -0.0 2", "NaN -inf 7", "NaN 0.0 6", "NaN NaN 5"];
        assert_eq!(read(&table).await, expected);
        let compacting = table.with_options(&[("write-only", "false")].into_iter().collect()).unwrap();
        let messages = compacting.compact(None, true).await.unwrap();
        table.committer("test").commit(Commit::streaming(3, messages)).await.unwrap();
        assert_eq!(read(&table).await, expected);
        let report = check(&table, Depth::Deep).await.unwrap();
        assert_eq!(report.findings, []);
    });
}
