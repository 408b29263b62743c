//! Many committers at once in one process.

use super::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_acknowledged_commit_is_there_once() {
    let options =
        [("commit.max-retries", "1000"), ("commit.min-retry-wait", "1 ms"), ("commit.max-retry-wait", "5 ms")];
    let table = table(memory(), schema(false, false, &options)).await;
    let tasks: Vec<_> = (0..8)
        .map(|user| {
            let table = table.clone();
            tokio::spawn(async move {
                let committer = table.committer(format!("u{user}"));
                for id in 1..=25 {
                    let outcome =
                        committer.commit(Commit::streaming(id, vec![added(&[format!("u{user}-{id}").as_str()])])).await;
                    assert!(matches!(outcome.unwrap(), CommitOutcome::Committed(ids) if ids.len() == 1));
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(live(&table).await.len(), 200);
    assert_eq!(latest(&table).await.id, SnapshotId(200));
    assert_eq!(Snapshots::new(&table).list().await.unwrap().len(), 200);
    assert_eq!(latest(&table).await.total_record_count, Some(200));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_compactions_of_the_same_files_one_wins() {
    let options = [("bucket", "2"), ("commit.max-retries", "1000"), ("commit.min-retry-wait", "1 ms")];
    let table = table(memory(), schema(false, true, &options)).await;
    table.committer("w").commit(Commit::streaming(1, vec![keyed(&[("a", (1, 5)), ("b", (2, 9))])])).await.unwrap();
    let tasks: Vec<_> = (0..8)
        .map(|user| {
            let table = table.clone();
            let name = format!("c{user}");
            tokio::spawn(async move {
                let message = compaction(&[("a", 0, (1, 5)), ("b", 0, (2, 9))], &[(name.as_str(), 5, (1, 9))]);
                table.committer(format!("u{user}")).commit(Commit::streaming(1, vec![message])).await.unwrap()
            })
        })
        .collect();
    let mut won = 0;
    for task in tasks {
        match task.await.unwrap() {
            CommitOutcome::Committed(_) => won += 1,
            CommitOutcome::CompactionLost { .. } => {}
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(won, 1);
    assert_eq!(live(&table).await.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn new_files_carry_the_snapshot_that_they_end_up_in() {
    let options = [
        ("bucket", "2"),
        ("sequence.snapshot-ordering", "true"),
        ("write-only", "true"),
        ("commit.max-retries", "1000"),
        ("commit.min-retry-wait", "1 ms"),
        ("commit.max-retry-wait", "5 ms"),
    ];
    let table = table(memory(), schema(false, true, &options)).await;
    let tasks: Vec<_> = (0..4)
        .map(|user| {
            let table = table.clone();
            tokio::spawn(async move {
                let committer = table.committer(format!("u{user}"));
                for id in 1..=10 {
                    let name = format!("u{user}-{id}");
                    let outcome = committer.commit(Commit::streaming(id, vec![keyed(&[(&name, (1, 5))])])).await;
                    assert!(matches!(outcome.unwrap(), CommitOutcome::Committed(_)));
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let compacted = compaction(&[("u0-1", 0, (1, 5))], &[("u0-1", 3, (1, 5)), ("c", 5, (1, 5))]);
    table.committer("c").commit(Commit::streaming(1, vec![compacted])).await.unwrap();
    let mut compacted = Vec::new();
    for snapshot in Snapshots::new(&table).list().await.unwrap() {
        let snapshot = Snapshots::new(&table).get(snapshot).await.unwrap();
        let list = table.storage().read(&table.manifest_path(&snapshot.delta_manifest_list), None).await.unwrap();
        for manifest in read_manifest_list(&list).unwrap() {
            let bytes = table.storage().read(&table.manifest_path(&manifest.file_name), None).await.unwrap();
            let entries = read_manifest(&bytes).unwrap();
            for i in 0..entries.len() {
                let file = entries.file(i).unwrap();
                match snapshot.commit_kind {
                    CommitKind::Compact => compacted.push((file.level, file.max_sequence_number)),
                    _ => assert_eq!(
                        (file.min_sequence_number, file.max_sequence_number),
                        (snapshot.id.0, snapshot.id.0),
                        "{}",
                        file.file_name
                    ),
                }
            }
        }
    }
    // What the message says of them stays.
    assert_eq!(compacted, [(0, 0), (3, 0), (5, 0)]);
}
