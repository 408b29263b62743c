//! Random tables, commits and compactions: a stream from any start, cut anywhere and gone on with, folds to the table
//! (cases: R2, R7).

use std::collections::BTreeMap;

use linn_core::Snapshots;
use linn_core::stream::Position;
use proptest::prelude::*;

use crate::case::Case;
use crate::follow::{Delivered, drain, rows};

/// What a table is like, and how its changes fold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Records as they were written: the last of a key stands.
    Upserts,
    /// A changelog, each of whose changes fits to what was there.
    Changelog,
    /// Rows are only added.
    Rows,
}

type Options = Vec<(&'static str, &'static str)>;

fn tables() -> Vec<(Kind, Options)> {
    use Kind::{Changelog, Rows, Upserts};
    let lookup = ("changelog-producer", "lookup");
    let full = ("changelog-producer", "full-compaction");
    let vectors = ("deletion-vectors.enabled", "true");
    vec![
        (Upserts, vec![]),
        (Upserts, vec![("bucket", "3")]),
        (Upserts, vec![vectors]),
        (Upserts, vec![("bucket", "-2")]),
        (Upserts, vec![("bucket", "-1"), ("dynamic-bucket.target-row-num", "3")]),
        (Changelog, vec![lookup]),
        (Changelog, vec![lookup, vectors]),
        (Changelog, vec![lookup, ("bucket", "-2")]),
        (Changelog, vec![lookup, ("merge-engine", "first-row")]),
        (Changelog, vec![lookup, ("merge-engine", "partial-update"), ("bucket", "2")]),
        (Changelog, vec![lookup, ("merge-engine", "aggregation"), ("fields.v.aggregate-function", "sum")]),
        (Changelog, vec![full]),
        (Changelog, vec![full, ("merge-engine", "partial-update")]),
        (Rows, vec![("bucket", "-1")]),
        (Rows, vec![("bucket", "2"), ("bucket-key", "k")]),
    ]
}

#[derive(Debug, Clone)]
struct Step {
    rows: Vec<(u8, u8, bool)>,
    compact: Option<bool>,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let rows = prop::collection::vec((0u8..12, 0u8..9, prop::bool::weighted(0.2)), 1..12);
    let compact = prop::option::weighted(0.4, any::<bool>());
    prop::collection::vec((rows, compact).prop_map(|(rows, compact)| Step { rows, compact }), 1..7)
}

/// Rows by key; in a table without, how often each row is there.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct State(BTreeMap<String, (String, usize)>);

impl State {
    fn of(kind: Kind, rows: &[String]) -> Self {
        let mut state = Self::default();
        rows.iter().for_each(|row| state.apply(kind, &format!("+I({row})")));
        state
    }

    fn apply(&mut self, kind: Kind, change: &str) {
        let (op, row) = change.strip_suffix(')').unwrap().split_once('(').unwrap();
        let (key, value) = row.split_once(',').unwrap();
        let old = self.0.get(key).map(|(value, _)| value.clone());
        match (kind, op) {
            (Kind::Rows, "+I") => {
                self.0.entry(row.to_owned()).or_insert_with(|| (String::new(), 0)).1 += 1;
                return;
            }
            (Kind::Changelog, "+I") => assert_eq!(old, None, "{change}"),
            (Kind::Changelog, "-U" | "-D") => assert_eq!(old.as_deref(), Some(value), "{change}"),
            (Kind::Changelog, "+U") => assert_eq!(old, None, "{change} without -U"),
            (_, "+I" | "+U" | "-D") => {}
            other => panic!("{other:?}: {change}"),
        }
        match op {
            "+I" | "+U" => self.0.insert(key.to_owned(), (value.to_owned(), 1)),
            _ => self.0.remove(key),
        };
    }

    fn with(mut self, kind: Kind, delivered: &[Delivered]) -> Self {
        rows(delivered).iter().for_each(|change| self.apply(kind, change));
        self
    }
}

/// Goes on from the position after each delivery, as text: the rest is what it was without the cut.
async fn cut_anywhere(case: &Case, delivered: &[Delivered]) {
    for at in 0..delivered.len() {
        let position: Position = delivered[at].1.to_string().parse().unwrap();
        let rest = drain(&case.table, Some(position)).await.unwrap();
        assert_eq!(rows(&rest), rows(&delivered[at + 1..]), "from {}", delivered[at].1);
    }
}

