//! What the snapshots of a table did, one line each: for who looks for the reason of a violation.

use std::fmt::Write as _;

use linn_core::manifest::Manifests;
use linn_core::{Snapshots, Table};
use linn_format::Result;
use linn_format::manifest::{FileKind, ManifestMeta, StatsColumns};

/// The snapshots that are there, with the files that each added and took away, their levels and rows.
///
/// # Errors
/// What reading them yields.
pub async fn tell(table: &Table) -> Result<Vec<String>> {
    let (snapshots, manifests) = (Snapshots::new(table), Manifests::new(table));
    let mut lines = Vec::new();
    for id in snapshots.list().await? {
        let snapshot = snapshots.get(id).await?;
        let mut line =
            format!("{id} {:?} by {} {}:", snapshot.commit_kind, snapshot.commit_user, snapshot.commit_identifier);
        line.push_str(&files(&manifests, manifests.of_delta(&snapshot).await?).await?);
        let changelog = files(&manifests, manifests.of_changelog(&snapshot).await?).await?;
        if !changelog.is_empty() {
            let _ = write!(line, " | told:{changelog}");
        }
        if let Some(index) = &snapshot.index_manifest {
            let _ = write!(line, " | index {index}");
        }
        lines.push(line);
    }
    Ok(lines)
}

async fn files(manifests: &Manifests, metas: Vec<ManifestMeta>) -> Result<String> {
    let mut text = String::new();
    for meta in metas {
        let batch = manifests.manifest_of(&meta, StatsColumns::Keys).await?;
        for i in 0..batch.len() {
            let entry = batch.entry(i)?;
            let sign = if entry.kind == FileKind::Add { '+' } else { '-' };
            let p = entry.partition.to_serialized().get(12..16).map_or(0, |bytes| bytes[0]);
            let (name, level, rows) = (&entry.file.file_name, entry.file.level, entry.file.row_count);
            let name: String = name.split('-').take(2).collect::<Vec<_>>().join("-");
            let _ = write!(text, " {sign}p{p}/b{} {name} L{level} {rows} rows", entry.bucket);
        }
    }
    Ok(text)
}
