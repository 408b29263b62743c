//! Tags, branches and rollbacks of one implementation as the other sees them, and system tables side by side.

use linn_core::branch::Branches;
use linn_core::rollback::RollbackTo;
use linn_core::tag::{Retained, TagOf, Tags};
use linn_core::{Commit, Snapshots, Table};
use linn_format::SnapshotId;
use linn_testkit::peer::{Peer, Place};
use linn_testkit::{parse, render};
use serde_json::{Value, json};

use crate::linn::Ring;

fn schema(options: &Value) -> Value {
    json!({
        "fields": [
            { "id": 0, "name": "p", "type": "STRING NOT NULL" },
            { "id": 1, "name": "k", "type": "INT NOT NULL" },
            { "id": 2, "name": "v", "type": "STRING" },
        ],
        "partitionKeys": ["p"],
        "primaryKeys": ["p", "k"],
        "options": options,
    })
}

fn rows(keys: impl IntoIterator<Item = i64>) -> Vec<Value> {
    keys.into_iter().map(|k| json!({ "p": format!("p{}", k % 2), "k": k, "v": format!("v{k}") })).collect()
}

fn keys(rows: &[Value]) -> Vec<i64> {
    let mut keys: Vec<i64> = rows.iter().map(|row| row["k"].as_i64().unwrap()).collect();
    keys.sort_unstable();
    keys
}

async fn linn_reads(table: &Table) -> Vec<i64> {
    use futures::TryStreamExt;
    let read = table.read().build().unwrap();
    let mut rows = Vec::new();
    for split in table.scan().plan().await.unwrap().splits {
        let batches: Vec<_> = read.stream(&split).await.unwrap().try_collect().await.unwrap();
        rows.extend(render::rows(&batches, &table.schema().fields));
    }
    keys(&rows)
}

async fn linn_writes(table: &Table, identifier: i64, new: &[Value]) {
    let (batch, kinds) = parse::rows(new, &table.visible_fields().unwrap());
    let mut writer = table.writer("branch").unwrap();
    writer.write(&batch, Some(&kinds)).await.unwrap();
    let messages = writer.prepare_commit(true).await.unwrap();
    table.committer("branch").commit(Commit::streaming(identifier, messages)).await.unwrap();
    writer.close().await.unwrap();
}

fn on_branch(place: &Place, branch: &str) -> Place {
    Place { table: format!("{}$branch_{branch}", place.table), ..place.clone() }
}

#[test]
fn tags_and_branches_of_linn_are_java_s() {
    let Some(mut ring) = Ring::new(&schema(&json!({ "bucket": "1" })), [Peer::python()]) else { return };
    for round in 0..3 {
        ring.write(&rows(round * 10..round * 10 + 10));
    }
    ring.on(async |table| {
        table.create_tag("t", TagOf::Id(SnapshotId(2)), Retained::Default).await.unwrap();
        let hour = std::time::Duration::from_secs(3600);
        table.create_tag("kept", TagOf::Id(SnapshotId(1)), Retained::For(hour)).await.unwrap();
        let branches = Branches::new(&table);
        branches.create("b", Some("t")).await.unwrap();
        branches.create("e", None).await.unwrap();
        linn_writes(&branches.table("b").await.unwrap(), 1, &rows(100..105)).await;
        linn_writes(&branches.table("e").await.unwrap(), 1, &rows(200..203)).await;
    });
    let place = ring.place().clone();
    let tagged = |ring: &mut Ring, tag: &str| keys(&ring.java.read(&place, &[("scan.tag-name", tag)]).unwrap());
    assert_eq!(tagged(&mut ring, "t"), (0..20).collect::<Vec<_>>());
    assert_eq!(tagged(&mut ring, "kept"), (0..10).collect::<Vec<_>>());
    let (b, e) = (on_branch(&place, "b"), on_branch(&place, "e"));
    let on_b: Vec<i64> = (0..20).chain(100..105).collect();
    assert_eq!(keys(&ring.java.read(&b, &[]).unwrap()), on_b);
    assert_eq!(keys(&ring.java.read(&e, &[]).unwrap()), [200, 201, 202]);
    ring.java.write(&b, &rows(105..107)).unwrap();
    ring.java.compact(&b, true).unwrap();
    let on_b: Vec<i64> = (0..20).chain(100..107).collect();
    ring.on(async |table| {
        let branch = Branches::new(&table).table("b").await.unwrap();
        assert_eq!(linn_reads(&branch).await, on_b);
        linn_writes(&branch, 2, &rows(107..108)).await;
    });
    ring.check("the table itself", &rows(0..30));
    ring.java.history(&place, &json!([["fastForward", "b"]])).unwrap();
    ring.check("after Java's fast-forward", &rows((0..20).chain(100..108)));
    ring.write(&rows(300..301));
    ring.check("and after another commit", &rows((0..20).chain(100..108).chain(300..301)));
}

