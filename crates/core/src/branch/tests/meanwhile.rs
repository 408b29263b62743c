//! Merging by key while others commit to the branch that is merged into: nothing of theirs is lost, at whatever moment they come.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use bytes::Bytes;
use futures::TryStreamExt;
use linn_format::{Error, ErrorKind, Result};
use parking_lot::Mutex;

use super::super::{Branches, Prefer};
use crate::commit::{Commit, CommitOutcome};
use crate::fixture::{env, keyed_rows, memory, schema};
use crate::seam::{Entry, Storage, StorageWriter};
use crate::storage::Memory;
use crate::table::Table;
use crate::tag::{Retained, TagOf};

/// A store in which somebody else writes keys to the table right before the next snapshot of it is created.
#[derive(Debug)]
struct Meanwhile {
    inner: Arc<Memory>,
    writes: Mutex<Vec<(Table, Vec<i32>)>>,
}

#[async_trait::async_trait]
impl Storage for Meanwhile {
    async fn stat(&self, path: &str) -> Result<Entry> {
        self.inner.stat(path).await
    }
    async fn read(&self, path: &str, range: Option<Range<u64>>) -> Result<Bytes> {
        self.inner.read(path, range).await
    }
    async fn put(&self, path: &str, bytes: Bytes) -> Result<()> {
        self.inner.put(path, bytes).await
    }
    async fn create(&self, path: &str, bytes: Bytes) -> Result<()> {
        let next = if path.starts_with("db.db/t/snapshot/snapshot-") { self.writes.lock().pop() } else { None };
        if let Some((table, keys)) = next {
            write(&table, &keys, "m").await;
        }
        self.inner.create(path, bytes).await
    }
    async fn writer(&self, path: &str) -> Result<Box<dyn StorageWriter>> {
        self.inner.writer(path).await
    }
    async fn list(&self, dir: &str) -> Result<Vec<Entry>> {
        self.inner.list(dir).await
    }
    async fn delete(&self, path: &str) -> Result<()> {
        self.inner.delete(path).await
    }
    async fn delete_dir(&self, dir: &str) -> Result<()> {
        self.inner.delete_dir(dir).await
    }
    async fn rename_dir(&self, from: &str, to: &str) -> Result<()> {
        self.inner.rename_dir(from, to).await
    }
    fn root(&self) -> &str {
        self.inner.root()
    }
}

async fn write(table: &Table, keys: &[i32], value: &str) {
    let user = table.new_user();
    let mut writer = table.batch_writer(&user).await.unwrap();
    writer.write(&keyed_rows(keys, value), None).await.unwrap();
    let messages = writer.prepare_commit(false).await.unwrap();
    let outcome = table.committer(user).commit(Commit::batch(messages)).await.unwrap();
    writer.close().await.unwrap();
    assert!(matches!(outcome, CommitOutcome::Committed(_)), "{outcome:?}");
}

async fn values(table: &Table) -> Vec<String> {
    let (plan, read) = (table.scan().plan().await.unwrap(), table.read().build().unwrap());
    let mut values = Vec::new();
    for split in &plan.splits {
        let batches: Vec<_> = read.stream(split).await.unwrap().try_collect().await.unwrap();
        for batch in batches {
            let column = batch.column_by_name("v").unwrap().as_string::<i32>().clone();
            values.extend(column.iter().flatten().map(str::to_owned));
        }
    }
    values.sort();
    values
}

/// Merges a branch that wrote key 1 into a table, to which others write these keys meanwhile, one commit after the other.
async fn merged(
    options: &[(&str, &str)],
    meanwhile: &[&[i32]],
    prefer: Option<Prefer>,
) -> (Option<Error>, Vec<String>) {
    let store = memory();
    let quiet = crate::fixture::table(store.clone(), schema(true, true, options)).await;
    write(&quiet, &[1, 2, 3], "a").await;
    quiet.create_tag("t", TagOf::Latest, Retained::Default).await.unwrap();
    Branches::new(&quiet).create("b", Some("t")).await.unwrap();
    write(&Branches::new(&quiet).table("b").await.unwrap(), &[1], "b").await;
    let writes = meanwhile.iter().rev().map(|keys| (quiet.clone(), keys.to_vec())).collect();
    let raced = Arc::new(Meanwhile { inner: store, writes: Mutex::new(writes) });
    let table = Table::new("db.t", "db.db/t", quiet.schema().clone(), env(raced.clone(), 7));
    let error = Branches::new(&table).merge_keys("b", "main", prefer).await.err();
    assert!(raced.writes.lock().is_empty());
    (error, values(&quiet).await)
}

#[tokio::test]
async fn what_others_write_to_a_key_is_compared_too() {
    for options in [&[("bucket", "1")][..], &[("bucket", "-1")], &[("bucket", "1"), ("linn.isolation-level", "none")]] {
        let (error, values) = merged(options, &[&[1]], None).await;
        assert_eq!(error.map(|e| e.kind()), Some(ErrorKind::Conflict), "{options:?}");
        assert_eq!(values, ["a2", "a3", "m1"], "{options:?}");
        let (error, values) = merged(options, &[&[1]], Some(Prefer::Ours)).await;
        assert!(error.is_none(), "{options:?}: {error:?}");
        assert_eq!(values, ["a2", "a3", "m1"], "{options:?}");
        let (error, values) = merged(options, &[&[1], &[1, 5]], Some(Prefer::Theirs)).await;
        assert!(error.is_none(), "{options:?}: {error:?}");
        assert_eq!(values, ["a2", "a3", "b1", "m5"], "{options:?}");
    }
}

#[tokio::test]
async fn other_keys_do_not_hold_a_merge_up() {
    let writes: [&[i32]; 8] = [&[2], &[5], &[7, 9], &[3], &[2], &[4], &[11], &[3]];
    let (error, values) = merged(&[("bucket", "1")], &writes, None).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(values, ["b1", "m11", "m2", "m3", "m4", "m5", "m7", "m9"]);
}
