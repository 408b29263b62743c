//! The data files of a table: `files` with their statistics, `file_key_ranges` without.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use linn_format::file::{DataFileMeta, FileSource};
use linn_format::manifest::StatsColumns;
use linn_format::schema::TableSchema;
use linn_format::stats::{FileStats, evolve};
use linn_format::types::DataField;
use linn_format::{Result, ResultExt, SchemaId};

use super::SystemRows;
use super::columns::{Column, rows};
use super::live::{LiveBucket, live_buckets};
use super::text::{key_text, map_text};
use crate::file::place_of;
use crate::schema::Schemas;
use crate::table::Table;

/// What both tables say of a file.
struct Described<'a> {
    bucket: &'a LiveBucket,
    file: &'a DataFileMeta,
    path: String,
    format: &'a str,
    keys: [Option<String>; 2],
}

struct Values {
    nulls: String,
    min: String,
    max: String,
}

pub(super) async fn files(table: &Table) -> Result<SystemRows> {
    let buckets = live_buckets(table, StatsColumns::All).await?;
    let schemas = schemas_of(table, &buckets).await?;
    let all = describe(table, &buckets, &schemas)?;
    let mut values = Vec::with_capacity(all.len());
    for described in &all {
        values.push(value_texts(table, described.file, &schemas).context("file", &described.file.file_name)?);
    }
    let own = [
        Column::text("null_value_counts", values.iter().map(|v| Some(&v.nulls))).required(),
        Column::text("min_value_stats", values.iter().map(|v| Some(&v.min))).required(),
        Column::text("max_value_stats", values.iter().map(|v| Some(&v.max))).required(),
        Column::long("min_sequence_number", all.iter().map(|d| Some(d.file.min_sequence_number))),
        Column::long("max_sequence_number", all.iter().map(|d| Some(d.file.max_sequence_number))),
        Column::time("creation_time", all.iter().map(|d| d.file.creation_time)),
        Column::long("deleteRowCount", all.iter().map(|d| d.file.delete_row_count)),
        Column::text("file_source", all.iter().map(|d| d.file.file_source.map(source))),
        Column::long("first_row_id", all.iter().map(|d| d.file.first_row_id)),
        Column::texts("write_cols", all.iter().map(|d| d.file.write_cols.as_deref())),
    ];
    rows(places(&all).into_iter().chain(own))
}

pub(super) async fn key_ranges(table: &Table) -> Result<SystemRows> {
    let buckets = live_buckets(table, StatsColumns::Keys).await?;
    let schemas = schemas_of(table, &buckets).await?;
    let all = describe(table, &buckets, &schemas)?;
    let own = Column::long("first_row_id", all.iter().map(|d| d.file.first_row_id));
    rows(places(&all).into_iter().chain([own]))
}

/// The columns that both tables begin with.
fn places(all: &[Described<'_>]) -> [Column; 10] {
    [
        Column::text("partition", all.iter().map(|d| Some(&d.bucket.partition_text))),
        Column::int("bucket", all.iter().map(|d| d.bucket.bucket)),
        Column::text("file_path", all.iter().map(|d| Some(&d.path))).required(),
        Column::text("file_format", all.iter().map(|d| Some(d.format))).required(),
        Column::long("schema_id", all.iter().map(|d| Some(d.file.schema_id.0))).required(),
        Column::int("level", all.iter().map(|d| d.file.level)),
        Column::long("record_count", all.iter().map(|d| Some(d.file.row_count))).required(),
        Column::long("file_size_in_bytes", all.iter().map(|d| Some(d.file.file_size))).required(),
        Column::text("min_key", all.iter().map(|d| d.keys[0].as_ref())),
        Column::text("max_key", all.iter().map(|d| d.keys[1].as_ref())),
    ]
}

fn source(source: FileSource) -> &'static str {
    match source {
        FileSource::Append => "APPEND",
        FileSource::Compact => "COMPACT",
    }
}

async fn schemas_of(table: &Table, buckets: &[LiveBucket]) -> Result<HashMap<SchemaId, Arc<TableSchema>>> {
    let known = Schemas::new(table);
    let mut schemas = HashMap::new();
    for file in buckets.iter().flat_map(|bucket| &bucket.files) {
        if let std::collections::hash_map::Entry::Vacant(e) = schemas.entry(file.schema_id) {
            e.insert(known.get(file.schema_id).await?);
        }
    }
    Ok(schemas)
}

fn describe<'a>(
    table: &Table,
    buckets: &'a [LiveBucket],
    schemas: &HashMap<SchemaId, Arc<TableSchema>>,
) -> Result<Vec<Described<'a>>> {
    let root = table.storage().root().trim_end_matches('/');
    let mut all = Vec::new();
    for bucket in buckets {
        for file in &bucket.files {
            let path = match &file.external_path {
                Some(path) => path.clone(),
                None => format!("{root}/{}", place_of(table, &bucket.partition, bucket.bucket, file)?.path),
            };
            let fields = schemas.get(&file.schema_id).map(|s| s.trimmed_primary_keys()).unwrap_or_default();
            let key = |row| key_text(row, &fields).context("file", &file.file_name);
            all.push(Described {
                bucket,
                file,
                path,
                format: file.file_name.rsplit('.').next().unwrap_or_default(),
                keys: [key(&file.min_key)?, key(&file.max_key)?],
            });
        }
    }
    Ok(all)
}

/// Statistics of the table's columns, seen through its current schema.
fn value_texts(table: &Table, file: &DataFileMeta, schemas: &HashMap<SchemaId, Arc<TableSchema>>) -> Result<Values> {
    let written: Vec<DataField> = match schemas.get(&file.schema_id) {
        Some(schema) => match &file.write_cols {
            Some(columns) => schema.fields.iter().filter(|f| columns.contains(&f.name)).cloned().collect(),
            None => schema.fields.clone(),
        },
        None => Vec::new(),
    };
    let stats = FileStats {
        stats: &file.value_stats,
        fields: &written,
        columns: file.value_stats_cols.as_deref(),
        row_count: file.row_count,
    };
    let (mut nulls, mut min, mut max) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    for field in &table.schema().fields {
        let range = evolve(stats, field).context("column", &field.name)?;
        nulls.insert(field.name.as_str(), range.null_count);
        min.insert(field.name.as_str(), range.min);
        max.insert(field.name.as_str(), range.max);
    }
    Ok(Values { nulls: map_text(&nulls), min: map_text(&min), max: map_text(&max) })
}
