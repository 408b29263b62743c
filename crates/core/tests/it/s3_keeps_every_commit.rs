//! The same promise on an object store, through conditional puts. Runs against the server that `cargo xtask test` starts.

use std::sync::Arc;

use bytes::Bytes;
use linn_core::storage;
use linn_format::ErrorKind;

use crate::metadata;
use crate::worker::{Worker, store_options};

const PROCESSES: usize = 4;
const COMMITS: usize = 10;

/// A fresh place in the test bucket; `None` where there is no server.
fn place(name: &str) -> Option<String> {
    let given = std::env::var("LINN_TEST_S3_ENDPOINT").is_ok();
    match std::env::var("LINN_TEST_S3_BUCKET") {
        Ok(bucket) if given => Some(format!("s3://{bucket}/{name}-{}", std::process::id())),
        _ if std::env::var("LINN_TEST_REQUIRE_SERVICES").is_ok_and(|v| v == "1") => {
            panic!("LINN_TEST_S3_ENDPOINT and LINN_TEST_S3_BUCKET are not set, but services are required")
        }
        _ => {
            eprintln!("skipped: no S3 server (cargo xtask test starts one)");
            None
        }
    }
}

#[tokio::test]
async fn whatever_number_of_processes() {
    let Some(uri) = place("commits") else { return };
    let table = metadata::table(&uri, &store_options()).await;
    let workers: Vec<Worker> = (0..PROCESSES).map(|i| Worker::start(&uri, &format!("user-{i}"), COMMITS)).collect();
    let acknowledged: Vec<String> = workers.into_iter().flat_map(Worker::finish).collect();
    let files = metadata::files(&table).await;
    assert!(acknowledged.iter().all(|file| files.get(file) == Some(&1)), "{files:?}");
    metadata::check_history(&table, PROCESSES * COMMITS).await;
    table.storage().delete_dir("db.db").await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_racing_creations_one_succeeds() {
    let Some(uri) = place("races") else { return };
    let store = storage::open(&uri, &store_options()).unwrap();
    for round in 0..10 {
        let path = format!("race/{round}");
        let tasks = (0..8).map(|i: usize| {
            let (store, path) = (Arc::clone(&store), path.clone());
            tokio::spawn(async move { store.create(&path, Bytes::from(i.to_string())).await })
        });
        let mut winner = None;
        for (i, task) in tasks.collect::<Vec<_>>().into_iter().enumerate() {
            match task.await.unwrap() {
                Ok(()) => assert_eq!(winner.replace(i), None),
                Err(e) => assert!(matches!(e.kind(), ErrorKind::AlreadyExists | ErrorKind::Unavailable), "{e}"),
            }
        }
        assert_eq!(store.read(&path, None).await.unwrap(), winner.unwrap().to_string());
    }
    store.delete_dir("race").await.unwrap();
}

#[tokio::test]
async fn files_are_written_read_listed_and_removed() {
    let Some(uri) = place("files") else { return };
    let store = storage::open(&uri, &store_options()).unwrap();
    assert_eq!(store.stat("a/b").await.unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(store.list("a").await.unwrap(), []);
    store.put("a/b", Bytes::from_static(b"12345")).await.unwrap();
    assert_eq!(store.stat("a/b").await.unwrap().size, 5);
    assert_eq!(store.read("a/b", Some(1..3)).await.unwrap(), "23");
    assert_eq!(store.read("a/b", Some(3..9)).await.unwrap_err().kind(), ErrorKind::Corrupt);
    assert_eq!(store.create("a/b", Bytes::new()).await.unwrap_err().kind(), ErrorKind::AlreadyExists);
    let large = Bytes::from(vec![7; 20 << 20]);
    let mut writer = store.writer("a/c/large").await.unwrap();
    for part in 0..20 {
        writer.write(large.slice(part << 20..(part + 1) << 20)).await.unwrap();
    }
    writer.close().await.unwrap();
    assert_eq!(store.read("a/c/large", None).await.unwrap(), large);
    let names: Vec<String> = store.list("a").await.unwrap().into_iter().map(|entry| entry.path).collect();
    assert_eq!(names, ["a/b", "a/c/"]);
    let modified = store.list("a").await.unwrap().into_iter().next().unwrap().modified_millis;
    assert!(modified.is_some_and(|millis| millis > 1_700_000_000_000));
    store.delete("a/b").await.unwrap();
    store.delete("a/b").await.unwrap();
    store.delete_dir("a").await.unwrap();
    assert_eq!(store.list("a").await.unwrap(), []);
}
