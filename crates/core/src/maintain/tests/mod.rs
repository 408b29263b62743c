//! Histories over memory whose files are really there, so that what is deleted shows.

mod branch;
mod crash;
mod expire;
mod orphan;
mod reclaim;
mod repair;
mod report;
mod upkeep;

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use linn_format::SnapshotId;
use linn_format::file::{DataFileMeta, FileSource};
use linn_format::manifest::StatsColumns;
use linn_format::row::BinaryRow;
use linn_format::schema::TableSchema;
use linn_format::snapshot::Snapshot;

use super::*;
use crate::commit::{Commit, CommitMessage};
use crate::fixture::{env, file, schema, table};
use crate::manifest::Manifests;
use crate::seam::{Clock, ManualClock, Storage};
use crate::snapshot::{Changelogs, Snapshots, Tags};
use crate::storage::Memory;
use crate::table::Table;

/// A table whose history is written file by file.
pub(crate) struct History {
    pub(crate) store: Arc<Memory>,
    pub(crate) table: Table,
    pub(crate) clock: Arc<ManualClock>,
    next: i64,
    /// Files that compactions made.
    compacted: BTreeSet<String>,
}

impl History {
    pub(crate) async fn new(options: &[(&str, &str)]) -> Self {
        Self::over(options, |store| store).await
    }

    /// A history seen through another store.
    pub(crate) async fn over(options: &[(&str, &str)], through: impl FnOnce(Arc<Memory>) -> Arc<dyn Storage>) -> Self {
        let options = [&[("bucket", "-1"), ("write-only", "true")], options].concat();
        Self::of(schema(false, false, &options), through).await
    }

    pub(crate) async fn of(schema: TableSchema, through: impl FnOnce(Arc<Memory>) -> Arc<dyn Storage>) -> Self {
        let clock = crate::fixture::clock();
        let store = Arc::new(Memory::new(clock.clone()));
        let seen = through(store.clone());
        let table = table(seen.clone(), schema).await;
        let env = crate::seam::Env { clock: clock.clone(), ..env(seen, 7) };
        let table = Table::new("db.t", "db.db/t", table.schema().clone(), env);
        Self { store, table, clock, next: 1, compacted: BTreeSet::new() }
    }

    /// The table as another process sees it that starts now.
    pub(crate) fn fresh(&self) -> Table {
        let env = crate::seam::Env { clock: self.clock.clone(), ..env(self.store.clone(), 50) };
        Table::new("db.t", "db.db/t", self.table.schema().clone(), env)
    }

    /// A second later one more snapshot, which adds files and removes others.
    pub(crate) async fn commit(&mut self, add: &[&str], remove: &[&str]) -> SnapshotId {
        let mut message = self.message(add).await;
        message.deleted_files = remove.iter().map(|name| file(name, 0, None)).collect();
        self.publish(message).await
    }

    /// One whose changelog has these files.
    pub(crate) async fn commit_changelog(&mut self, add: &[&str], changelog: &[&str]) -> SnapshotId {
        let mut message = self.message(add).await;
        message.changelog_files = changelog.iter().map(|name| file(name, 0, None)).collect();
        for name in changelog {
            self.put(name).await;
        }
        self.publish(message).await
    }

    /// A compaction.
    pub(crate) async fn compact(&mut self, before: &[&str], after: &[&str]) -> SnapshotId {
        let mut message = CommitMessage::new(BinaryRow::empty(), 0, -1);
        let of = |name: &&str, level: i32, compacted: bool| {
            let source = if compacted { FileSource::Compact } else { FileSource::Append };
            Arc::new(DataFileMeta { file_source: Some(source), ..(*file(name, level, None)).clone() })
        };
        message.compact_before = before.iter().map(|name| of(name, 0, self.compacted.contains(*name))).collect();
        message.compact_after = after.iter().map(|name| of(name, i32::from(before.contains(name)) * 5, true)).collect();
        self.compacted.extend(after.iter().map(|name| (*name).to_owned()));
        for name in after {
            self.put(name).await;
        }
        self.publish(message).await
    }

    async fn message(&self, add: &[&str]) -> CommitMessage {
        let mut message = CommitMessage::new(BinaryRow::empty(), 0, -1);
        message.new_files = add.iter().map(|name| file(name, 0, None)).collect();
        for name in add {
            self.put(name).await;
        }
        message
    }

    async fn put(&self, name: &str) {
        let path = format!("{}/{name}", self.table.bucket_path(&BinaryRow::empty(), 0).unwrap());
        self.store.put(&path, Bytes::from(vec![0; 100])).await.unwrap();
    }

    async fn publish(&mut self, message: CommitMessage) -> SnapshotId {
        self.clock.advance(1000);
        let commit = Commit::streaming(self.next, vec![message]);
        self.next += 1;
        let outcome = self.table.committer("u").commit(commit).await.unwrap();
        assert!(matches!(outcome, crate::commit::CommitOutcome::Committed(_)), "{outcome:?}");
        Snapshots::new(&self.table).latest_id().await.unwrap().unwrap()
    }

