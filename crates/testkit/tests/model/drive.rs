//! Commits, compactions and new writers in any order; after all of them every snapshot is read.

use std::future::Future;
use std::sync::Arc;

use linn_core::write::TableWriter;
use linn_core::{Commit, CommitMessage, CommitOutcome, Snapshots, Table};
use linn_format::SnapshotId;
use linn_testkit::model::{Model, Record, Row};
use linn_testkit::parse;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

use crate::difference;
use crate::read::{Query, check, queries};
use crate::table::{Layout, Made, Scenario, env, layouts, memory, open};

/// Raw material of a row.
#[derive(Debug, Clone)]
pub(crate) struct Raw {
    key: u8,
    kind: Index,
    seeds: Vec<u8>,
}

/// Who writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Who {
    /// The writer that is open.
    Same,
    /// One that starts where the last one ended.
    New,
    /// One that does not compact.
    WriteOnly,
}

#[derive(Debug, Clone)]
pub(crate) enum Step {
    Write(Vec<Raw>, Who),
    Compact { full: bool },
}

/// Everything random of one case.
#[derive(Debug, Clone)]
pub(crate) struct Script {
    layout: Layout,
    steps: Vec<Step>,
    queries: Vec<Query>,
    /// Which two snapshots are compared.
    pairs: Vec<[Index; 2]>,
}

pub(crate) fn scripts() -> impl Strategy<Value = Script> {
    let seeds = prop::collection::vec(any::<u8>(), 7);
    let raw = (0u8..12, any::<Index>(), seeds).prop_map(|(key, kind, seeds)| Raw { key, kind, seeds });
    let rows = prop::collection::vec(raw, 1..10);
    let who = prop_oneof![4 => Just(Who::Same), 2 => Just(Who::New), 2 => Just(Who::WriteOnly)];
    let step = prop_oneof![
        5 => (rows, who).prop_map(|(rows, who)| Step::Write(rows, who)),
        1 => prop::bool::weighted(0.4).prop_map(|full| Step::Compact { full }),
    ];
    let pairs = prop::collection::vec(any::<[Index; 2]>(), 3);
    (layouts(), prop::collection::vec(step, 1..9), queries(), pairs)
        .prop_map(|(layout, steps, queries, pairs)| Script { layout, steps, queries, pairs })
}

/// How many cases are tried: a few, or as many as `PROPTEST_CASES` says.
pub(crate) fn cases(usual: u32) -> ProptestConfig {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok());
    ProptestConfig { cases: asked.unwrap_or(usual), ..ProptestConfig::default() }
}

pub(crate) fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

/// Records of one commit as the scenario allows them.
pub(crate) fn records(scenario: &Scenario, made: &Made, model: &Model, raws: &[Raw]) -> Vec<Record> {
    let mut after = model.clone();
    let mut records: Vec<Record> = Vec::new();
    for raw in raws {
        let mut row = made.row(raw.key, &raw.seeds);
        let mut kind = scenario.kinds[raw.kind.index(scenario.kinds.len())];
        if scenario.only_there && kind % 2 == 1 && !after.has(&row) {
            kind = 0;
        }
        if let Some(column) = made.schema.options.rowkind_field() {
            row.insert(column.to_owned(), json!(KIND_TEXTS[usize::try_from(kind).unwrap()]));
        }
        let record = Record { kind, row };
        after.write(std::slice::from_ref(&record));
        records.push(record);
    }
    records
}

const KIND_TEXTS: [&str; 4] = ["+I", "-U", "+U", "-D"];

/// Rows for the writer.
pub(crate) async fn write(writer: &mut TableWriter, table: &Table, records: &[Record]) -> linn_format::Result<()> {
    let kinds = KIND_TEXTS;
    let rows: Vec<Value> = records
        .iter()
        .map(|r| {
            let mut row = r.row.clone();
            row.insert("_kind".to_owned(), json!(kinds[usize::try_from(r.kind).unwrap()]));
            Value::Object(row)
        })
        .collect();
    let (batch, kinds) = parse::rows(&rows, &table.schema().fields);
    let in_column = table.options().rowkind_field().is_some();
    writer.write(&batch, (!in_column).then_some(&kinds)).await
}

