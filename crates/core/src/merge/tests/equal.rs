//! Random rows, runs, batch boundaries and compactions: the merge equals the model.

use std::sync::Arc;

use proptest::prelude::*;

use super::model::{Engine, Function, Model};
use super::{Row, Value, flush_rows, flush_runs, merge_part, merge_rows, merge_whole, table};
use crate::merge::{MergeSpec, Retractions};

/// One table of the test: options and the model that they mean.
struct Case {
    key: &'static str,
    options: Vec<(&'static str, &'static str)>,
    model: Model,
    /// Row kinds that occur.
    kinds: &'static [i8],
    /// Whether dropping retractions early leaves the answer as it is.
    droppable: bool,
}

const COLUMNS: [(&str, &str); 5] = [("a", "INT"), ("b", "STRING"), ("g", "BIGINT"), ("h", "INT"), ("c", "STRING")];

const TAKING_BACK: [(&str, &str); 4] = [
    ("merge-engine", "aggregation"),
    ("fields.a.aggregate-function", "sum"),
    ("fields.b.aggregate-function", "last_value"),
    ("fields.h.aggregate-function", "sum"),
];

/// What these columns are by default is the last value that is not null.
fn taking_back(remove: bool) -> Model {
    use Function::{Last, LastNonNull, Sum};
    let functions = vec![Sum, Last, LastNonNull, Sum, LastNonNull];
    Model { engine: Engine::Aggregate(functions, remove), ..Model::default() }
}

fn cases() -> Vec<Case> {
    let deduplicate = Model::default();
    let by_g = Model { sequence: vec![3], ..Model::default() };
    let falling = Model { sequence: vec![3, 4], descending: true, ..Model::default() };
    let partial = |groups, remove| Model { engine: Engine::Partial(groups, remove), ..Model::default() };
    let groups = vec![(vec![3, 4], vec![1, 5])];
    let functions = {
        use Function::{FirstNonNull, LastNonNull, ListAgg, Max, Sum};
        vec![Sum, ListAgg, Max, FirstNonNull, LastNonNull]
    };
    let more = vec![Function::Min, Function::First, Function::Sum, Function::Last, Function::FirstNonNull];
    let case = |key, options: &[(&'static str, &'static str)], model: Model, kinds, droppable| Case {
        key,
        options: options.to_vec(),
        model,
        kinds,
        droppable,
    };
    let (all, adds) = (&[0i8, 0, 0, 1, 2, 3][..], &[0i8, 2][..]);
    vec![
        case("INT NOT NULL", &[], deduplicate.clone(), all, true),
        case("BIGINT", &[], deduplicate.clone(), all, true),
        case("STRING NOT NULL", &[], deduplicate.clone(), all, true),
        case("INT NOT NULL", &[("ignore-delete", "true")], Model { ignore_delete: true, ..deduplicate }, all, true),
        case("INT NOT NULL", &[("sequence.field", "g")], by_g, all, false),
        case(
            "STRING NOT NULL",
            &[("sequence.field", "g,h"), ("sequence.field.sort-order", "descending")],
            falling,
            all,
            false,
        ),
        case(
            "INT NOT NULL",
            &[("merge-engine", "first-row")],
            Model { engine: Engine::FirstRow, ..Model::default() },
            adds,
            true,
        ),
        case("INT NOT NULL", &[("merge-engine", "partial-update")], partial(vec![], false), adds, true),
        case(
            "INT NOT NULL",
            &[("merge-engine", "partial-update"), ("fields.g,h.sequence-group", "a,c")],
            partial(groups, false),
            adds,
            true,
        ),
        case(
            "STRING NOT NULL",
            &[
                ("merge-engine", "aggregation"),
                ("fields.a.aggregate-function", "sum"),
                ("fields.b.aggregate-function", "listagg"),
                ("fields.g.aggregate-function", "max"),
                ("fields.h.aggregate-function", "first_non_null_value"),
            ],
            Model { engine: Engine::Aggregate(functions, false), ..Model::default() },
            adds,
            true,
        ),
        case(
            "INT NOT NULL",
            &[
                ("merge-engine", "aggregation"),
                ("fields.a.aggregate-function", "min"),
                ("fields.b.aggregate-function", "first_value"),
                ("fields.g.aggregate-function", "sum"),
                ("fields.h.aggregate-function", "last_value"),
                ("fields.c.aggregate-function", "first_not_null_value"),
            ],
            Model { engine: Engine::Aggregate(more, false), ..Model::default() },
            adds,
            true,
        ),
        case("INT NOT NULL", &TAKING_BACK, taking_back(false), all, false),
        case(
            "INT NOT NULL",
            &[&TAKING_BACK[..], &[("aggregation.remove-record-on-delete", "true")]].concat(),
            taking_back(true),
            all,
            false,
        ),
        case(
            "STRING NOT NULL",
            &[("merge-engine", "partial-update"), ("partial-update.remove-record-on-delete", "true")],
            partial(vec![], true),
            all,
            true,
        ),
    ]
}

/// Raw material of a record: key, values, and a number that chooses its kind.
type Raw = (u8, Option<i8>, Option<u8>, Option<i8>, Option<i8>, Option<u8>, u8);

fn raw() -> impl Strategy<Value = Vec<Raw>> {
    let text = || prop::option::of(0u8..4);
    let number = || prop::option::of(-3i8..4);
    prop::collection::vec((0u8..12, number(), text(), number(), number(), text(), any::<u8>()), 0..80)
}

