//! Values that their types do not admit come into no table, whoever writes them.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, Decimal128Array, Int8Array, Int32Array, RecordBatch, StringArray, TimestampMillisecondArray,
};
use arrow_schema::DataType as Arrow;
use linn_format::options::Options;
use linn_format::schema::TableSchema;
use linn_format::types::{DataField, DataType};
use linn_format::{ErrorKind, SchemaId};

use super::block_on;
use crate::commit::{Commit, CommitOutcome};
use crate::fixture::{memory, table};
use crate::invariants::{Depth, check as check_table};
use crate::table::Table;

/// `k INT NOT NULL`, the key where there is one; `c CHAR(3)`, `d DECIMAL(38, 0)`, `at TIMESTAMP(0)`.
fn of(keyed: bool, options: &[(&str, &str)]) -> TableSchema {
    let field = |id, name: &str, of: &str| DataField::new(id, name, DataType::parse(of).unwrap());
    TableSchema {
        version: 3,
        id: SchemaId(0),
        fields: vec![
            field(0, "k", "INT NOT NULL"),
            field(1, "c", "CHAR(3)"),
            field(2, "d", "DECIMAL(38, 0)"),
            field(3, "at", "TIMESTAMP(0)"),
        ],
        highest_field_id: 3,
        partition_keys: Vec::new(),
        primary_keys: if keyed { vec!["k".to_owned()] } else { Vec::new() },
        options: options.iter().copied().collect::<Options>(),
        comment: None,
        time_millis: 0,
    }
}

fn batch(text: &str, decimal: i128) -> RecordBatch {
    let decimals = Decimal128Array::from(vec![0, decimal]).with_data_type(Arrow::Decimal128(38, 0));
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("k", Arc::new(Int32Array::from(vec![1, 2]))),
        ("c", Arc::new(StringArray::from(vec!["abc", text]))),
        ("d", Arc::new(decimals)),
        ("at", Arc::new(TimestampMillisecondArray::from(vec![Some(1_999), None]))),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, c)| (name, c, name != "k"))).unwrap()
}

#[test]
fn the_door_names_column_row_key_and_length() {
    block_on(async {
        for (keyed, options) in [
            (true, &[("bucket", "1")][..]),
            (true, &[("bucket", "1"), ("deletion-vectors.enabled", "true")]),
            (true, &[("bucket", "-1")]),
            (true, &[("bucket", "-2")]),
            (false, &[("bucket", "-1")]),
            (false, &[("bucket", "-1"), ("file.format", "orc")]),
        ] {
            let table = table(memory(), of(keyed, options)).await;
            let mut writer = table.writer("u").unwrap();
            writer.write(&batch("日本語", 1), None).await.unwrap();
            let error = writer.write(&batch("abcd", 1), None).await.unwrap_err();
            let text = error.to_string();
            assert_eq!(error.kind(), ErrorKind::Invalid);
            assert!(text.contains("length 4") && text.contains("CHAR(3)"), "{text}");
            let context = format!("{:?}", error.context());
            assert!(context.contains("\"c\"") && context.contains("\"4\""), "the fourth row: {context}");
            assert_eq!(context.contains("k=2"), keyed, "{context}");
            let error = writer.write(&batch("abc", 10_i128.pow(38)), None).await.unwrap_err();
            assert!(error.to_string().contains("39 digits"), "{error}");
            // What is taken back may be what should not be there.
            if keyed {
                let deletes = Int8Array::from(vec![0, 3]);
                writer.write(&batch("abcd", 1), Some(&deletes)).await.unwrap();
            }
            writer.close().await.unwrap();
        }
    });
}

async fn commit(table: &Table, batch: &RecordBatch) {
    let mut writer = table.writer("u").unwrap();
    writer.write(batch, None).await.unwrap();
    let messages = writer.prepare_commit(true).await.unwrap();
    let outcome = table.committer("u").commit(Commit::batch(messages)).await.unwrap();
    assert!(matches!(outcome, CommitOutcome::Committed(_)), "{outcome:?}");
    writer.close().await.unwrap();
}

#[test]
fn fractions_that_a_timestamp_has_not_are_dropped() {
    block_on(async {
        let mut schema = of(true, &[("bucket", "1")]);
        schema.primary_keys = vec!["at".to_owned()];
        schema.fields[3].data_type.nullable = false;
        let table = table(memory(), schema).await;
        for millis in [1_000, 1_999] {
            let columns: Vec<(&str, ArrayRef, bool)> = vec![
                ("k", Arc::new(Int32Array::from(vec![1])), false),
                ("c", Arc::new(StringArray::from(vec!["abc"])), true),
                ("d", Arc::new(Decimal128Array::from(vec![1]).with_data_type(Arrow::Decimal128(38, 0))), true),
                ("at", Arc::new(TimestampMillisecondArray::from(vec![millis])), false),
            ];
            commit(&table, &RecordBatch::try_from_iter_with_nullable(columns).unwrap()).await;
        }
        let splits = table.scan().plan().await.unwrap().splits;
        let keys: Vec<_> =
            splits.iter().flat_map(|s| &s.files).map(|f| (f.min_key.clone(), f.max_key.clone())).collect();
        assert_eq!(keys.len(), 2);
        assert_eq!(keys[0], keys[1], "both are the same key");
    });
}

/// A file of others may hold what no writer of ours takes.
#[test]
fn a_deep_check_finds_decimals_beyond_their_type() {
    block_on(async {
        for keyed in [true, false] {
            let table = table(memory(), of(keyed, &[("bucket", if keyed { "1" } else { "-1" })])).await;
            commit(&table, &batch("abc", 10_i128.pow(38) - 1)).await;
            assert_eq!(check_table(&table, Depth::Deep).await.unwrap().findings, []);
            let mut writer = table.writer("u").unwrap();
            writer.write_stored(&batch("abc", 10_i128.pow(38)), None).await.unwrap();
            let messages = writer.prepare_commit(true).await.unwrap();
            table.committer("u").commit(Commit::batch(messages)).await.unwrap();
            writer.close().await.unwrap();
            let report = check_table(&table, Depth::Deep).await.unwrap();
            assert!(report.has_faults(), "{report:?}");
            assert!(format!("{report:?}").contains("39 digits"), "{report:?}");
        }
    });
}
