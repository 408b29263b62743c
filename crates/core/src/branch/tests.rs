//! Branches: what they begin with, that they do not touch one another, and how they come back.

mod meanwhile;

use std::sync::Arc;

use linn_format::datum::Datum;
use linn_format::schema::SchemaChange;
use linn_format::types::{DataType, Kind};
use linn_format::{ErrorKind, SchemaId, SnapshotId};

use super::Branches;
use crate::commit::{Commit, CommitMessage};
use crate::fixture::{added, env, file, memory, row, schema, table};
use crate::schema::Schemas;
use crate::seam::Storage;
use crate::snapshot::Snapshots;
use crate::storage::{Fault, Faulty, Memory, Op};
use crate::table::Table;
use crate::tag::{Retained, TagOf, Tags};

async fn commit(table: &Table, identifier: i64, file: &str) {
    table.committer("u").commit(Commit::streaming(identifier, vec![added(&[file])])).await.unwrap();
}

/// Files 1 to 3 in three snapshots, the tag `t` on the second.
async fn tagged() -> (Arc<Memory>, Table) {
    let store = memory();
    let table = table(store.clone(), schema(false, false, &[("bucket", "-1")])).await;
    for identifier in 1..=3 {
        commit(&table, identifier, &format!("f{identifier}")).await;
    }
    table.create_tag("t", TagOf::Id(SnapshotId(2)), Retained::Default).await.unwrap();
    (store, table)
}

async fn files(table: &Table) -> Vec<String> {
    let splits = table.scan().plan().await.unwrap().splits;
    let mut names: Vec<String> = splits.iter().flat_map(|s| s.files.iter().map(|f| f.file_name.clone())).collect();
    names.sort();
    names
}

#[tokio::test]
async fn a_branch_begins_empty_or_at_a_tag_and_goes_its_own_way() {
    let (_, table) = tagged().await;
    let branches = Branches::new(&table);
    branches.create("b", Some("t")).await.unwrap();
    branches.create("e", None).await.unwrap();
    assert_eq!(branches.list().await.unwrap(), ["b", "e"]);
    let (b, e) = (branches.table("b").await.unwrap(), branches.table("e").await.unwrap());
    assert_eq!((b.branch(), files(&b).await, files(&e).await.len()), (Some("b"), vec!["f1".into(), "f2".into()], 0));
    assert_eq!(Tags::new(&b).list().await.unwrap(), ["t"]);
    commit(&b, 9, "g").await;
    commit(&e, 9, "h").await;
    assert_eq!(files(&b).await, ["f1", "f2", "g"]);
    assert_eq!(files(&e).await, ["h"]);
    assert_eq!(files(&table).await, ["f1", "f2", "f3"]);
    assert_eq!(Snapshots::new(&b).latest_id().await.unwrap(), Some(SnapshotId(3)));
    // A branch of a branch.
    b.create_tag("u", TagOf::Latest, Retained::Default).await.unwrap();
    Branches::new(&b).create("c", Some("u")).await.unwrap();
    assert_eq!(files(&branches.table("c").await.unwrap()).await, ["f1", "f2", "g"]);
    assert!(branches.all(|name| name == "c").await.unwrap()[0].created_millis.is_some());
}

#[tokio::test]
async fn names_are_checked() {
    let (_, table) = tagged().await;
    let branches = Branches::new(&table);
    for name in ["main", "", " ", "12", "a/b", "..", "a$b"] {
        assert_eq!(branches.create(name, None).await.unwrap_err().kind(), ErrorKind::Invalid, "{name:?}");
    }
    branches.create("b", None).await.unwrap();
    assert_eq!(branches.create("b", None).await.unwrap_err().kind(), ErrorKind::AlreadyExists);
    assert_eq!(branches.create("c", Some("x")).await.unwrap_err().kind(), ErrorKind::NotFound);
    assert!(!branches.exists("c").await.unwrap());
    for error in [
        branches.table("x").await.unwrap_err(),
        branches.delete("x").await.unwrap_err(),
        branches.rename("x", "y").await.unwrap_err(),
        branches.fast_forward("x").await.unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert!(error.hint().unwrap().contains('b'), "{error:?}");
    }
    assert_eq!(branches.rename("main", "y").await.unwrap_err().kind(), ErrorKind::Invalid);
    assert_eq!(branches.fast_forward("main").await.unwrap_err().kind(), ErrorKind::Invalid);
    assert_eq!(branches.fast_forward("b").await.unwrap_err().kind(), ErrorKind::Invalid, "it has no snapshot");
}

