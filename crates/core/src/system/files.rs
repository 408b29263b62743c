//! The data files of a table: `files` with their statistics, `file_key_ranges` without, `file_indexes` with their indexes.
//! Manifests are gone through one after the other, and their rows made a batch at a time; of the files of others only those
//! that were deleted are kept in mind.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use arrow_array::RecordBatch;
use futures::{StreamExt, TryStreamExt, stream};
use linn_format::datum::Datum;
use linn_format::file::{DataFileMeta, FileSource};
use linn_format::manifest::{EntryBatch, FileKind, ManifestMeta, StatsColumns};
use linn_format::row::BinaryRow;
use linn_format::schema::TableSchema;
use linn_format::stats::{FileStats, evolve};
use linn_format::types::DataField;
use linn_format::{BatchStream, Error, Result, ResultExt, SchemaId};

use super::columns::{Column, rows};
use super::text::{key_text, map_text, row_text};
use super::wanted::Wanted;
use super::{SystemRows, file_indexes};
use crate::file::place_of;
use crate::manifest::{Deleted, Manifests};
use crate::schema::Schemas;
use crate::snapshot::Snapshots;
use crate::table::Table;

/// Files in a batch.
const CHUNK: usize = 4096;

/// Which columns a table has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    All,
    Keys,
    /// Those of `file_indexes`, which tells of the indexes of the files.
    Indexes,
}

/// What these tables say of a file.
pub(super) struct Described {
    pub(super) partition: Arc<str>,
    pub(super) bucket: i32,
    pub(super) file: DataFileMeta,
    pub(super) path: String,
    /// The file with its indexes, where these are asked for.
    pub(super) index: Option<String>,
    keys: [Option<String>; 2],
    values: Option<Values>,
}

struct Values {
    nulls: String,
    min: String,
    max: String,
}

pub(super) async fn stream(table: &Table, content: Content, wanted: Wanted) -> Result<BatchStream> {
    let Some(snapshot) = Snapshots::new(table).travel().await? else { return Ok(stream::empty().boxed()) };
    let manifests = Manifests::new(table);
    let metas = manifests.of_snapshot(&snapshot).await?;
    let reading = Arc::new(Reading {
        table: table.clone(),
        content,
        wanted,
        deleted: manifests.deleted(&metas).await?,
        schemas: Schemas::new(table),
    });
    let batches = stream::iter(metas.into_iter().enumerate()).then(move |(at, meta)| {
        let reading = Arc::clone(&reading);
        async move {
            let open = reading.open(at, &meta).await?;
            Ok::<_, Error>(stream::try_unfold((reading, open), |(reading, mut open)| async move {
                let batch = match &mut open {
                    Some(open) => reading.next(open).await?,
                    None => None,
                };
                Ok::<_, Error>(batch.map(|batch| (batch, (reading, open))))
            }))
        }
    });
    Ok(batches.try_flatten().boxed())
}

/// What is read of every manifest.
struct Reading {
    table: Table,
    content: Content,
    wanted: Wanted,
    deleted: Deleted,
    schemas: Schemas,
}

/// A manifest whose files are told, the `at`-th of the snapshot.
struct Open {
    at: usize,
    batch: Arc<EntryBatch>,
    partitions: Vec<(BinaryRow, Arc<str>)>,
    schemas: HashMap<SchemaId, Arc<TableSchema>>,
    /// The entry that is looked at next.
    entry: usize,
}

impl Reading {
    /// Opens a manifest, if any of its files may be wanted. It is read once and not kept: a table may have more than fit in
    /// memory.
    async fn open(&self, at: usize, meta: &ManifestMeta) -> Result<Option<Open>> {
        if let (Some(min), Some(max)) = (meta.min_bucket, meta.max_bucket)
            && min == max
            && !self.wanted.may(&[("bucket", Datum::Int(min))])
        {
            return Ok(None);
        }
        let stats = match self.content {
            Content::All => StatsColumns::All,
            Content::Keys | Content::Indexes => StatsColumns::Keys,
        };
        let batch = Manifests::new(&self.table).peek_manifest(meta, stats).await?;
        let fields = self.table.schema().partition_fields();
        let partitions = batch.partitions()?.into_iter().map(|row| {
            let text = row_text(&row, &fields)?;
            Ok((row, Arc::from(text)))
        });
        let partitions = partitions.collect::<Result<_>>()?;
        Ok(Some(Open { at, batch, partitions, schemas: HashMap::new(), entry: 0 }))
    }

