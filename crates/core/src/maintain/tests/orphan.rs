//! What orphan cleaning takes and what it never touches (cases: E1–E3).

use linn_format::ErrorKind;

use super::*;
use crate::storage::{Fault, Faulty, Op};

const DAY: i64 = 24 * 60 * 60 * 1000;

/// A history with a tag, a branch, an expired part, and orphans of each kind.
async fn history() -> (History, Faulty, Vec<String>) {
    let mut seen = None;
    let mut h = History::over(&[], |store| Arc::new(seen.insert(Faulty::new(store)).clone())).await;
    let faulty = seen.unwrap();
    h.commit(&["a"], &[]).await;
    h.tag("t", 1).await;
    h.commit(&["b"], &["a"]).await;
    for name in ["snapshot/snapshot-2", "schema/schema-0"] {
        let bytes = h.store.read(&format!("db.db/t/{name}"), None).await.unwrap();
        h.store.put(&format!("db.db/t/branch/branch-x/{name}"), bytes).await.unwrap();
    }
    h.commit(&["c"], &["b"]).await;
    h.expire(&keep("1")).await;
    let uuid = "0d9ce0f8-1c1f-4b9b-9c5d-3f0f7f0d3c1a";
    let mut lost = Vec::new();
    for path in
        ["manifest/manifest-lost-0", "manifest/index-manifest-lost-0", "index/index-lost-0", "statistics/stat-lost-0"]
            .map(str::to_owned)
            .into_iter()
            .chain(["bucket-0/data-lost-0.parquet", "bucket-7/data-lost-1.parquet"].map(str::to_owned))
            .chain([format!("snapshot/.snapshot-9.{uuid}.tmp"), format!("branch/branch-x/schema/.schema-1.{uuid}.tmp")])
    {
        h.store.put(&format!("db.db/t/{path}"), "x".into()).await.unwrap();
        lost.push(format!("db.db/t/{path}"));
    }
    lost.sort();
    for path in
        ["bucket-0/_SUCCESS", "bucket-0/.hidden", "service/service-primary-key-lookup", "other/file", "manifest/README"]
    {
        h.store.put(&format!("db.db/t/{path}"), "x".into()).await.unwrap();
    }
    h.clock.advance(2 * DAY);
    (h, faulty, lost)
}

fn paths(orphans: &Orphans) -> Vec<String> {
    orphans.removal.iter().map(|file| file.path.clone()).collect()
}

#[tokio::test]
async fn what_nothing_refers_to_goes_and_nothing_else() {
    let (h, _, lost) = history().await;
    let before: BTreeSet<String> = h.store.paths().into_iter().collect();
    let planned = orphans(&h.table, None).await.unwrap();
    assert_eq!(paths(&planned), lost);
    assert_eq!(h.store.paths().into_iter().collect::<BTreeSet<_>>(), before, "a plan changes nothing");
    assert_eq!(remove_orphans(&h.table, None).await.unwrap().removal, planned.removal);
    let after: BTreeSet<String> = h.store.paths().into_iter().collect();
    assert_eq!(before.difference(&after).cloned().collect::<Vec<_>>(), lost);
    assert_eq!(h.data().iter().filter(|name| name.len() == 1).count(), 3);
    assert_eq!(orphans(&h.table, None).await.unwrap().removal, Removal::default());
    h.check().await;
}

#[tokio::test]
async fn young_files_stay_and_the_future_is_refused() {
    let (h, _, _) = history().await;
    h.store.put("db.db/t/bucket-0/data-young.parquet", "x".into()).await.unwrap();
    let now = h.table.env().clock.now_millis();
    assert!(!paths(&orphans(&h.table, None).await.unwrap()).iter().any(|path| path.contains("young")));
    for time in [now, now + 1, i64::MAX] {
        assert_eq!(orphans(&h.table, Some(time)).await.unwrap_err().kind(), ErrorKind::Invalid);
    }
    assert_eq!(orphans(&h.table, Some(0)).await.unwrap().removal, Removal::default());
}