#[tokio::test]
async fn branches_are_renamed_and_deleted() {
    let (_, table) = tagged().await;
    let branches = Branches::new(&table);
    branches.create("b", Some("t")).await.unwrap();
    branches.create("e", None).await.unwrap();
    assert_eq!(branches.rename("b", "e").await.unwrap_err().kind(), ErrorKind::AlreadyExists);
    branches.rename("b", "c").await.unwrap();
    assert_eq!(files(&branches.table("c").await.unwrap()).await, ["f1", "f2"]);
    let used = table.with_options(&[("scan.fallback-branch", "c")].into_iter().collect()).unwrap();
    assert_eq!(Branches::new(&used).delete("c").await.unwrap_err().kind(), ErrorKind::Invalid);
    branches.delete("c").await.unwrap();
    assert_eq!(branches.list().await.unwrap(), ["e"]);
    assert_eq!(files(&table).await, ["f1", "f2", "f3"]);
}

/// A store that cannot move folders, as object stores cannot.
fn without_moves(store: Arc<Memory>) -> Faulty {
    let faulty = Faulty::new(store);
    faulty.inject(Op::Rename, "", 0, usize::MAX, Fault::Before(ErrorKind::Unsupported));
    faulty
}

/// The branch `b` with a schema and a snapshot of its own.
async fn branched() -> (Arc<Memory>, Table) {
    let (store, table) = tagged().await;
    Branches::new(&table).create("b", Some("t")).await.unwrap();
    let b = Branches::new(&table).table("b").await.unwrap();
    let set = SchemaChange::SetOption { key: "snapshot.num-retained.min".into(), value: "3".into() };
    Schemas::new(&b).commit(&b, &[set]).await.unwrap();
    commit(&Branches::new(&table).table("b").await.unwrap(), 9, "g").await;
    (store, table)
}

#[tokio::test]
async fn a_branch_is_renamed_where_folders_cannot_be_moved() {
    let of = |store: &Memory, branch: &str| -> Vec<String> {
        store.paths().into_iter().filter(|path| path.contains(&format!("/branch-{branch}/"))).collect()
    };
    let mut cuts = 0;
    for (cut, applied) in (0..).flat_map(|cut| [(cut, false), (cut, true)]) {
        let (store, table) = branched().await;
        let before = of(&store, "b");
        let faulty = without_moves(store.clone());
        faulty.stop_after(cut, applied);
        let broken = Table::new("db.t", "db.db/t", table.schema().clone(), env(Arc::new(faulty.clone()), 3));
        let done = Branches::new(&broken).rename("b", "c").await;
        let there =
            Table::new("db.t", "db.db/t", table.schema().clone(), env(Arc::new(without_moves(store.clone())), 4));
        let branches = Branches::new(&there);
        if !faulty.stopped() {
            done.unwrap();
            assert_eq!(branches.list().await.unwrap(), ["c"]);
            assert_eq!(files(&branches.table("c").await.unwrap()).await, ["f1", "f2", "g"]);
            assert_eq!(
                of(&store, "c"),
                before.iter().map(|path| path.replace("branch-b", "branch-c")).collect::<Vec<_>>()
            );
            break;
        }
        cuts += 1;
        // The branch is there under one of its names, and whole.
        let mut whole = 0;
        for name in ["b", "c"] {
            match branches.table(name).await {
                Ok(branch) => {
                    assert_eq!(files(&branch).await, ["f1", "f2", "g"], "{name} after {cut}");
                    whole += 1;
                }
                Err(e) => assert_eq!(e.kind(), ErrorKind::NotFound, "{name} after {cut}"),
            }
        }
        assert!(whole > 0, "after {cut}");
        match branches.rename("b", "c").await {
            Ok(()) => assert_eq!(files(&branches.table("c").await.unwrap()).await, ["f1", "f2", "g"]),
            Err(e) if e.kind() == ErrorKind::AlreadyExists => branches.delete("b").await.unwrap(),
            Err(e) => assert_eq!(e.kind(), ErrorKind::NotFound, "after {cut}"),
        }
        assert_eq!(branches.list().await.unwrap(), ["c"], "after {cut}");
    }
    assert!(cuts >= 10, "{cuts}");
}

