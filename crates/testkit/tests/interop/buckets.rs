//! Linn goes on writing tables of Java whose keys remember their bucket, or wait for one, and gives keys the buckets that
//! Java gave them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures::TryStreamExt;
use linn_core::manifest::Manifests;
use linn_core::{Commit, CommitOutcome, Env, Schemas, Snapshots, Table, storage};
use linn_format::hash::read_hash_index;
use linn_format::manifest::HASH_INDEX;
use linn_format::options::Options;
use linn_format::schema::TableSchema;
use linn_testkit::compare::{Rules, difference};
use linn_testkit::fixture::{DATABASE, Fixtures, Writer};
use linn_testkit::{parse, render};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Linn on a table of its own or on a copy of one of Java's.
struct Linn {
    _warehouse: TempDir,
    table: Table,
    next: i64,
}

impl Linn {
    async fn on_copy(fixtures: &Fixtures, table: &str) -> Self {
        let warehouse = tempfile::tempdir().unwrap();
        fixtures.copy(table, warehouse.path());
        Self::open(warehouse, &format!("{DATABASE}.db/{table}"), None).await
    }

    async fn on_new(schema: &TableSchema) -> Self {
        Self::open(tempfile::tempdir().unwrap(), "db.db/t", Some(schema)).await
    }

    async fn open(warehouse: TempDir, path: &str, new: Option<&TableSchema>) -> Self {
        let store = storage::open(&format!("file:{}", warehouse.path().display()), &Options::new()).unwrap();
        let env = Env::system(store).unwrap();
        let schemas = Schemas::at(Arc::clone(&env.storage), path);
        if let Some(schema) = new {
            schemas.create(schema).await.unwrap();
        }
        let schema = schemas.latest().await.unwrap().unwrap();
        Self { _warehouse: warehouse, table: Table::new("db.t", path, (*schema).clone(), env), next: 1000 }
    }

    async fn write(&mut self, rows: &[Value]) {
        let (batch, kinds) = parse::rows(rows, &self.table.schema().fields);
        let mut writer = self.table.writer("linn").unwrap();
        writer.write(&batch, Some(&kinds)).await.unwrap();
        let messages = writer.prepare_commit(true).await.unwrap();
        self.commit(messages).await;
        writer.close().await.unwrap();
    }

    async fn compact(&mut self) {
        let messages = self.table.compact(None, true).await.unwrap();
        self.commit(messages).await;
    }

    async fn commit(&mut self, messages: Vec<linn_core::CommitMessage>) {
        self.next += 1;
        let outcome = self.table.committer("linn").commit(Commit::streaming(self.next, messages)).await.unwrap();
        assert!(matches!(outcome, CommitOutcome::Committed(_)), "{outcome:?}");
    }

    async fn read(&self) -> Vec<Value> {
        self.by_bucket().await.into_values().flatten().collect()
    }

    async fn by_bucket(&self) -> BTreeMap<i32, Vec<Value>> {
        let read = self.table.read().build().unwrap();
        let mut rows: BTreeMap<i32, Vec<Value>> = BTreeMap::new();
        for split in self.table.scan().plan().await.unwrap().splits {
            let batches: Vec<_> = read.stream(&split).await.unwrap().try_collect().await.unwrap();
            rows.entry(split.bucket).or_default().extend(render::rows(&batches, &self.table.schema().fields));
        }
        rows
    }

    async fn check(&self, what: &str, expected: &[Value]) {
        let wrong = difference(expected, &self.read().await, &Rules::of(self.table.schema()));
        assert!(wrong.is_none(), "{what}\n{}", wrong.unwrap_or_default());
    }

    /// The hashes of each bucket's keys.
    async fn index(&self) -> BTreeMap<i32, BTreeSet<i32>> {
        let latest = Snapshots::new(&self.table).latest().await.unwrap().unwrap();
        let mut index = BTreeMap::new();
        for line in Manifests::new(&self.table).index_of(&latest).await.unwrap() {
            assert_eq!(line.index_type, HASH_INDEX);
            let path = self.table.index_file_path(&line).unwrap();
            let bytes = self.table.storage().read(&path, None).await.unwrap();
            let hashes = read_hash_index(&line.file_name, &bytes, line.row_count).unwrap();
            index.insert(line.bucket, hashes.into_iter().collect());
        }
        index
    }
}

