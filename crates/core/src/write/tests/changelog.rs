//! Changelogs of compactions: folded, they are the table, whatever was written, compacted and restarted in between.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int64Type};
use arrow_array::{Array, ArrayRef, Int8Array, Int64Array, RecordBatch, StringArray};
use linn_format::schema::TableSchema;
use linn_format::types::{DataField, DataType};
use proptest::prelude::*;

use super::store::Store;
use super::{block_on, writer};

/// Columns after the key.
type Values = (Option<i64>, Option<i64>, Option<String>);
/// Key, columns, row kind.
type Row = (i64, Values, i8);
type State = BTreeMap<i64, Values>;

/// `T(k BIGINT, s BIGINT, v BIGINT, w STRING, PRIMARY KEY (k))`.
fn table(options: &[(&str, &str)]) -> TableSchema {
    let field = |id, name: &str, sql: &str| DataField::new(id, name, DataType::parse(sql).unwrap());
    let fields = vec![
        field(0, "k", "BIGINT NOT NULL"),
        field(1, "s", "BIGINT"),
        field(2, "v", "BIGINT"),
        field(3, "w", "STRING"),
    ];
    let mut schema = TableSchema {
        version: 3,
        id: linn_format::SchemaId(0),
        fields,
        highest_field_id: 3,
        partition_keys: Vec::new(),
        primary_keys: vec!["k".to_owned()],
        options: Default::default(),
        comment: None,
        time_millis: 0,
    };
    for (key, value) in [("bucket", "1"), ("num-sorted-run.compaction-trigger", "3")].iter().chain(options) {
        schema.options.set(*key, *value);
    }
    schema
}

fn batch(rows: &[Row]) -> (RecordBatch, Int8Array) {
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("k", Arc::new(Int64Array::from_iter_values(rows.iter().map(|r| r.0)))),
        ("s", Arc::new(Int64Array::from_iter(rows.iter().map(|r| r.1.0)))),
        ("v", Arc::new(Int64Array::from_iter(rows.iter().map(|r| r.1.1)))),
        ("w", Arc::new(StringArray::from_iter(rows.iter().map(|r| r.1.2.clone())))),
    ];
    (RecordBatch::try_from_iter(columns).unwrap(), Int8Array::from_iter_values(rows.iter().map(|r| r.2)))
}

fn rows_of(batch: &RecordBatch) -> Vec<Row> {
    let int = |c: usize, i: usize| {
        let column = batch.column(c).as_primitive::<Int64Type>();
        column.is_valid(i).then(|| column.value(i))
    };
    let text = batch.column(3).as_string::<i32>();
    let kinds = batch.column(5).as_primitive::<Int8Type>();
    (0..batch.num_rows())
        .map(|i| {
            let w = text.is_valid(i).then(|| text.value(i).to_owned());
            (int(0, i).unwrap(), (int(1, i), int(2, i), w), kinds.value(i))
        })
        .collect()
}

async fn state(store: &Arc<Store>, schema: &TableSchema) -> State {
    let mut state = State::new();
    for (k, values, kind) in store.read_all(schema).await.iter().flat_map(rows_of) {
        assert_eq!(kind & 1, 0);
        assert_eq!(state.insert(k, values), None, "key {k} came twice");
    }
    state
}

/// Applies a changelog; every row must fit to what is there, and updates must come in pairs.
fn apply(state: &mut State, changes: &[Row]) {
    let mut at = 0;
    while let Some((k, values, kind)) = changes.get(at) {
        at += 1;
        match kind {
            0 => assert_eq!(state.insert(*k, values.clone()), None, "+I of key {k} which is there"),
            3 => assert_eq!(state.remove(k).as_ref(), Some(values), "-D of key {k} has another row"),
            1 => {
                assert_eq!(state.get(k), Some(values), "-U of key {k} has another row");
                let (next, after, kind) = changes.get(at).expect("a -U without +U");
                assert_eq!((next, *kind), (k, 2), "a -U without +U");
                state.insert(*k, after.clone());
                at += 1;
            }
            _ => panic!("a +U of key {k} without -U"),
        }
    }
}

/// How records of one key become a row, as plain loops over all that was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Engine {
    Last,
    First,
    /// The last in the order of `s`.
    BySequence,
    /// Columns keep their last value that is not null.
    Partial,
    /// `v` is summed and `w` strung together, in the order of `s` where it is the sequence.
    Sum(bool),
    /// `v` is summed, the others keep their last value that is not null, and values are taken back.
    Owed,
    /// Columns keep their last value that is not null, and a deletion removes the row.
    Removed,
}

