//! Which files may be orphans: old ones in the folders of manifests, indexes, statistics and buckets, and what an interrupted
//! write has left beside any metadata. Files that no part of the format writes there are not touched.

use std::collections::{HashMap, VecDeque};

use futures::{StreamExt, TryStreamExt};
use linn_format::Result;
use linn_format::options::table::file::DATA_FILE_EXTERNAL_PATHS;

use crate::reclaim::{RemovedFile, at_once, guard::other_branches};
use crate::seam::Entry;
use crate::table::Table;

/// What of a folder may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Contents {
    /// Everything that is not hidden, a mark such as `_SUCCESS` or a pack of large values, and temporary files.
    Written,
    /// Manifests and temporary files.
    Manifests,
    /// Only temporary files.
    Temporary,
}

impl Contents {
    fn has(self, name: &str) -> bool {
        let written = match self {
            Self::Written => !name.is_empty() && !name.starts_with(['.', '_']) && !name.ends_with(".managed.blob"),
            Self::Manifests => name.starts_with("manifest-") || name.starts_with("index-manifest-"),
            Self::Temporary => false,
        };
        written || is_temporary(name)
    }
}

/// `.<name>.<uuid>.tmp`, as atomic writes name their files until they are whole.
fn is_temporary(name: &str) -> bool {
    let inner = name.strip_prefix('.').and_then(|name| name.strip_suffix(".tmp"));
    let Some((of, uuid)) = inner.and_then(|inner| inner.rsplit_once('.')) else { return false };
    let hex = |part: &str| part.bytes().all(|b| b.is_ascii_hexdigit());
    !of.is_empty() && uuid.len() == 36 && uuid.split('-').count() == 5 && uuid.split('-').all(hex)
}

/// Files that were last changed before a time, by name. Names are given once, so that wherever one is used it is this file.
///
/// # Errors
/// `Unavailable` when the store fails.
pub(super) async fn candidates(table: &Table, older_than: i64) -> Result<HashMap<String, RemovedFile>> {
    let mut folders = vec![
        (format!("{}/manifest", table.path()), Contents::Manifests),
        (format!("{}/index", table.path()), Contents::Written),
        (format!("{}/statistics", table.path()), Contents::Written),
    ];
    for branch in other_branches(table).await?.iter().chain([table]) {
        let metadata = [
            branch.snapshot_dir(),
            branch.changelog_dir(),
            branch.schema_dir(),
            branch.tag_dir(),
            branch.consumer_dir(),
        ];
        folders.extend(metadata.into_iter().map(|folder| (folder, Contents::Temporary)));
    }
    for root in data_roots(table) {
        folders.extend(buckets(table, root).await?.into_iter().map(|folder| (folder, Contents::Written)));
    }
    let list = |(folder, contents): (String, Contents)| async move {
        let entries = table.storage().list(&folder).await?;
        let old = |entry: &Entry| !entry.is_dir() && entry.modified_millis.is_some_and(|time| time < older_than);
        let files = entries.into_iter().filter(old).filter_map(|entry| {
            let name = entry.path.rsplit('/').next().filter(|name| contents.has(name))?.to_owned();
            Some((name, RemovedFile { path: entry.path, bytes: entry.size }))
        });
        Ok::<_, linn_format::Error>(files.collect::<Vec<_>>())
    };
    let mut lists = futures::stream::iter(folders.into_iter().map(list)).buffered(at_once(table)?);
    let mut found = HashMap::new();
    while let Some(files) = lists.try_next().await? {
        found.extend(files);
    }
    Ok(found)
}

/// The folders that partitions lie in. Places outside of the store are not looked into, so nothing there is ever deleted.
fn data_roots(table: &Table) -> Vec<String> {
    let mut roots = vec![table.data_root()];
    let store = table.storage().root().trim_end_matches('/');
    let external = table.options().text(&DATA_FILE_EXTERNAL_PATHS).unwrap_or_default();
    for place in external.split(',').map(str::trim).filter(|place| !place.is_empty()) {
        let inside = place.trim_end_matches('/').strip_prefix(store).map(|rest| rest.trim_start_matches('/'));
        match inside {
            Some(inside) if !inside.is_empty() => roots.push(inside.to_owned()),
            _ => tracing::warn!(table = table.name(), place, "a place outside of the store is not cleaned"),
        }
    }
    roots
}

/// The folders of buckets below a root: one level down for each partition key.
async fn buckets(table: &Table, root: String) -> Result<Vec<String>> {
    let depth = table.schema().partition_keys.len();
    let mut found = Vec::new();
    let mut open = VecDeque::from([(root, 0)]);
    let threads = at_once(table)?;
    while !open.is_empty() {
        let now: Vec<(String, usize)> = open.drain(..).collect();
        let list = |(folder, level): (String, usize)| async move {
            Ok::<_, linn_format::Error>((table.storage().list(&folder).await?, level))
        };
        let mut lists = futures::stream::iter(now.into_iter().map(list)).buffered(threads);
        while let Some((entries, level)) = lists.try_next().await? {
            for entry in entries.into_iter().filter(Entry::is_dir) {
                let path = entry.path.trim_end_matches('/').to_owned();
                let name = path.rsplit('/').next().unwrap_or_default();
                if level < depth && name.contains('=') {
                    open.push_back((path, level + 1));
                } else if level == depth && name.starts_with("bucket-") {
                    found.push(path);
                }
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_format_writes_may_go() {
        let uuid = "0d9ce0f8-1c1f-4b9b-9c5d-3f0f7f0d3c1a";
        let temporary = format!(".snapshot-7.{uuid}.tmp");
        for contents in [Contents::Written, Contents::Manifests, Contents::Temporary] {
            assert!(contents.has(&temporary));
            for name in ["_SUCCESS", ".hidden", ".x.tmp", ".folder", "", &format!("..{uuid}.tmp")] {
                assert!(!contents.has(name), "{contents:?} {name}");
            }
        }
        assert!(Contents::Written.has("data-1.parquet") && Contents::Written.has("data-1.parquet.index"));
        assert!(Contents::Manifests.has("manifest-list-x-1") && Contents::Manifests.has("index-manifest-x-1"));
        assert!(!Contents::Manifests.has("notes.txt") && !Contents::Temporary.has("snapshot-1"));
    }
}
