//! Making the table what it was, in a snapshot of its own: files that came since go, those that went come back (spec:
//! features.md B14, `rollback_to_as_latest`; cases: E10).

use std::collections::HashSet;

use linn_format::Result;
use linn_format::manifest::{EntryBatch, FileIdentity, FileKind, ManifestEntry, ManifestMeta};
use linn_format::snapshot::Snapshot;

use super::base;
use super::change::Change;
use super::files::Files;

/// From what the manifests hold to what the target holds.
pub(super) async fn change(files: &Files, manifests: &[ManifestMeta], target: &Snapshot) -> Result<Change> {
    let now = base::live(files, manifests, |_| Ok(true)).await?;
    let then = base::live(files, &files.manifests_of(target).await?, |_| Ok(true)).await?;
    let (of_now, of_then) = (EntryBatch::from_entries(&now)?, EntryBatch::from_entries(&then)?);
    let identities = |batch| -> HashSet<FileIdentity<'_>> { ids(batch).collect() };
    let (have, want) = (identities(&of_now), identities(&of_then));
    let gone = now.iter().zip(ids(&of_now)).filter(|(_, id)| !want.contains(id));
    let gone = gone.map(|(entry, _)| ManifestEntry { kind: FileKind::Delete, ..entry.clone() });
    let back = then.iter().zip(ids(&of_then)).filter(|(_, id)| !have.contains(id));
    let entries = gone.chain(back.map(|(entry, _)| entry.clone())).collect();
    Ok(Change { entries, ..Change::default() })
}

fn ids(batch: &EntryBatch) -> impl Iterator<Item = FileIdentity<'_>> {
    (0..batch.len()).map(|i| batch.identity(i))
}

/// What a snapshot says beside its files comes from the target too; numbers of rows are never given twice.
pub(super) fn carry(snapshot: &mut Snapshot, target: &Snapshot) {
    snapshot.schema_id = target.schema_id;
    snapshot.index_manifest.clone_from(&target.index_manifest);
    snapshot.total_record_count = target.total_record_count;
    snapshot.watermark = target.watermark;
    snapshot.statistics.clone_from(&target.statistics);
    snapshot.properties.clone_from(&target.properties);
    snapshot.next_row_id = snapshot.next_row_id.max(target.next_row_id);
}
