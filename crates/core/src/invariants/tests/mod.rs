//! Whole tables have no findings; each thing that is broken is found by its rule.

mod broken;

use std::sync::Arc;

use linn_format::SnapshotId;

use super::*;
use crate::commit::Commit;
use crate::fixture::{env, keyed_rows, memory, row, schema, table};
use crate::maintain::SnapshotExpiry;
use crate::snapshot::Snapshots;
use crate::storage::Memory;
use crate::table::Table;

/// A table of real rows: five commits over two partitions, one after a full compaction.
async fn written(options: &[(&str, &str)]) -> (Arc<Memory>, Table) {
    let rounds: Vec<Vec<i32>> = (1..6).map(|round| (0..40).map(|k| k * round).collect()).collect();
    let rounds_: Vec<&[i32]> = rounds.iter().map(Vec::as_slice).collect();
    self::rounds(&[&[("bucket", "2")], options].concat(), &rounds_).await
}

/// A table with a commit for each set of keys.
async fn rounds(options: &[(&str, &str)], rounds: &[&[i32]]) -> (Arc<Memory>, Table) {
    let store = memory();
    let table = table(store.clone(), schema(true, true, options)).await;
    let committer = table.committer("u");
    let mut writer = table.writer("u").unwrap();
    for (round, keys) in rounds.iter().enumerate() {
        writer.write(&keyed_rows(keys, &format!("r{round}-")), None).await.unwrap();
        if round == 3 {
            for p in [0, 1] {
                writer.compact(&row(&[p]), 0, true).await.unwrap();
            }
        }
        let messages = writer.prepare_commit(round == 3).await.unwrap();
        let outcome = committer.commit(Commit::streaming(round as i64 + 1, messages)).await.unwrap();
        writer.settle(&outcome).await.unwrap();
    }
    writer.close().await.unwrap();
    (store, table)
}

/// The table as a process that starts now sees it.
fn fresh(store: &Arc<Memory>, table: &Table) -> Table {
    Table::new("db.t", "db.db/t", table.schema().clone(), env(store.clone(), 70))
}

async fn found(store: &Arc<Memory>, table: &Table) -> Report {
    check(&fresh(store, table), Depth::Deep).await.unwrap()
}

#[tokio::test]
async fn whole_tables_have_no_findings() {
    for options in [
        &[][..],
        &[("deletion-vectors.enabled", "true")],
        &[("changelog-producer", "input")],
        &[("changelog-producer", "lookup")],
        &[("file.format", "orc")],
    ] {
        let (store, table) = written(options).await;
        let report = found(&store, &table).await;
        assert_eq!(report.findings, [], "{options:?}");
        assert!(report.snapshots >= 5 && report.files > 0 && report.rows > 0 && report.manifests > 0, "{report:?}");
    }
}

#[tokio::test]
async fn an_empty_table_is_whole() {
    let store = memory();
    let table = table(store.clone(), schema(false, false, &[("bucket", "-1")])).await;
    assert_eq!(found(&store, &table).await, Report::default());
}

/// Manifests still add and remove files that went with snapshots before; a commit that deletes rows by their place changes no file.
#[tokio::test]
async fn regress_files_of_expired_snapshots_are_wanted_by_no_later_one() {
    let store = memory();
    let options = [("bucket", "-1"), ("deletion-vectors.enabled", "true"), ("compaction.min.file-num", "2")];
    let table = table(store.clone(), schema(true, false, &options)).await;
    let committer = table.committer("u");
    let mut writer = table.writer("u").unwrap();
    for round in 1..4 {
        writer.write(&keyed_rows(&[0, 1, 2, 3], &format!("r{round}-")), None).await.unwrap();
        let messages = writer.prepare_commit(true).await.unwrap();
        committer.commit(Commit::streaming(round, messages)).await.unwrap();
    }
    writer.close().await.unwrap();
    committer.commit(Commit::batch(table.compact(None, true).await.unwrap())).await.unwrap();
    for _ in 0..2 {
        let snapshot = Snapshots::new(&table).latest().await.unwrap().unwrap();
        let mut deletion = table.delete_rows(snapshot.clone()).unwrap();
        let splits = table.scan().snapshot(snapshot).plan().await.unwrap().splits;
        let position = u64::from(splits[0].deletion_files.iter().flatten().next().is_some());
        deletion.mark(&splits[0], 0, position).unwrap();
        committer.commit(Commit::batch(deletion.finish().await.unwrap())).await.unwrap();
    }
    SnapshotExpiry::new(&table).unwrap().run(SnapshotId(1), SnapshotId(4)).await.unwrap();
    assert_eq!(Snapshots::new(&table).list().await.unwrap(), [4, 5, 6].map(SnapshotId));
    assert_eq!(found(&store, &table).await.findings, []);
}