impl Engine {
    fn options(self) -> Vec<(&'static str, &'static str)> {
        match self {
            Self::Last => vec![],
            Self::First => vec![("merge-engine", "first-row")],
            Self::BySequence => vec![("sequence.field", "s")],
            Self::Partial => vec![("merge-engine", "partial-update")],
            Self::Owed => vec![("merge-engine", "aggregation"), ("fields.v.aggregate-function", "sum")],
            Self::Removed => {
                vec![("merge-engine", "partial-update"), ("partial-update.remove-record-on-delete", "true")]
            }
            Self::Sum(by_sequence) => {
                let mut options = vec![
                    ("merge-engine", "aggregation"),
                    ("fields.v.aggregate-function", "sum"),
                    ("fields.w.aggregate-function", "listagg"),
                ];
                if by_sequence {
                    options.push(("sequence.field", "s"));
                }
                options
            }
        }
    }

    fn takes_deletes(self) -> bool {
        matches!(self, Self::Last | Self::BySequence | Self::Owed | Self::Removed)
    }

    fn fold(self, written: &[Row]) -> State {
        let mut by_key: BTreeMap<i64, Vec<Row>> = BTreeMap::new();
        for row in written {
            by_key.entry(row.0).or_default().push(row.clone());
        }
        let mut state = State::new();
        for (k, mut rows) in by_key {
            if matches!(self, Self::BySequence) {
                rows.sort_by_key(|r| r.1.0);
            }
            let last = rows[rows.len() - 1].clone();
            let values = match self {
                Self::First => rows[0].1.clone(),
                Self::Last | Self::BySequence if last.2 == 3 => continue,
                Self::Last | Self::BySequence => last.1,
                Self::Partial => rows.iter().fold((None, None, None), |acc, (_, row, _)| {
                    (row.0.or(acc.0), row.1.or(acc.1), row.2.clone().or(acc.2))
                }),
                Self::Owed if rows.iter().all(|row| row.2 == 3) => continue,
                Self::Owed => rows.iter().fold((None, None, None), |acc, (_, row, kind)| owed(acc, row, *kind)),
                Self::Removed if last.2 == 3 => continue,
                Self::Removed => {
                    let from = rows.iter().rposition(|row| row.2 == 3).map_or(0, |at| at + 1);
                    rows[from..].iter().fold((None, None, None), |acc, (_, row, _)| {
                        (row.0.or(acc.0), row.1.or(acc.1), row.2.clone().or(acc.2))
                    })
                }
                Self::Sum(by_sequence) => {
                    let sum = rows.iter().filter_map(|r| r.1.1).reduce(|a, b| a + b);
                    // Strings come in the order in which they met: what was merged before stays together.
                    let texts: Vec<_> = rows.iter().filter_map(|r| r.1.2.clone()).collect();
                    let text = (!texts.is_empty()).then(|| texts.join(","));
                    let s = if by_sequence {
                        rows.iter().map(|r| r.1.0).max().flatten()
                    } else {
                        rows.iter().rev().find_map(|r| r.1.0)
                    };
                    (s, sum, text)
                }
            };
            state.insert(k, values);
        }
        state
    }
}

fn owed(acc: Values, row: &Values, kind: i8) -> Values {
    if kind != 3 {
        let sum = match (acc.1, row.1) {
            (Some(a), Some(b)) => Some(a + b),
            (a, b) => a.or(b),
        };
        return (row.0.or(acc.0), sum, row.2.clone().or(acc.2));
    }
    let sum = row.1.map_or(acc.1, |value| Some(acc.1.unwrap_or(0) - value));
    (acc.0.filter(|_| row.0.is_none()), sum, acc.2.filter(|_| row.2.is_none()))
}

/// A row's columns as the model compares them: where late rows may come, the order of strings is not told.
fn comparable(engine: Engine, state: State) -> State {
    match engine {
        Engine::Sum(true) => state
            .into_iter()
            .map(|(k, (s, v, w))| {
                let w = w.map(|w| {
                    let mut parts: Vec<&str> = w.split(',').collect();
                    parts.sort_unstable();
                    parts.join(",")
                });
                (k, (s, v, w))
            })
            .collect(),
        _ => state,
    }
}

/// One commit of a test.
#[derive(Debug, Clone)]
struct Step {
    rows: Vec<(u8, Option<i8>, Option<i8>, Option<u8>, bool)>,
    restart: bool,
    full: bool,
    wait: bool,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let row = (0u8..30, prop::option::of(-3i8..4), prop::option::of(-3i8..4), prop::option::of(0u8..3), any::<bool>());
    let step = (prop::collection::vec(row, 0..25), prop::bool::weighted(0.3), prop::bool::weighted(0.2), any::<bool>())
        .prop_map(|(rows, restart, full, wait)| Step { rows, restart, full, wait });
    prop::collection::vec(step, 1..9)
}