#[tokio::test]
async fn what_cannot_be_read_may_use_anything() {
    let (h, faulty, _) = history().await;
    let before = h.store.paths();
    for (op, path) in [(Op::Read, "snapshot-3"), (Op::Read, "/manifest-"), (Op::Read, "tag-t"), (Op::List, "branch")] {
        faulty.inject(op, path, 0, 1, Fault::Before(ErrorKind::Unavailable));
        let fresh = Table::new("db.t", "db.db/t", h.table.schema().clone(), h.table.env().clone());
        assert!(remove_orphans(&fresh, None).await.is_err(), "{path}");
    }
    assert_eq!(h.store.paths(), before);
    // A manifest that is gone although its snapshot is there.
    let list = h.table.manifest_path(&h.snapshot(3).await.base_manifest_list);
    h.store.delete(&list).await.unwrap();
    let fresh = Table::new("db.t", "db.db/t", h.table.schema().clone(), h.table.env().clone());
    assert_eq!(remove_orphans(&fresh, None).await.unwrap_err().kind(), ErrorKind::NotFound);
    let after: Vec<String> = before.into_iter().filter(|path| *path != list).collect();
    assert_eq!(h.store.paths(), after);
}

/// What a store gives back of a list or a manifest may end between two blocks, and is a whole file all the same.
#[tokio::test]
async fn regress_what_was_cut_is_not_taken_for_shorter() {
    let mut cuts = 0;
    for at in 0.. {
        let (mut h, _, lost) = history().await;
        h.commit(&["d"], &["c"]).await;
        let metadata = |path: &String| path.contains("/manifest/manifest-") && !lost.contains(path);
        let Some(path) = h.store.paths().into_iter().filter(metadata).nth(at) else { break };
        let whole = h.store.read(&path, None).await.unwrap();
        let short = crate::manifest::tests::without_blocks(&whole);
        if short.len() == whole.len() {
            continue;
        }
        cuts += 1;
        h.store.put(&path, short.into()).await.unwrap();
        let before = h.store.paths();
        let error = remove_orphans(&h.fresh(), None).await.unwrap_err();
        assert_eq!((error.kind(), h.store.paths()), (ErrorKind::Corrupt, before), "{path}: {error}");
        // Of what expires something may be damaged; of what stays it must not be, and nothing that stays may go.
        let _ = SnapshotExpiry::new(&h.fresh()).unwrap().run(SnapshotId(3), SnapshotId(4)).await;
        if h.store.paths().contains(&path) {
            h.store.put(&path, whole).await.unwrap();
        }
        h.check().await;
    }
    assert!(cuts > 4, "{cuts}");
}

#[tokio::test]
async fn nothing_goes_when_nothing_is_used() {
    let h = History::new(&[]).await;
    h.store.put("db.db/t/bucket-0/data-lost.parquet", "x".into()).await.unwrap();
    h.clock.advance(2 * DAY);
    let found = remove_orphans(&h.table, None).await.unwrap();
    assert_eq!((found.removal.files(), found.candidates), (0, 1));
    assert!(found.spared.is_some());
}

#[tokio::test]
async fn a_lost_history_is_not_an_empty_one() {
    let (h, _, _) = history().await;
    h.store.delete("db.db/t/snapshot/snapshot-3").await.unwrap();
    assert_eq!(remove_orphans(&h.table, None).await.unwrap_err().kind(), ErrorKind::Corrupt);
}

#[tokio::test]
async fn a_crash_at_any_effect_loses_nothing() {
    let mut effects = 0;
    loop {
        let mut stopped = false;
        for applied in [false, true] {
            let (h, faulty, lost) = history().await;
            faulty.stop_after(effects, applied);
            let _ = remove_orphans(&h.table, None).await;
            stopped |= faulty.stopped();
            h.check().await;
            remove_orphans(&h.fresh(), None).await.unwrap();
            assert!(lost.iter().all(|path| !h.store.paths().contains(path)), "after {effects} effects");
            h.check().await;
        }
        effects += 1;
        if !stopped {
            break;
        }
    }
    assert!(effects > 8, "{effects}");
}

