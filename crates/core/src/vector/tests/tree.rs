//! Merge trees: whatever is written and compacted, reads equal the model.

use proptest::prelude::*;

use super::*;

/// How records become rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Engine {
    Last,
    LastBySequence,
    Partial,
    Sum,
}

impl Engine {
    fn options(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Last => &[],
            Self::LastBySequence => &[("sequence.field", "s")],
            Self::Partial => &[("merge-engine", "partial-update")],
            Self::Sum => &[("merge-engine", "aggregation"), ("fields.a.aggregate-function", "sum")],
        }
    }

    /// What a table of rows by key, with the sequence of the last record of each, becomes by a record.
    fn apply(self, rows: &mut BTreeMap<i32, (Row, bool)>, row: Row, kind: i8) {
        let last = rows.get(&row.0).copied();
        match self {
            Self::Last => drop(rows.insert(row.0, (row, kind == 3))),
            Self::LastBySequence => {
                if last.is_none_or(|(last, _)| row.1 >= last.1) {
                    rows.insert(row.0, (row, kind == 3));
                }
            }
            Self::Partial => {
                let (old, _) = last.unwrap_or((row, false));
                rows.insert(row.0, ((row.0, row.1, row.2.or(old.2), row.3.or(old.3)), false));
            }
            Self::Sum => {
                let sum = |a: Option<i32>, b: Option<i32>| a.map_or(b, |a| Some(a + b.unwrap_or(0)));
                let row = match last {
                    Some((old, _)) => (row.0, row.1, sum(old.2, row.2), row.3.or(old.3)),
                    None => row,
                };
                rows.insert(row.0, (row, false));
            }
        }
    }
}

fn rows_of(model: &BTreeMap<i32, (Row, bool)>) -> Vec<Row> {
    model.values().filter(|(_, deleted)| !deleted).map(|(row, _)| *row).collect()
}

#[derive(Debug, Clone)]
enum Step {
    Write(Vec<(Row, i8)>),
    /// As `write-only`.
    WriteOnly(Vec<(Row, i8)>),
    Compact {
        full: bool,
    },
}

fn records() -> impl Strategy<Value = Vec<(Row, i8)>> {
    let value = || prop::option::weighted(0.7, 0..100i32);
    let row = (0..40i32, 0..20i32, value(), value(), prop::bool::weighted(0.2));
    prop::collection::vec(row.prop_map(|(k, s, a, b, gone)| ((k, s, a, b), if gone { 3 } else { 0 })), 1..8)
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => records().prop_map(Step::Write),
        2 => records().prop_map(Step::WriteOnly),
        1 => any::<bool>().prop_map(|full| Step::Compact { full }),
    ];
    prop::collection::vec(step, 1..14)
}

fn engine() -> impl Strategy<Value = Engine> {
    prop_oneof![Just(Engine::Last), Just(Engine::LastBySequence), Just(Engine::Partial), Just(Engine::Sum)]
}

/// Runs the steps and checks every snapshot; whether there ever was a vector.
async fn run(engine: Engine, wide: bool, format: &str, steps: &[Step]) -> bool {
    let mut options = engine.options().to_vec();
    options.extend([("bucket", "1"), ("target-file-row-num", "16"), ("file.format", format)]);
    options.extend([("deletion-vectors.bitmap64", if wide { "true" } else { "false" })]);
    let table = table(true, &options).await;
    let with = |key: &'static str| table.with_options(&[(key, "true")].into_iter().collect()).unwrap();
    let (lazy, merging) = (with("write-only"), with("deletion-vectors.merge-on-read"));
    let (mut model, mut visible) = (BTreeMap::new(), Vec::new());
    let mut expected: Vec<(Arc<Snapshot>, Vec<Row>, Vec<Row>)> = Vec::new();
    let first: Vec<(Row, i8)> = (0..30).map(|k| ((k, 0, Some(k), None), 0)).collect();
    let mut marked = false;
    for step in [&Step::Write(first)].into_iter().chain(steps) {
        match step {
            Step::Write(rows) | Step::WriteOnly(rows) => {
                let mut rows = rows.clone();
                if matches!(engine, Engine::Partial | Engine::Sum) {
                    rows.iter_mut().for_each(|(_, kind)| *kind = 0);
                }
                rows.iter().for_each(|(row, kind)| engine.apply(&mut model, *row, *kind));
                let eager = matches!(step, Step::Write(_));
                write(if eager { &table } else { &lazy }, &rows).await;
                if eager {
                    visible = rows_of(&model);
                }
            }
            Step::Compact { full } => {
                commit(&table, table.compact(None, *full).await.unwrap()).await;
                visible = rows_of(&model);
                let left = vectors(&table).await;
                assert!(!full || left.is_empty(), "a complete compaction leaves {left:?}");
            }
        }
        marked |= !vectors(&table).await.is_empty();
        expected.push((latest(&table).await, visible.clone(), rows_of(&model)));
    }
    for (snapshot, visible, all) in expected {
        assert_eq!(read_at(&table, Some(snapshot.clone())).await.unwrap(), visible, "at {}", snapshot.id);
        assert_eq!(read_at(&merging, Some(snapshot.clone())).await.unwrap(), all, "merged at {}", snapshot.id);
    }
    marked
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn reads_equal_the_model_at_every_snapshot(
        engine in engine(),
        wide in any::<bool>(),
        format in prop_oneof![4 => Just("parquet"), 1 => Just("avro"), 1 => Just("orc")],
        steps in steps(),
    ) {
        block_on(run(engine, wide, format, &steps));
    }
}

