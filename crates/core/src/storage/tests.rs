//! What every store must do, run against each of them.

use std::sync::Arc;

use bytes::Bytes;
use linn_format::ErrorKind;

use super::*;
use crate::seam::{ManualClock, SeededIds};

fn bytes(text: &str) -> Bytes {
    Bytes::copy_from_slice(text.as_bytes())
}

async fn conforms(store: Arc<dyn Storage>) {
    files(&*store).await;
    folders(&*store).await;
    refusals(&*store).await;
    races(store).await;
}

async fn files(store: &dyn Storage) {
    let path = "db.db/t/snapshot/LATEST";
    assert_eq!(store.stat(path).await.unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(store.read(path, None).await.unwrap_err().kind(), ErrorKind::NotFound);
    store.put(path, bytes("1")).await.unwrap();
    store.put(path, bytes("12345")).await.unwrap();
    assert_eq!(store.read(path, None).await.unwrap(), "12345");
    assert_eq!(store.read(path, Some(1..3)).await.unwrap(), "23");
    assert_eq!(store.read(path, Some(5..5)).await.unwrap(), "");
    assert_eq!(store.read(path, Some(3..6)).await.unwrap_err().kind(), ErrorKind::Corrupt);
    assert_eq!(store.stat(path).await.unwrap().size, 5);
    assert_eq!(store.create(path, bytes("x")).await.unwrap_err().kind(), ErrorKind::AlreadyExists);
    assert_eq!(store.read(path, None).await.unwrap(), "12345");

    let mut writer = store.writer("db.db/t/bucket-0/data").await.unwrap();
    writer.write(bytes("ab")).await.unwrap();
    writer.write(bytes("cd")).await.unwrap();
    assert!(store.stat("db.db/t/bucket-0/data").await.is_err());
    writer.close().await.unwrap();
    assert_eq!(store.read("db.db/t/bucket-0/data", None).await.unwrap(), "abcd");
    let mut writer = store.writer("db.db/t/bucket-0/given-up").await.unwrap();
    writer.write(bytes("ab")).await.unwrap();
    writer.abort().await.unwrap();
    assert!(store.stat("db.db/t/bucket-0/given-up").await.is_err());

    store.delete("db.db/t/bucket-0/data").await.unwrap();
    store.delete("db.db/t/bucket-0/data").await.unwrap();
    store.create("db.db/t/bucket-0/data", bytes("again")).await.unwrap();
}

async fn folders(store: &dyn Storage) {
    assert_eq!(store.list("nowhere").await.unwrap(), []);
    let names: Vec<String> = store.list("db.db/t").await.unwrap().into_iter().map(|e| e.path).collect();
    assert_eq!(names, ["db.db/t/bucket-0/", "db.db/t/snapshot/"]);
    let files = store.list("db.db/t/snapshot").await.unwrap();
    assert_eq!((files[0].path.as_str(), files[0].size, files[0].is_dir()), ("db.db/t/snapshot/LATEST", 5, false));
    assert_eq!(store.list("").await.unwrap()[0].path, "db.db/");
    match store.rename_dir("db.db/t", "db.db/u").await {
        Ok(()) => {
            assert!(store.stat("db.db/t/snapshot/LATEST").await.is_err());
            assert_eq!(store.rename_dir("db.db/t", "db.db/v").await.unwrap_err().kind(), ErrorKind::NotFound);
            store.put("db.db/t/x", bytes("x")).await.unwrap();
            assert_eq!(store.rename_dir("db.db/u", "db.db/t").await.unwrap_err().kind(), ErrorKind::AlreadyExists);
            store.delete_dir("db.db/t").await.unwrap();
            store.rename_dir("db.db/u", "db.db/t").await.unwrap();
        }
        Err(e) => assert_eq!(e.kind(), ErrorKind::Unsupported),
    }
    store.delete_dir("db.db/t").await.unwrap();
    store.delete_dir("db.db/t").await.unwrap();
    assert_eq!(store.list("db.db/t").await.unwrap(), []);
}

async fn refusals(store: &dyn Storage) {
    for path in ["../x", "/x", "a//b", "", "a/./b"] {
        assert_eq!(store.put(path, bytes("x")).await.unwrap_err().kind(), ErrorKind::Invalid, "{path:?}");
        assert_eq!(store.read(path, None).await.unwrap_err().kind(), ErrorKind::Invalid, "{path:?}");
    }
}

/// Of many racing creations of one file exactly one succeeds, and its bytes are there.
async fn races(store: Arc<dyn Storage>) {
    for round in 0..10 {
        let tasks: Vec<_> = (0..8)
            .map(|i| {
                let store = Arc::clone(&store);
                tokio::spawn(async move { store.create(&format!("race/{round}"), bytes(&i.to_string())).await })
            })
            .collect();
        let mut winner = None;
        for (i, task) in tasks.into_iter().enumerate() {
            match task.await.unwrap() {
                Ok(()) => assert_eq!(winner.replace(i), None),
                Err(e) => assert!(matches!(e.kind(), ErrorKind::AlreadyExists | ErrorKind::Unavailable), "{e}"),
            }
        }
        let there = store.read(&format!("race/{round}"), None).await.unwrap();
        assert_eq!(there, winner.unwrap().to_string());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn local_disk_conforms() {
    let dir = tempfile::tempdir().unwrap();
    conforms(Arc::new(Local::new(dir.path(), Arc::new(SeededIds::new(1))))).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn memory_conforms() {
    conforms(Arc::new(Memory::new(Arc::new(ManualClock::new(7))))).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_faulty_store_without_faults_conforms() {
    conforms(Arc::new(Faulty::new(Arc::new(Memory::new(Arc::new(ManualClock::new(7))))))).await;
}

#[tokio::test]
async fn faults_come_where_they_were_asked_for() {
    let inner: Arc<dyn Storage> = Arc::new(Memory::new(Arc::new(ManualClock::new(7))));
    let store = Faulty::new(Arc::clone(&inner));
    store.inject(Op::Create, "snapshot-", 1, 1, Fault::After(ErrorKind::UnknownOutcome));
    store.inject(Op::Put, "LATEST", 0, 1, Fault::Before(ErrorKind::Unavailable));
    store.create("snapshot-1", bytes("1")).await.unwrap();
    assert_eq!(store.create("snapshot-2", bytes("2")).await.unwrap_err().kind(), ErrorKind::UnknownOutcome);
    assert!(inner.stat("snapshot-2").await.is_ok());
    assert_eq!(store.put("LATEST", bytes("2")).await.unwrap_err().kind(), ErrorKind::Unavailable);
    assert!(inner.stat("LATEST").await.is_err());
    store.put("LATEST", bytes("2")).await.unwrap();

    store.stop_after(1, true);
    store.put("a", bytes("a")).await.unwrap();
    assert!(store.put("b", bytes("b")).await.is_err());
    assert!(store.put("c", bytes("c")).await.is_err());
    assert!(store.stopped() && store.stat("a").await.is_err());
    assert!(inner.stat("b").await.is_ok() && inner.stat("c").await.is_err());
}

#[test]
fn uris_name_their_store() {
    let options = Options::default();
    let root = |uri: &str| open(uri, &options).unwrap().root().to_owned();
    assert_eq!(root("file:/tmp/x"), "file:/tmp/x");
    assert_eq!(root("file:///tmp/x"), "file:/tmp/x");
    assert_eq!(root("/tmp/x"), "file:/tmp/x");
    assert!(root("some/where").ends_with("/some/where"));
    assert_eq!(root("memory:"), "memory:");
    assert_eq!(root("s3://bucket/a/b/"), "s3://bucket/a/b");
    assert_eq!(root("s3a://bucket"), "s3://bucket");
    assert_eq!(open("hdfs://x/y", &options).unwrap_err().kind(), ErrorKind::Unsupported);
    assert_eq!(open("s3:///", &options).unwrap_err().kind(), ErrorKind::Invalid);
}
