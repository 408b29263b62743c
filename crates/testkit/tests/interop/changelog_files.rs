//! Changelog files that Java wrote, read snapshot by snapshot, hold the changes that Java streams from them.

use std::collections::BTreeMap;
use std::sync::Arc;

use linn_core::file::{FileQuery, read_file};
use linn_core::read::collect;
use linn_core::{Env, Schemas, Snapshots, Table, storage};
use linn_format::file::key_value_batch_fields;
use linn_format::options::{ChangelogProducer, Options};
use linn_format::snapshot::Snapshot;
use linn_format::types::{DataField, RowKind};
use linn_testkit::fixture::{DATABASE, Fixtures, Writer};
use linn_testkit::{compare, render};
use serde_json::{Value, json};

/// The snapshots that are there, and those of which only the changelog is left.
async fn snapshots(table: &Table) -> BTreeMap<i64, Arc<Snapshot>> {
    let mut all = BTreeMap::new();
    let live = Snapshots::new(table);
    for id in live.list().await.unwrap() {
        all.insert(id.0, live.get(id).await.unwrap());
    }
    let folder = format!("{}/changelog", table.path());
    for entry in table.storage().list(&folder).await.unwrap_or_default() {
        let name = entry.path.rsplit('/').next().unwrap();
        let Some(id) = name.strip_prefix("changelog-").and_then(|id| id.parse().ok()) else { continue };
        let bytes = table.storage().read(&entry.path, None).await.unwrap();
        all.insert(id, Arc::new(Snapshot::from_json(&bytes).unwrap()));
    }
    all
}

/// The changes of a snapshot, each with its kind.
async fn changes(table: &Table, snapshot: &Snapshot) -> Vec<Value> {
    let values: &[DataField] = &table.schema().fields;
    let fields = key_value_batch_fields(values);
    let mut rows = Vec::new();
    for split in table.scan().plan_changelog(snapshot).await.unwrap().splits {
        for file in &split.files {
            let query = FileQuery::all(fields.clone(), 1000);
            let stream = read_file(table, &split.partition, split.bucket, file, None, query).await.unwrap();
            rows.extend(render::rows(&collect(stream).await.unwrap(), &fields));
        }
    }
    for row in &mut rows {
        let kind = RowKind::from_byte(row["_VALUE_KIND"].as_u64().unwrap() as u8).unwrap();
        let row = row.as_object_mut().unwrap();
        row.retain(|name, _| !["_VALUE_KIND", "_SEQUENCE_NUMBER"].contains(&name.as_str()));
        row.insert("_kind".to_owned(), json!(kind.short()));
    }
    rows
}

async fn check(writer: Writer) -> usize {
    let fixtures = Fixtures::open(writer);
    let root = format!("file:{}", fixtures.warehouse().display());
    let env = Env::system(storage::open(&root, &Options::new()).unwrap()).unwrap();
    let (mut compared, mut failures) = (0, Vec::new());
    for name in fixtures.tables() {
        if fixtures.schema(&name).options.changelog_producer().unwrap() == ChangelogProducer::None {
            continue;
        }
        let path = format!("{DATABASE}.db/{name}");
        let schema = Schemas::at(Arc::clone(&env.storage), &path).latest().await.unwrap().unwrap();
        let rules = compare::Rules::of(&schema);
        let table = Table::new(name.clone(), path, (*schema).clone(), env.clone());
        let mut expected: BTreeMap<i64, Vec<Value>> = BTreeMap::new();
        for mut row in fixtures.expected(&name, "changelog") {
            let snapshot = row.as_object_mut().unwrap().remove("_snapshot").unwrap().as_i64().unwrap();
            expected.entry(snapshot).or_default().push(row);
        }
        for (id, snapshot) in snapshots(&table).await {
            let found = changes(&table, &snapshot).await;
            let expected = expected.remove(&id).unwrap_or_default();
            compared += usize::from(!found.is_empty());
            if let Some(wrong) = compare::difference(&expected, &found, &rules) {
                failures.push(format!("{name}, snapshot {id}: {wrong}"));
            }
        }
        assert!(expected.is_empty(), "{name} has changes of snapshots that are not there: {:?}", expected.keys());
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    compared
}

#[tokio::test(flavor = "multi_thread")]
async fn of_the_newest_java() {
    assert!(check(Writer::Java21).await >= 24);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_the_oldest_java() {
    assert!(check(Writer::Java09).await >= 15);
}
