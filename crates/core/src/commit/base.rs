//! What the table holds in the partitions that a change touches.

use std::collections::{HashMap, HashSet};

use futures::{FutureExt, StreamExt};
use linn_format::Result;
use linn_format::manifest::{EntryBatch, FileKind, ManifestEntry, ManifestMeta};
use linn_format::row::BinaryRow;

use super::conflict::{Base, Simple};
use super::files::Files;
use super::scope::Scope;

/// Manifests read at once.
const PARALLEL: usize = 8;

/// Live files of changed buckets, and the bucket counts of changed partitions.
#[derive(Debug, Default)]
pub(super) struct BaseFiles {
    pub(super) files: Base,
    pub(super) buckets: HashMap<Box<[u8]>, i32>,
}

/// Reads the live files of the `(serialised partition, bucket)`s that are in the scope; bucket `None` only wants the partition's
/// bucket count.
pub(super) async fn read(
    files: &Files,
    manifests: &[ManifestMeta],
    wanted: &HashSet<(Box<[u8]>, Option<i32>)>,
    scope: &Scope<'_>,
) -> Result<BaseFiles> {
    let mut partitions: HashMap<&[u8], HashSet<i32>> = HashMap::new();
    for (partition, bucket) in wanted {
        partitions.entry(partition).or_default().extend(*bucket);
    }
    let mut base = BaseFiles::default();
    for_each(files, manifests, Entries::Identities, |batch| {
        let ids = partition_ids(batch, |partition| partitions.contains_key(partition));
        for i in (0..batch.len()).filter(|i| ids.contains(&batch.partition_id(*i))) {
            let partition = batch.partition(i);
            if batch.total_buckets(i) > 0 && batch.kind(i) == FileKind::Add {
                match base.buckets.get_mut(partition) {
                    Some(count) => *count = batch.total_buckets(i),
                    None => drop(base.buckets.insert(partition.into(), batch.total_buckets(i))),
                }
            }
            if !partitions.get(partition).is_some_and(|buckets| buckets.contains(&batch.bucket(i)))
                || !scope.has(batch, i)?
            {
                continue;
            }
            let entry = Simple::of(batch, i);
            match entry.kind {
                FileKind::Add => drop(base.files.insert(entry.key.clone(), entry)),
                FileKind::Delete => drop(base.files.remove(&entry.key)),
            }
        }
        Ok(())
    })
    .await?;
    Ok(base)
}

/// All live files of the partitions for which `wanted` holds, in full and in table order.
pub(super) async fn live(
    files: &Files,
    manifests: &[ManifestMeta],
    wanted: impl Fn(&BinaryRow) -> Result<bool>,
) -> Result<Vec<ManifestEntry>> {
    let mut order: Vec<Option<ManifestEntry>> = Vec::new();
    let mut places: HashMap<super::conflict::Key, usize> = HashMap::new();
    for_each(files, manifests, Entries::Whole, |batch| {
        let mut ids = HashSet::new();
        for (id, partition) in batch.partitions()?.iter().enumerate() {
            if wanted(partition)? {
                ids.insert(u32::try_from(id).unwrap_or(u32::MAX));
            }
        }
        for i in (0..batch.len()).filter(|i| ids.contains(&batch.partition_id(*i))) {
            let key = Simple::of(batch, i).key;
            match batch.kind(i) {
                FileKind::Add => {
                    places.insert(key, order.len());
                    order.push(Some(batch.entry(i)?));
                }
                FileKind::Delete => {
                    if let Some(place) = places.remove(&key).and_then(|place| order.get_mut(place)) {
                        *place = None;
                    }
                }
            }
        }
        Ok(())
    })
    .await?;
    Ok(order.into_iter().flatten().collect())
}

/// Numbers of a batch's partitions whose serialised form is wanted.
fn partition_ids(batch: &EntryBatch, wanted: impl Fn(&[u8]) -> bool) -> HashSet<u32> {
    let mut seen = HashMap::new();
    for i in 0..batch.len() {
        seen.entry(batch.partition_id(i)).or_insert_with(|| wanted(batch.partition(i)));
    }
    seen.into_iter().filter_map(|(id, wanted)| wanted.then_some(id)).collect()
}

/// What is wanted of the entries of a manifest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Entries {
    /// What tells files apart and where their keys lie.
    Identities,
    /// All, to be written again.
    Whole,
}

/// Calls `each` with the entries of every manifest in order, reading ahead.
pub(super) async fn for_each(
    files: &Files,
    manifests: &[ManifestMeta],
    wanted: Entries,
    mut each: impl FnMut(&EntryBatch) -> Result<()>,
) -> Result<()> {
    let read = |meta: ManifestMeta| async move {
        match wanted {
            Entries::Identities => files.identities(&meta).await,
            Entries::Whole => files.manifest(&meta).await,
        }
    };
    let reads = manifests.to_vec();
    let mut batches = futures::stream::iter(reads).map(|meta| read(meta).boxed()).buffered(PARALLEL);
    while let Some(batch) = batches.next().await {
        each(&*batch?)?;
    }
    Ok(())
}
