//! Linn behind the commands that the peers have, and the comparison of all of them on one table.

use std::path::Path;
use std::sync::Arc;

use futures::TryStreamExt;
use linn_core::file::{ROW_POSITION, row_position_field};
use linn_core::invariants::{Depth, Severity, check};
use linn_core::maintain::orphans;
use linn_core::stream::Consumers;
use linn_core::system::{ChangeLog, Log};
use linn_core::{Commit, Env, Schemas, Snapshots, Split, Table, storage, system};
use linn_format::Result;
use linn_format::options::Options;
use linn_format::schema::{SchemaChange, TableSchema};
use linn_format::types::fields_from_arrow;
use linn_testkit::compare::{Rules, assert_same, difference};
use linn_testkit::fixture::{DATABASE, Fixtures};
use linn_testkit::peer::{Peer, Place};
use linn_testkit::{parse, render};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// A table, Linn, and whoever else is installed.
pub(crate) struct Ring {
    warehouse: TempDir,
    place: Place,
    /// Folder of the table.
    path: String,
    runtime: Runtime,
    env: Env,
    pub(crate) java: Peer,
    others: Vec<Peer>,
    /// Whether timestamps of nanoseconds are written and read as text.
    wide: bool,
    next: i64,
}

impl Ring {
    /// A new table that Linn creates; none without the newest Java.
    pub(crate) fn new(schema: &Value, others: impl IntoIterator<Item = Option<Peer>>) -> Option<Self> {
        let java = Peer::java()?;
        let warehouse = tempfile::tempdir().unwrap();
        let place = Place::local(warehouse.path(), "db", "t");
        let ring = Self::at(warehouse, place, "db.db/t".to_owned(), java, others);
        ring.runtime.block_on(ring.schemas().create(&first(schema))).unwrap();
        Some(ring)
    }

    /// A copy of a table of the fixtures; none without the newest Java.
    pub(crate) fn over(fixtures: &Fixtures, table: &str) -> Option<Self> {
        let java = Peer::java()?;
        let warehouse = tempfile::tempdir().unwrap();
        let place = fixtures.copy(table, warehouse.path());
        Some(Self::at(warehouse, place, format!("{DATABASE}.db/{table}"), java, []))
    }