#[tokio::test]
async fn the_table_takes_over_a_branch() {
    let (_, table) = tagged().await;
    table.create_tag("late", TagOf::Latest, Retained::Default).await.unwrap();
    let branches = Branches::new(&table);
    branches.create("b", Some("t")).await.unwrap();
    let b = branches.table("b").await.unwrap();
    let set = SchemaChange::SetOption { key: "snapshot.num-retained.min".into(), value: "3".into() };
    Schemas::new(&b).commit(&b, &[set]).await.unwrap();
    commit(&b, 9, "g").await;
    branches.fast_forward("b").await.unwrap();
    assert_eq!(files(&table).await, ["f1", "f2", "g"]);
    assert_eq!(Tags::new(&table).list().await.unwrap(), ["t"]);
    let ids: Vec<i64> = Snapshots::new(&table).list().await.unwrap().into_iter().map(|id| id.0).collect();
    assert_eq!(ids, [1, 2, 3]);
    let newest = Schemas::new(&table).latest().await.unwrap().unwrap();
    assert_eq!(newest.options.raw("snapshot.num-retained.min"), Some("3"));
    // Both go on from there.
    commit(&table, 10, "h").await;
    commit(&b, 10, "i").await;
    assert_eq!(files(&table).await, ["f1", "f2", "g", "h"]);
    assert_eq!(files(&b).await, ["f1", "f2", "g", "i"]);
}

#[tokio::test]
async fn a_fast_forward_that_is_cut_short_is_done_by_doing_it_again() {
    let mut cuts = 0;
    for cut in 0.. {
        let (store, table) = tagged().await;
        let branches = Branches::new(&table);
        branches.create("b", Some("t")).await.unwrap();
        commit(&branches.table("b").await.unwrap(), 9, "g").await;
        let faulty = Faulty::new(store);
        faulty.stop_after(cut, false);
        let broken = Table::new("db.t", "db.db/t", table.schema().clone(), env(Arc::new(faulty.clone()), 3));
        let _ = Branches::new(&broken).fast_forward("b").await;
        if !faulty.stopped() {
            break;
        }
        cuts += 1;
        // What is there is always a table with a part of its history, or of the new one.
        let there = files(&table).await;
        assert!(there.iter().all(|file| ["f1", "f2", "f3", "g"].contains(&file.as_str())), "after {cut}: {there:?}");
        branches.fast_forward("b").await.unwrap();
        assert_eq!(files(&table).await, ["f1", "f2", "g"], "after {cut}");
    }
    assert!(cuts >= 6, "{cuts}");
}

#[tokio::test]
async fn regress_a_branch_whose_making_was_cut_short_is_made_by_making_it_again() {
    for tag in [Some("late"), None] {
        let mut cuts = 0;
        for (cut, applied) in (0..).flat_map(|cut| [(cut, false), (cut, true)]) {
            let (store, table) = altered().await;
            let faulty = Faulty::new(store);
            faulty.stop_after(cut, applied);
            let broken = Table::new("db.t", "db.db/t", table.schema().clone(), env(Arc::new(faulty.clone()), 3));
            let _ = Branches::new(&broken).create("b", tag).await;
            if !faulty.stopped() {
                break;
            }
            cuts += 1;
            let branches = Branches::new(&table);
            match branches.create("b", tag).await {
                Ok(()) => {}
                // Only the answer was lost, or what nothing needs.
                Err(e) => {
                    assert!(e.kind() == ErrorKind::AlreadyExists && (applied || tag.is_none()), "after {cut}: {e:?}")
                }
            }
            let b = branches.table("b").await.unwrap();
            assert_eq!(files(&b).await.len(), tag.map_or(0, |_| 5), "after {cut}");
            assert_eq!(b.schema().id, SchemaId(2), "after {cut}");
            assert!(Schemas::new(&b).list().await.unwrap().len() == 3 || tag.is_none(), "after {cut}");
            assert_eq!(branches.create("b", tag).await.unwrap_err().kind(), ErrorKind::AlreadyExists);
        }
        assert!(cuts >= 4, "{cuts}");
    }
}

