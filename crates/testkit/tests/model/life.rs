//! One table over its life: rounds of rows that are known beforehand, and what must be true after each, whatever happened to
//! the processes that wrote them.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::TryStreamExt;
use linn_core::seam::Storage;
use linn_core::storage::Memory;
use linn_core::{Commit, CommitOutcome, Snapshots, Table};
use linn_format::SnapshotId;
use linn_format::file::key_value_batch_fields;
use linn_format::schema::{NewTable, TableSchema};
use linn_format::types::{DataField, DataType};
use linn_testkit::compare::{Rules, assert_same};
use linn_testkit::model::{Model, Record, Row};
use linn_testkit::render;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::drive::write;
use crate::table::{env, memory, open};

/// Rounds of rows.
pub(crate) const ROUNDS: i64 = 3;

/// `T(k, s, w)` whose compactions come with every commit, and what else its options ask for.
pub(crate) fn schema(options: &[(&str, &str)]) -> TableSchema {
    let fields = [("k", "INT NOT NULL"), ("s", "INT"), ("w", "ARRAY<STRING>")];
    let columns = (0..).zip(fields).map(|(id, (name, sql))| DataField::new(id, name, DataType::parse(sql).unwrap()));
    let usual = [("bucket", "2"), ("num-sorted-run.compaction-trigger", "2")];
    let new = NewTable {
        columns: columns.collect(),
        primary_keys: vec!["k".to_owned()],
        options: usual.iter().chain(options).copied().collect(),
        ..NewTable::default()
    };
    TableSchema::create(new, 0).unwrap()
}

/// The rows of a round: some keys are new, some were there, and where the table takes it some go.
fn round(schema: &TableSchema, number: i64) -> Vec<Record> {
    let sums = schema.options.raw("merge-engine").is_some();
    let record = |k: i64| {
        let row = json!({ "k": k, "s": number, "w": [format!("row {k} of round {number}"), null] });
        let gone = !sums && number > 0 && k % 4 == number % 4;
        Record { kind: if gone { 3 } else { 0 }, row: row.as_object().unwrap().clone() }
    };
    (number * 3..number * 3 + 9).map(record).collect()
}

/// A table in a store.
pub(crate) struct Life {
    pub(crate) schema: TableSchema,
    pub(crate) store: Arc<Memory>,
    folder: TempDir,
    seed: std::cell::Cell<u64>,
}

impl Life {
    pub(crate) fn new(options: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { schema: schema(options), store: memory(), folder, seed: std::cell::Cell::new(0) }
    }

    /// The same table in a store of its own.
    pub(crate) async fn copy(&self) -> Self {
        let store = memory();
        for path in self.store.paths() {
            store.put(&path, self.store.read(&path, None).await.unwrap()).await.unwrap();
        }
        let seed = std::cell::Cell::new(self.seed.get());
        Self { schema: self.schema.clone(), store, folder: tempfile::tempdir().unwrap(), seed }
    }

    /// The table as a new process sees it.
    pub(crate) async fn table(&self) -> Table {
        self.table_over(self.store.clone()).await
    }

    /// The same through a store that may be broken.
    pub(crate) async fn table_over(&self, store: Arc<dyn Storage>) -> Table {
        self.seed.set(self.seed.get() + 1);
        open(&self.schema, env(store, self.seed.get(), &self.folder)).await
    }

    /// The rows of a round.
    pub(crate) fn records(&self, number: i64) -> Vec<Record> {
        round(&self.schema, number)
    }

    /// A process that writes a round, if it is not committed yet, takes up what was left behind, and ends.
    pub(crate) async fn live(&self, number: i64) {
        let table = self.table().await;
        let committer = table.committer("test");
        let mut writer = table.writer("test").unwrap();
        if !committer.filter_committed(&[number]).await.unwrap().is_empty() {
            write(&mut writer, &table, &self.records(number)).await.unwrap();
        }
        writer.resume().await.unwrap();
        let messages = writer.prepare_commit(true).await.unwrap();
        let outcome = committer.commit(Commit::streaming(number, messages)).await.unwrap();
        assert!(matches!(outcome, CommitOutcome::Committed(_)), "{outcome:?}");
        writer.close().await.unwrap();
    }