/// A store that commits and expires at the worst time: right after the histories were listed.
#[derive(Debug)]
pub(super) struct Racing {
    pub(super) inner: Arc<Memory>,
    pub(super) other: tokio::sync::Mutex<Option<Table>>,
    /// Makes a branch right before the first snapshot goes.
    pub(super) brancher: tokio::sync::Mutex<Option<Table>>,
}

#[async_trait::async_trait]
impl Storage for Racing {
    async fn stat(&self, path: &str) -> linn_format::Result<crate::seam::Entry> {
        self.inner.stat(path).await
    }
    async fn read(&self, path: &str, range: Option<std::ops::Range<u64>>) -> linn_format::Result<Bytes> {
        self.inner.read(path, range).await
    }
    async fn put(&self, path: &str, bytes: Bytes) -> linn_format::Result<()> {
        self.inner.put(path, bytes).await
    }
    async fn create(&self, path: &str, bytes: Bytes) -> linn_format::Result<()> {
        self.inner.create(path, bytes).await
    }
    async fn writer(&self, path: &str) -> linn_format::Result<Box<dyn crate::seam::StorageWriter>> {
        self.inner.writer(path).await
    }
    async fn list(&self, dir: &str) -> linn_format::Result<Vec<crate::seam::Entry>> {
        let entries = self.inner.list(dir).await?;
        if dir.ends_with("/snapshot")
            && entries.iter().any(|entry| entry.path.contains("snapshot-"))
            && let Some(other) = self.other.lock().await.take()
        {
            // An old file comes back by a change of level, and the only snapshot that was listed expires.
            let mut message = CommitMessage::new(BinaryRow::empty(), 0, -1);
            message.compact_before = vec![file("a", 0, None)];
            message.compact_after = vec![file("a", 5, None)];
            other.committer("v").commit(Commit::streaming(1, vec![message])).await?;
            SnapshotExpiry::new(&other)?.run(SnapshotId(1), SnapshotId(2)).await?;
        }
        Ok(entries)
    }
    async fn delete(&self, path: &str) -> linn_format::Result<()> {
        if path.ends_with("/snapshot/snapshot-1")
            && let Some(brancher) = self.brancher.lock().await.take()
        {
            Tags::new(&brancher).create("t", &*Snapshots::new(&brancher).get(SnapshotId(1)).await?, None).await?;
            crate::branch::Branches::new(&brancher).create("x", Some("t")).await?;
            brancher.delete_tag("t").await?;
        }
        self.inner.delete(path).await
    }
    async fn delete_dir(&self, dir: &str) -> linn_format::Result<()> {
        self.inner.delete_dir(dir).await
    }
    async fn rename_dir(&self, from: &str, to: &str) -> linn_format::Result<()> {
        self.inner.rename_dir(from, to).await
    }
    fn root(&self) -> &str {
        self.inner.root()
    }
}

#[tokio::test]
async fn commits_and_expiry_in_between_change_nothing() {
    let mut h = History::new(&[]).await;
    h.commit(&["a"], &[]).await;
    h.clock.advance(2 * DAY);
    let other = tokio::sync::Mutex::new(Some(h.table.clone()));
    let racing = Arc::new(Racing { inner: h.store.clone(), other, brancher: tokio::sync::Mutex::default() });
    let env = crate::seam::Env { clock: h.clock.clone(), ..env(racing, 8) };
    let table = Table::new("db.t", "db.db/t", h.table.schema().clone(), env);
    let found = remove_orphans(&table, Some(h.table.env().clock.now_millis() - 1)).await.unwrap();
    assert_eq!((h.ids().await, h.data()), (vec![2], vec!["a".to_owned()]), "{found:?}");
    assert_eq!(h.check().await, Vec::<String>::new());
}