pub(crate) async fn commit(table: &Table, identifier: i64, messages: Vec<CommitMessage>) -> CommitOutcome {
    table.committer("test").commit(Commit::streaming(identifier, messages)).await.unwrap()
}

async fn latest(table: &Table) -> i64 {
    Snapshots::new(table).latest_id().await.unwrap().map_or(0, |id| id.0)
}

/// Runs a script and checks every snapshot.
pub(crate) fn run(scenario: &Scenario, script: &Script) {
    let made = script.layout.of(scenario);
    block_on(async {
        let folder = tempfile::tempdir().unwrap();
        let table = open(&made.schema, env(memory(), 1, &folder)).await;
        let with = |key: &'static str| table.with_options(&[(key, "true")].into_iter().collect()).unwrap();
        let lazy = with("write-only");
        let mut model = Model::of(&made.schema);
        let mut visible: Vec<Row> = Vec::new();
        let mut writer: Option<TableWriter> = None;
        // What reads see at each snapshot, and what they see when level 0 is merged in.
        let mut expected: Vec<(SnapshotId, Vec<Row>, Vec<Row>)> = Vec::new();
        for (step, identifier) in script.steps.iter().zip(1..) {
            let before = latest(&table).await;
            let hidden = visible.clone();
            match step {
                Step::Write(raws, who) => {
                    let records = records(scenario, &made, &model, raws);
                    model.write(&records);
                    if *who != Who::Same
                        && let Some(writer) = writer.take()
                    {
                        writer.close().await.unwrap();
                    }
                    if *who == Who::WriteOnly {
                        let mut writer = lazy.writer("test").unwrap();
                        write(&mut writer, &lazy, &records).await.unwrap();
                        let messages = writer.prepare_commit(true).await.unwrap();
                        let outcome = commit(&lazy, identifier, messages).await;
                        assert!(matches!(outcome, CommitOutcome::Committed(_)), "{outcome:?}");
                        writer.close().await.unwrap();
                    } else {
                        let writer = writer.get_or_insert_with(|| table.writer("test").unwrap());
                        write(writer, &table, &records).await.unwrap();
                        // What write-only writers left may lie in buckets that this one does not write to.
                        writer.resume().await.unwrap();
                        let messages = writer.prepare_commit(true).await.unwrap();
                        let outcome = commit(&table, identifier, messages).await;
                        assert!(matches!(outcome, CommitOutcome::Committed(_)), "{outcome:?}");
                        visible = model.rows();
                    }
                }
                Step::Compact { full } => {
                    let outcome = commit(&table, identifier, table.compact(None, *full).await.unwrap()).await;
                    assert!(matches!(outcome, CommitOutcome::Committed(_)), "{outcome:?}");
                    visible = model.rows();
                    if let Some(writer) = &mut writer {
                        writer.refresh().await.unwrap();
                    }
                }
            }
            let all = model.rows();
            let after = latest(&table).await;
            for id in before + 1..=after {
                // The rows of a commit come before their compaction.
                let seen = match made.hides {
                    false => &all,
                    true if id == after => &visible,
                    true => &hidden,
                };
                expected.push((SnapshotId(id), seen.clone(), all.clone()));
            }
        }
        if let Some(writer) = writer {
            writer.close().await.unwrap();
        }
        let merging = if made.vectors { Some(with("deletion-vectors.merge-on-read")) } else { None };
        for pair in script.pairs.iter().filter(|_| expected.len() > 1) {
            let [a, b] = pair.each_ref().map(|index| index.index(expected.len()));
            let ((from, _, before), (to, _, after)) = (&expected[a.min(b)], &expected[a.max(b)]);
            difference::check(&table, &made, &model, (*from, before), (*to, after)).await;
        }
        for (id, seen, all) in expected {
            let snapshot = Snapshots::new(&table).get(id).await.unwrap();
            check(&table, &made, &model, Arc::clone(&snapshot), &seen, &script.queries).await;
            if let Some(merging) = &merging {
                check(merging, &made, &model, snapshot, &all, &script.queries[..1]).await;
            }
        }
    });
}