    /// What the table must hold after the rounds before this one.
    pub(crate) fn before(&self, number: i64) -> Vec<Value> {
        let mut model = Model::of(&self.schema);
        (0..number).for_each(|n| model.write(&self.records(n)));
        model.rows().into_iter().map(Value::Object).collect()
    }

    /// The rows at a snapshot, or the latest.
    pub(crate) async fn rows(&self, at: Option<SnapshotId>) -> Vec<Value> {
        let table = self.table().await;
        let mut scan = table.scan();
        if let Some(id) = at {
            scan = scan.snapshot(Snapshots::new(&table).get(id).await.unwrap());
        }
        let read = table.read().build().unwrap();
        let mut rows = Vec::new();
        for split in scan.plan().await.unwrap().splits {
            let batches: Vec<_> = read.stream(&split).await.unwrap().try_collect().await.unwrap();
            rows.extend(render::rows(&batches, &self.schema.fields));
        }
        rows
    }

    /// That the latest snapshot holds the rounds before this one.
    pub(crate) async fn check(&self, what: &str, number: i64) {
        assert_same(what, &self.before(number), &self.rows(None).await, &Rules::of(&self.schema));
    }

    /// Compacts all of it, after which a changelog has told everything: folded, it must be the table. Every snapshot can be
    /// read.
    pub(crate) async fn finish(&self, what: &str) {
        let table = self.table().await;
        let messages = table.compact(None, true).await.unwrap();
        let outcome = table.committer("compactor").commit(Commit::streaming(1, messages)).await.unwrap();
        assert!(matches!(outcome, CommitOutcome::Committed(_)), "{outcome:?}");
        self.check(what, ROUNDS).await;
        let latest = Snapshots::new(&table).latest_id().await.unwrap().map_or(0, |id| id.0);
        for id in 1..=latest {
            self.rows(Some(SnapshotId(id))).await;
        }
        if self.schema.options.raw("changelog-producer").is_some() {
            let folded: Vec<Value> = self.fold(what).await.into_values().map(Value::Object).collect();
            assert_same(&format!("{what}: folded changelog"), &self.before(ROUNDS), &folded, &Rules::of(&self.schema));
        }
    }

    /// Folds the changelogs of all snapshots; every change must fit to what is there, and updates must come in pairs.
    async fn fold(&self, what: &str) -> BTreeMap<String, Row> {
        let table = self.table().await;
        let snapshots = Snapshots::new(&table);
        let mut fields = key_value_batch_fields(&self.schema.fields);
        fields.retain(|field| field.name != "_SEQUENCE_NUMBER");
        let read = table.read().build().unwrap();
        let mut state: BTreeMap<String, Row> = BTreeMap::new();
        for id in 1..=snapshots.latest_id().await.unwrap().map_or(0, |id| id.0) {
            let snapshot = snapshots.get(SnapshotId(id)).await.unwrap();
            for split in table.scan().plan_changelog(&snapshot).await.unwrap().splits {
                let batches: Vec<_> = read.changes(&split).unwrap().try_collect().await.unwrap();
                let mut changes = render::rows(&batches, &fields).into_iter();
                while let Some(Value::Object(change)) = changes.next() {
                    let (key, kind, row) = parts(change);
                    let at = format!("{what}: snapshot {id}, key {key}");
                    match kind {
                        0 => assert_eq!(state.insert(key, row), None, "{at}: +I of a row that is there"),
                        3 => assert_eq!(state.remove(&key), Some(row), "{at}: -D of another row"),
                        1 => {
                            assert_eq!(state.get(&key), Some(&row), "{at}: -U of another row");
                            let Some(Value::Object(after)) = changes.next() else { panic!("{at}: -U without +U") };
                            let (same, kind, after) = parts(after);
                            assert_eq!((&same, kind), (&key, 2), "{at}: -U without +U");
                            state.insert(key, after);
                        }
                        _ => panic!("{at}: +U without -U"),
                    }
                }
            }
        }
        state
    }
}

/// Key, kind and columns of a change.
fn parts(mut change: Row) -> (String, i64, Row) {
    let kind = change.remove("_VALUE_KIND").and_then(|k| k.as_i64()).unwrap();
    (change["k"].to_string(), kind, change)
}
