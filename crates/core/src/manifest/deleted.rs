//! What entries delete, for who goes through manifests one after the other and cannot hold them all.

use std::collections::HashMap;

use linn_format::Result;
use linn_format::manifest::{EntryBatch, FileKind, ManifestMeta, StatsColumns};

use super::Manifests;
use super::parallel::map;

/// Where an entry stands: its manifest's number, and its index there.
type Place = (usize, usize);

/// A deletion: what identifies a file beside its name, and where it stands.
#[derive(Debug)]
struct Deletion {
    partition: Box<[u8]>,
    bucket: i32,
    level: i32,
    rest: Box<[u8]>,
    last: Place,
}

/// The files that the entries of some manifests delete, by name.
#[derive(Debug, Default)]
pub struct Deleted(HashMap<Box<str>, Vec<Deletion>>);

impl Deleted {
    /// Whether an entry that adds, of the `manifest`-th manifest, is not cancelled by a later one.
    pub fn spares(&self, manifest: usize, batch: &EntryBatch, i: usize) -> bool {
        if self.0.is_empty() {
            return true;
        }
        let id = batch.identity(i);
        let deletions = self.0.get(&*String::from(id.file_name)).map(Vec::as_slice).unwrap_or_default();
        !deletions.iter().any(|d| {
            d.last > (manifest, i)
                && (d.bucket, d.level) == (id.bucket, id.level)
                && *d.partition == *id.partition
                && *d.rest == *id.rest
        })
    }

    fn note(&mut self, manifest: usize, batch: &EntryBatch) {
        for i in (0..batch.len()).filter(|i| batch.kind(*i) == FileKind::Delete) {
            let id = batch.identity(i);
            self.0.entry(id.file_name.into()).or_default().push(Deletion {
                partition: id.partition.into(),
                bucket: id.bucket,
                level: id.level,
                rest: id.rest.into(),
                last: (manifest, i),
            });
        }
    }
}

impl Manifests {
    /// What these manifests, in order, delete.
    ///
    /// # Errors
    /// `NotFound` or `Corrupt` with the path.
    pub async fn deleted(&self, manifests: &[ManifestMeta]) -> Result<Deleted> {
        let those = manifests.iter().enumerate().filter(|(_, meta)| meta.num_deleted_files > 0);
        let those: Vec<(usize, String)> = those.map(|(at, meta)| (at, meta.file_name.clone())).collect();
        let this = self.clone();
        let read = move |(at, name): (usize, String)| {
            let this = this.clone();
            async move {
                let mut deleted = Deleted::default();
                deleted.note(at, &*this.read_manifest(&name, StatsColumns::Keys).await?);
                Ok(deleted)
            }
        };
        let mut all = Deleted::default();
        for some in map(self.table().env(), those, read).await? {
            for (name, deletions) in some.0 {
                all.0.entry(name).or_default().extend(deletions);
            }
        }
        Ok(all)
    }
}
