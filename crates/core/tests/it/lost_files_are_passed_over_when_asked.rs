//! Files that are gone or damaged end a read, unless the table's options say that it goes on without them; what is written anew
//! from them is never without them.

use bytes::Bytes;
use linn_core::read;
use linn_format::{ErrorKind, Result};

use crate::case::Case;

const LOST: &[(&str, &str)] = &[("scan.ignore-lost-files", "true")];
const CORRUPT: &[(&str, &str)] = &[("scan.ignore-corrupt-files", "true")];

/// The paths of the data files, by when they were written.
async fn files(case: &Case) -> Vec<String> {
    let bucket = case.table.storage().list("db.db/t/bucket-0").await.unwrap();
    let mut files = Vec::new();
    for split in case.table.scan().every_level().plan().await.unwrap().splits {
        for file in &split.files {
            let entry = bucket.iter().find(|entry| entry.path.ends_with(&file.file_name)).unwrap();
            files.push((file.min_sequence_number, entry.path.clone()));
        }
    }
    files.sort();
    files.into_iter().map(|(_, path)| path).collect()
}

async fn tried(case: &Case) -> Result<usize> {
    let read = case.table.read().build()?;
    let mut rows = 0;
    for split in case.table.scan().plan().await?.splits {
        let batches = read::collect(read.stream(&split).await?).await?;
        rows += batches.iter().map(|batch| batch.num_rows()).sum::<usize>();
    }
    Ok(rows)
}

async fn three_files(keys: &str) -> Case {
    let mut case = Case::new("k INT NOT NULL, v INT", keys, &[("write-only", "true"), ("bucket-key", "k")]).await;
    for commit in [["+I(1,1)", "+I(2,1)"], ["+I(3,2)", "+I(4,2)"], ["+I(5,3)", "+I(1,3)"]] {
        let commit = if keys.is_empty() { [commit[0], "+I(9,9)"] } else { commit };
        case.commit(&commit).await;
    }
    case
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_lost_is_passed_over_when_asked() {
    for (keys, left) in [("k", vec!["1,3", "2,1", "5,3"]), ("", vec!["1,1", "5,3", "9,9", "9,9"])] {
        let case = three_files(keys).await;
        case.table.storage().delete(&files(&case).await[1]).await.unwrap();
        assert_eq!(tried(&case).await.unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!(tried(&case.with(CORRUPT)).await.unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!(case.with(LOST).rows().await, left, "{keys:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_corrupt_is_passed_over_when_asked() {
    for (keys, left) in [("k", vec!["1,1", "2,1", "3,2", "4,2"]), ("", vec!["1,1", "3,2", "9,9", "9,9"])] {
        let case = three_files(keys).await;
        let path = files(&case).await.remove(2);
        let bytes = case.table.storage().read(&path, None).await.unwrap();
        let zeros = Bytes::from(vec![0; bytes.len()]);
        case.table.storage().put(&path, zeros).await.unwrap();
        assert_eq!(tried(&case).await.unwrap_err().kind(), ErrorKind::Corrupt);
        assert_eq!(tried(&case.with(LOST)).await.unwrap_err().kind(), ErrorKind::Corrupt);
        assert_eq!(case.with(CORRUPT).rows().await, left, "{keys:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_lost_for_good() {
    let case = three_files("k").await;
    let bytes = case.table.storage().read(&files(&case).await[0], None).await.unwrap();
    let path = files(&case).await.remove(0);
    case.table.storage().delete(&path).await.unwrap();
    let tolerant = case.with(&[LOST, CORRUPT].concat());
    let error = tolerant.table.compact(None, true).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert_eq!(tolerant.table.rescale("job", Some(2), None).await.unwrap_err().kind(), ErrorKind::NotFound);
    case.table.storage().put(&path, bytes).await.unwrap();
    assert_eq!(case.rows().await, ["1,3", "2,1", "3,2", "4,2", "5,3"]);
}