/// A table whose schema has changed twice, with rows of each, and the tag `late`.
async fn altered() -> (Arc<Memory>, Table) {
    let (store, mut table) = tagged().await;
    for (identifier, n) in [(4, "3"), (5, "4")] {
        let set = SchemaChange::SetOption { key: "snapshot.num-retained.min".into(), value: n.into() };
        let schema = Schemas::new(&table).commit(&table, &[set]).await.unwrap();
        table = Table::new("db.t", "db.db/t", (*schema).clone(), env(store.clone(), 3));
        commit(&table, identifier, &format!("f{identifier}")).await;
    }
    table.create_tag("late", TagOf::Latest, Retained::Default).await.unwrap();
    (store, table)
}

#[tokio::test]
async fn what_was_not_made_is_no_table() {
    let (store, table) = altered().await;
    let branches = Branches::new(&table);
    let make = async || branches.create("b", Some("late")).await;
    // Cut off before any schema came, and before the last one.
    for missing in [&["schema-0", "schema-1", "schema-2"][..], &["schema-1", "schema-2"], &["schema-2"]] {
        make().await.unwrap();
        for name in missing {
            store.delete(&format!("db.db/t/branch/branch-b/schema/{name}")).await.unwrap();
        }
        assert_eq!(branches.list().await.unwrap(), ["b"], "it can be seen");
        for error in [branches.table("b").await.unwrap_err(), branches.fast_forward("b").await.unwrap_err()] {
            assert_eq!(error.kind(), ErrorKind::NotFound);
            assert!(error.hint().unwrap().contains("delete it"), "{error:?}");
        }
        make().await.unwrap();
        assert_eq!(files(&branches.table("b").await.unwrap()).await.len(), 5);
        store.delete("db.db/t/branch/branch-b/schema/schema-2").await.unwrap();
        branches.delete("b").await.unwrap();
        assert!(branches.list().await.unwrap().is_empty());
    }
}

