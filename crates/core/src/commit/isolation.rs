//! Whether others have changed what a commit rests on: the rows that its statement has read, and those that it writes
//! (`linn.isolation-level`; decision 0019). Compactions change no row.

use std::collections::HashMap;
use std::sync::Arc;

use linn_format::datum::Datum;
use linn_format::manifest::{EntryBatch, FileKind, StatsColumns};
use linn_format::options::Isolation;
use linn_format::row::BinaryRow;
use linn_format::snapshot::{CommitKind, Snapshot};
use linn_format::types::DataType;
use linn_format::{ErrorKind, Result, SnapshotId};

use super::change::Change;
use super::conflict::compare;
use crate::manifest::Manifests;
use crate::snapshot::Snapshots;
use crate::table::{Noted, Table};

type Key = Vec<Option<Datum>>;

/// Looks at the snapshots that came after what was read, up to `latest`; the reason against the change, when there is one.
pub(super) async fn check(
    table: &Table,
    snapshots: &Snapshots,
    reads: &[Noted],
    latest: Option<&Snapshot>,
    change: &Change,
    overwrites: bool,
) -> Result<Option<String>> {
    let level = table.options().isolation()?;
    let since = reads.iter().map(|read| read.snapshot.as_ref().map_or(SnapshotId(0), |snapshot| snapshot.id)).min();
    let (Some(since), Some(latest)) = (since, latest) else { return Ok(None) };
    if level == Isolation::None {
        return Ok(None);
    }
    if let Some(why) = rolled_back(snapshots, reads, latest).await? {
        return Ok(Some(why));
    }
    let writes = Writes::of(table, change, overwrites)?;
    for id in (since.0.saturating_add(1)..=latest.id.0).map(SnapshotId) {
        let snapshot = match snapshots.get(id).await {
            Ok(snapshot) => snapshot,
            Err(e) if e.kind() == ErrorKind::NotFound => {
                return Ok(Some(format!("snapshot {id}, after the one that was read, has expired")));
            }
            Err(e) => return Err(e),
        };
        let by = || format!("snapshot {id} ({}) of user {}", snapshot.commit_kind.as_str(), snapshot.commit_user);
        if level == Isolation::Serializable {
            for read in reads.iter().filter(|read| read.snapshot.as_ref().is_none_or(|before| before.id < id)) {
                if read.scan.is_touched_by(&snapshot).await? {
                    return Ok(Some(format!("{} changed what was read", by())));
                }
            }
        }
        if writes.meet(table, &snapshot).await? {
            return Ok(Some(format!("{} changed rows that are written", by())));
        }
    }
    Ok(None)
}

/// A snapshot that was read may be gone, and its number given to another one.
async fn rolled_back(snapshots: &Snapshots, reads: &[Noted], latest: &Snapshot) -> Result<Option<String>> {
    for read in reads.iter().filter_map(|read| read.snapshot.as_ref()) {
        let same = match snapshots.get(read.id).await {
            Ok(now) => now.uuid == read.uuid && now.commit_user == read.commit_user,
            Err(e) if e.kind() == ErrorKind::NotFound => read.id <= latest.id,
            Err(e) => return Err(e),
        };
        if !same {
            return Ok(Some(format!("the table was rolled back behind snapshot {}, which was read", read.id)));
        }
    }
    Ok(None)
}

/// The rows that a change writes, as far as they could be those of another one.
enum Writes {
    /// Nothing that the files themselves do not tell.
    Nothing,
    /// Everything in these partitions.
    Partitions(std::collections::HashSet<Box<[u8]>>),
    /// Keys, by partition and bucket: the ranges of the new files.
    Keys(HashMap<(Box<[u8]>, i32), Vec<(Key, Key)>>, Vec<DataType>),
}

impl Writes {
    fn of(table: &Table, change: &Change, overwrites: bool) -> Result<Self> {
        let batch = EntryBatch::from_entries(&change.entries)?;
        if overwrites {
            return Ok(Self::Partitions((0..batch.len()).map(|i| batch.partition(i).into()).collect()));
        }
        let schema = table.schema();
        if !schema.is_primary_key_table() {
            // Files and deletion vectors that another commit has replaced are a conflict whatever was read.
            return Ok(Self::Nothing);
        }
        let types: Vec<DataType> = schema.trimmed_primary_keys().into_iter().map(|f| f.data_type.clone()).collect();
        let mut keys: HashMap<(Box<[u8]>, i32), Vec<(Key, Key)>> = HashMap::new();
        for i in (0..batch.len()).filter(|i| batch.kind(*i) == FileKind::Add) {
            let bucket = (batch.partition(i).into(), batch.bucket(i));
            keys.entry(bucket).or_default().push(range(&batch, i, &types)?);
        }
        Ok(Self::Keys(keys, types))
    }

    /// Whether the new rows of a snapshot may be among them.
    async fn meet(&self, table: &Table, snapshot: &Snapshot) -> Result<bool> {
        if matches!(self, Self::Nothing) || !matches!(snapshot.commit_kind, CommitKind::Append | CommitKind::Overwrite)
        {
            return Ok(false);
        }
        let manifests = Manifests::new(table);
        let metas = manifests.of_delta(snapshot).await?;
        if snapshot.commit_kind == CommitKind::Overwrite && metas.is_empty() {
            // Rows may be gone with manifests that were left out.
            return Ok(true);
        }
        for meta in metas {
            let batch: Arc<EntryBatch> = manifests.manifest_of(&meta, StatsColumns::Keys).await?;
            for i in 0..batch.len() {
                if self.has(&batch, i)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    fn has(&self, batch: &EntryBatch, i: usize) -> Result<bool> {
        match self {
            Self::Nothing => Ok(false),
            Self::Partitions(partitions) => Ok(partitions.contains(batch.partition(i))),
            Self::Keys(keys, types) => {
                let Some(ranges) = keys.get(&(batch.partition(i).into(), batch.bucket(i))) else { return Ok(false) };
                let (min, max) = range(batch, i, types)?;
                let meets = |(low, high): &(Key, Key)| compare(low, &max).is_le() && compare(high, &min).is_ge();
                Ok(ranges.iter().any(meets))
            }
        }
    }
}

fn range(batch: &EntryBatch, i: usize, types: &[DataType]) -> Result<(Key, Key)> {
    let key = |bytes: &[u8]| BinaryRow::from_serialized(bytes.to_vec())?.datums(types.iter());
    Ok((key(batch.min_key(i))?, key(batch.max_key(i))?))
}
