//! Several readers of one consumer: its progress is that of the slowest (cases: R1).

use linn_core::Snapshots;
use linn_core::stream::{Consumers, Position, Reader, Readers};
use linn_format::ErrorKind;

use crate::case::Case;
use crate::follow::next;

/// Five commits to four buckets.
async fn case(mode: &str, options: &[(&str, &str)]) -> Case {
    let mut all = vec![("consumer-id", "c"), ("consumer.mode", mode), ("scan.snapshot-id", "1")];
    all.extend(options);
    let mut case = Case::new("k INT, v INT", "k", &[("bucket", "4")]).await;
    for commit in 0..5 {
        let rows: Vec<String> = (0..20).map(|k| format!("+I({k},{commit})")).collect();
        case.commit(&rows.iter().map(String::as_str).collect::<Vec<_>>()).await;
    }
    case.with(&all)
}

async fn recorded(case: &Case) -> Option<i64> {
    Consumers::new(&case.table).get("c").await.unwrap().map(|consumer| consumer.next_snapshot.0)
}

/// The snapshot after the last one, compactions included.
async fn end(case: &Case) -> i64 {
    Snapshots::new(&case.table).latest_id().await.unwrap().map_or(1, |id| id.0 + 1)
}

/// Reads to the end, saving after every delivery.
async fn read_all(reader: &Reader, mut stream: linn_core::stream::ChangeStream) -> Vec<String> {
    let mut rows = Vec::new();
    while let Some(delivered) = next(&mut stream).await {
        let (more, position) = delivered.unwrap();
        rows.extend(more);
        reader.save(&position).await.unwrap();
    }
    rows
}

#[tokio::test]
async fn together_they_read_everything_once() {
    for mode in ["exactly-once", "at-least-once"] {
        let case = case(mode, &[]).await;
        let readers = Readers::new(&case.table, 3).unwrap();
        let mut tasks = Vec::new();
        for (reader, changes) in readers.all() {
            let stream = changes.until_now().open().await.unwrap();
            tasks.push(tokio::spawn(async move { read_all(&reader, stream).await }));
        }
        let mut rows = Vec::new();
        for task in tasks {
            rows.extend(task.await.unwrap());
        }
        rows.sort();
        let mut expected: Vec<String> = (0..5).flat_map(|c| (0..20).map(move |k| format!("+I({k},{c})"))).collect();
        expected.sort();
        assert_eq!(rows, expected, "{mode}");
        assert_eq!(recorded(&case).await, Some(end(&case).await), "{mode}");
    }
}

#[tokio::test]
async fn the_slowest_is_recorded() {
    let case = case("at-least-once", &[]).await;
    let mut all = Readers::new(&case.table, 2).unwrap().all();
    let (slow, slow_changes) = all.pop().unwrap();
    let (fast, fast_changes) = all.pop().unwrap();
    read_all(&fast, fast_changes.until_now().open().await.unwrap()).await;
    assert_eq!(recorded(&case).await, None, "the other has read nothing");
    let mut stream = slow_changes.until_now().open().await.unwrap();
    let mut last = None;
    while let Some(delivered) = next(&mut stream).await {
        let position: Position = delivered.unwrap().1;
        slow.save(&position).await.unwrap();
        assert_eq!(recorded(&case).await, position.for_consumer().map(|next| next.0));
        last = position.for_consumer();
    }
    assert_eq!(last.map(|next| next.0), Some(end(&case).await));
}

#[tokio::test]
async fn exactly_once_nobody_runs_ahead() {
    let case = case("exactly-once", &[]).await;
    let mut all = Readers::new(&case.table, 2).unwrap().all();
    let (slow, slow_changes) = all.pop().unwrap();
    let (fast, fast_changes) = all.pop().unwrap();
    let mut ahead = fast_changes.until_now().open().await.unwrap();
    // It delivers what the first snapshot has for it, and waits there.
    let mut seen = 0;
    loop {
        tokio::select! {
            biased;
            delivered = next(&mut ahead) => {
                let (_, position) = delivered.unwrap().unwrap();
                seen = position.next_snapshot.0;
                assert!(seen <= 2, "{position}");
                fast.save(&position).await.unwrap();
            }
            () = async { for _ in 0..10_000 { tokio::task::yield_now().await; } } => break,
        }
    }
    assert_eq!((seen, recorded(&case).await), (2, None));
    // The other one comes: both go on.
    let (rest, slow_rows) = tokio::join!(read_all(&fast, ahead), async {
        read_all(&slow, slow_changes.until_now().open().await.unwrap()).await
    });
    assert!(!rest.is_empty() && !slow_rows.is_empty());
    assert_eq!(recorded(&case).await, Some(end(&case).await));
}

#[tokio::test]
async fn readers_need_a_name() {
    let unnamed = Case::new("k INT", "k", &[]).await;
    assert_eq!(Readers::new(&unnamed.table, 2).unwrap_err().kind(), ErrorKind::Invalid);
    assert_eq!(Readers::new(&case("exactly-once", &[]).await.table, 0).unwrap_err().kind(), ErrorKind::Invalid);
}