    /// The next live files of a manifest; `None` behind the last.
    async fn next(&self, open: &mut Open) -> Result<Option<RecordBatch>> {
        let mut chunk = Vec::new();
        while open.entry < open.batch.len() && chunk.len() < CHUNK {
            let (i, batch) = (open.entry, &open.batch);
            open.entry += 1;
            let Some((row, text)) = open.partitions.get(batch.partition_id(i) as usize) else { continue };
            if batch.kind(i) != FileKind::Add || !self.takes(batch, i, text) || !self.deleted.spares(open.at, batch, i)
            {
                continue;
            }
            let schema_id = batch.schema_id(i);
            let schema = match open.schemas.get(&schema_id) {
                Some(schema) => Arc::clone(schema),
                None => Arc::clone(open.schemas.entry(schema_id).or_insert(self.schemas.get(schema_id).await?)),
            };
            chunk.push(self.describe(row, Arc::clone(text), batch.bucket(i), batch.file(i)?, &schema)?);
        }
        if chunk.is_empty() {
            return Ok(None);
        }
        Ok(self.show(&chunk).await?.batches.pop())
    }

    async fn show(&self, files: &[Described]) -> Result<SystemRows> {
        match self.content {
            Content::Indexes => file_indexes::rows_of(&file_indexes::of(&self.table, files).await?),
            content => rows_of(content, files),
        }
    }

    fn takes(&self, batch: &EntryBatch, i: usize, partition: &str) -> bool {
        self.wanted.may(&[
            ("partition", Datum::String(partition.to_owned())),
            ("bucket", Datum::Int(batch.bucket(i))),
            ("level", Datum::Int(batch.level(i))),
            ("schema_id", Datum::BigInt(batch.schema_id(i).0)),
        ])
    }

    fn describe(
        &self,
        partition: &BinaryRow,
        text: Arc<str>,
        bucket: i32,
        file: DataFileMeta,
        schema: &TableSchema,
    ) -> Result<Described> {
        let path = match &file.external_path {
            Some(path) => path.clone(),
            None => {
                let root = self.table.storage().root().trim_end_matches('/');
                format!("{root}/{}", place_of(&self.table, partition, bucket, &file)?.path)
            }
        };
        let fields = schema.trimmed_primary_keys();
        let key = |row| key_text(row, &fields).context("file", &file.file_name);
        let keys = [key(&file.min_key)?, key(&file.max_key)?];
        let values = match self.content {
            Content::All => Some(value_texts(&self.table, &file, schema).context("file", &file.file_name)?),
            Content::Keys | Content::Indexes => None,
        };
        let index = match self.content {
            Content::Indexes => file_indexes::index_path(&self.table, partition, bucket, &file)?,
            Content::All | Content::Keys => None,
        };
        Ok(Described { partition: text, bucket, file, path, index, keys, values })
    }
}

pub(super) fn rows_of(content: Content, all: &[Described]) -> Result<SystemRows> {
    let places = [
        Column::text("partition", all.iter().map(|d| Some(&d.partition))),
        Column::int("bucket", all.iter().map(|d| d.bucket)),
        Column::text("file_path", all.iter().map(|d| Some(&d.path))).required(),
        Column::text("file_format", all.iter().map(|d| d.file.file_name.rsplit('.').next())).required(),
        Column::long("schema_id", all.iter().map(|d| Some(d.file.schema_id.0))).required(),
        Column::int("level", all.iter().map(|d| d.file.level)),
        Column::long("record_count", all.iter().map(|d| Some(d.file.row_count))).required(),
        Column::long("file_size_in_bytes", all.iter().map(|d| Some(d.file.file_size))).required(),
        Column::text("min_key", all.iter().map(|d| d.keys[0].as_ref())),
        Column::text("max_key", all.iter().map(|d| d.keys[1].as_ref())),
    ];
    if content == Content::Keys {
        let own = Column::long("first_row_id", all.iter().map(|d| d.file.first_row_id));
        return rows(places.into_iter().chain([own]));
    }
    let text = |of: fn(&Values) -> &String| all.iter().map(move |d| d.values.as_ref().map(of));
    let own = [
        Column::text("null_value_counts", text(|v| &v.nulls)).required(),
        Column::text("min_value_stats", text(|v| &v.min)).required(),
        Column::text("max_value_stats", text(|v| &v.max)).required(),
        Column::long("min_sequence_number", all.iter().map(|d| Some(d.file.min_sequence_number))),
        Column::long("max_sequence_number", all.iter().map(|d| Some(d.file.max_sequence_number))),
        Column::time("creation_time", all.iter().map(|d| d.file.creation_time)),
        Column::long("deleteRowCount", all.iter().map(|d| d.file.delete_row_count)),
        Column::text("file_source", all.iter().map(|d| d.file.file_source.map(source))),
        Column::long("first_row_id", all.iter().map(|d| d.file.first_row_id)),
        Column::texts("write_cols", all.iter().map(|d| d.file.write_cols.as_deref())),
    ];
    rows(places.into_iter().chain(own))
}

fn source(source: FileSource) -> &'static str {
    match source {
        FileSource::Append => "APPEND",
        FileSource::Compact => "COMPACT",
    }
}

/// Statistics of the table's columns, seen through its current schema.
fn value_texts(table: &Table, file: &DataFileMeta, schema: &TableSchema) -> Result<Values> {
    let written: Vec<DataField> = match &file.write_cols {
        Some(columns) => schema.fields.iter().filter(|f| columns.contains(&f.name)).cloned().collect(),
        None => schema.fields.clone(),
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
