//! Tables that Java wrote are whole as Linn checks them, have no orphans, and stay so with the same rows when Linn lets all of
//! their snapshots but one expire.

use std::path::Path;
use std::sync::Arc;

use linn_core::invariants::{Depth, Severity, check};
use linn_core::maintain::{Retention, SnapshotExpiry, orphans};
use linn_core::read::collect;
use linn_core::schema::Schemas;
use linn_core::{Env, Snapshots, Table, storage};
use linn_format::Result;
use linn_format::options::Options;
use linn_testkit::compare::{Rules, difference};
use linn_testkit::fixture::{DATABASE, Fixtures, Writer};
use linn_testkit::render;
use serde_json::Value;

async fn open(warehouse: &Path, name: &str) -> Table {
    let root = format!("file:{}", warehouse.display());
    let env = Env::system(storage::open(&root, &Options::new()).unwrap()).unwrap();
    let path = format!("{DATABASE}.db/{name}");
    let schema = Schemas::at(Arc::clone(&env.storage), &path).latest().await.unwrap().unwrap();
    let table = Table::new(format!("{DATABASE}.{name}"), path, (*schema).clone(), env);
    table.with_options(&[("linn.read.wide-timestamps", "text")].into_iter().collect()).unwrap()
}

async fn rows(table: &Table) -> Result<Vec<Value>> {
    let read = table.read().build()?;
    let mut batches = Vec::new();
    for split in table.scan().plan().await?.splits {
        batches.extend(collect(read.stream(&split).await?).await?);
    }
    Ok(render::rows(&batches, &table.schema().fields))
}

/// What is wrong with a table.
async fn wrong(table: &Table) -> Vec<String> {
    let report = check(table, Depth::Metadata).await.unwrap();
    let faults = report.findings.iter().filter(|finding| finding.severity == Severity::Fault);
    let mut wrong: Vec<String> = faults.map(ToString::to_string).collect();
    let now = table.env().clock.now_millis();
    match orphans(table, Some(now - 1)).await {
        Ok(found) => wrong.extend(found.removal.iter().map(|file| format!("an orphan: {}", file.path))),
        Err(e) => wrong.push(format!("orphans: {e}")),
    }
    wrong
}

async fn all(writer: Writer) {
    let fixtures = Fixtures::open(writer);
    let one = Retention { max: 1, min: 1, older_than: i64::MAX, limit: i64::MAX, consumers_hold: false };
    let (mut failures, mut expired) = (Vec::new(), 0);
    for name in fixtures.tables() {
        let warehouse = tempfile::tempdir().unwrap();
        fixtures.copy(&name, warehouse.path());
        let table = open(warehouse.path(), &name).await;
        // Files that were copied are as old as the copy.
        table.env().clock.sleep(3).await;
        let before = rows(&table).await;
        failures.extend(wrong(&table).await.into_iter().map(|text| format!("{name}: {text}")));
        let expiry = SnapshotExpiry::new(&table).unwrap();
        if let Some((begin, end)) = expiry.range(&one).await.unwrap() {
            expired += expiry.run(begin, end).await.unwrap().snapshots.len();
        }
        assert!(Snapshots::new(&table).list().await.unwrap().len() <= 1, "{name}");
        let table = open(warehouse.path(), &name).await;
        failures.extend(wrong(&table).await.into_iter().map(|text| format!("{name} after expiry: {text}")));
        match (before, rows(&table).await) {
            (Ok(before), Ok(after)) => {
                let rules = Rules::of(table.schema());
                failures.extend(difference(&before, &after, &rules).map(|text| format!("{name}: {text}")));
            }
            (Err(_), Err(_)) => {}
            (_, Err(e)) => failures.push(format!("{name} cannot be read after expiry: {e}")),
            (Err(e), _) => failures.push(format!("{name} can only be read after expiry: {e}")),
        }
    }
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
    assert!(expired > 50, "only {expired} snapshots expired");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_fixture_expires_and_stays_whole() {
    all(Writer::Java21).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_old_fixture_expires_and_stays_whole() {
    all(Writer::Java09).await;
}