    pub(crate) async fn snapshot(&self, id: i64) -> Arc<Snapshot> {
        Snapshots::new(&self.table).get(SnapshotId(id)).await.unwrap()
    }

    pub(crate) async fn tag(&self, name: &str, id: i64) {
        Tags::new(&self.table).create(name, &*self.snapshot(id).await, None).await.unwrap();
    }

    pub(crate) async fn ids(&self) -> Vec<i64> {
        Snapshots::new(&self.fresh()).list().await.unwrap().into_iter().map(|id| id.0).collect()
    }

    /// Names of the data files on disk.
    pub(crate) fn data(&self) -> Vec<String> {
        let names = self.store.paths().into_iter().filter(|path| path.contains("/bucket-"));
        names.map(|path| path.rsplit('/').next().unwrap().to_owned()).collect()
    }

    /// Everything that a table with these options lets expire now.
    pub(crate) async fn expire(&self, options: &[(&str, &str)]) -> Expired {
        let table = self.table.with_options(&options.iter().copied().collect()).unwrap();
        let expiry = SnapshotExpiry::new(&table).unwrap();
        let Some((begin, end)) = expiry.range(&Retention::of_snapshots(&table).unwrap()).await.unwrap() else {
            return Expired::default();
        };
        let plan = expiry.plan(begin, end).await.unwrap();
        let before = self.store.paths();
        let done = expiry.run(begin, end).await.unwrap();
        assert_eq!(plan, done, "the plan is what is done");
        let after: BTreeSet<String> = self.store.paths().into_iter().collect();
        let gone: BTreeSet<String> = before.into_iter().filter(|path| !after.contains(path)).collect();
        let said: BTreeSet<String> = done.removal.iter().map(|file| file.path.clone()).collect();
        assert_eq!(gone, said, "what is said is what is gone");
        done
    }

    /// Everything that snapshots, tags and changelogs lead to is there; what else lies about is returned.
    pub(crate) async fn check(&self) -> Vec<String> {
        let table = self.fresh();
        let mut reached = BTreeSet::new();
        let snapshots = Snapshots::new(&table);
        let mut whole: Vec<Arc<Snapshot>> = Vec::new();
        for id in snapshots.list().await.unwrap() {
            whole.push(snapshots.get(id).await.unwrap());
        }
        let tags = Tags::new(&table);
        for name in tags.list().await.unwrap() {
            whole.push(Arc::new(tags.get(&name).await.unwrap().snapshot));
        }
        let mut changes = Vec::new();
        for snapshot in &whole {
            for list in [&snapshot.base_manifest_list, &snapshot.delta_manifest_list] {
                self.reach(&table, list, &mut reached).await;
            }
            for (batch, i) in live(&table, snapshot).await.iter() {
                reached.insert(format!("db.db/t/bucket-0/{}", batch.file_name(i)));
            }
        }
        for id in snapshots.list().await.unwrap() {
            changes.push(snapshots.get(id).await.unwrap());
        }
        let changelogs = Changelogs::new(&table);
        for id in changelogs.list().await.unwrap() {
            changes.push(changelogs.find(id).await.unwrap().unwrap());
        }
        for snapshot in changes {
            let Some(list) = &snapshot.changelog_manifest_list else { continue };
            let names = self.reach(&table, list, &mut reached).await;
            for name in names {
                let batch = Manifests::new(&table).read_manifest(&name, StatsColumns::Keys).await.unwrap();
                reached.extend((0..batch.len()).map(|i| format!("db.db/t/bucket-0/{}", batch.file_name(i))));
            }
        }
        let there: BTreeSet<String> = self.store.paths().into_iter().collect();
        let missing: Vec<&String> = reached.difference(&there).collect();
        assert!(missing.is_empty(), "missing {missing:?}");
        let lies = |path: &String| path.contains("/manifest/") || path.contains("/bucket-") || path.contains("/index/");
        there.difference(&reached).filter(|path| lies(path)).cloned().collect()
    }

    async fn reach(&self, table: &Table, list: &str, reached: &mut BTreeSet<String>) -> Vec<String> {
        reached.insert(table.manifest_path(list));
        let metas = Manifests::new(table).read_list(list).await.unwrap();
        reached.extend(metas.iter().map(|meta| table.manifest_path(&meta.file_name)));
        metas.into_iter().map(|meta| meta.file_name).collect()
    }
}

async fn live(table: &Table, snapshot: &Snapshot) -> crate::manifest::LiveFiles {
    let manifests = Manifests::new(table);
    let list = manifests.of_snapshot(snapshot).await.unwrap();
    let all = |batch: Arc<linn_format::manifest::EntryBatch>| async move {
        Ok(crate::manifest::Selection::of(&batch, |_| true))
    };
    manifests.live(list, StatsColumns::Keys, all).await.unwrap()
}

/// Options that keep as few snapshots as these, whatever their age.
pub(crate) fn keep(max: &str) -> [(&str, &str); 3] {
    [("snapshot.num-retained.min", "1"), ("snapshot.num-retained.max", max), ("snapshot.time-retained", "1 h")]
}
