//! Shapes and errors; the rows are compared with the reference's in the testkit's interop tests.

use linn_format::ErrorKind;

use linn_format::datum::Datum;
use linn_format::manifest::StatsColumns;
use linn_format::predicate::{CompareOp, Predicate};

use super::{NAMES, READ_OPTIMIZED, ROW_TRACKING, SystemTable, read};
use crate::commit::{Commit, Overwrite};
use crate::fixture::{added, memory, schema, table};
use crate::manifest::Manifests;
use crate::snapshot::Snapshots;
use crate::table::Table;
use futures::TryStreamExt;

#[tokio::test]
async fn an_empty_table_has_every_system_table() {
    let table = table(memory(), schema(true, true, &[("bucket", "2")])).await;
    // Those of rows have readers of their own.
    let of_rows = [ROW_TRACKING, READ_OPTIMIZED, "audit_log", "binlog"];
    assert!(of_rows.iter().all(|name| NAMES.contains(name)));
    for name in NAMES.into_iter().filter(|name| !of_rows.contains(name)) {
        let rows = read(&table, name).await.unwrap();
        let count: usize = rows.batches.iter().map(|b| b.num_rows()).sum();
        // A new table has one schema with one option.
        let expected = match name {
            "schemas" | "options" => 1,
            "aggregation_fields" => 3,
            _ => 0,
        };
        assert_eq!(count, expected, "{name}");
        assert!(rows.batches.iter().all(|b| b.schema() == rows.schema));
    }
}

#[tokio::test]
async fn other_names_are_refused() {
    let table = table(memory(), schema(false, false, &[("bucket", "-1")])).await;
    assert_eq!(read(&table, ROW_TRACKING).await.unwrap_err().kind(), ErrorKind::Unsupported);
    assert_eq!(read(&table, READ_OPTIMIZED).await.unwrap_err().kind(), ErrorKind::Unsupported);
    let error = read(&table, "fils").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(format!("{error:?}{error}").contains("file_key_ranges"), "{error}");
}

#[tokio::test]
async fn files_travel_in_time() {
    let table = table(memory(), schema(false, false, &[("bucket", "-1")])).await;
    for (identifier, name) in [(1, "a.parquet"), (2, "b.parquet")] {
        table.committer("u").commit(Commit::streaming(identifier, vec![added(&[name])])).await.unwrap();
    }
    let count = |rows: super::SystemRows| rows.batches.iter().map(|b| b.num_rows()).sum::<usize>();
    assert_eq!(count(read(&table, "files").await.unwrap()), 2);
    let first = table.with_options(&[("scan.snapshot-id", "1")].into_iter().collect()).unwrap();
    assert_eq!(count(read(&first, "files").await.unwrap()), 1);
    assert_eq!(count(read(&first, "manifests").await.unwrap()), 1);
}

/// Rows of a system table that a filter on one column leaves.
async fn filtered(table: &Table, name: &str, column: &str, op: CompareOp, literal: Datum) -> usize {
    let system = SystemTable::open(table, name).unwrap();
    let field_id = system.fields().iter().find(|field| field.name == column).unwrap().id;
    let rows = system.stream(Predicate::Compare { field_id, op, literal }).await.unwrap();
    let batches: Vec<_> = rows.try_collect().await.unwrap();
    batches.iter().map(|batch| batch.num_rows()).sum()
}

#[tokio::test]
async fn filters_leave_out_what_cannot_match() {
    let table = table(memory(), schema(false, false, &[("bucket", "-1")])).await;
    for identifier in 1..=3 {
        let name = format!("{identifier}.parquet");
        table.committer("u").commit(Commit::streaming(identifier, vec![added(&[&name])])).await.unwrap();
        table
            .create_tag(&format!("t{identifier}"), crate::tag::TagOf::Latest, crate::tag::Retained::Default)
            .await
            .unwrap();
    }
    assert_eq!(filtered(&table, "snapshots", "snapshot_id", CompareOp::Gt, Datum::BigInt(1)).await, 2);
    assert_eq!(filtered(&table, "tags", "tag_name", CompareOp::Eq, Datum::String("t2".into())).await, 1);
    assert_eq!(filtered(&table, "files", "bucket", CompareOp::Eq, Datum::Int(7)).await, 0);
    assert_eq!(filtered(&table, "files", "level", CompareOp::Eq, Datum::Int(0)).await, 3);
    assert_eq!(filtered(&table, "buckets", "bucket", CompareOp::NotEq, Datum::Int(0)).await, 0);
}

/// Files that come and go, and come again: the rows are those that planning finds.
#[tokio::test]
async fn files_are_those_that_planning_finds() {
    let table = table(memory(), schema(false, false, &[("bucket", "-1"), ("manifest.target-file-size", "1 b")])).await;
    let committer = table.committer("u");
    committer.commit(Commit::batch(vec![added(&["a", "b", "c"])])).await.unwrap();
    let first = Snapshots::new(&table).latest().await.unwrap().unwrap();
    committer.overwrite(Overwrite::Table, Commit::batch(vec![added(&["d"])])).await.unwrap();
    let count =
        async |name: &str| read(&table, name).await.unwrap().batches.iter().map(|b| b.num_rows()).sum::<usize>();
    assert_eq!((count("files").await, count("file_key_ranges").await, count("buckets").await), (1, 1, 1));
    committer.restore(&first).await.unwrap();
    assert_eq!((count("files").await, count("file_key_ranges").await, count("partitions").await), (3, 3, 1));
    let latest = Snapshots::new(&table).latest().await.unwrap().unwrap();
    let manifests = Manifests::new(&table);
    let metas = manifests.of_snapshot(&latest).await.unwrap();
    let deleted = manifests.deleted(&metas).await.unwrap();
    let mut spared = 0;
    for (at, meta) in metas.iter().enumerate() {
        let batch = manifests.read_manifest(&meta.file_name, StatsColumns::Keys).await.unwrap();
        let adds = (0..batch.len()).filter(|i| batch.kind(*i) == linn_format::manifest::FileKind::Add);
        spared += adds.filter(|i| deleted.spares(at, &batch, *i)).count();
    }
    assert_eq!(spared, 3);
}
