//! Which files are there: the entries of many manifests in order, deletions cancelling what was added before them.
//!
//! Only what is deleted is hashed: in a table where nothing was deleted since the last manifest compaction, planning
//! compares nothing.

use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;

use linn_format::Result;
use linn_format::manifest::{EntryBatch, FileIdentity, FileKind, ManifestMeta, StatsColumns};

use super::Manifests;
use super::parallel::map;

/// Entries of one manifest that matter: indexes into it, in order.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Entries that add.
    pub adds: Vec<u32>,
    /// Entries that delete; they must not be narrowed by more than what identifies a file.
    pub deletes: Vec<u32>,
}

impl Selection {
    /// The entries for which `keep`, by kind.
    pub fn of(batch: &EntryBatch, keep: impl Fn(usize) -> bool) -> Self {
        // Most manifests hold hardly anything else than additions.
        let mut selection = Self { adds: Vec::with_capacity(batch.len()), deletes: Vec::new() };
        for i in (0..batch.len()).filter(|i| keep(*i)) {
            let index = u32::try_from(i).unwrap_or(u32::MAX);
            match batch.kind(i) {
                FileKind::Add => selection.adds.push(index),
                FileKind::Delete => selection.deletes.push(index),
            }
        }
        selection.adds.shrink_to_fit();
        selection
    }
}

/// Files of a table: entries of its manifests.
#[derive(Debug, Default)]
pub struct LiveFiles {
    /// Manifests in order, and the live entries of each in order.
    pub batches: Vec<(Arc<EntryBatch>, Vec<u32>)>,
}

impl LiveFiles {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.batches.iter().map(|(_, entries)| entries.len()).sum()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.batches.iter().all(|(_, entries)| entries.is_empty())
    }

    /// Every file: its manifest and its index there.
    pub fn iter(&self) -> impl Iterator<Item = (&EntryBatch, usize)> {
        self.batches.iter().flat_map(|(batch, entries)| entries.iter().map(|i| (&**batch, *i as usize)))
    }
}

impl Manifests {
    /// The files that these manifests leave, of those that `select` takes. `select` runs in the pool, once a manifest.
    ///
    /// # Errors
    /// `NotFound` or `Corrupt` with the path, and those of `select`.
    pub async fn live<F, Fut>(&self, manifests: Vec<ManifestMeta>, stats: StatsColumns, select: F) -> Result<LiveFiles>
    where
        F: Fn(Arc<EntryBatch>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Selection>> + Send + 'static,
    {
        Ok(cancel(self.select(manifests, stats, select).await?))
    }

    /// What `select` takes of each manifest, additions only, without cancelling: what one commit added.
    ///
    /// # Errors
    /// As [`Manifests::live`].
    pub async fn added<F, Fut>(&self, manifests: Vec<ManifestMeta>, stats: StatsColumns, select: F) -> Result<LiveFiles>
    where
        F: Fn(Arc<EntryBatch>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Selection>> + Send + 'static,
    {
        let selected = self.select(manifests, stats, select).await?;
        Ok(LiveFiles { batches: selected.into_iter().map(|(batch, selection)| (batch, selection.adds)).collect() })
    }

    /// What `select` takes of each manifest, deletions only: what one commit removed, as it was added once.
    ///
    /// # Errors
    /// As [`Manifests::live`].
    pub async fn removed<F, Fut>(
        &self,
        manifests: Vec<ManifestMeta>,
        stats: StatsColumns,
        select: F,
    ) -> Result<LiveFiles>
    where
        F: Fn(Arc<EntryBatch>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Selection>> + Send + 'static,
    {
        let selected = self.select(manifests, stats, select).await?;
        Ok(LiveFiles { batches: selected.into_iter().map(|(batch, selection)| (batch, selection.deletes)).collect() })
    }

    async fn select<F, Fut>(
        &self,
        manifests: Vec<ManifestMeta>,
        stats: StatsColumns,
        select: F,
    ) -> Result<Vec<(Arc<EntryBatch>, Selection)>>
    where
        F: Fn(Arc<EntryBatch>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Selection>> + Send + 'static,
    {
        let this = self.clone();
        let select = Arc::new(select);
        let work = move |meta: ManifestMeta| {
            let (this, select) = (this.clone(), Arc::clone(&select));
            async move {
                let batch = this.manifest_of(&meta, stats).await?;
                let selection = select(Arc::clone(&batch)).await?;
                Ok((batch, selection))
            }
        };
        map(self.table().env(), manifests, work).await
    }
}

/// Where an entry stands: its manifest's number, and its index there.
type Place = (u32, u32);

fn cancel(selected: Vec<(Arc<EntryBatch>, Selection)>) -> LiveFiles {
    let mut deleted: HashMap<FileIdentity<'_>, Place> = HashMap::new();
    for (m, (batch, selection)) in selected.iter().enumerate() {
        for i in &selection.deletes {
            deleted.insert(batch.identity(*i as usize), (m as u32, *i));
        }
    }
    if deleted.is_empty() {
        return LiveFiles { batches: selected.into_iter().map(|(batch, selection)| (batch, selection.adds)).collect() };
    }
    let live: Vec<Vec<u32>> = selected
        .iter()
        .enumerate()
        .map(|(m, (batch, selection))| {
            let alive = |i: &u32| deleted.get(&batch.identity(*i as usize)).is_none_or(|last| *last < (m as u32, *i));
            selection.adds.iter().copied().filter(alive).collect()
        })
        .collect();
    drop(deleted);
    LiveFiles { batches: selected.into_iter().map(|(batch, _)| batch).zip(live).collect() }
}
