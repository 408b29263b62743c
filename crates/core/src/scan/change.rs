//! Splits of changes: of several snapshots at once, and of what an overwrite replaced.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use linn_format::file::DataFileMeta;
use linn_format::manifest::ManifestMeta;
use linn_format::row::BinaryRow;
use linn_format::snapshot::{CommitKind, Snapshot};
use linn_format::{ErrorKind, Result, SnapshotId};

use super::group::{Bucket, group};
use super::increment::Increment;
use super::pack::Packing;
use super::plan::Part;
use super::vector::Vectors;
use super::{Before, Content, Plan, Scan, Split};
use crate::snapshot::Snapshots;

impl Scan {
    pub(super) async fn plan_increment(&self, increment: Increment) -> Result<Plan> {
        match increment {
            Increment::Nothing => Ok(Plan::default()),
            Increment::Files { from, to, part } => self.plan_files(from, to, part).await,
            Increment::Difference { from, to } => self.plan_difference(from.as_deref(), &to).await,
            Increment::Rows { snapshot, made_since } => {
                self.clone().made_since(made_since).plan_part(&snapshot, Part::All).await
            }
        }
    }

    /// What the snapshots after `from`, up to `to`, have in one of their parts. What overwrites did is no change.
    async fn plan_files(&self, from: SnapshotId, to: SnapshotId, part: Part) -> Result<Plan> {
        let snapshots = Snapshots::new(&self.table);
        let selector = Arc::new(self.selector(part)?);
        // What is planned together, and the snapshot that it is said to be of.
        let mut groups: Vec<(SnapshotId, Vec<ManifestMeta>)> = Vec::new();
        let mut untold = 0;
        for id in from.next().0..=to.0 {
            let snapshot = match snapshots.get(SnapshotId(id)).await {
                Err(e) if e.kind() == ErrorKind::NotFound => return Err(snapshots.out_of_range(e).await),
                result => result?,
            };
            let told = match part {
                Part::Delta => snapshot.commit_kind == CommitKind::Append,
                _ => snapshot.commit_kind != CommitKind::Overwrite,
            };
            untold += usize::from(part == Part::Changelog && snapshot.commit_kind == CommitKind::Append);
            if told {
                let metas = self.manifests_of(&snapshot, part).await?;
                match groups.last_mut() {
                    Some((_, together)) if !self.by_snapshot => together.extend(metas),
                    _ => groups.push((if self.by_snapshot { snapshot.id } else { to }, metas)),
                }
            }
        }
        if groups.iter().all(|(_, metas)| metas.is_empty()) && untold > 0 {
            tracing::warn!(
                table = self.table.name(),
                commits = untold,
                "no changelog was written yet; a compaction writes it where the option write-only is set"
            );
        }
        let packing = Packing::new(&self.table)?;
        let mut splits = Vec::new();
        for (snapshot_id, metas) in groups {
            let files = self.files_in(metas, part, self.stats(&selector), &selector).await?;
            for bucket in group(&files, &selector).await? {
                let Bucket { partition, bucket, total_buckets, files } = bucket;
                for files in packing.in_order(files) {
                    splits.push(Split {
                        snapshot_id,
                        partition: partition.clone(),
                        bucket,
                        total_buckets,
                        files: files.into(),
                        deletion_files: Vec::new(),
                        raw_convertible: true,
                        content: Content::Changes,
                    });
                }
            }
        }
        Ok(Plan { snapshot_id: Some(to), splits })
    }

    /// What an overwrite of a primary-key table took away and what it brought, bucket by bucket.
    pub(crate) async fn plan_replaced(&self, snapshot: &Snapshot) -> Result<Plan> {
        let before = match Snapshots::new(&self.table).get(SnapshotId(snapshot.id.0 - 1)).await {
            Ok(before) => self.vectors_of(&before).await?,
            // Without it, rows that were deleted by a vector are told as deleted once more.
            Err(e) if e.kind() == ErrorKind::NotFound => Vectors::default(),
            Err(e) => return Err(e),
        };
        let after = self.vectors_of(snapshot).await?;
        let removed = Side { buckets: self.files_by_bucket(snapshot, Part::Removed).await?, vectors: before };
        let added = Side { buckets: self.files_by_bucket(snapshot, Part::Delta).await?, vectors: after };
        Ok(pair(snapshot.id, removed, added))
    }

    async fn files_by_bucket(&self, snapshot: &Snapshot, part: Part) -> Result<Vec<Bucket>> {
        let selector = Arc::new(self.selector(part)?);
        let metas = self.manifests_of(snapshot, part).await?;
        let files = self.files_in(metas, part, self.stats(&selector), &selector).await?;
        group(&files, &selector).await
    }
}

struct Side {
    buckets: Vec<Bucket>,
    vectors: Vectors,
}

/// The buckets of both sides as splits, without the files that are on both, in the order of the later side.
fn pair(id: SnapshotId, before: Side, after: Side) -> Plan {
    let mut earlier: HashMap<(BinaryRow, i32), Bucket> =
        before.buckets.into_iter().map(|bucket| ((bucket.partition.clone(), bucket.bucket), bucket)).collect();
    let mut left: Vec<(BinaryRow, i32)> = Vec::new();
    let mut pairs = Vec::new();
    for bucket in after.buckets {
        let key = (bucket.partition.clone(), bucket.bucket);
        let old = earlier.remove(&key).map(|bucket| bucket.files).unwrap_or_default();
        pairs.push((key, bucket.total_buckets, old, bucket.files));
    }
    left.extend(earlier.keys().cloned());
    left.sort_by_cached_key(|(partition, bucket)| (partition.to_serialized(), *bucket));
    for key in left {
        if let Some(bucket) = earlier.remove(&key) {
            pairs.push((key, bucket.total_buckets, bucket.files, Vec::new()));
        }
    }
    let mut splits = Vec::new();
    for (key, total_buckets, mut old, mut new) in pairs {
        without_common(&mut old, &mut new);
        if old.is_empty() && new.is_empty() {
            continue;
        }
        let deletion_files = before.vectors.of(&key, &old);
        splits.push(Split {
            snapshot_id: id,
            deletion_files: after.vectors.of(&key, &new),
            partition: key.0,
            bucket: key.1,
            total_buckets,
            files: new.into(),
            raw_convertible: false,
            content: Content::Replaced(Arc::new(Before { files: old, deletion_files })),
        });
    }
    Plan { snapshot_id: Some(id), splits }
}

/// Leaves out the files that are on both sides, at the same level.
fn without_common(before: &mut Vec<Arc<DataFileMeta>>, after: &mut Vec<Arc<DataFileMeta>>) {
    let place = |file: &Arc<DataFileMeta>| (file.file_name.clone(), file.level);
    let earlier: HashSet<_> = before.iter().map(place).collect();
    let common: HashSet<_> = after.iter().map(place).filter(|file| earlier.contains(file)).collect();
    before.retain(|file| !common.contains(&place(file)));
    after.retain(|file| !common.contains(&place(file)));
}
