//! Large rows come out of a merge in batches of bounded size, however few they are.

use std::sync::Arc;

use futures::StreamExt;

use super::super::{MergeSpec, merge};
use super::{Row, Value, batch, rows, run, table};

const BYTES: usize = 1_000_000;
const ROWS: i64 = 100;

#[test]
fn batches_of_large_rows_have_few_rows() {
    let schema = table(&[("k", "BIGINT NOT NULL"), ("v", "STRING")], &[]);
    let spec = Arc::new(MergeSpec::of(&schema, &schema.fields).unwrap());
    let row = |key: i64, sequence: i64| Row {
        values: vec![Some(Value::Int(key)), Some(Value::Text(sequence.to_string().repeat(BYTES)))],
        sequence,
        kind: 0,
    };
    // Keys that alternate, keys of both, and a range that passes as it is.
    let of_run = |sequence: i64, keys: &dyn Fn(&i64) -> bool| {
        let rows: Vec<Row> = (0..ROWS).filter(keys).map(|key| row(key, sequence)).collect();
        let batches: Vec<_> = rows.chunks(20).map(|rows| batch(spec.read_fields(), rows)).collect();
        run(batches)
    };
    let runs = vec![of_run(2, &|key| key % 2 == 0 && *key < 50), of_run(1, &|key| key % 3 != 0)];
    let merged = futures::executor::block_on(merge(runs, spec.clone(), false, 8192).collect::<Vec<_>>());
    let merged: Vec<_> = merged.into_iter().map(|batch| batch.unwrap()).collect();
    // A batch is full with 32 MiB; a range of one source may come on top.
    assert!(merged.iter().all(|batch| batch.num_rows() <= 34 + 20), "{:?}", merged.iter().map(|b| b.num_rows()));
    let keys: Vec<Option<Value>> = merged.iter().flat_map(rows).map(|row| row.values[0].clone()).collect();
    let expected = (0..ROWS).filter(|key| key % 2 == 0 && *key < 50 || key % 3 != 0);
    assert_eq!(keys, expected.map(|key| Some(Value::Int(key))).collect::<Vec<_>>());
}
