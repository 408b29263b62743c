//! Rows whose answer could depend on what was committed and compacted together, by hand: it does not.

use std::sync::Arc;

use futures::TryStreamExt;
use linn_core::Table;
use linn_core::seam::{Env, LocalSpawn, ManualClock, SeededIds};
use linn_format::schema::{NewTable, TableSchema};
use linn_format::types::{DataField, DataType};
use linn_testkit::model::Record;
use linn_testkit::render;
use serde_json::{Value, json};

use crate::drive::{block_on, commit, write};
use crate::table::{memory, open};

/// Keys that only make the oldest run large, so that a compaction leaves it where it is.
const OTHERS: i64 = 400;

/// What happens after each commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Then {
    Nothing,
    Minor,
    Full,
}

struct Case<'a> {
    columns: &'static [(&'static str, &'static str)],
    options: &'a [(&'static str, &'static str)],
    /// Kind and columns of each record of key 1.
    records: Vec<(i8, Value)>,
    /// The row of the key, if there is one.
    row: Option<Value>,
}

struct Life {
    table: Table,
    clock: Arc<ManualClock>,
    commits: i64,
    _folder: tempfile::TempDir,
}

impl Life {
    async fn new(case: &Case<'_>, more: &[(&str, &str)]) -> Self {
        let columns = [("k", "BIGINT NOT NULL")].iter().chain(case.columns);
        let fields =
            (0..).zip(columns).map(|(id, (name, sql))| DataField::new(id, *name, DataType::parse(sql).unwrap()));
        let usual = [
            ("bucket", "1"),
            ("num-sorted-run.compaction-trigger", "2"),
            ("num-levels", "5"),
            ("compaction.max-size-amplification-percent", "1000000"),
        ];
        let new = NewTable {
            columns: fields.collect(),
            primary_keys: vec!["k".to_owned()],
            options: usual.iter().chain(case.options).chain(more).copied().collect(),
            ..NewTable::default()
        };
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(ManualClock::new(1_700_000_000_000));
        let env = Env::new(
            memory(),
            clock.clone(),
            Arc::new(SeededIds::new(1)),
            Arc::new(LocalSpawn),
            folder.path().join("spill"),
        );
        let table = open(&TableSchema::create(new, 0).unwrap(), env).await;
        let mut life = Self { table, clock, commits: 0, _folder: folder };
        let other = |k: i64| (0, json!({ "k": k + 10 }));
        life.write(&(0..OTHERS).map(other).collect::<Vec<_>>()).await;
        life.compact(true).await;
        life
    }

    async fn write(&mut self, records: &[(i8, Value)]) {
        self.commits += 1;
        let records: Vec<Record> = records
            .iter()
            .map(|(kind, values)| {
                let names = self.table.schema().fields.iter().map(|f| f.name.clone());
                let row = names.map(|name| (name.clone(), values.get(&name).cloned().unwrap_or(json!(null))));
                let mut row: linn_testkit::model::Row = row.collect();
                row.entry("k").and_modify(|k| *k = if k.is_null() { json!(1) } else { k.clone() });
                Record { kind: *kind, row }
            })
            .collect();
        let lazy = self.table.with_options(&[("write-only", "true")].into_iter().collect()).unwrap();
        let mut writer = lazy.writer("test").unwrap();
        write(&mut writer, &lazy, &records).await.unwrap();
        let messages = writer.prepare_commit(true).await.unwrap();
        commit(&lazy, self.commits, messages).await;
        writer.close().await.unwrap();
    }

    async fn compact(&mut self, full: bool) {
        self.commits += 1;
        let messages = self.table.compact(None, full).await.unwrap();
        commit(&self.table, self.commits, messages).await;
    }

    async fn then(&mut self, then: Then) {
        if then != Then::Nothing {
            self.compact(then == Then::Full).await;
        }
    }

    /// The row of key 1.
    async fn row(&self) -> Option<Value> {
        let merging = self.table.with_options(&[("deletion-vectors.merge-on-read", "true")].into_iter().collect());
        let table = merging.unwrap();
        let read = table.read().build().unwrap();
        let mut rows = Vec::new();
        for split in table.scan().plan().await.unwrap().splits {
            let batches: Vec<_> = read.stream(&split).await.unwrap().try_collect().await.unwrap();
            rows.extend(render::rows(&batches, &table.schema().fields));
        }
        let of_key: Vec<Value> = rows.into_iter().filter(|row| row["k"] == json!(1)).collect();
        assert!(of_key.len() < 2, "{of_key:?}");
        of_key.into_iter().next()
    }
}

const LAYOUTS: [&[(&str, &str)]; 4] = [
    &[],
    &[("changelog-producer", "lookup")],
    &[("deletion-vectors.enabled", "true")],
    &[("changelog-producer", "full-compaction"), ("full-compaction.delta-commits", "1000")],
];

