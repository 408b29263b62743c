//! Files whose pages are compressed here are, byte by byte, those in which the library compresses them.

use std::sync::Arc;

use arrow_array::builder::{Int32Builder, ListBuilder, StringBuilder};
use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray, TimestampNanosecondArray};
use proptest::prelude::*;

use super::{Sink, plainly};
use crate::file::FileWriter;
use crate::file::parquet::write::Writer;
use crate::options::Options;
use crate::types::{DataField, DataType, arrow_schema};

fn fields() -> Vec<DataField> {
    let columns = ["BIGINT NOT NULL", "STRING", "STRING", "DOUBLE", "TIMESTAMP(9)", "ARRAY<STRING>", "ARRAY<INT>"];
    (0..).zip(columns).map(|(id, sql)| DataField::new(id, format!("c{id}"), DataType::parse(sql).unwrap())).collect()
}

/// Rows of which every n-th value is null, strings repeat or do not.
fn batch(rows: i64, nulls: i64, from: i64) -> RecordBatch {
    let some = |i: i64| i % nulls != 0;
    let mix = |i: i64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15_u64.cast_signed()) >> 20;
    let mut words = ListBuilder::new(StringBuilder::new());
    let mut numbers = ListBuilder::new(Int32Builder::new());
    for i in from..from + rows {
        (0..i % 3).for_each(|n| words.values().append_value(format!("word-{}", mix(i + n) % 500)));
        words.append(some(i));
        (0..i % 4).for_each(|n| numbers.values().append_option(some(n + i).then_some(mix(i) as i32)));
        numbers.append(true);
    }
    let range = || from..from + rows;
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from_iter_values(range())),
        Arc::new(StringArray::from_iter(range().map(|i| some(i).then(|| format!("city-{}", mix(i) % 90))))),
        Arc::new(StringArray::from_iter(range().map(|i| some(i + 1).then(|| format!("value-{}", mix(i)))))),
        Arc::new(Float64Array::from_iter(range().map(|i| some(i).then_some(mix(i) as f64)))),
        Arc::new(TimestampNanosecondArray::from_iter(range().map(|i| some(i).then_some(i * 1_000_000_007)))),
        Arc::new(words.finish()),
        Arc::new(numbers.finish()),
    ];
    let schema = arrow_schema(&fields()).unwrap();
    let columns = columns.iter().zip(schema.fields());
    let columns = columns.map(|(column, field)| arrow_cast::cast(column, field.data_type()).unwrap()).collect();
    RecordBatch::try_new(schema, columns).unwrap()
}

fn written(batches: &[RecordBatch], options: &[(&str, &str)], searched: bool, here: bool) -> Vec<u8> {
    let sink = Sink::default();
    let options: Options = options.iter().copied().collect();
    let write = crate::file::FileWrite { options, searched, ..plainly(&fields(), "zstd") };
    let mut writer = Writer::compressing(write, Box::new(sink.clone()), here).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    Box::new(writer).finish().unwrap();
    std::mem::take(&mut *sink.0.lock().unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn bytes_are_those_of_the_library(
        sizes in prop::collection::vec(0_i64..6000, 1..4),
        nulls in 1_i64..40,
        options in prop::sample::subsequence(
            vec![
                ("parquet.page.size", "4 kb"),
                ("parquet.page.row.count.limit", "700"),
                ("parquet.dictionary.page.size", "1 kb"),
                ("parquet.enable.dictionary", "false"),
                ("parquet.bloom.filter.enabled#c1", "true"),
                ("file.compression.zstd-level", "3"),
                ("parquet.block.row.count.limit", "2000"),
            ],
            0..=4,
        ),
        searched: bool,
    ) {
        let batches: Vec<_> = sizes.iter().zip([0, 10_000, 20_000]).map(|(rows, from)| batch(*rows, nulls, from)).collect();
        let (ours, theirs) = (written(&batches, &options, searched, true), written(&batches, &options, searched, false));
        prop_assert_eq!(ours.len(), theirs.len());
        prop_assert!(ours == theirs);
    }
}