#[test]
fn superseded_rows_are_marked_and_not_rewritten() {
    let rows = |keys: std::ops::Range<i32>| Step::Write(keys.map(|k| ((k, 1, Some(7), Some(8)), 0)).collect());
    for engine in [Engine::Last, Engine::LastBySequence, Engine::Partial, Engine::Sum] {
        for wide in [false, true] {
            assert!(block_on(run(engine, wide, "parquet", &[rows(3..5), rows(4..7)])), "{engine:?} marks");
        }
    }
}

/// Case D5: deletes mark rows; a complete compaction leaves neither rows nor vectors of files that are gone.
#[test]
fn regress_a_complete_compaction_leaves_no_vectors() {
    block_on(async {
        let table = table(true, &[("bucket", "1")]).await;
        let lazy = table.with_options(&[("write-only", "true")].into_iter().collect()).unwrap();
        let hundred: Vec<(Row, i8)> = (0..100).map(|k| ((k, 0, Some(k), None), 0)).collect();
        write(&lazy, &hundred).await;
        assert!(read(&table).await.is_empty(), "level 0 is not seen");
        commit(&table, table.compact(None, true).await.unwrap()).await;
        assert_eq!(read(&table).await.len(), 100);
        write(&lazy, &(0..7).map(|k| ((k, 0, None, None), 3)).collect::<Vec<_>>()).await;
        commit(&table, table.compact(None, false).await.unwrap()).await;
        assert_eq!(vectors(&table).await.into_values().collect::<Vec<_>>(), [7]);
        assert_eq!(read(&table).await.len(), 93);
        commit(&table, table.compact(None, true).await.unwrap()).await;
        assert!(vectors(&table).await.is_empty());
        assert_eq!(latest(&table).await.index_manifest, None);
        assert_eq!(read(&table).await.len(), 93);
    });
}

/// Case K2: what only level 0 holds is compacted although scans do not see it.
#[test]
fn regress_a_minor_compaction_sees_level_0() {
    block_on(async {
        let table = table(true, &[("bucket", "1")]).await;
        let lazy = table.with_options(&[("write-only", "true")].into_iter().collect()).unwrap();
        for value in 0..2 {
            write(&lazy, &[((1, 0, Some(value), None), 0), ((value + 2, 0, None, None), 0)]).await;
        }
        let before = latest(&table).await.id;
        commit(&table, table.compact(None, false).await.unwrap()).await;
        assert_eq!(latest(&table).await.id, before.next());
        assert_eq!(read(&table).await, [(1, 0, Some(1), None), (2, 0, None, None), (3, 0, None, None)]);
        let levels = table.scan().every_level().plan().await.unwrap();
        assert!(levels.splits.iter().flat_map(|split| &split.files).all(|file| file.level > 0));
    });
}

/// Deletes that wait at level 0 when a table starts to ignore them mark nothing.
#[test]
fn ignored_deletes_mark_nothing() {
    block_on(async {
        let table = table(true, &[("bucket", "1")]).await;
        let with = |key: &'static str| table.with_options(&[(key, "true")].into_iter().collect()).unwrap();
        write(&table, &(0..30).map(|k| ((k, 0, Some(k), None), 0)).collect::<Vec<_>>()).await;
        write(&with("write-only"), &[((7, 0, None, None), 3)]).await;
        commit(&table, with("ignore-delete").compact(None, false).await.unwrap()).await;
        assert_eq!(read(&table).await.len(), 30);
        let levels = table.scan().every_level().plan().await.unwrap();
        assert!(levels.splits.iter().flat_map(|split| &split.files).all(|file| file.level > 0));
    });
}

/// A writer that goes on for several commits keeps its vectors up to date.
#[test]
fn a_writer_marks_from_commit_to_commit() {
    block_on(async {
        let table = table(true, &[("bucket", "1")]).await;
        let mut writer = table.writer("test").unwrap();
        let mut model = BTreeMap::new();
        for round in 0..12i32 {
            let keys: Vec<i32> = if round == 0 { (0..200).collect() } else { (round..round * 7).step_by(3).collect() };
            let rows: Vec<(Row, i8)> =
                keys.iter().map(|k| ((*k, round, Some(round), None), if k % 5 == 4 { 3 } else { 0 })).collect();
            let (batch, kinds) = batch(&rows);
            writer.write(&batch, Some(&kinds)).await.unwrap();
            commit(&table, writer.prepare_commit(false).await.unwrap()).await;
            for (row, kind) in rows {
                Engine::Last.apply(&mut model, row, kind);
            }
            assert_eq!(read(&table).await, rows_of(&model), "round {round}");
            vectors(&table).await;
        }
        writer.close().await.unwrap();
        assert!(!vectors(&table).await.is_empty());
    });
}