/// All records in one commit, and each in its own, with every compaction between them.
fn check(case: &Case<'_>, layouts: &[&[(&str, &str)]]) {
    block_on(async {
        let expected = case.row.as_ref().map(|row| {
            let mut row = row.clone();
            row["k"] = json!(1);
            row
        });
        for layout in layouts {
            for then in [Then::Nothing, Then::Minor, Then::Full] {
                for each in [1, 2, case.records.len()] {
                    let mut life = Life::new(case, layout).await;
                    for records in case.records.chunks(each) {
                        life.write(records).await;
                        life.then(then).await;
                    }
                    let what = format!("{layout:?}, {then:?}, {each} in a commit");
                    assert_eq!(life.row().await, expected, "{what}");
                    life.compact(false).await;
                    assert_eq!(life.row().await, expected, "{what}, compacted");
                    life.compact(true).await;
                    assert_eq!(life.row().await, expected, "{what}, compacted completely");
                }
            }
        }
    });
}

#[test]
fn a_row_that_comes_back_starts_from_nothing() {
    check(
        &Case {
            columns: &[("a", "INT"), ("b", "INT")],
            options: &[("merge-engine", "partial-update"), ("partial-update.remove-record-on-delete", "true")],
            records: vec![(0, json!({ "a": 7, "b": 8 })), (3, json!({})), (0, json!({ "a": 9 }))],
            row: Some(json!({ "a": 9, "b": null })),
        },
        &LAYOUTS,
    );
    check(
        &Case {
            columns: &[("v", "INT")],
            options: &[
                ("merge-engine", "aggregation"),
                ("fields.v.aggregate-function", "sum"),
                ("aggregation.remove-record-on-delete", "true"),
            ],
            records: vec![(0, json!({ "v": 7 })), (3, json!({ "v": 7 })), (0, json!({ "v": 9 }))],
            row: Some(json!({ "v": 9 })),
        },
        &LAYOUTS,
    );
}

#[test]
fn what_is_taken_back_is_not_what_comes_afterwards() {
    let of = |function, values: [Value; 4], row: Value| Case {
        columns: match function {
            "product" | "last_non_null_value" => &[("v", "INT")],
            _ => &[("v", "ARRAY<INT>")],
        },
        options: match function {
            "product" => &[("merge-engine", "aggregation"), ("fields.v.aggregate-function", "product")],
            "last_non_null_value" => &[("merge-engine", "aggregation")],
            _ => &[("merge-engine", "aggregation"), ("fields.v.aggregate-function", "collect")],
        },
        records: values.into_iter().zip([0, 1, 2, 1]).map(|(v, kind)| (kind, json!({ "v": v }))).collect(),
        row: Some(json!({ "v": row })),
    };
    check(&of("product", [json!(6), json!(3), json!(5), json!(2)], json!(5)), &LAYOUTS);
    check(&of("last_non_null_value", [json!(6), json!(6), json!(null), json!(null)], json!(null)), &LAYOUTS);
    check(&of("collect", [json!([1, 2]), json!([1]), json!([3, 1]), json!([2])], json!([3, 1])), &LAYOUTS);
}

#[test]
fn what_is_taken_back_before_there_is_a_row_is_owed() {
    let options: &[(&str, &str)] = &[("merge-engine", "aggregation"), ("fields.v.aggregate-function", "sum")];
    let owed = vec![(3, json!({ "v": 7 })), (3, json!({ "v": 2 }))];
    check(&Case { columns: &[("v", "INT")], options, records: owed.clone(), row: None }, &LAYOUTS);
    let paid = [owed, vec![(0, json!({ "v": 20 }))]].concat();
    check(&Case { columns: &[("v", "INT")], options, records: paid, row: Some(json!({ "v": 11 })) }, &LAYOUTS);
}

const REMOVING: &[(&str, &str)] = &[
    ("merge-engine", "partial-update"),
    ("fields.s.sequence-group", "v"),
    ("partial-update.remove-record-on-sequence-group", "s"),
];

#[test]
fn a_delete_holds_off_rows_that_are_late() {
    let late = |columns, options, rows: [(i8, i64, i64); 3]| Case {
        columns,
        options,
        records: rows.into_iter().map(|(kind, v, s)| (kind, json!({ "v": v, "s": s }))).collect(),
        row: None,
    };
    let columns: &[(&str, &str)] = &[("v", "INT"), ("s", "INT")];
    let rows = [(0, 100, 1), (3, 100, 5), (0, 300, 3)];
    check(&late(columns, REMOVING, rows), &LAYOUTS);
    check(&late(columns, &[("sequence.field", "s")], rows), &LAYOUTS);
    // What a group takes back keeps its place too.
    let group: &[(&str, &str)] = &[("merge-engine", "partial-update"), ("fields.s.sequence-group", "b")];
    check(
        &Case {
            columns: &[("a", "INT"), ("b", "INT"), ("s", "INT")],
            options: group,
            records: vec![(3, json!({ "b": 1, "s": 6 })), (0, json!({ "a": 30, "b": 5, "s": 1 }))],
            row: Some(json!({ "a": 30, "b": null, "s": 6 })),
        },
        &LAYOUTS,
    );
}

