//! Rows of the simulated table, as plain values and as batches: `p INT, k INT, s BIGINT, a BIGINT, b BIGINT, w STRING`.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, Int8Array, Int32Array, Int64Array, RecordBatch, StringArray};

/// Names of the columns that every version of the table has.
pub const COLUMNS: [&str; 6] = ["p", "k", "s", "a", "b", "w"];

/// What a row holds beside its key.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Values {
    /// Decides the order where the table has a `sequence.field`.
    pub s: Option<i64>,
    /// A number.
    pub a: Option<i64>,
    /// Another.
    pub b: Option<i64>,
    /// Says which commit wrote the row, unless it is null.
    pub w: Option<String>,
}

/// A row as it is written or read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Row {
    /// Partition.
    pub p: i32,
    /// Key within the partition.
    pub k: i32,
    /// The rest.
    pub values: Values,
    /// Row kind, 0 to 3.
    pub kind: i8,
}

/// Rows as a batch and their kinds.
pub fn batch(rows: &[Row]) -> (RecordBatch, Int8Array) {
    let long = |of: fn(&Values) -> Option<i64>| -> ArrayRef {
        Arc::new(Int64Array::from_iter(rows.iter().map(|row| of(&row.values))))
    };
    let columns: Vec<(&str, ArrayRef, bool)> = vec![
        ("p", Arc::new(Int32Array::from_iter_values(rows.iter().map(|row| row.p))), false),
        ("k", Arc::new(Int32Array::from_iter_values(rows.iter().map(|row| row.k))), false),
        ("s", long(|values| values.s), true),
        ("a", long(|values| values.a), true),
        ("b", long(|values| values.b), true),
        ("w", Arc::new(StringArray::from_iter(rows.iter().map(|row| row.values.w.clone()))), true),
    ];
    let kinds = Int8Array::from_iter_values(rows.iter().map(|row| row.kind));
    (RecordBatch::try_from_iter_with_nullable(columns).unwrap(), kinds)
}

/// A batch of the table's columns, and perhaps `_VALUE_KIND` as its last one, as rows.
pub fn rows(batch: &RecordBatch) -> Vec<Row> {
    let int = |name: &str, i: usize| batch.column_by_name(name).unwrap().as_primitive::<Int32Type>().value(i);
    let long = |name: &str, i: usize| {
        let column = batch.column_by_name(name).unwrap().as_primitive::<Int64Type>();
        column.is_valid(i).then(|| column.value(i))
    };
    let text = batch.column_by_name("w").unwrap().as_string::<i32>();
    let kinds = batch.column_by_name("_VALUE_KIND").map(|column| column.as_primitive::<Int8Type>());
    (0..batch.num_rows())
        .map(|i| Row {
            p: int("p", i),
            k: int("k", i),
            values: Values {
                s: long("s", i),
                a: long("a", i),
                b: long("b", i),
                w: text.is_valid(i).then(|| text.value(i).to_owned()),
            },
            kind: kinds.map_or(0, |kinds| kinds.value(i)),
        })
        .collect()
}