fn records(engine: Engine, step: &Step) -> Vec<Row> {
    let text = |t: &u8| ["z", "x", "yy"][usize::from(*t)].to_owned();
    let rows = step.rows.iter().map(|(k, s, v, w, delete)| {
        let kind = if *delete && engine.takes_deletes() { 3 } else { 0 };
        (i64::from(*k), (s.map(i64::from), v.map(i64::from), w.as_ref().map(text)), kind)
    });
    rows.collect()
}

/// Writes, commits, compacts and restarts; after every commit whose level 0 is empty the changelog folds to the table,
/// and the table is what the model says.
fn check(engine: Engine, options: &[(&str, &str)], steps: &[Step]) {
    block_on(async {
        let mut all = engine.options();
        all.extend_from_slice(options);
        let schema = table(&all);
        let store = Store::new(&schema);
        let mut open = writer(&store, &schema, 1 << 30);
        let (mut written, mut followed) = (Vec::new(), State::new());
        let lookup = options.contains(&("changelog-producer", "lookup"));
        for step in steps {
            let rows = records(engine, step);
            if !rows.is_empty() {
                let (batch, kinds) = batch(&rows);
                open.write(&batch, Some(&kinds)).await.unwrap();
            }
            written.extend(rows);
            if step.full && !written.is_empty() {
                open.compact(&linn_format::row::BinaryRow::empty(), 0, true).await.unwrap();
            }
            store.commit(&open.prepare_commit(step.wait || step.full).await.unwrap());
            let changes: Vec<Row> = store.take_changes().iter().flat_map(rows_of).collect();
            apply(&mut followed, &changes);
            let now = state(&store, &schema).await;
            assert_eq!(comparable(engine, now.clone()), comparable(engine, engine.fold(&written)));
            let levels = store.levels();
            let told = if lookup { levels.iter().all(|l| *l > 0) } else { levels.iter().all(|l| *l == 3) };
            if told {
                assert_eq!(followed, now);
            }
            if lookup && options.iter().all(|(key, _)| !key.starts_with("lookup-")) {
                assert!(told, "rows wait at level 0 after a commit");
            }
            if step.restart {
                open.close().await.unwrap();
                open = writer(&store, &schema, 1 << 30);
            }
        }
        // A last compaction of everything tells the rest.
        if !written.is_empty() {
            open.compact(&linn_format::row::BinaryRow::empty(), 0, true).await.unwrap();
            store.commit(&open.prepare_commit(true).await.unwrap());
            apply(&mut followed, &store.take_changes().iter().flat_map(rows_of).collect::<Vec<_>>());
            assert_eq!(followed, state(&store, &schema).await);
        }
        open.close().await.unwrap();
        store.check_no_leaks();
    });
}

const ENGINES: [Engine; 8] = [
    Engine::Last,
    Engine::First,
    Engine::BySequence,
    Engine::Partial,
    Engine::Sum(false),
    Engine::Sum(true),
    Engine::Owed,
    Engine::Removed,
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn a_lookup_changelog_folds_to_the_table(
        engine in 0usize..8, small: bool, dedup: bool, beside: bool, mode in 0u8..3, steps in steps(),
    ) {
        let mut options = vec![("changelog-producer", "lookup")];
        // Files of many rows are then not small, and move as they are.
        options.push(("target-file-size", if small { "128 mb" } else { "1 kb" }));
        if dedup {
            options.push(("changelog-producer.row-deduplicate", "true"));
        }
        if beside {
            // All lookups ask lookup files then.
            options.push(("lookup.remote-file.enabled", "true"));
        }
        match mode {
            1 => options.push(("lookup-wait", "false")),
            2 => options.push(("lookup-compact", "gentle")),
            _ => {}
        }
        check(ENGINES[engine], &options, &steps);
    }

    #[test]
    fn a_full_compaction_changelog_folds_to_the_table(engine in 0usize..8, small: bool, dedup: bool, steps in steps()) {
        let engine = ENGINES[engine];
        prop_assume!(engine != Engine::First);
        let mut options = vec![("changelog-producer", "full-compaction"), ("full-compaction.delta-commits", "1000")];
        options.push(("target-file-size", if small { "128 mb" } else { "1 kb" }));
        if dedup {
            options.push(("changelog-producer.row-deduplicate", "true"));
        }
        check(engine, &options, &steps);
    }
}