    fn at(
        warehouse: TempDir,
        place: Place,
        path: String,
        java: Peer,
        others: impl IntoIterator<Item = Option<Peer>>,
    ) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let env = runtime.block_on(async { Env::system(open(warehouse.path())).unwrap() });
        let others = others.into_iter().flatten().collect();
        Self { warehouse, place, path, runtime, env, java, others, wide: false, next: 1 }
    }

    /// Goes on with another new table.
    pub(crate) fn begin(&mut self, name: &str, schema: &Value) {
        self.place = Place::local(self.warehouse.path(), "db", name);
        self.path = format!("db.db/{name}");
        self.runtime.block_on(self.schemas().create(&first(schema))).unwrap();
    }

    /// From now on timestamps of nanoseconds are written and read as text, which holds all of them.
    pub(crate) fn widen(&mut self) {
        self.wide = true;
    }

    fn schemas(&self) -> Schemas {
        Schemas::at(Arc::clone(&self.env.storage), &self.path)
    }

    async fn table(&self) -> Table {
        let schema = self.schemas().latest().await.unwrap().unwrap();
        let table = Table::new("db.t", self.path.clone(), (*schema).clone(), self.env.clone());
        if !self.wide {
            return table;
        }
        table.with_options(&[("linn.read.wide-timestamps", "text")].into_iter().collect()).unwrap()
    }

    /// The table as peers find it.
    pub(crate) fn place(&self) -> &Place {
        &self.place
    }

    /// Work on the table as Linn opens it.
    pub(crate) fn on<T>(&self, work: impl AsyncFnOnce(Table) -> T) -> T {
        self.runtime.block_on(async { work(self.table().await).await })
    }

    /// All rows of a system table as Linn reads them.
    pub(crate) fn system_rows(&self, name: &str) -> Vec<Value> {
        let found = self.runtime.block_on(async { system::read(&self.table().await, name).await.unwrap() });
        render::rows(&found.batches, &fields_from_arrow(&found.schema).unwrap())
    }

    /// Linn commits rows, as [`Peer::write`].
    pub(crate) fn write(&mut self, rows: &[Value]) {
        let identifier = self.identifier();
        self.runtime.block_on(async {
            let table = self.table().await;
            let (batch, kinds) = parse::rows(rows, &table.visible_fields().unwrap());
            let mut writer = table.writer("linn").unwrap();
            writer.write(&batch, Some(&kinds)).await.unwrap();
            let messages = writer.prepare_commit(true).await.unwrap();
            table.committer("linn").commit(Commit::streaming(identifier, messages)).await.unwrap();
            writer.close().await.unwrap();
        });
    }

    /// Linn deletes the rows of an append table for which this holds.
    pub(crate) fn delete(&mut self, gone: impl Fn(&Value) -> bool) {
        let identifier = self.identifier();
        self.runtime.block_on(async {
            let table = self.table().await;
            let snapshot = Snapshots::new(&table).latest().await.unwrap().unwrap();
            let mut deletion = table.delete_rows(Arc::clone(&snapshot)).unwrap();
            let mut fields = table.schema().fields.clone();
            fields.push(row_position_field());
            let read = table.read().fields(fields.clone()).build().unwrap();
            for split in table.scan().snapshot(snapshot).plan().await.unwrap().splits {
                for (at, file) in split.files.iter().enumerate() {
                    let vector = split.deletion_files.get(at).cloned().flatten();
                    let one = Split { files: vec![file.clone()].into(), deletion_files: vec![vector], ..split.clone() };
                    let batches: Vec<_> = read.stream(&one).await.unwrap().try_collect().await.unwrap();
                    for row in render::rows(&batches, &fields).iter().filter(|row| gone(row)) {
                        deletion.mark(&split, at, row[ROW_POSITION].as_u64().unwrap()).unwrap();
                    }
                }
            }
            let messages = deletion.finish().await.unwrap();
            table.committer("linn").commit(Commit::streaming(identifier, messages)).await.unwrap();
        });
    }

    /// Linn compacts every bucket, also where writers leave that to others.
    pub(crate) fn compact(&mut self, full: bool) {
        let identifier = self.identifier();
        self.runtime.block_on(async {
            let table = self.table().await.with_options(&[("write-only", "false")].into_iter().collect()).unwrap();
            let messages = table.compact(None, full).await.unwrap();
            table.committer("linn").commit(Commit::streaming(identifier, messages)).await.unwrap();
        });
    }

    /// Java compacts every bucket, completely or what is due.
    pub(crate) fn java_compacts(&mut self, full: bool) {
        self.java.compact(&self.place, full).unwrap();
    }

    /// Linn changes the schema.
    pub(crate) fn alter(&self, changes: &[SchemaChange]) {
        self.runtime.block_on(async { self.schemas().commit(&self.table().await, changes).await.unwrap() });
    }

    /// How many rows are deleted by vectors.
    pub(crate) fn deleted(&self) -> i64 {
        self.runtime.block_on(async {
            let plan = self.table().await.scan().every_level().plan().await.unwrap();
            let vectors = plan.splits.iter().flat_map(|split| &split.deletion_files).flatten();
            vectors.map(|vector| vector.meta.cardinality.unwrap_or(1)).sum()
        })
    }

    /// Java commits rows and compacts completely.
    pub(crate) fn java_writes(&mut self, rows: &[Value]) {
        self.java_compacts_too(rows, true);
    }

    /// Java commits rows and compacts, completely or what is due.
    pub(crate) fn java_compacts_too(&mut self, rows: &[Value], full: bool) {
        self.java_appends(rows);
        self.java_compacts(full);
    }

    /// Java commits rows.
    pub(crate) fn java_appends(&mut self, rows: &[Value]) {
        self.java.write(&self.place, rows).unwrap();
    }

    /// Everyone reads exactly these rows.
    pub(crate) fn check(&mut self, what: &str, expected: &[Value]) {
        self.check_without(&[], what, expected);
    }

    /// Linn and Java read exactly these rows; the others are asked now and then only.
    pub(crate) fn check_turn(&mut self, what: &str, expected: &[Value]) {
        self.check_without(&["python"], what, expected);
    }

    /// Everyone but these peers reads exactly these rows.
    pub(crate) fn check_without(&mut self, peers: &[&str], what: &str, expected: &[Value]) {
        let rules = Rules::of(self.runtime.block_on(self.table()).schema());
        let mut wrong = Vec::new();
        wrong.extend(difference(expected, &self.read(), &rules).map(|text| format!("linn: {text}")));
        let all = std::iter::once(&mut self.java).chain(&mut self.others);
        for peer in all.filter(|peer| !peers.contains(&peer.name())) {
            let text = match peer.read(&self.place, &[]) {
                Ok(rows) => difference(expected, &rows, &rules),
                Err(error) => Some(error),
            };
            wrong.extend(text.map(|text| format!("{}: {text}", peer.name())));
        }
        assert!(wrong.is_empty(), "{what}\n{}", wrong.join("\n"));
    }

    /// Fails with what differs between rows or changes of the table.
    pub(crate) fn same(&self, what: &str, expected: &[Value], found: &[Value]) {
        assert_same(what, expected, found, &Rules::of(self.runtime.block_on(self.table()).schema()));
    }

    /// Java finds exactly these changes, from the first snapshot to the newest.
    pub(crate) fn check_changes(&mut self, expected: &[Value]) {
        let rules = Rules::of(self.runtime.block_on(self.table()).schema());
        let found = self.java.changelog(&self.place).unwrap();
        let wrong = difference(expected, &found, &rules);
        assert!(wrong.is_none(), "{}", wrong.unwrap_or_default());
    }

    /// Linn follows as a consumer to the newest snapshot and records its progress: the changes, with `_kind`.
    pub(crate) fn follows(&self, consumer: &str, options: &[(&str, &str)]) -> Vec<Value> {
        self.runtime.block_on(async {
            let mut all: Options = options.iter().copied().collect();
            all.set("consumer-id", consumer);
            let table = self.table().await.with_options(&all).unwrap();
            let mut stream = table.changes().until_now().open().await.unwrap();
            let (fields, mut rows, mut next) = (fields_from_arrow(stream.schema()).unwrap(), Vec::new(), None);
            while let Some(changes) = stream.try_next().await.unwrap() {
                rows.extend(render::rows(&[changes.rows], &fields));
                next = changes.position.for_consumer().or(next);
            }
            Consumers::new(&table).set(consumer, next.unwrap()).await.unwrap();
            rows.into_iter().map(with_kind).collect()
        })
    }

    /// Java follows as a consumer, as [`Ring::follows`].
    pub(crate) fn java_follows(&mut self, consumer: &str, options: &[(&str, &str)]) -> Vec<Value> {
        let mut all = options.to_vec();
        all.push(("consumer-id", consumer));
        self.java.follow(&self.place, &all).unwrap()
    }

    /// A log as Linn reads it, sorted.
    pub(crate) fn log(&self, log: Log, options: &[(&str, &str)]) -> Vec<Value> {
        self.runtime.block_on(async {
            let table = self.table().await.with_options(&options.iter().copied().collect()).unwrap();
            let log = ChangeLog::open(log, &table, None).unwrap();
            let fields = fields_from_arrow(log.schema()).unwrap();
            let mut rows = Vec::new();
            for split in log.scan(None).plan().await.unwrap().splits {
                let batches: Vec<_> = log.stream(&split).unwrap().try_collect().await.unwrap();
                rows.extend(render::rows(&batches, &fields));
            }
            rows.sort_by_key(Value::to_string);
            rows
        })
    }

    /// A system table as Java reads it, sorted.
    pub(crate) fn java_system(&mut self, name: &str, options: &[(&str, &str)]) -> Vec<Value> {
        let mut rows = self.java.system(&self.place, name, options).unwrap();
        rows.sort_by_key(Value::to_string);
        rows
    }

    /// A system table as Linn reads it, only some columns, sorted.
    pub(crate) fn system(&self, name: &str, columns: &[&str]) -> Vec<Value> {
        let mut rows = self.system_rows(name);
        for row in &mut rows {
            let row = row.as_object_mut().unwrap();
            assert!(columns.iter().all(|c| row.contains_key(*c)), "{name} has {row:?}");
            row.retain(|column, _| columns.contains(&column.as_str()));
        }
        rows.sort_by_key(Value::to_string);
        rows
    }

    /// Names of the table's files, in whatever folder, that have this in them.
    pub(crate) fn files_named(&self, part: &str) -> Vec<String> {
        let mut names = Vec::new();
        let mut folders = vec![self.warehouse.path().join(&self.path)];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    names.push(path.file_name().unwrap().to_string_lossy().into_owned());
                }
            }
        }
        names.retain(|name| name.contains(part));
        names
    }

    /// What Java reads.
    pub(crate) fn java_reads(&mut self) -> Vec<Value> {
        self.java.read(&self.place, &[]).unwrap()
    }

    /// What Java reads where it looks at indexes and statistics alone, as [`Peer::read_where`].
    pub(crate) fn java_reads_where(&mut self, options: &[(&str, &str)], filter: &Value) -> Vec<Value> {
        self.java.read_where(&self.place, options, filter).unwrap()
    }

    /// All rows as Linn reads them.
    pub(crate) fn read(&self) -> Vec<Value> {
        self.runtime.block_on(async { rows(&self.table().await).await.unwrap() })
    }

    /// What differs between these rows and those that Linn reads; the error, where it cannot.
    pub(crate) fn differs(&self, expected: &[Value]) -> Option<String> {
        self.runtime.block_on(async {
            let table = self.table().await;
            match rows(&table).await {
                Ok(found) => difference(expected, &found, &Rules::of(table.schema())),
                Err(e) => Some(e.to_string()),
            }
        })
    }

    /// The table keeps all its promises.
    pub(crate) fn whole(&self, what: &str) {
        let report = self.runtime.block_on(async { check(&self.table().await, Depth::Deep).await.unwrap() });
        let faults: Vec<_> = report.findings.iter().filter(|finding| finding.severity == Severity::Fault).collect();
        assert!(faults.is_empty(), "{what}: {faults:#?}");
    }

    /// Paths of the files that nothing refers to, however young.
    pub(crate) fn orphans(&self) -> Vec<String> {
        self.runtime.block_on(async {
            let table = self.table().await;
            // File systems tell times to the millisecond at best.
            self.env.clock.sleep(5).await;
            let found = orphans(&table, Some(self.env.clock.now_millis() - 1)).await.unwrap();
            found.removal.iter().map(|file| file.path.clone()).collect()
        })
    }

    /// How many snapshots there are.
    pub(crate) fn snapshots(&self) -> usize {
        self.runtime.block_on(async { Snapshots::new(&self.table().await).list().await.unwrap().len() })
    }

    fn identifier(&mut self) -> i64 {
        self.next += 1;
        self.next
    }
}

fn open(root: &Path) -> Arc<dyn linn_core::Storage> {
    storage::open(&format!("file:{}", root.display()), &Options::new()).unwrap()
}

async fn rows(table: &Table) -> Result<Vec<Value>> {
    let read = table.read().build()?;
    let mut rows = Vec::new();
    for split in table.scan().plan().await?.splits {
        let batches: Vec<_> = read.stream(&split).await?.try_collect().await?;
        rows.extend(render::rows(&batches, &table.schema().fields));
    }
    Ok(rows)
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

/// A row of a stream with its kind as text.
fn with_kind(mut row: Value) -> Value {
    let kinds = ["+I", "-U", "+U", "-D"];
    if let Some(columns) = row.as_object_mut() {
        let kind = columns.remove("_VALUE_KIND").and_then(|kind| kind.as_u64()).unwrap();
        columns.insert("_kind".to_owned(), json!(kinds[kind as usize]));
    }
    row
}
