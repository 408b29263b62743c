//! Consumers: how far named readers have come, each in a file of its own (spec: format.md C.15; cases R1, R8).
//!
//! A consumer holds the snapshot it reads next and all later ones from expiry, so its file must not run ahead of what was
//! delivered. Files are replaced as a whole; other writers may truncate theirs first, so an unreadable one is read again.

use std::time::Duration;

use bytes::Bytes;
use linn_format::snapshot::Consumer;
use linn_format::{Error, ErrorKind, Result, ResultExt, SnapshotId};

use crate::seam::Entry;
use crate::table::Table;

const PREFIX: &str = "consumer-";
/// How often a file that is being written is read.
const READS: u32 = 10;
const WAIT_MILLIS: u64 = 200;

/// The consumers of a table's branch.
#[derive(Debug, Clone)]
pub struct Consumers {
    table: Table,
    dir: String,
}

impl Consumers {
    /// The consumers of the table's branch.
    pub fn new(table: &Table) -> Self {
        Self { table: table.clone(), dir: table.consumer_dir() }
    }

    fn path(&self, id: &str) -> Result<String> {
        if id.is_empty() || id.contains(['/', '\\', '\0']) || id.chars().any(char::is_control) {
            return Err(Error::invalid(format!("{id:?} cannot be the name of a consumer")));
        }
        Ok(format!("{}/{PREFIX}{id}", self.dir))
    }

    async fn files(&self) -> Result<Vec<(String, Entry)>> {
        let entries = self.table.storage().list(&self.dir).await?.into_iter().filter(|entry| !entry.is_dir());
        let named = entries.filter_map(|entry| {
            let id = entry.path.rsplit('/').next()?.strip_prefix(PREFIX)?.to_owned();
            Some((id, entry))
        });
        Ok(named.collect())
    }

    /// All consumers by name, in the order of the names.
    ///
    /// # Errors
    /// `Corrupt` with the path of one that cannot be read.
    pub async fn list(&self) -> Result<Vec<(String, Consumer)>> {
        let mut found = Vec::new();
        for (id, _) in self.files().await? {
            // One that is gone by now was deleted meanwhile.
            if let Some(consumer) = self.get(&id).await? {
                found.push((id, consumer));
            }
        }
        found.sort_by(|(a, _), (b, _)| a.cmp(b));
        Ok(found)
    }

    /// The names of all consumers, in order, of those that cannot be read too.
    ///
    /// # Errors
    /// What the store yields.
    pub async fn names(&self) -> Result<Vec<String>> {
        let mut names: Vec<String> = self.files().await?.into_iter().map(|(id, _)| id).collect();
        names.sort_unstable();
        Ok(names)
    }

    /// How far a reader has come; `None` when it has recorded nothing.
    ///
    /// # Errors
    /// `Invalid` for a name that cannot be one; `Corrupt` with the path when the file stays unreadable.
    pub async fn get(&self, id: &str) -> Result<Option<Consumer>> {
        let path = self.path(id)?;
        let mut reads = 1;
        loop {
            let bytes = match self.table.storage().read(&path, None).await {
                Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
                result => result?,
            };
            match Consumer::from_json(&bytes) {
                Err(_) if reads < READS => {}
                result => return result.context("path", path).map(Some),
            }
            reads += 1;
            self.table.env().clock.sleep(WAIT_MILLIS).await;
        }
    }

    /// Records the snapshot that a reader reads next, whatever was recorded before.
    ///
    /// # Errors
    /// `Invalid` for a name that cannot be one or a number that no snapshot has; what the store yields.
    pub async fn set(&self, id: &str, next: SnapshotId) -> Result<()> {
        if next < SnapshotId::FIRST {
            return Err(Error::invalid(format!("snapshot {next} cannot be read next: the first one is 1")));
        }
        let bytes = Consumer { next_snapshot: next }.to_json()?;
        self.table.storage().put(&self.path(id)?, Bytes::from(bytes)).await
    }

    /// Forgets a consumer; whether there was one.
    ///
    /// # Errors
    /// `Invalid` for a name that cannot be one; what the store yields.
    pub async fn delete(&self, id: &str) -> Result<bool> {
        let path = self.path(id)?;
        match self.table.storage().stat(&path).await {
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(false),
            result => result?,
        };
        self.table.storage().delete(&path).await?;
        Ok(true)
    }

    /// The smallest snapshot that any consumer reads next: it and all later ones are still needed.
    ///
    /// # Errors
    /// As [`list`](Self::list): a consumer that cannot be read might need anything.
    pub async fn smallest_next(&self) -> Result<Option<SnapshotId>> {
        Ok(self.list().await?.into_iter().map(|(_, consumer)| consumer.next_snapshot).min())
    }

    /// The consumers that have recorded nothing for longer than this, as the store's times say.
    ///
    /// # Errors
    /// What the store yields.
    pub async fn idle(&self, longer: Duration) -> Result<Vec<String>> {
        Ok(self.files().await?.into_iter().filter(|(_, file)| self.is_idle(file, longer)).map(|(id, _)| id).collect())
    }

    fn is_idle(&self, file: &Entry, longer: Duration) -> bool {
        let before = i64::try_from(longer.as_millis()).unwrap_or(i64::MAX);
        let before = self.table.env().clock.now_millis().saturating_sub(before);
        file.modified_millis.is_some_and(|modified| modified < before)
    }

