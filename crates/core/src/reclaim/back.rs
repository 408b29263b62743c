//! Snapshots that brought old content back: they have files of snapshots far before them.

use std::sync::Arc;

use futures::{FutureExt, StreamExt, TryStreamExt, stream};
use linn_format::snapshot::Snapshot;
use linn_format::{ErrorKind, Result, SnapshotId};

use crate::snapshot::Snapshots;

/// Begins the names of tags and commit users of such rollbacks; other engines begin them alike.
pub(crate) const BACK: &str = "rollback-to-as-latest-";
/// Snapshots that are read at once.
const PARALLEL: usize = 8;

/// The snapshots after `id` that may have files of snapshots before it: from the first one on that brought old content back.
///
/// # Errors
/// What reading snapshots can give; those that expire meanwhile are left out.
pub(crate) async fn brought_back(snapshots: &Snapshots, id: SnapshotId) -> Result<Vec<Arc<Snapshot>>> {
    let later = snapshots.list().await?.into_iter().filter(|later| *later > id);
    let reads = later.map(|id| find(snapshots, id).boxed());
    let later: Vec<Option<Arc<Snapshot>>> = stream::iter(reads).buffered(PARALLEL).try_collect().await?;
    Ok(later.into_iter().flatten().skip_while(|snapshot| !snapshot.commit_user.starts_with(BACK)).collect())
}

async fn find(snapshots: &Snapshots, id: SnapshotId) -> Result<Option<Arc<Snapshot>>> {
    match snapshots.get(id).await {
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
        read => read.map(Some),
    }
}