/// The reference's 0.9 brings the schema of the tag alone, and of an empty branch the newest.
#[tokio::test]
async fn regress_a_branch_with_its_newest_schema_alone_is_whole() {
    for tag in [Some("late"), None] {
        let (store, table) = altered().await;
        let branches = Branches::new(&table);
        branches.create("b", tag).await.unwrap();
        for name in ["schema-0", "schema-1"] {
            store.delete(&format!("db.db/t/branch/branch-b/schema/{name}")).await.unwrap();
        }
        let fresh = Table::new("db.t", "db.db/t", table.schema().clone(), env(store.clone(), 3));
        let (branches, before) = (Branches::new(&fresh), tag.map_or(0, |_| 5));
        let b = branches.table("b").await.unwrap();
        assert_eq!(files(&b).await.len(), before);
        assert_eq!(Schemas::new(&b).get(SchemaId(0)).await.unwrap().options.raw("snapshot.num-retained.min"), None);
        assert_eq!(Schemas::new(&b).get(SchemaId(3)).await.unwrap_err().kind(), ErrorKind::NotFound);
        commit(&b, 9, "g").await;
        // It is somebody's, and not made anew.
        assert_eq!(branches.create("b", tag).await.unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert_eq!(files(&branches.table("b").await.unwrap()).await.len(), before + 1);
    }
}

#[tokio::test]
async fn a_deletion_that_is_cut_short_leaves_a_branch_or_none() {
    let mut cuts = 0;
    for (cut, applied) in (0..).flat_map(|cut| [(cut, false), (cut, true)]) {
        let (store, table) = tagged().await;
        Branches::new(&table).create("b", Some("t")).await.unwrap();
        let faulty = Faulty::new(store);
        faulty.stop_after(cut, applied);
        let broken = Table::new("db.t", "db.db/t", table.schema().clone(), env(Arc::new(faulty.clone()), 3));
        let _ = Branches::new(&broken).delete("b").await;
        if !faulty.stopped() {
            break;
        }
        cuts += 1;
        let branches = Branches::new(&table);
        match branches.table("b").await {
            Ok(b) => assert_eq!(files(&b).await, ["f1", "f2"], "after {cut}"),
            Err(e) => assert_eq!(e.kind(), ErrorKind::NotFound, "after {cut}"),
        }
        match branches.delete("b").await {
            Ok(()) => {}
            Err(e) => assert_eq!(e.kind(), ErrorKind::NotFound, "after {cut}"),
        }
        branches.create("b", Some("t")).await.unwrap();
    }
    assert!(cuts >= 2, "{cuts}");
}

/// Partitions by the first column, each layer's with how many files.
async fn layered(table: &Table) -> Vec<(Option<String>, Vec<i32>)> {
    let mut found = Vec::new();
    for layer in table.layers().await.unwrap() {
        let mut scan = layer.table.scan();
        if let Some(partitions) = layer.partitions {
            scan = scan.partitions(partitions);
        }
        let int = DataType::required(Kind::Int);
        let mut keys: Vec<i32> = scan
            .partition_rows()
            .await
            .unwrap()
            .iter()
            .map(|row| match row.datums([&int].into_iter()).unwrap().as_slice() {
                [Some(Datum::Int(key))] => *key,
                other => panic!("{other:?}"),
            })
            .collect();
        keys.sort_unstable();
        found.push((layer.table.branch().map(str::to_owned), keys));
    }
    found
}

#[tokio::test]
async fn a_branch_fills_in_for_partitions_that_the_table_lacks() {
    let table = table(memory(), schema(true, false, &[("bucket", "-1")])).await;
    let branches = Branches::new(&table);
    branches.create("b", None).await.unwrap();
    let put = async |table: &Table, identifier: i64, partition: i32| {
        let mut message = CommitMessage::new(row(&[partition]), 0, -1);
        message.new_files = vec![file(&format!("f{partition}"), 0, None)];
        table.committer("u").commit(Commit::streaming(identifier, vec![message])).await.unwrap();
    };
    let b = branches.table("b").await.unwrap();
    for (table, identifier, partition) in [(&table, 1, 1), (&table, 2, 2), (&b, 1, 2), (&b, 2, 3)] {
        put(table, identifier, partition).await;
    }
    let with = |key: &str, branch: &str| table.with_options(&[(key, branch)].into_iter().collect()).unwrap();
    assert_eq!(layered(&table).await, [(None, vec![1, 2])]);
    let b_name = || Some("b".to_owned());
    assert_eq!(layered(&with("scan.fallback-branch", "b")).await, [(None, vec![1, 2]), (b_name(), vec![3])]);
    assert_eq!(layered(&with("scan.primary-branch", "b")).await, [(b_name(), vec![2, 3]), (None, vec![1])]);
    assert_eq!(layered(&with("scan.fallback-branch", "nope")).await, [(None, vec![1, 2])]);
    put(&table, 3, 3).await;
    assert_eq!(layered(&with("scan.fallback-branch", "b")).await, [(None, vec![1, 2, 3])]);
    let add = SchemaChange::SetOption { key: "write-only".into(), value: "true".into() };
    Schemas::new(&b).commit(&b, &[add]).await.unwrap();
    assert_eq!(layered(&with("scan.fallback-branch", "b")).await.len(), 1);
}

/// The first snapshot, a branch that begins with it, and a file more in each.
async fn parted() -> (Table, Branches, Table) {
    let table = table(memory(), schema(false, false, &[("bucket", "-1")])).await;
    commit(&table, 1, "f1").await;
    table.create_tag("t", TagOf::Latest, Retained::Default).await.unwrap();
    let branches = Branches::new(&table);
    branches.create("b", Some("t")).await.unwrap();
    let branch = branches.table("b").await.unwrap();
    commit(&branch, 2, "g").await;
    commit(&table, 2, "f2").await;
    (table, branches, branch)
}

#[tokio::test]
async fn branches_merge_into_each_other() {
    let (table, branches, branch) = parted().await;
    let merged = branches.merge("b", "main", None).await.unwrap();
    assert_eq!((merged.files, merged.snapshot), (1, Some(SnapshotId(3))));
    assert_eq!(files(&table).await, ["f1", "f2", "g"]);
    assert_eq!(files(&branch).await, ["f1", "g"]);
    let snapshot = Snapshots::new(&table).latest().await.unwrap().unwrap();
    assert_eq!((snapshot.total_record_count, snapshot.delta_record_count), (Some(3), Some(1)));
    assert_eq!(branches.merge("b", "main", None).await.unwrap(), super::Merged::default());
    assert_eq!(branches.merge("main", "b", None).await.unwrap().files, 1);
    assert_eq!(files(&branch).await, ["f1", "f2", "g"]);
    let report = crate::invariants::check(&table, crate::invariants::Depth::Metadata).await.unwrap();
    assert_eq!(report.findings.iter().filter(|f| f.rule != crate::invariants::Rule::Reachable).count(), 0);
    // An empty branch has had no other history.
    branches.create("e", None).await.unwrap();
    let empty = branches.table("e").await.unwrap();
    assert_eq!(branches.merge("b", "e", None).await.unwrap_err().kind(), ErrorKind::Invalid, "it has no snapshot");
    commit(&empty, 1, "h").await;
    assert_eq!(branches.merge("e", "b", None).await.unwrap().files, 1);
}

/// Another job adds what a merge is about to add.
#[tokio::test]
async fn a_file_is_merged_once() {
    let (table, branches, _) = parted().await;
    branches.merge("b", "main", None).await.unwrap();
    let again = Commit::batch(vec![added(&["g"])]);
    let outcome = table.committer("m").add_checked(again).await.unwrap();
    assert!(matches!(outcome, crate::commit::CommitOutcome::Conflict(_)), "{outcome:?}");
}

#[tokio::test]
async fn what_cannot_be_told_apart_is_not_merged() {
    let refused =
        async |branches: &Branches, from: &str, into: &str| branches.merge(from, into, None).await.unwrap_err().kind();
    let (_, branches, branch) = parted().await;
    assert_eq!(refused(&branches, "b", "b").await, ErrorKind::Invalid);
    assert_eq!(refused(&branches, "x", "main").await, ErrorKind::NotFound);
    assert_eq!(refused(&branches, "b", "x").await, ErrorKind::NotFound);
    // Something was removed.
    let mut message = CommitMessage::new(linn_format::row::BinaryRow::empty(), 0, -1);
    message.deleted_files = vec![file("g", 0, None)];
    branch.committer("d").commit(Commit::batch(vec![message])).await.unwrap();
    assert_eq!(refused(&branches, "b", "main").await, ErrorKind::Invalid);
    // A snapshot has expired.
    let (table, branches, _) = parted().await;
    table.storage().delete(&Snapshots::new(&table).path(SnapshotId(1))).await.unwrap();
    assert_eq!(refused(&branches, "b", "main").await, ErrorKind::Invalid);
    // Other columns.
    let (_, branches, branch) = parted().await;
    let change = SchemaChange::AddColumn {
        path: vec!["n".into()],
        data_type: DataType::nullable(Kind::Int),
        description: None,
        position: None,
    };
    Schemas::new(&branch).commit(&branch, &[change]).await.unwrap();
    assert_eq!(refused(&branches, "b", "main").await, ErrorKind::Invalid);
}
