//! Writers that must be alone, because they keep in mind what the table holds: where keys are, and up to which number
//! rows are numbered (tables with dynamic buckets; cases: B8). In such a table two jobs could put one key into two buckets, or
//! number rows alike. Whoever commits second is refused.

use std::collections::{BTreeMap, HashMap};

use linn_format::manifest::StatsColumns;
use linn_format::snapshot::{CommitKind, Snapshot};
use linn_format::{ErrorKind, Result, SnapshotId};

use super::CommitMessage;
use crate::manifest::Manifests;
use crate::snapshot::Snapshots;
use crate::table::Table;

/// Partitions up to how many are kept in mind.
const KEPT: usize = 1000;

/// Since when writers must have been alone, by serialised partition; by the empty name in the whole table.
pub(super) type Since = BTreeMap<Vec<u8>, SnapshotId>;

/// What the messages demand.
pub(super) fn since(table: &Table, messages: &[CommitMessage]) -> Since {
    let whole = table.schema().is_cross_partition();
    let mut since = Since::new();
    for message in messages {
        let Some(at) = message.alone_since else { continue };
        let scope = if whole { Vec::new() } else { message.partition.to_serialized().to_vec() };
        since.entry(scope).and_modify(|earliest| *earliest = at.min(*earliest)).or_insert(at);
    }
    since
}

/// What one committer has looked at.
#[derive(Debug, Default)]
pub(super) struct Alone {
    /// Up to where nobody else had written.
    through: HashMap<Vec<u8>, SnapshotId>,
}

impl Alone {
    /// Looks at the snapshots since then up to `latest`; the reason when another user wrote rows to the same scope.
    pub(super) async fn check(
        &mut self,
        table: &Table,
        snapshots: &Snapshots,
        user: &str,
        since: &Since,
        latest: SnapshotId,
    ) -> Result<Option<String>> {
        let begin = |(scope, at): (&Vec<u8>, &SnapshotId)| {
            (scope.clone(), self.through.get(scope).map_or(*at, |through| *at.max(through)))
        };
        let since: Since = since.iter().map(begin).collect();
        let Some(first) = since.values().min() else { return Ok(None) };
        for id in (first.0.saturating_add(1)..=latest.0).map(SnapshotId) {
            let snapshot = match snapshots.get(id).await {
                Ok(snapshot) => snapshot,
                Err(e) if e.kind() == ErrorKind::NotFound => {
                    return Ok(Some(format!("snapshot {id} expired before it was checked for conflicts")));
                }
                Err(e) => return Err(e),
            };
            let writes = matches!(snapshot.commit_kind, CommitKind::Append | CommitKind::Overwrite);
            if !writes || snapshot.commit_user == user {
                continue;
            }
            if touches(table, &snapshot, &since).await? {
                return Ok(Some(format!(
                    "user {} has written rows in snapshot {id}, and a table with dynamic buckets allows one writer at \
                     a time",
                    snapshot.commit_user
                )));
            }
        }
        if self.through.len() + since.len() > KEPT {
            self.through.clear();
        }
        self.through.extend(since.into_keys().map(|scope| (scope, latest)));
        Ok(None)
    }
}

/// Whether the snapshot's own files are in a scope that had to be left alone by then.
async fn touches(table: &Table, snapshot: &Snapshot, since: &Since) -> Result<bool> {
    if since.contains_key::<[u8]>(&[]) {
        return Ok(true);
    }
    let manifests = Manifests::new(table);
    for meta in manifests.of_delta(snapshot).await? {
        let batch = manifests.manifest_of(&meta, StatsColumns::Keys).await?;
        if (0..batch.len()).any(|i| since.get(batch.partition(i)).is_some_and(|at| *at < snapshot.id)) {
            return Ok(true);
        }
    }
    Ok(false)
}
