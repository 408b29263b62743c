//! Linn behind the commands that the peers have, and the comparison of all of them on one table.

use std::path::Path;
use std::sync::Arc;

use futures::TryStreamExt;
use linn_core::{Commit, Env, Schemas, Table, storage, system};
use linn_format::options::Options;
use linn_format::schema::{SchemaChange, TableSchema};
use linn_format::types::fields_from_arrow;
use linn_testkit::compare::{Rules, difference};
use linn_testkit::peer::{Peer, Place};
use linn_testkit::{parse, render};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// A table, Linn, and whoever else is installed.
pub(crate) struct Ring {
    _warehouse: TempDir,
    place: Place,
    runtime: Runtime,
    env: Env,
    pub(crate) java: Peer,
    others: Vec<Peer>,
    next: i64,
}

impl Ring {
    /// A new table that Linn creates; none without the newest Java.
    pub(crate) fn new(schema: &Value, others: impl IntoIterator<Item = Option<Peer>>) -> Option<Self> {
        let java = Peer::java()?;
        let warehouse = tempfile::tempdir().unwrap();
        let place = Place::local(warehouse.path(), "db", "t");
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let env = runtime.block_on(async { Env::system(open(warehouse.path())).unwrap() });
        let others = others.into_iter().flatten().collect();
        let ring = Self { _warehouse: warehouse, place, runtime, env, java, others, next: 1 };
        ring.runtime.block_on(ring.schemas().create(&first(schema))).unwrap();
        Some(ring)
    }

    fn schemas(&self) -> Schemas {
        Schemas::at(Arc::clone(&self.env.storage), "db.db/t")
    }

    async fn table(&self) -> Table {
        let schema = self.schemas().latest().await.unwrap().unwrap();
        Table::new("db.t", "db.db/t", (*schema).clone(), self.env.clone())
    }

    /// Linn commits rows, as [`Peer::write`].
    pub(crate) fn write(&mut self, rows: &[Value]) {
        let identifier = self.identifier();
        self.runtime.block_on(async {
            let table = self.table().await;
            let (batch, kinds) = parse::rows(rows, &table.schema().fields);
            let mut writer = table.writer("linn").unwrap();
            writer.write(&batch, Some(&kinds)).await.unwrap();
            let messages = writer.prepare_commit(true).await.unwrap();
            table.committer("linn").commit(Commit::streaming(identifier, messages)).await.unwrap();
            writer.close().await.unwrap();
        });
    }

    /// Linn compacts every bucket.
    pub(crate) fn compact(&mut self, full: bool) {
        let identifier = self.identifier();
        self.runtime.block_on(async {
            let table = self.table().await;
            let messages = table.compact(None, full).await.unwrap();
            table.committer("linn").commit(Commit::streaming(identifier, messages)).await.unwrap();
        });
    }

    /// Linn changes the schema.
    pub(crate) fn alter(&self, changes: &[SchemaChange]) {
        self.runtime.block_on(async { self.schemas().commit(&self.table().await, changes).await.unwrap() });
    }

    /// Java commits rows and compacts.
    pub(crate) fn java_writes(&mut self, rows: &[Value]) {
        self.java.write(&self.place, rows).unwrap();
        self.java.compact(&self.place, true).unwrap();
    }

    /// Everyone reads exactly these rows.
    pub(crate) fn check(&mut self, what: &str, expected: &[Value]) {
        let rules = Rules::of(self.runtime.block_on(self.table()).schema());
        let mut wrong = Vec::new();
        wrong.extend(difference(expected, &self.read(), &rules).map(|text| format!("linn: {text}")));
        for peer in std::iter::once(&mut self.java).chain(&mut self.others) {
            let text = match peer.read(&self.place, &[]) {
                Ok(rows) => difference(expected, &rows, &rules),
                Err(error) => Some(error),
            };
            wrong.extend(text.map(|text| format!("{}: {text}", peer.name())));
        }
        assert!(wrong.is_empty(), "{what}\n{}", wrong.join("\n"));
    }

    /// Java finds exactly these changes, from the first snapshot to the newest.
    pub(crate) fn check_changes(&mut self, expected: &[Value]) {
        let rules = Rules::of(self.runtime.block_on(self.table()).schema());
        let found = self.java.changelog(&self.place).unwrap();
        let wrong = difference(expected, &found, &rules);
        assert!(wrong.is_none(), "{}", wrong.unwrap_or_default());
    }

    /// A system table as Linn reads it, only some columns, sorted.
    pub(crate) fn system(&self, name: &str, columns: &[&str]) -> Vec<Value> {
        let found = self.runtime.block_on(async { system::read(&self.table().await, name).await.unwrap() });
        let mut rows = render::rows(&found.batches, &fields_from_arrow(&found.schema).unwrap());
        for row in &mut rows {
            let row = row.as_object_mut().unwrap();
            assert!(columns.iter().all(|c| row.contains_key(*c)), "{name} has {row:?}");
            row.retain(|column, _| columns.contains(&column.as_str()));
        }
        rows.sort_by_key(Value::to_string);
        rows
    }

    fn read(&self) -> Vec<Value> {
        self.runtime.block_on(async {
            let table = self.table().await;
            let read = table.read().build().unwrap();
            let mut rows = Vec::new();
            for split in table.scan().plan().await.unwrap().splits {
                let batches: Vec<_> = read.stream(&split).await.unwrap().try_collect().await.unwrap();
                rows.extend(render::rows(&batches, &table.schema().fields));
            }
            rows
        })
    }

    fn identifier(&mut self) -> i64 {
        self.next += 1;
        self.next
    }
}

fn open(root: &Path) -> Arc<dyn linn_core::Storage> {
    storage::open(&format!("file:{}", root.display()), &Options::new()).unwrap()
}

/// The first schema of a table, from what [`Peer::create`] takes.
fn first(schema: &Value) -> TableSchema {
    let mut json = schema.clone();
    json["version"] = json!(3);
    json["id"] = json!(0);
    json["highestFieldId"] = json!(1000);
    json["timeMillis"] = json!(0);
    TableSchema::from_json(json.to_string().as_bytes()).unwrap()
}
