//! Tables that are broken in one place each.

use linn_format::manifest::{DELETION_VECTORS_INDEX, FileKind};
use linn_format::snapshot::Snapshot;

use super::*;
use crate::manifest::Manifests;
use crate::seam::Storage;
use crate::snapshot::{Snapshots, Tags};

/// The rules that a report names, each once.
fn rules(report: &Report) -> Vec<Rule> {
    let mut rules: Vec<Rule> = report.findings.iter().map(|finding| finding.rule).collect();
    rules.sort_unstable();
    rules.dedup();
    rules
}

async fn latest(table: &Table) -> Arc<Snapshot> {
    Snapshots::new(table).latest().await.unwrap().unwrap()
}

async fn rewrite(store: &Arc<Memory>, table: &Table, id: i64, change: impl FnOnce(&mut Snapshot)) {
    let path = format!("{}/snapshot-{id}", table.snapshot_dir());
    let mut snapshot = Snapshot::from_json(&store.read(&path, None).await.unwrap()).unwrap();
    change(&mut snapshot);
    store.put(&path, snapshot.to_json().unwrap().into()).await.unwrap();
}

fn data_file(store: &Arc<Memory>) -> String {
    store.paths().into_iter().find(|path| path.contains("/bucket-") && path.contains("data-")).unwrap()
}

#[tokio::test]
async fn lost_and_cut_files_are_found() {
    let (store, table) = written(&[]).await;
    let path = data_file(&store);
    let bytes = store.read(&path, None).await.unwrap();
    store.put(&path, bytes.slice(1..)).await.unwrap();
    let report = found(&store, &table).await;
    assert!(report.has_faults() && rules(&report).contains(&Rule::Reachable), "{report:?}");
    store.delete(&path).await.unwrap();
    let report = found(&store, &table).await;
    let finding = report.findings.iter().find(|finding| finding.place == path).unwrap();
    assert_eq!((finding.rule, finding.severity), (Rule::Reachable, Severity::Fault));
    assert!(!finding.advice.is_empty());
}

#[tokio::test]
async fn a_lost_file_is_told_once() {
    let (store, table) = written(&[]).await;
    for path in store.paths().into_iter().filter(|path| path.contains("/bucket-")) {
        store.delete(&path).await.unwrap();
    }
    let places: Vec<String> = found(&store, &table).await.findings.into_iter().map(|finding| finding.place).collect();
    let once: std::collections::HashSet<&String> = places.iter().collect();
    assert!(!places.is_empty() && once.len() == places.len(), "{places:?}");
}

#[tokio::test]
async fn lost_and_damaged_metadata_is_found() {
    let (store, table) = written(&[]).await;
    let list = table.manifest_path(&latest(&table).await.base_manifest_list);
    let bytes = store.read(&list, None).await.unwrap();
    store.put(&list, "x".into()).await.unwrap();
    assert!(rules(&found(&store, &table).await).contains(&Rule::Readable));
    store.delete(&list).await.unwrap();
    assert_eq!(rules(&found(&store, &table).await), [Rule::Reachable]);
    store.put(&list, bytes).await.unwrap();
    assert_eq!(found(&store, &table).await.findings, []);
    store.put("db.db/t/schema/schema-0", "x".into()).await.unwrap();
    assert!(rules(&found(&store, &table).await).contains(&Rule::Schemas));
}

