//! Reads with projections, filters, limits and counts, compared with the model's rows.

use std::sync::Arc;

use futures::TryStreamExt;
use linn_core::Table;
use linn_format::snapshot::Snapshot;
use linn_format::types::{DataField, Kind};
use linn_testkit::compare::{Rules, difference};
use linn_testkit::model::{Model, Op, Row, Test};
use linn_testkit::render;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::Value;

use crate::table::Made;

/// A filter before it has a table.
#[derive(Debug, Clone)]
enum RawTest {
    One { what: u8, column: Index, seed: u8 },
    And(Vec<RawTest>),
    Or(Vec<RawTest>),
    Not(Box<RawTest>),
}

/// What is asked of a table.
#[derive(Debug, Clone)]
pub(crate) struct Query {
    columns: Vec<Index>,
    test: Option<RawTest>,
    limit: usize,
}

pub(crate) fn queries() -> impl Strategy<Value = Vec<Query>> {
    let leaf =
        (any::<u8>(), any::<Index>(), any::<u8>()).prop_map(|(what, column, seed)| RawTest::One { what, column, seed });
    let test = leaf.prop_recursive(2, 6, 3, |inner| {
        let some = prop::collection::vec(inner.clone(), 1..4);
        prop_oneof![
            some.clone().prop_map(RawTest::And),
            some.prop_map(RawTest::Or),
            inner.prop_map(|t| RawTest::Not(Box::new(t))),
        ]
    });
    let query = (prop::collection::vec(any::<Index>(), 1..4), prop::option::weighted(0.8, test), 0usize..6)
        .prop_map(|(columns, test, limit)| Query { columns, test, limit });
    prop::collection::vec(query, 3)
}

impl RawTest {
    fn of(&self, made: &Made) -> Test {
        match self {
            Self::One { what, column, seed } => {
                let fields = &made.schema.fields;
                let fit: Vec<&DataField> = fields
                    .iter()
                    .filter(|f| Test::takes(&f.data_type.kind) && (f.name == "k" || !is_bytes(&f.data_type.kind)))
                    .collect();
                let field = fit[column.index(fit.len())];
                let name = field.name.clone();
                let literal = |seed: u8| literal(made, field, seed);
                const OPS: [Op; 6] =
                    [Op::Equal, Op::Unequal, Op::Less, Op::LessOrEqual, Op::Greater, Op::GreaterOrEqual];
                let text = matches!(field.data_type.kind, Kind::Varchar(_));
                match what % 12 {
                    at @ 0..6 => Test::Compare(name, OPS[usize::from(at)], literal(*seed)),
                    6 | 7 => Test::In(name, vec![literal(*seed), literal(seed / 2)], what % 12 == 7),
                    8 if text => Test::Prefix(name, literal(*seed).as_str().unwrap_or_default().to_owned()),
                    8 | 9 => Test::Null(name, false),
                    10 => Test::Null(name, true),
                    _ => Test::Compare(name, Op::Equal, literal(*seed)),
                }
            }
            Self::And(tests) => Test::And(tests.iter().map(|t| t.of(made)).collect()),
            Self::Or(tests) => Test::Or(tests.iter().map(|t| t.of(made)).collect()),
            Self::Not(test) => Test::Not(Box::new(test.of(made))),
        }
    }
}

/// Bitmaps and sketches among the columns are compared by their members, not by their bytes.
fn is_bytes(kind: &Kind) -> bool {
    matches!(kind, Kind::Varbinary(_))
}

/// A value that the column may have.
fn literal(made: &Made, field: &DataField, seed: u8) -> Value {
    match made.columns.iter().find(|c| c.name == field.name) {
        Some(column) => (column.value)(0, seed % 8 + 1),
        None if field.name == "k" => made.key.value(seed),
        None => Value::from(seed % 12),
    }
}

/// Rows at a snapshot of some columns, with a filter.
async fn rows(
    table: &Table,
    snapshot: &Arc<Snapshot>,
    fields: &[DataField],
    test: Option<&Test>,
    limit: Option<usize>,
) -> Vec<Value> {
    let all = &table.schema().fields;
    let predicate = test.map(|t| t.predicate(all));
    let mut scan = table.scan().snapshot(Arc::clone(snapshot));
    if let Some(predicate) = &predicate {
        scan = scan.filter(predicate.clone());
    }
    if let Some(limit) = limit {
        scan = scan.limit(limit as u64);
    }
    let read = table.read().fields(fields.to_vec()).filter(predicate).limit(limit).build().unwrap();
    let mut rows = Vec::new();
    for split in scan.plan().await.unwrap().splits {
        let batches: Vec<_> = read.stream(&split).await.unwrap().try_collect().await.unwrap();
        let of_split = render::rows(&batches, fields);
        if test.is_none()
            && limit.is_none()
            && let Some(count) = split.merged_row_count()
        {
            assert_eq!(count, of_split.len() as i64, "rows of a split as its metadata counts them");
        }
        rows.extend(of_split);
    }
    rows
}

fn projected(rows: &[Row], fields: &[DataField]) -> Vec<Value> {
    let one = |row: &Row| fields.iter().map(|f| (f.name.clone(), row[&f.name].clone())).collect();
    rows.iter().map(|row| Value::Object(one(row))).collect()
}

/// Reads in several ways and compares with the rows that there must be.
pub(crate) async fn check(
    table: &Table,
    made: &Made,
    model: &Model,
    snapshot: Arc<Snapshot>,
    expected: &[Row],
    queries: &[Query],
) {
    let rules = Rules::of(&made.schema);
    let all = &made.schema.fields;
    let compare = |what: &dyn std::fmt::Debug, fields: &[DataField], expected: &[Row], actual: Vec<Value>| {
        let comparable = |row: &Value| Value::Object(model.comparable(row.as_object().unwrap()));
        let actual: Vec<Value> = actual.iter().map(comparable).collect();
        if let Some(text) = difference(&projected(expected, fields), &actual, &rules) {
            panic!("snapshot {}, {what:?}, options {:?}: {text}", snapshot.id, made.schema.options);
        }
    };
    compare(&"all", all, expected, rows(table, &snapshot, all, None, None).await);
    for query in queries {
        let mut fields: Vec<DataField> = Vec::new();
        for column in &query.columns {
            let field = &all[column.index(all.len())];
            if !fields.iter().any(|f| f.id == field.id) {
                fields.push(field.clone());
            }
        }
        let test = query.test.as_ref().map(|t| t.of(made));
        let holds = |row: &&Row| test.as_ref().is_none_or(|t| t.holds(row) == Some(true));
        let matching: Vec<Row> = expected.iter().filter(holds).cloned().collect();
        let actual = rows(table, &snapshot, &fields, test.as_ref(), None).await;
        compare(&test, &fields, &matching, actual);
        let limited = rows(table, &snapshot, &fields, test.as_ref(), Some(query.limit)).await;
        let enough = query.limit.min(matching.len());
        assert!(limited.len() >= enough, "{} of {enough} rows with {test:?}, limit {}", limited.len(), query.limit);
    }
}
