//! The lines of the index manifest: `table_indexes`.

use linn_format::Result;
use linn_format::manifest::{FileKind, IndexManifestEntry};

use super::SystemRows;
use super::columns::{Column, rows};
use super::text::row_text;
use crate::manifest::Manifests;
use crate::snapshot::Snapshots;
use crate::table::Table;

pub(super) async fn table_indexes(table: &Table) -> Result<SystemRows> {
    let lines = match Snapshots::new(table).travel().await? {
        Some(snapshot) => Manifests::new(table).index_of(&snapshot).await?,
        None => Vec::new(),
    };
    let lines: Vec<_> = lines.into_iter().filter(|line| line.kind == FileKind::Add).collect();
    rows_of(table, &lines)
}

pub(super) fn rows_of(table: &Table, all: &[IndexManifestEntry]) -> Result<SystemRows> {
    let fields = table.schema().partition_fields();
    let partitions = all.iter().map(|line| row_text(&line.partition, &fields)).collect::<Result<Vec<_>>>()?;
    let name = |id: i32| table.schema().fields.iter().find(|field| field.id == id).map(|field| field.name.clone());
    // All columns of the index, or nothing when the schema lacks one.
    let columns = |line: &IndexManifestEntry| {
        let global = line.global_index.as_ref()?;
        let ids = std::iter::once(global.index_field_id).chain(global.extra_field_ids.iter().flatten().copied());
        Some(ids.map(name).collect::<Option<Vec<_>>>()?.join(","))
    };
    let lengths: Vec<Option<usize>> = all.iter().map(|l| l.deletion_vectors.as_ref().map(Vec::len)).collect();
    let vectors = || all.iter().flat_map(|line| line.deletion_vectors.iter().flatten());
    let ranges = Column::lists(
        "dv_ranges",
        &lengths,
        [
            Column::text("f0", vectors().map(|v| Some(&v.data_file))).required(),
            Column::int("f1", vectors().map(|v| v.offset)),
            Column::int("f2", vectors().map(|v| v.length)),
            Column::long("_CARDINALITY", vectors().map(|v| v.cardinality)),
        ],
    )?;
    let global = || all.iter().map(|line| line.global_index.as_ref());
    rows([
        Column::text("partition", partitions.iter().map(Some)),
        Column::int("bucket", all.iter().map(|line| line.bucket)),
        Column::text("index_type", all.iter().map(|line| Some(&line.index_type))).required(),
        Column::text("file_name", all.iter().map(|line| Some(&line.file_name))).required(),
        Column::long("file_size", all.iter().map(|line| Some(line.file_size))).required(),
        Column::long("row_count", all.iter().map(|line| Some(line.row_count))).required(),
        ranges,
        Column::long("row_range_start", global().map(|global| Some(global?.row_range_start))),
        Column::long("row_range_end", global().map(|global| Some(global?.row_range_end))),
        Column::int_or_null("index_field_id", global().map(|global| Some(global?.index_field_id))),
        Column::text("index_field_name", all.iter().map(columns)),
    ])
}
