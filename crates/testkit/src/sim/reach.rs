//! All files that a snapshot needs.

use std::collections::BTreeSet;

use linn_core::Table;
use linn_core::file::{extra_file_path, place_of};
use linn_core::manifest::Manifests;
use linn_format::manifest::{FileKind, StatsColumns};
use linn_format::snapshot::Snapshot;
use linn_format::{Error, ErrorKind, Result};

/// The files of one snapshot, by what they are.
#[derive(Debug, Default, Clone)]
pub struct Files {
    /// Manifest lists, manifests, index manifests.
    pub metadata: BTreeSet<String>,
    /// Data files, what lies beside them, and index files.
    pub data: BTreeSet<String>,
    /// Whatever an entry of a manifest names, be it there or taken away: cleaning spares it.
    pub named: BTreeSet<String>,
}

impl Files {
    /// All of them.
    pub fn all(self) -> impl Iterator<Item = String> {
        self.metadata.into_iter().chain(self.data)
    }
}

/// The files of a snapshot, without those of its changelog: a tag does not keep them.
///
/// # Errors
/// `NotFound` or `Corrupt` where one of its manifests is.
pub async fn files(table: &Table, snapshot: &Snapshot) -> Result<Files> {
    let manifests = Manifests::new(table);
    let mut files = Files::default();
    let lists = [&snapshot.base_manifest_list, &snapshot.delta_manifest_list];
    files.metadata.extend(lists.into_iter().map(|name| table.manifest_path(name)));
    let all = manifests.of_snapshot(snapshot).await?;
    for meta in &all {
        files.metadata.insert(table.manifest_path(&meta.file_name));
        let batch = manifests.manifest_of(meta, StatsColumns::Keys).await?;
        for i in 0..batch.len() {
            let entry = batch.entry(i)?;
            let mut paths = vec![place_of(table, &entry.partition, entry.bucket, &entry.file)?.path];
            for name in &entry.file.extra_files {
                paths.push(extra_file_path(table, &entry.partition, entry.bucket, &entry.file, name)?);
            }
            files.named.extend(paths.iter().cloned());
            match entry.kind {
                FileKind::Add => files.data.extend(paths),
                FileKind::Delete => {
                    for path in &paths {
                        files.data.remove(path);
                    }
                }
            }
        }
    }
    if let Some(name) = &snapshot.index_manifest {
        files.metadata.insert(table.manifest_path(name));
        for line in manifests.index_of(snapshot).await? {
            files.data.insert(table.index_file_path(&line)?);
        }
    }
    Ok(files)
}

/// The files of the changelog of a snapshot, with its manifests.
///
/// # Errors
/// As [`files`].
pub async fn changelog(table: &Table, snapshot: &Snapshot) -> Result<BTreeSet<String>> {
    named_by_changelog(table, snapshot, Err).await
}

/// What is there of the changelog of a snapshot that a tag names, or that a branch begins with: it goes with the snapshot, and what
/// could not be removed then stays as long as the name.
///
/// # Errors
/// `Corrupt` where a manifest is.
pub async fn left_of_changelog(table: &Table, snapshot: &Snapshot) -> Result<BTreeSet<String>> {
    named_by_changelog(table, snapshot, |e| if e.kind() == ErrorKind::NotFound { Ok(()) } else { Err(e) }).await
}

/// The files that a changelog names, without those that manifests name for which `missing` forgives the error.
async fn named_by_changelog(
    table: &Table,
    snapshot: &Snapshot,
    missing: impl Fn(Error) -> Result<()>,
) -> Result<BTreeSet<String>> {
    let manifests = Manifests::new(table);
    let mut files = BTreeSet::new();
    let metas = match manifests.of_changelog(snapshot).await {
        Ok(metas) => metas,
        Err(e) => return missing(e).map(|()| files),
    };
    files.extend(snapshot.changelog_manifest_list.iter().map(|name| table.manifest_path(name)));
    for meta in metas {
        files.insert(table.manifest_path(&meta.file_name));
        let batch = match manifests.manifest_of(&meta, StatsColumns::Keys).await {
            Ok(batch) => batch,
            Err(e) => {
                missing(e)?;
                continue;
            }
        };
        for i in 0..batch.len() {
            let entry = batch.entry(i)?;
            files.insert(place_of(table, &entry.partition, entry.bucket, &entry.file)?.path);
        }
    }
    Ok(files)
}