const GROUPS: &[(&str, &str)] = &[("a", "INT"), ("g", "INT"), ("c", "INT"), ("h", "INT")];

#[test]
fn a_late_retraction_of_a_last_value_clears_it() {
    for function in ["last_value", "last_non_null_value"] {
        let options = [
            ("merge-engine", "partial-update"),
            ("fields.g.sequence-group", "a"),
            ("fields.h.sequence-group", "c"),
            ("fields.a.aggregate-function", function),
        ];
        let records = vec![
            (0, json!({ "a": 7, "g": 9, "c": 1, "h": 1 })),
            (0, json!({ "c": 2, "h": 2 })),
            (1, json!({ "a": 7, "g": 3 })),
            (0, json!({ "c": 3, "h": 3 })),
        ];
        let row = Some(json!({ "a": null, "g": 9, "c": 3, "h": 3 }));
        check(&Case { columns: GROUPS, options: &options, records, row }, &LAYOUTS);
    }
}

#[test]
fn a_removal_by_one_group_holds_off_late_rows_of_another() {
    let options = &[
        ("merge-engine", "partial-update"),
        ("fields.g.sequence-group", "a"),
        ("fields.h.sequence-group", "c"),
        ("partial-update.remove-record-on-sequence-group", "g"),
    ];
    let mut records = vec![
        (0, json!({ "a": 1, "g": 1, "c": 1, "h": 1 })),
        (3, json!({ "g": 5, "h": 7 })),
        (0, json!({ "a": 2, "g": 6, "c": 5, "h": 3 })),
    ];
    let row = Some(json!({ "a": 2, "g": 6, "c": null, "h": 7 }));
    check(&Case { columns: GROUPS, options, records: records.clone(), row }, &LAYOUTS);
    records.push((0, json!({ "a": 3, "g": 9, "c": 8, "h": 4 })));
    let row = Some(json!({ "a": 3, "g": 9, "c": null, "h": 7 }));
    check(&Case { columns: GROUPS, options, records, row }, &LAYOUTS);
}

#[test]
fn rows_of_a_sequence_that_come_between_others() {
    // What a complete compaction or a lookup has made one stays one.
    let case = Case {
        columns: &[("v", "STRING"), ("s", "INT")],
        options: &[("merge-engine", "aggregation"), ("sequence.field", "s")],
        records: vec![(0, json!({ "v": "a", "s": 1 })), (0, json!({ "s": 5 })), (0, json!({ "v": "c", "s": 3 }))],
        row: Some(json!({ "v": "c", "s": 5 })),
    };
    block_on(async {
        for then in [Then::Nothing, Then::Minor] {
            for each in [1, 2, 3] {
                let mut life = Life::new(&case, &[]).await;
                for records in case.records.chunks(each) {
                    life.write(records).await;
                    life.then(then).await;
                }
                let row = life.row().await.unwrap();
                assert_eq!(row["v"], json!("c"), "{then:?}, {each} in a commit");
            }
        }
    });
}

#[test]
fn deletes_go_when_their_time_has_passed() {
    let case = |options| Case { columns: &[("v", "INT"), ("s", "INT")], options, records: Vec::new(), row: None };
    let row = |v: i64, s: i64| json!({ "v": v, "s": s });
    let late = Some(json!({ "k": 1, "v": 300, "s": 3 }));
    block_on(async {
        for options in [REMOVING, &[("sequence.field", "s")]] {
            for layout in LAYOUTS {
                let more = [layout, &[("linn.delete.retention-time", "1 h")]].concat();
                let mut life = Life::new(&case(options), &more).await;
                life.write(&[(0, row(100, 1)), (3, row(100, 5))]).await;
                life.compact(true).await;
                // Compactions in between do not make the delete younger.
                for round in 0..4 {
                    life.clock.advance(20 * 60 * 1000);
                    life.write(&[(0, json!({ "k": 10, "v": round, "s": round }))]).await;
                    life.compact(true).await;
                }
                life.write(&[(0, row(300, 3))]).await;
                life.compact(true).await;
                assert_eq!(life.row().await, late, "{more:?}");
                // A younger one holds it off, until it is compacted away.
                life.write(&[(3, row(300, 4))]).await;
                life.compact(true).await;
                life.write(&[(0, row(200, 2))]).await;
                life.compact(true).await;
                assert_eq!(life.row().await, None, "{more:?}");
                let live = |life: &Life| life.table.clone();
                let files = deletes(&live(&life)).await;
                assert!(files > 0, "{more:?}: no delete is left");
                life.clock.advance(61 * 60 * 1000);
                life.compact(true).await;
                assert_eq!(deletes(&live(&life)).await, 0, "{more:?}");
                life.write(&[(0, row(300, 3))]).await;
                assert_eq!(life.row().await, late, "{more:?}");
            }
        }
    });
}

/// The retractions that the files of the latest snapshot hold.
async fn deletes(table: &Table) -> i64 {
    let plan = table.scan().plan().await.unwrap();
    plan.splits.iter().flat_map(|split| split.files.iter()).filter_map(|file| file.delete_row_count).sum()
}