    /// Forgets the consumers that have been [`idle`](Self::idle) for longer than this, and returns their names.
    ///
    /// # Errors
    /// What the store yields.
    pub async fn expire(&self, longer: Duration) -> Result<Vec<String>> {
        let mut expired = Vec::new();
        for id in self.idle(longer).await? {
            // It may have recorded something since it was listed.
            let file = match self.table.storage().stat(&self.path(&id)?).await {
                Err(e) if e.kind() == ErrorKind::NotFound => continue,
                result => result?,
            };
            if self.is_idle(&file, longer) && self.delete(&id).await? {
                expired.push(id);
            }
        }
        Ok(expired)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::fixture::{clock, env, schema};
    use crate::seam::{ManualClock, Storage};
    use crate::storage::{Local, Memory};

    fn table(clock: &Arc<ManualClock>) -> Table {
        let storage: Arc<dyn Storage> = Arc::new(Memory::new(clock.clone()));
        let env = crate::seam::Env { clock: clock.clone(), ..env(storage, 1) };
        Table::new("db.t", "db.db/t", schema(false, false, &[]), env)
    }

    #[tokio::test]
    async fn consumers_are_set_listed_and_deleted() {
        let table = table(&clock());
        let consumers = Consumers::new(&table);
        assert_eq!((consumers.list().await.unwrap(), consumers.smallest_next().await.unwrap()), (vec![], None));
        consumers.set("b", SnapshotId(7)).await.unwrap();
        consumers.set("a", SnapshotId(9)).await.unwrap();
        consumers.set("a", SnapshotId(12)).await.unwrap();
        let found: Vec<(String, i64)> =
            consumers.list().await.unwrap().into_iter().map(|(id, c)| (id, c.next_snapshot.0)).collect();
        assert_eq!(found, [("a".to_owned(), 12), ("b".to_owned(), 7)]);
        assert_eq!(consumers.smallest_next().await.unwrap(), Some(SnapshotId(7)));
        let bytes = table.storage().read("db.db/t/consumer/consumer-a", None).await.unwrap();
        assert_eq!(std::str::from_utf8(&bytes).unwrap(), "{\n  \"nextSnapshot\" : 12\n}");
        assert!(consumers.delete("b").await.unwrap());
        assert!(!consumers.delete("b").await.unwrap());
        assert_eq!(consumers.get("b").await.unwrap(), None);
    }

    #[tokio::test]
    async fn names_that_climb_are_refused() {
        let table = table(&clock());
        let consumers = Consumers::new(&table);
        for id in ["", "a/b", "..\\x", "a\nb"] {
            assert_eq!(consumers.set(id, SnapshotId(1)).await.unwrap_err().kind(), ErrorKind::Invalid, "{id}");
            assert_eq!(consumers.get(id).await.unwrap_err().kind(), ErrorKind::Invalid, "{id}");
        }
        assert_eq!(consumers.set("a", SnapshotId(0)).await.unwrap_err().kind(), ErrorKind::Invalid);
    }

    /// R8: a file that another writer has truncated is read again, and one that stays so is an error.
    #[tokio::test]
    async fn a_half_written_file_is_read_again() {
        let time = clock();
        let table = table(&time);
        let consumers = Consumers::new(&table);
        let path = "db.db/t/consumer/consumer-c";
        table.storage().put(path, Bytes::new()).await.unwrap();
        let before = crate::seam::Clock::now_millis(&*time);
        let e = consumers.get("c").await.unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Corrupt);
        assert!(e.context().iter().any(|(key, value)| *key == "path" && value == path), "{e:?}");
        assert_eq!(crate::seam::Clock::now_millis(&*time) - before, 1800);
        assert!(consumers.smallest_next().await.is_err(), "what cannot be read might need anything");
        let write = async {
            tokio::task::yield_now().await;
            table.storage().put(path, Bytes::from_static(b"{\"nextSnapshot\":3}")).await.unwrap();
        };
        let (found, ()) = tokio::join!(consumers.get("c"), write);
        assert_eq!(found.unwrap().unwrap().next_snapshot, SnapshotId(3));
    }

    #[tokio::test]
    async fn idle_consumers_expire() {
        let time = clock();
        let table = table(&time);
        let consumers = Consumers::new(&table);
        consumers.set("old", SnapshotId(1)).await.unwrap();
        time.advance(10_000);
        consumers.set("new", SnapshotId(1)).await.unwrap();
        time.advance(1_000);
        assert_eq!(consumers.idle(Duration::from_secs(5)).await.unwrap(), ["old"]);
        assert_eq!(consumers.expire(Duration::from_secs(60)).await.unwrap(), Vec::<String>::new());
        assert_eq!(consumers.expire(Duration::from_secs(5)).await.unwrap(), ["old"]);
        assert_eq!(consumers.list().await.unwrap().len(), 1);
    }

    /// R8: on local disk a reader never sees a part of a file, however often it is replaced.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_reader_sees_whole_files_on_local_disk() {
        let dir = tempfile::tempdir().unwrap();
        let ids = Arc::new(crate::seam::SeededIds::new(1));
        let storage: Arc<dyn Storage> = Arc::new(Local::new(dir.path().to_owned(), ids));
        let table = Table::new("db.t", "t", schema(false, false, &[]), env(Arc::clone(&storage), 1));
        let consumers = Consumers::new(&table);
        consumers.set("c", SnapshotId(1)).await.unwrap();
        let writer = {
            let consumers = consumers.clone();
            tokio::spawn(async move {
                for next in 2..300 {
                    consumers.set("c", SnapshotId(next)).await.unwrap();
                }
            })
        };
        let mut last = 0;
        while !writer.is_finished() {
            let bytes = storage.read("t/consumer/consumer-c", None).await.unwrap();
            let next = Consumer::from_json(&bytes).unwrap().next_snapshot.0;
            assert!(next >= last, "{next} after {last}");
            last = next;
        }
        writer.await.unwrap();
        assert_eq!(consumers.get("c").await.unwrap().unwrap().next_snapshot.0, 299);
    }
}
