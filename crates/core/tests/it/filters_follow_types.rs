//! Columns whose type changed: what a filter compares is the value as it is read, whatever the files hold, in every file format,
//! with and without a key. CHAR in ORC files is read without its blanks.

use linn_core::read;
use linn_format::datum::Datum;
use linn_format::predicate::{CompareOp, Predicate};
use linn_format::schema::SchemaChange;
use linn_format::types::DataType;
use proptest::prelude::*;

use crate::case::{Case, text};

/// The type of a column, the one it gets, and values.
const CHANGES: [(&str, &str, [&str; 6]); 12] = [
    ("TIMESTAMP(6)", "TIMESTAMP(3)", TIMES),
    ("TIMESTAMP(6)", "TIMESTAMP(0)", TIMES),
    ("TIMESTAMP(3)", "TIMESTAMP(6)", TIMES),
    ("TIMESTAMP(3)", "TIMESTAMP(1)", TIMES),
    ("TIMESTAMP(3)", "DATE", TIMES),
    ("STRING", "VARCHAR(2)", TEXTS),
    ("VARCHAR(4)", "STRING", TEXTS),
    ("CHAR(4)", "STRING", TEXTS),
    ("CHAR(4)", "CHAR(4)", TEXTS),
    ("DECIMAL(6, 2)", "DECIMAL(6, 1)", ["1.05", "1.04", "-1.05", "0.00", "9.99", "NULL"]),
    ("DOUBLE", "FLOAT", ["0.1", "0.2", "-0.1", "0", "16777217", "NULL"]),
    ("INT", "BIGINT", ["1", "2", "-1", "0", "2147483647", "NULL"]),
];

const TIMES: [&str; 6] = [
    "1970-01-01 00:00:00.000",
    "1970-01-01 00:00:00.567",
    "1969-12-31 23:59:59.999",
    "2024-01-01 00:00:00.250",
    "2024-01-01 00:00:00.251",
    "NULL",
];
const TEXTS: [&str; 6] = ["'ab'", "'ab '", "'abc'", "'a'", "''", "NULL"];

const OPS: [CompareOp; 6] =
    [CompareOp::Eq, CompareOp::NotEq, CompareOp::Lt, CompareOp::LtEq, CompareOp::Gt, CompareOp::GtEq];

async fn check(change: usize, format: &str, keys: &str, commits: &[Vec<usize>], op: usize, literal: usize) {
    let (from, to, values) = CHANGES[change];
    let bucket = if keys.is_empty() { "-1" } else { "1" };
    let options = [("file.format", format), ("bucket", bucket), ("write-only", "true")];
    let mut case = Case::new(&format!("k INT, v {from}"), keys, &options).await;
    let mut k = 0;
    for commit in commits {
        let row = |value: &usize| {
            k += 1;
            // ORC has no room for parts of a second before 1970.
            let value = if format == "orc" && values == TIMES && *value == 2 { 0 } else { *value };
            format!("+I({k},{})", values[value])
        };
        let rows: Vec<String> = commit.iter().map(row).collect();
        case.commit(&rows.iter().map(String::as_str).collect::<Vec<_>>()).await;
    }
    if from != to {
        let new_type = DataType::parse(to).unwrap();
        case.alter(&[SchemaChange::UpdateColumnType { path: vec!["v".into()], new_type, keep_nullability: true }])
            .await;
    }
    let field = case.field("v");
    let reading = case.table.read().build().unwrap();
    let (mut all, mut known) = (Vec::new(), Vec::new());
    for split in case.table.scan().plan().await.unwrap().splits {
        for batch in read::collect(reading.stream(&split).await.unwrap()).await.unwrap() {
            known.extend(
                (0..batch.num_rows()).map(|i| Datum::from_array(batch.column(1), i, &field.data_type).unwrap()),
            );
            all.push(batch);
        }
    }
    let Some(literal) = known.get(literal % known.len()).cloned().flatten() else { return };
    let compare = Predicate::Compare { field_id: field.id, op: OPS[op], literal: literal.clone() };
    for filter in [
        compare.clone(),
        Predicate::Not(Box::new(compare)),
        Predicate::In { field_id: field.id, literals: vec![literal], negated: op.is_multiple_of(2) },
        Predicate::IsNull { field_id: field.id, negated: op.is_multiple_of(2) },
    ] {
        let mut expected = Vec::new();
        for batch in &all {
            let keep = filter.evaluate(batch, &case.table.schema().fields).unwrap();
            let rows = text(batch);
            expected.extend(rows.into_iter().enumerate().filter(|(i, _)| keep.value(*i)).map(|(_, row)| row));
        }
        expected.sort();
        let found = case.select(&["k", "v"], Some(filter.clone())).await;
        assert_eq!(found, expected, "{from} to {to} in {format}: {filter:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_row_is_lost(
        change in 0..CHANGES.len(),
        format in prop::sample::select(vec!["parquet", "orc", "avro"]),
        keyed: bool,
        commits in prop::collection::vec(prop::collection::vec(0..6_usize, 1..4), 1..4),
        op in 0..6_usize,
        literal in 0..12_usize,
    ) {
        let keys = if keyed { "k" } else { "" };
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
            .block_on(check(change, format, keys, &commits, op, literal));
    }
}
