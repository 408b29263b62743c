//! The manifests of a snapshot: `manifests`.

use linn_format::datum::Datum;
use linn_format::manifest::ManifestMeta;
use linn_format::{Result, ResultExt};

use super::SystemRows;
use super::columns::{Column, rows};
use super::text::row_text;
use super::wanted::Wanted;
use crate::manifest::Manifests;
use crate::snapshot::Snapshots;
use crate::table::Table;

pub(super) async fn manifests(table: &Table, wanted: &Wanted) -> Result<SystemRows> {
    let mut all: Vec<ManifestMeta> = Vec::new();
    if let Some(snapshot) = Snapshots::new(table).travel().await? {
        let manifests = Manifests::new(table);
        all.extend(manifests.of_snapshot(&snapshot).await?);
        all.extend(manifests.of_changelog(&snapshot).await?);
    }
    all.retain(|manifest| wanted.may(&[("schema_id", Datum::BigInt(manifest.schema_id.0))]));
    rows_of(table, &all)
}

pub(super) fn rows_of(table: &Table, all: &[ManifestMeta]) -> Result<SystemRows> {
    let fields = table.schema().partition_fields();
    let mut partitions = Vec::with_capacity(all.len());
    for manifest in all {
        let text = |row| row_text(row, &fields).context("manifest", &manifest.file_name);
        partitions.push([text(&manifest.partition_stats.min)?, text(&manifest.partition_stats.max)?]);
    }
    rows([
        Column::text("file_name", all.iter().map(|m| Some(&m.file_name))).required(),
        Column::long("file_size", all.iter().map(|m| Some(m.file_size))).required(),
        Column::long("num_added_files", all.iter().map(|m| Some(m.num_added_files))).required(),
        Column::long("num_deleted_files", all.iter().map(|m| Some(m.num_deleted_files))).required(),
        Column::long("schema_id", all.iter().map(|m| Some(m.schema_id.0))).required(),
        Column::text("min_partition_stats", partitions.iter().map(|p| Some(&p[0]))),
        Column::text("max_partition_stats", partitions.iter().map(|p| Some(&p[1]))),
        Column::long("min_row_id", all.iter().map(|m| m.min_row_id)),
        Column::long("max_row_id", all.iter().map(|m| m.max_row_id)),
    ])
}