#[tokio::test]
async fn a_history_that_does_not_add_up_is_found() {
    let (store, table) = written(&[]).await;
    rewrite(&store, &table, 2, |snapshot| snapshot.total_record_count = Some(1)).await;
    assert_eq!(rules(&found(&store, &table).await), [Rule::Counts]);

    let (store, table) = written(&[]).await;
    rewrite(&store, &table, 3, |snapshot| snapshot.time_millis -= 1000).await;
    let report = found(&store, &table).await;
    assert!(!report.has_faults());
    assert_eq!(rules(&report), [Rule::History]);

    let (store, table) = written(&[]).await;
    rewrite(&store, &table, 2, |snapshot| snapshot.commit_identifier = 1).await;
    assert_eq!(rules(&found(&store, &table).await), [Rule::Once]);

    let (store, table) = written(&[]).await;
    store.delete("db.db/t/snapshot/snapshot-2").await.unwrap();
    assert_eq!(rules(&found(&store, &table).await), [Rule::History]);

    // The delta of one snapshot is lost from the base of the next.
    let (store, table) = written(&[]).await;
    let (second, last) = (Snapshots::new(&table).get(linn_format::SnapshotId(2)).await.unwrap(), latest(&table).await);
    rewrite(&store, &table, last.id.0, |snapshot| {
        snapshot.base_manifest_list.clone_from(&second.base_manifest_list);
        snapshot.base_manifest_list_size = second.base_manifest_list_size;
    })
    .await;
    assert!(rules(&found(&store, &table).await).contains(&Rule::Files));
}

#[tokio::test]
async fn hints_readers_and_tags_are_looked_at() {
    let (store, table) = written(&[]).await;
    let tagged = Snapshots::new(&table).get(linn_format::SnapshotId(2)).await.unwrap();
    Tags::new(&table).create("t", &tagged, None).await.unwrap();
    store.put("db.db/t/snapshot/EARLIEST", "4".into()).await.unwrap();
    store.put("db.db/t/consumer/consumer-c", "{\"nextSnapshot\":99}".into()).await.unwrap();
    let report = found(&store, &table).await;
    assert!(!report.has_faults(), "{report:?}");
    assert_eq!(rules(&report), [Rule::Hint, Rule::Readers]);
    store.put("db.db/t/tag/tag-u", "{}".into()).await.unwrap();
    assert_eq!(rules(&found(&store, &table).await), [Rule::Hint, Rule::Readable, Rule::Readers]);
}

#[tokio::test]
async fn vectors_of_files_that_are_gone_are_found() {
    let (store, table) = written(&[("deletion-vectors.enabled", "true")]).await;
    let snapshot = latest(&table).await;
    let mut lines = Manifests::new(&table).index_of(&snapshot).await.unwrap();
    assert!(lines.iter().any(|line| line.index_type == DELETION_VECTORS_INDEX && line.kind == FileKind::Add));
    for vector in lines.iter_mut().flat_map(|line| line.deletion_vectors.iter_mut().flatten()) {
        vector.data_file = "gone".to_owned();
    }
    let codec = linn_format::manifest::Codec::parse("zstd", 1).unwrap();
    let bytes = linn_format::manifest::write_index_manifest(&lines, codec).unwrap();
    let path = table.manifest_path(snapshot.index_manifest.as_ref().unwrap());
    store.put(&path, bytes.into()).await.unwrap();
    assert!(rules(&found(&store, &table).await).contains(&Rule::Index));
}

#[tokio::test]
async fn rows_that_are_not_as_told_are_found() {
    let keys: Vec<[i32; 1]> = (1..4).map(|key| [2 * key]).collect();
    let commits: Vec<&[i32]> = keys.iter().map(<[i32; 1]>::as_slice).collect();
    let (store, table) = rounds(&[("bucket", "1"), ("write-only", "true")], &commits).await;
    assert_eq!(found(&store, &table).await.findings, []);
    // Two files of one size change places; checksums of pages make some a byte shorter.
    let mut files = Vec::new();
    for path in store.paths().into_iter().filter(|path| path.contains("/bucket-")) {
        files.push((store.read(&path, None).await.unwrap(), path));
    }
    files.sort_by_key(|(bytes, _)| bytes.len());
    let pair = files.windows(2).find(|pair| pair[0].0.len() == pair[1].0.len()).unwrap();
    store.put(&pair[0].1, pair[1].0.clone()).await.unwrap();
    store.put(&pair[1].1, pair[0].0.clone()).await.unwrap();
    assert_eq!(rules(&found(&store, &table).await), [Rule::Rows]);
}
