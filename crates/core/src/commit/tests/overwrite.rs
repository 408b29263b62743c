//! Overwrites, dropped partitions, truncation.

use super::*;

fn part(p: i32, names: &[&str]) -> CommitMessage {
    let mut message = CommitMessage::new(row(&[p]), 0, -1);
    message.new_files = names.iter().map(|name| file(name, 0, None)).collect();
    message
}

fn spec(p: &str) -> PartitionSpec {
    vec![("p".to_owned(), Some(p.to_owned()))]
}

/// Partitions 1 and 2 with a file each.
async fn two(options: &[(&str, &str)]) -> (Table, Committer) {
    let table = table(memory(), schema(true, false, options)).await;
    let committer = table.committer("u");
    committer.commit(Commit::batch(vec![part(1, &["one"]), part(2, &["two"])])).await.unwrap();
    (table, committer)
}

#[tokio::test]
async fn a_dynamic_overwrite_replaces_what_it_writes_to() {
    let (table, committer) = two(&[]).await;
    committer.overwrite(Overwrite::Partition(spec("1")), Commit::batch(vec![part(2, &["new"])])).await.unwrap();
    assert_eq!(live(&table).await, names(["one@0", "new@0"]));
    assert_eq!(latest(&table).await.commit_kind, CommitKind::Overwrite);
    assert_eq!(committer.overwrite(Overwrite::Dynamic, Commit::batch(vec![])).await.unwrap(), committed(&[]));
    // A partition that is named as a whole is replaced by nothing too.
    committer.overwrite(Overwrite::Partition(spec("1")), Commit::batch(vec![])).await.unwrap();
    assert_eq!(live(&table).await, names(["new@0"]));
}

#[tokio::test]
async fn a_static_overwrite_replaces_its_partition() {
    let (table, committer) = two(&[("dynamic-partition-overwrite", "false")]).await;
    let outside = committer.overwrite(Overwrite::Partition(spec("1")), Commit::batch(vec![part(2, &["new"])])).await;
    assert_eq!(outside.unwrap_err().kind(), linn_format::ErrorKind::Invalid);
    committer.overwrite(Overwrite::Partition(spec("1")), Commit::batch(vec![part(1, &["new"])])).await.unwrap();
    assert_eq!(live(&table).await, names(["new@0", "two@0"]));
    committer.overwrite(Overwrite::Partition(spec("3")), Commit::batch(vec![])).await.unwrap();
    assert_eq!(latest(&table).await.commit_kind, CommitKind::Overwrite, "also when there was nothing to replace");
    committer.overwrite(Overwrite::Partition(Vec::new()), Commit::batch(vec![part(5, &["all"])])).await.unwrap();
    assert_eq!(live(&table).await, names(["all@0"]));
}

#[tokio::test]
async fn partitions_are_dropped_and_tables_truncated() {
    let (table, committer) = two(&[]).await;
    committer.drop_partitions(vec![spec("1"), spec("9")], BATCH_IDENTIFIER).await.unwrap();
    assert_eq!(live(&table).await, names(["two@0"]));
    let bad = committer.drop_partitions(vec![vec![("x".into(), Some("1".into()))]], BATCH_IDENTIFIER).await;
    assert_eq!(bad.unwrap_err().kind(), linn_format::ErrorKind::Invalid);
    assert!(committer.drop_partitions(Vec::new(), BATCH_IDENTIFIER).await.is_err());
    committer.truncate(BATCH_IDENTIFIER).await.unwrap();
    assert!(live(&table).await.is_empty());
    let snapshot = latest(&table).await;
    assert_eq!((snapshot.total_record_count, snapshot.delta_record_count), (Some(0), Some(-1)));
}

#[tokio::test]
async fn files_of_an_overwrite_go_to_the_top_when_they_are_disjoint() {
    let table = table(memory(), schema(false, true, &[("bucket", "2")])).await;
    let committer = table.committer("u");
    committer.commit(Commit::batch(vec![keyed(&[("a", (1, 5))])])).await.unwrap();
    let disjoint = vec![keyed(&[("c", (6, 9)), ("b", (1, 5))])];
    committer.overwrite(Overwrite::Table, Commit::batch(disjoint)).await.unwrap();
    assert_eq!(live(&table).await, names(["b@5", "c@5"]));
    let overlapping = vec![keyed(&[("d", (1, 5)), ("e", (5, 9))])];
    committer.overwrite(Overwrite::Table, Commit::batch(overlapping)).await.unwrap();
    assert_eq!(live(&table).await, names(["d@0", "e@0"]));
}

#[tokio::test]
async fn an_overwrite_may_change_the_bucket_count() {
    let table = table(memory(), schema(false, true, &[("bucket", "2")])).await;
    let committer = table.committer("u");
    committer.commit(Commit::batch(vec![keyed(&[("a", (1, 5))])])).await.unwrap();
    let mut rescaled = keyed(&[("b", (1, 5))]);
    rescaled.total_buckets = 4;
    assert_eq!(
        committer.overwrite(Overwrite::Table, Commit::batch(vec![rescaled.clone()])).await.unwrap(),
        committed(&[2])
    );
    rescaled.new_files = vec![file("c", 0, Some((1, 1)))];
    assert_eq!(committer.commit(Commit::batch(vec![rescaled])).await.unwrap(), committed(&[3]));
    let old = committer.commit(Commit::batch(vec![keyed(&[("d", (1, 1))])])).await.unwrap();
    assert!(matches!(old, CommitOutcome::Conflict(_)), "{old:?}");
}