fn keys_of(rows: &BTreeMap<i32, Vec<Value>>) -> BTreeMap<i64, i32> {
    let keys = |(bucket, rows): (&i32, &Vec<Value>)| {
        rows.iter().map(|row| (row["k"].as_i64().unwrap(), *bucket)).collect::<Vec<_>>()
    };
    rows.iter().flat_map(keys).collect()
}

fn without_marks(row: &Value) -> Value {
    let mut row = row.clone();
    row.as_object_mut().unwrap().retain(|name, _| !name.starts_with('_'));
    row
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_get_the_buckets_that_java_gave_them() {
    let fixtures = Fixtures::open(Writer::Java21);
    let java = Linn::on_copy(&fixtures, "dyn_bucket").await;
    let mut linn = Linn::on_new(java.table.schema()).await;
    let rows = fixtures.expected("dyn_bucket", "changelog");
    for snapshot in 1..=4 {
        let of_commit: Vec<Value> =
            rows.iter().filter(|row| row["_snapshot"] == json!(snapshot)).map(without_marks).collect();
        assert!(!of_commit.is_empty());
        // The reading of a snapshot is in the order of the buckets; the keys of a commit were written in their order.
        let mut of_commit = of_commit;
        of_commit.sort_by_key(|row| row["k"].as_i64());
        linn.write(&of_commit).await;
    }
    let expected = java.index().await;
    assert_eq!(expected.len(), 4);
    assert_eq!(linn.index().await, expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn linn_goes_on_where_java_gave_dynamic_buckets() {
    let fixtures = Fixtures::open(Writer::Java21);
    let mut linn = Linn::on_copy(&fixtures, "dyn_bucket").await;
    let before = keys_of(&linn.by_bucket().await);
    // Keys of deleted rows stay in the index.
    let known = linn.index().await.values().map(BTreeSet::len).sum::<usize>();
    let rows: Vec<Value> = before.keys().copied().chain(5000..5100).map(|k| json!({ "k": k, "v": "linn" })).collect();
    linn.write(&rows).await;
    linn.check("all keys written again, and more", &rows).await;
    let after = keys_of(&linn.by_bucket().await);
    assert!(before.iter().all(|(key, bucket)| after[key] == *bucket));
    let index = linn.index().await;
    assert_eq!(index.values().map(BTreeSet::len).sum::<usize>(), known + 100);
    assert!(index.values().all(|keys| keys.len() <= 50), "{index:?}");
    linn.compact().await;
    linn.check("compacted", &rows).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn linn_goes_on_where_keys_move_between_partitions() {
    let fixtures = Fixtures::open(Writer::Java21);
    let mut linn = Linn::on_copy(&fixtures, "cross_partition").await;
    let mut model: BTreeMap<i64, Value> =
        fixtures.expected("cross_partition", "expected").into_iter().map(|r| (r["k"].as_i64().unwrap(), r)).collect();
    linn.check("as Java left it", &model.values().cloned().collect::<Vec<_>>()).await;
    for round in 0..3 {
        let rows: Vec<Value> = (round * 20..round * 20 + 70)
            .map(|k| json!({ "p": (k + round) % 5, "k": k, "v": format!("linn {round}") }))
            .collect();
        linn.write(&rows).await;
        model.extend(rows.into_iter().map(|row| (row["k"].as_i64().unwrap(), row)));
        linn.check(&format!("round {round}"), &model.values().cloned().collect::<Vec<_>>()).await;
    }
    linn.compact().await;
    linn.check("compacted", &model.values().cloned().collect::<Vec<_>>()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn linn_places_what_java_postponed() {
    let fixtures = Fixtures::open(Writer::Java21);
    let mut linn = Linn::on_copy(&fixtures, "x21_postpone").await;
    linn.check("what waits is not shown", &[]).await;
    let mut model: BTreeMap<i64, Value> = BTreeMap::new();
    for row in fixtures.expected("x21_postpone", "changelog") {
        model.insert(row["k"].as_i64().unwrap(), without_marks(&row));
    }
    linn.compact().await;
    linn.check("placed", &model.values().cloned().collect::<Vec<_>>()).await;
    let rows = [json!({ "k": 3, "v": "linn" }), json!({ "k": 300, "v": "linn" })];
    linn.write(&rows).await;
    linn.check("new rows wait", &model.values().cloned().collect::<Vec<_>>()).await;
    model.extend(rows.into_iter().map(|row| (row["k"].as_i64().unwrap(), row)));
    linn.compact().await;
    linn.check("placed again", &model.values().cloned().collect::<Vec<_>>()).await;
}
