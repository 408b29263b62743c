//! A batch read tags its snapshot for a while where the options ask for it, so that expiry leaves it.

use linn_core::maintain::SnapshotExpiry;
use linn_core::read;
use linn_core::tag::{OlderThan, READ_TAG_PREFIX, Tags};

use linn_format::SnapshotId;

use crate::case::Case;

#[tokio::test(flavor = "multi_thread")]
async fn a_planned_read_outlives_expiry() {
    let mut case = Case::new("k INT, v INT", "k", &[]).await;
    case.commit(&["+I(1,1)"]).await;
    let reader = case.with(&[("scan.plan-auto-tag-for-read.time-retained", "1 h")]);
    let plan = reader.table.scan().plan().await.unwrap();
    let tags = Tags::new(&case.table).list().await.unwrap();
    assert!(matches!(tags.as_slice(), [tag] if tag.starts_with(&format!("{READ_TAG_PREFIX}1-"))), "{tags:?}");

    // Others read and compact without one.
    case.rows().await;
    case.commit(&["+I(1,2)"]).await;
    case.compact(true).await;
    let snapshot = reader.table.scan().snapshot(latest(&case).await).plan().await.unwrap();
    assert_eq!(snapshot.snapshot_id.map(|id| id.0), Some(3));
    assert_eq!(Tags::new(&case.table).list().await.unwrap(), tags);

    let expiry = SnapshotExpiry::new(&case.table).unwrap();
    expiry.run(SnapshotId(1), SnapshotId(3)).await.unwrap();
    let reading = reader.table.read().build().unwrap();
    let mut rows = 0;
    for split in &plan.splits {
        let batches = read::collect(reading.stream(split).await.unwrap()).await.unwrap();
        rows += batches.iter().map(|batch| batch.num_rows()).sum::<usize>();
    }
    assert_eq!(rows, 1, "the files of the plan are there");

    assert!(case.table.expire_tags(None).await.unwrap().is_empty(), "its time is not over");
    assert_eq!(case.table.expire_tags(Some(OlderThan::parse("2999-01-01").unwrap())).await.unwrap(), tags);
}

async fn latest(case: &Case) -> std::sync::Arc<linn_format::snapshot::Snapshot> {
    linn_core::Snapshots::new(&case.table).latest().await.unwrap().unwrap()
}
