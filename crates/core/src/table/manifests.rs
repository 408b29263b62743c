//! Decoded manifests and manifest lists in memory, least used out first, bounded by their bytes.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use linn_format::manifest::{EntryBatch, ManifestMeta, StatsColumns};
use moka::sync::Cache;
use parking_lot::Mutex;

/// Bytes of decoded manifests that a cache keeps unless told otherwise.
const DEFAULT_BYTES: u64 = 256 << 20;
/// Manifest lists are short-lived: every commit writes a new one of the whole table.
const LISTS: usize = 64;

/// Manifest lists by path, the one used last at the end.
type Lists = Mutex<VecDeque<(String, Arc<Vec<ManifestMeta>>)>>;

/// Decoded manifests by path and by what was read of them, and the manifest lists used last. Files of these kinds never change,
/// so that all tables of a store can share one cache; clones are one.
#[derive(Clone)]
pub struct ManifestCache {
    entries: Cache<(String, StatsColumns), Arc<EntryBatch>>,
    /// Not a cache that tidies up by the machine's clock: a history that is replayed must find the same lists here.
    lists: Arc<Lists>,
    most_lists: usize,
}

impl ManifestCache {
    /// A cache of so many bytes; 0 keeps nothing.
    pub fn new(bytes: u64) -> Self {
        let weigh = |(path, _): &(String, StatsColumns), batch: &Arc<EntryBatch>| {
            u32::try_from(batch.memory_size() + path.len()).unwrap_or(u32::MAX)
        };
        let most_lists = if bytes == 0 { 0 } else { LISTS };
        Self { entries: Cache::builder().max_capacity(bytes).weigher(weigh).build(), lists: Arc::default(), most_lists }
    }

    /// A manifest with at least these statistics.
    pub(crate) fn get(&self, path: &str, stats: StatsColumns) -> Option<Arc<EntryBatch>> {
        let all = self.entries.get(&(path.to_owned(), StatsColumns::All));
        match stats {
            StatsColumns::All => all,
            StatsColumns::Keys => all.or_else(|| self.entries.get(&(path.to_owned(), stats))),
        }
    }

    pub(crate) fn put(&self, path: &str, stats: StatsColumns, batch: Arc<EntryBatch>) {
        self.entries.insert((path.to_owned(), stats), batch);
    }

    /// Drops a manifest that is not what it should be.
    pub(crate) fn forget(&self, path: &str) {
        for stats in [StatsColumns::All, StatsColumns::Keys] {
            self.entries.invalidate(&(path.to_owned(), stats));
        }
    }

    /// A manifest list.
    pub(crate) fn list(&self, path: &str) -> Option<Arc<Vec<ManifestMeta>>> {
        let mut lists = self.lists.lock();
        let at = lists.iter().position(|(of, _)| of == path)?;
        let used = lists.remove(at)?;
        let list = Arc::clone(&used.1);
        lists.push_back(used);
        Some(list)
    }

    pub(crate) fn put_list(&self, path: &str, list: Arc<Vec<ManifestMeta>>) {
        let mut lists = self.lists.lock();
        lists.retain(|(of, _)| of != path);
        lists.push_back((path.to_owned(), list));
        while lists.len() > self.most_lists {
            lists.pop_front();
        }
    }
}

impl Default for ManifestCache {
    fn default() -> Self {
        Self::new(DEFAULT_BYTES)
    }
}

impl fmt::Debug for ManifestCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ManifestCache").field("bytes", &self.entries.weighted_size()).finish_non_exhaustive()
    }
}