fn records(case: &Case, raw: &[Raw]) -> Vec<Row> {
    let number = |v: Option<i8>| v.map(|v| Value::Int(i64::from(v)));
    let text = |v: Option<u8>| v.map(|v| Value::Text(["", "x", "yy", "zzz"][usize::from(v)].to_owned()));
    raw.iter()
        .enumerate()
        .map(|(i, (k, a, b, g, h, c, kind))| {
            let key = if case.key.starts_with("STRING") {
                Value::Text(format!("key{k:02}"))
            } else {
                Value::Int(i64::from(*k) - 5)
            };
            Row {
                values: vec![Some(key), number(*a), text(*b), number(*g), number(*h), text(*c)],
                sequence: i as i64,
                kind: case.kinds[usize::from(*kind) % case.kinds.len()],
            }
        })
        .collect()
}

fn spec(case: &Case) -> Arc<MergeSpec> {
    let mut columns = vec![("k", case.key)];
    columns.extend(COLUMNS);
    let schema = table(&columns, &case.options);
    Arc::new(MergeSpec::of(&schema, &schema.fields).unwrap())
}

/// Rows as they are compared. Where values are taken back, what becomes of retractions alone is not the model's business, nor
/// whether a row that came alone after a removal is `+I` or `+U`.
fn comparable(case: &Case, mut rows: Vec<Row>) -> Vec<Row> {
    if case.model.takes_together() {
        rows.retain(|row| row.kind % 2 == 0);
        rows.iter_mut().for_each(|row| row.kind = 0);
    }
    rows
}

/// Deals records to runs and sorts each.
fn deal(model: &Model, records: &[Row], runs: usize) -> Vec<Vec<Row>> {
    let mut dealt = vec![Vec::new(); runs];
    for (i, record) in records.iter().enumerate() {
        dealt[(i * 7 + i / 5) % runs].push(record.clone());
    }
    for run in &mut dealt {
        run.sort_by(|a, b| a.values[0].cmp(&b.values[0]).then_with(|| model.order(a, b)));
    }
    dealt
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_merge_equals_the_model(raw in raw(), runs in 1usize..6, cut in 1usize..20, keep in any::<bool>()) {
        for case in cases() {
            let records = records(&case, &raw);
            let merged = merge_rows(&spec(&case), &deal(&case.model, &records, runs), keep, cut).unwrap();
            let (merged, folded) = (comparable(&case, merged), comparable(&case, case.model.fold(&records, keep)));
            prop_assert_eq!(merged, folded, "{:?}", case.options);
        }
    }

    /// Whatever older records there are.
    #[test]
    fn a_flush_equals_the_model(raw in raw(), older in 0usize..80, cut in 1usize..20) {
        for case in cases() {
            let (records, spec) = (records(&case, &raw), spec(&case));
            let (older, newer) = records.split_at(older.min(records.len()));
            let mut runs = merge_whole(&spec, &deal(&case.model, older, 1), Retractions::All, cut).unwrap();
            runs.extend(flush_runs(&spec, newer, cut).unwrap());
            runs.reverse();
            let merged = merge_rows(&spec, &runs, false, cut).unwrap();
            let folded = comparable(&case, case.model.fold(&records, false));
            prop_assert_eq!(comparable(&case, merged), folded, "{:?}", case.options);
            let spilled = vec![flush_rows(&spec, newer, cut).unwrap(), flush_rows(&spec, older, cut).unwrap()];
            let merged = merge_rows(&spec, &spilled, false, cut).unwrap();
            let folded = comparable(&case, case.model.fold(&records, false));
            prop_assert_eq!(comparable(&case, merged), folded, "{:?}", case.options);
        }
    }

    /// Files in order of time, compacted in any order, read the same as all records at once.
    #[test]
    fn compactions_change_no_answer(
        raw in raw(),
        cuts in prop::collection::vec(0usize..80, 0..6),
        merges in prop::collection::vec((any::<prop::sample::Index>(), 2usize..4), 0..4),
        cut in 1usize..20,
    ) {
        for case in cases() {
            let records = records(&case, &raw);
            let spec = spec(&case);
            let mut bounds: Vec<usize> = cuts.iter().map(|c| (*c).min(records.len())).collect();
            bounds.extend([0, records.len()]);
            bounds.sort_unstable();
            // Oldest first.
            let mut files: Vec<Vec<Row>> = bounds
                .windows(2)
                .flat_map(|w| flush_runs(&spec, &records[w[0]..w[1]], cut).unwrap())
                .collect();
            for (at, count) in &merges {
                let at = at.index(files.len().max(1));
                let end = (at + count).min(files.len());
                let newest_first: Vec<Vec<Row>> = files[at..end].iter().rev().cloned().collect();
                let kept = if case.droppable { Retractions::None } else { Retractions::All };
                let merged = match at {
                    0 => merge_whole(&spec, &newest_first, kept, cut),
                    _ => merge_part(&spec, &newest_first, cut),
                };
                files.splice(at..end, merged.unwrap());
            }
            files.reverse();
            let read = merge_rows(&spec, &files, false, cut).unwrap();
            let folded = comparable(&case, case.model.fold(&records, false));
            prop_assert_eq!(comparable(&case, read), folded, "{:?}", case.options);
        }
    }
}