async fn check(kind: Kind, options: &Options, steps: &[Step], cut: usize) {
    let keys = if kind == Kind::Rows { "" } else { "k" };
    let mut case = Case::new("k INT, v INT", keys, options).await;
    let merges = options.iter().any(|(key, _)| *key == "merge-engine");
    let mut begun: Option<Vec<Delivered>> = None;
    for (at, step) in steps.iter().enumerate() {
        let delete = |delete: bool| delete && !merges && kind != Kind::Rows;
        let row = |(k, v, d): &(u8, u8, bool)| format!("{}({k},{v})", if delete(*d) { "-D" } else { "+I" });
        let batch: Vec<String> = step.rows.iter().map(row).collect();
        case.commit(&batch.iter().map(String::as_str).collect::<Vec<_>>()).await;
        if let Some(full) = step.compact {
            case.compact(full).await;
        }
        if at == cut.min(steps.len() - 1) {
            begun = Some(drain(&case.table, None).await.unwrap());
        }
    }
    // Rows that wait or lie at level 0 are told and shown at last.
    case.compact(true).await;
    let table = State::of(kind, &case.rows().await);
    // From the first snapshot on.
    let first = case.with(&[("scan.snapshot-id", "1")]);
    let all = drain(&first.table, None).await.unwrap();
    assert_eq!(State::default().with(kind, &all), table, "from the first snapshot");
    cut_anywhere(&case, &all).await;
    // From all rows at some time, and on.
    let begun = begun.unwrap();
    cut_anywhere_within(&case, &begun).await;
    let position = begun.last().map(|(_, position)| position.clone());
    let rest = drain(&case.table, position).await.unwrap();
    assert_eq!(State::default().with(kind, &begun).with(kind, &rest), table, "begun in between");
    // From all rows of every snapshot.
    let latest = Snapshots::new(&case.table).latest_id().await.unwrap().unwrap();
    for id in 1..=latest.0 {
        let full = case.with(&[("scan.mode", "from-snapshot-full"), ("scan.snapshot-id", &id.to_string())]);
        let from = drain(&full.table, None).await.unwrap();
        assert_eq!(State::default().with(kind, &from), table, "from all rows of snapshot {id}");
    }
}

/// Of the rows that a stream began with: whatever was cut, the next delivery is the one that followed.
async fn cut_anywhere_within(case: &Case, begun: &[Delivered]) {
    for at in 0..begun.len() {
        let rest = drain(&case.table, Some(begun[at].1.clone())).await.unwrap();
        let (rest, expected) = (rows(&rest), rows(&begun[at + 1..]));
        assert_eq!(rest[..expected.len()], expected, "from {}", begun[at].1);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, max_shrink_iters: 60, ..ProptestConfig::default() })]

    #[test]
    fn whatever_the_table_and_the_cut(table in 0..tables().len(), steps in steps(), cut in 0usize..6) {
        let (kind, options) = tables()[table].clone();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(check(kind, &options, &steps, cut));
    }
}

/// A cut within a file: its rows are counted.
#[tokio::test]
async fn a_large_file_is_cut_between_its_batches() {
    let mut case = Case::new("k INT, v INT", "", &[("bucket", "-1")]).await;
    let rows_of = |from: i32| (from..from + 30_000).map(|i| format!("+I({i},0)")).collect::<Vec<_>>();
    for from in [0, 30_000] {
        case.commit(&rows_of(from).iter().map(String::as_str).collect::<Vec<_>>()).await;
    }
    let first = case.with(&[("scan.snapshot-id", "1")]);
    let all = drain(&first.table, None).await.unwrap();
    assert!(all.len() > 6, "{} deliveries", all.len());
    assert_eq!(rows(&all), [rows_of(0), rows_of(30_000)].concat());
    cut_anywhere(&case, &all).await;
}

/// A position belongs to one read: another bucket's reader does not take it.
#[tokio::test]
async fn a_position_of_another_read_is_refused() {
    let mut case = Case::new("k INT, v INT", "k", &[("bucket", "4")]).await;
    let batch: Vec<String> = (0..40).map(|k| format!("+I({k},0)")).collect();
    case.commit(&batch.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let all = drain(&case.table, None).await.unwrap();
    let position = all.first().unwrap().1.clone();
    assert!(position.to_string().contains("within"), "{position}");
    let mut refused = 0;
    for bucket in ["0", "1", "2", "3"] {
        let one = case.with(&[("scan.bucket", bucket)]);
        refused += usize::from(drain(&one.table, Some(position.clone())).await.is_err());
    }
    assert_eq!(refused, 3);
}