#[test]
fn tags_and_branches_of_java_are_linn_s() {
    let Some(mut ring) = Ring::new(&schema(&json!({ "bucket": "1" })), [Peer::python()]) else { return };
    for round in 0..3 {
        ring.java_appends(&rows(round * 10..round * 10 + 10));
    }
    let place = ring.place().clone();
    let latest = ring.on(async |table| Snapshots::new(&table).latest_id().await.unwrap().unwrap().0);
    let actions = json!([["createTag", "t", latest], ["createBranch", "b", "t"], ["createBranch", "e"]]);
    ring.java.history(&place, &actions).unwrap();
    ring.java.write(&on_branch(&place, "b"), &rows(100..105)).unwrap();
    ring.java_appends(&rows(30..40));
    ring.on(async |table| {
        assert_eq!(Tags::new(&table).list().await.unwrap(), ["t"]);
        let tagged = table.with_options(&[("scan.tag-name", "t")].into_iter().collect()).unwrap();
        assert_eq!(linn_reads(&tagged).await, (0..30).collect::<Vec<_>>());
        let branches = Branches::new(&table);
        assert_eq!(branches.list().await.unwrap(), ["b", "e"]);
        assert_eq!(linn_reads(&branches.table("b").await.unwrap()).await, (0..30).chain(100..105).collect::<Vec<_>>());
        branches.fast_forward("b").await.unwrap();
    });
    ring.check("after Linn's fast-forward", &rows((0..30).chain(100..105)));
    ring.java_appends(&rows(105..106));
    ring.check("and after Java's commit", &rows((0..30).chain(100..106)));
}

#[test]
fn rollbacks_are_followed_by_the_other() {
    let Some(mut ring) = Ring::new(&schema(&json!({ "bucket": "1" })), [Peer::python()]) else { return };
    for round in 0..3 {
        ring.write(&rows(round * 10..round * 10 + 10));
    }
    ring.on(async |table| drop(table.rollback(&RollbackTo::Snapshot(SnapshotId(2))).await.unwrap()));
    ring.check("after Linn's rollback", &rows(0..20));
    ring.java_appends(&rows(50..60));
    ring.check("after Java's commit", &rows((0..20).chain(50..60)));
    ring.on(async |table| drop(table.rollback_as_latest(&RollbackTo::Snapshot(SnapshotId(1))).await.unwrap()));
    ring.check("with the old content as the latest", &rows(0..10));
    ring.java_appends(&rows(70..71));
    ring.check("after Java's commit upon it", &rows((0..10).chain(70..71)));
    let place = ring.place().clone();
    ring.java.history(&place, &json!([["rollback", 2]])).unwrap();
    ring.check("after Java's rollback", &rows(0..20));
    ring.write(&rows(90..91));
    ring.check("after Linn's commit", &rows((0..20).chain(90..91)));
}

/// Tables whose rows both read, sorted, without columns that only one of them fills or that name places of a machine.
#[test]
fn system_tables_side_by_side() {
    let options = json!({
        "bucket": "2", "merge-engine": "aggregation", "fields.v.aggregate-function": "max",
        "deletion-vectors.enabled": "true", "fields.v.ignore-retract": "true",
    });
    let Some(mut ring) = Ring::new(&schema(&options), []) else { return };
    ring.write(&rows(0..10));
    ring.java_appends(&rows(5..15));
    ring.java_writes(&rows(0..3));
    ring.write(&rows(3..6));
    ring.compact(false);
    ring.on(async |table| {
        table.create_tag("t", TagOf::Id(SnapshotId(2)), Retained::Default).await.unwrap();
        Branches::new(&table).create("b", Some("t")).await.unwrap();
        table.analyze(linn_core::analyze::AnalyzeColumns::All).await.unwrap();
    });
    let place = ring.place().clone();
    for (name, only_here) in [
        ("snapshots", &["writer_version"][..]),
        ("schemas", &[]),
        ("options", &[]),
        ("manifests", &[]),
        ("files", &[]),
        ("file_key_ranges", &[]),
        ("buckets", &[]),
        ("partitions", &["created_at", "created_by", "updated_by", "options", "deleted_record_count"]),
        ("tags", &[]),
        ("branches", &["create_time"]),
        ("consumers", &[]),
        ("aggregation_fields", &[]),
        ("statistics", &[]),
        ("table_indexes", &["index_field_id", "index_field_name", "row_range_start", "row_range_end"]),
    ] {
        let java = match ring.java.system(&place, name, &[]) {
            Ok(rows) => rows,
            Err(error) => panic!("Java has no {name}: {error}"),
        };
        let linn = ring.system_rows(name);
        // What only the newer one of two versions has is compared with fixtures.
        let common = |row: &Value| {
            java.first().is_none_or(|first| first.as_object().unwrap().keys().all(|k| row.get(k).is_some()))
        };
        assert!(linn.iter().all(common), "{name}: {:?} and {:?}", linn.first(), java.first());
        let plain = |rows: Vec<Value>| {
            let mut lines: Vec<String> = rows
                .into_iter()
                .map(|mut row| {
                    let columns = row.as_object_mut().unwrap();
                    let known = |column: &String| java.first().is_some_and(|first| first.get(column).is_some());
                    // Java spells the scheme of a local path.
                    columns.retain(|column, _| known(column) && !only_here.contains(&column.as_str()));
                    crate::system_tables::plain(row).to_string().replace("\"file:/", "\"/")
                })
                .collect();
            lines.sort();
            lines
        };
        assert_eq!(plain(linn), plain(java.clone()), "{name}");
        assert!(name == "consumers" || !java.is_empty(), "{name} is empty");
    }
}
