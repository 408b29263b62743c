//! System tables: what a table's metadata says, as rows (spec: features.md B13).
//!
//! Names, order, types and text of the columns are the reference's. Rows are made when they are taken, from what is on disk
//! then; of a table of many files a few manifests are in memory at a time.

mod buckets;
mod changes;
mod columns;
mod fields;
mod file_indexes;
mod files;
mod history;
mod indexes;
mod manifests;
mod names;
mod statistics;
mod text;
mod wanted;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use futures::{StreamExt, TryStreamExt, stream};
use linn_format::predicate::Predicate;
use linn_format::types::{DataField, fields_from_arrow};
use linn_format::{BatchStream, Error, Result};

pub(crate) use buckets::partition_sums;
pub use changes::{COMMIT_TIME, ChangeLog, CommitStamp, Log, ROW_KIND, SNAPSHOT_ID};
pub(crate) use columns::{Column, rows};

use crate::table::Table;
use wanted::Wanted;

/// The rows of a system table.
#[derive(Debug, Clone)]
pub struct SystemRows {
    /// The columns, the same for every table.
    pub schema: SchemaRef,
    /// The rows.
    pub batches: Vec<RecordBatch>,
}

impl SystemRows {
    fn into_stream(self) -> BatchStream {
        stream::iter(self.batches.into_iter().map(Ok)).boxed()
    }
}

/// The system tables there are.
pub const NAMES: [&str; 19] = [
    "snapshots",
    "schemas",
    "options",
    "files",
    "file_key_ranges",
    "file_indexes",
    "partitions",
    "buckets",
    "manifests",
    "tags",
    "branches",
    "consumers",
    "aggregation_fields",
    "statistics",
    "table_indexes",
    ROW_TRACKING,
    Log::Audit.name(),
    Log::Binary.name(),
    READ_OPTIMIZED,
];

/// The read-optimised view: not made of metadata, but the table itself; see
/// [`Table::read_optimized`](crate::Table::read_optimized).
pub const READ_OPTIMIZED: &str = "ro";

/// The rows of the table itself with their ids and the numbers of their commits; read as the table is.
pub const ROW_TRACKING: &str = "row_tracking";

/// What a system table is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Snapshots,
    Schemas,
    Options,
    Files,
    FileKeyRanges,
    FileIndexes,
    Partitions,
    Buckets,
    Manifests,
    Tags,
    Branches,
    Consumers,
    AggregationFields,
    Statistics,
    TableIndexes,
}

/// A system table of a table.
#[derive(Debug, Clone)]
pub struct SystemTable {
    table: Table,
    kind: Kind,
    schema: SchemaRef,
    fields: Vec<DataField>,
}

impl SystemTable {
    /// The system table `name` of a table. Those that describe files travel in time as the table's options say. Nothing is
    /// read yet.
    ///
    /// # Errors
    /// `NotFound` for a name that is no system table, listing those there are; `Unsupported` for one that is read in another
    /// way.
    pub fn open(table: &Table, name: &str) -> Result<Self> {
        let kind = match name.to_ascii_lowercase().as_str() {
            "snapshots" => Kind::Snapshots,
            "schemas" => Kind::Schemas,
            "options" => Kind::Options,
            "files" => Kind::Files,
            "file_key_ranges" => Kind::FileKeyRanges,
            "file_indexes" => Kind::FileIndexes,
            "partitions" => Kind::Partitions,
            "buckets" => Kind::Buckets,
            "manifests" => Kind::Manifests,
            "tags" => Kind::Tags,
            "branches" => Kind::Branches,
            "consumers" => Kind::Consumers,
            "aggregation_fields" => Kind::AggregationFields,
            "statistics" => Kind::Statistics,
            "table_indexes" => Kind::TableIndexes,
            rows if Log::named(rows).is_some() || rows == ROW_TRACKING || rows == READ_OPTIMIZED => {
                // Not metadata: rows of the table, which have readers of their own.
                return Err(Error::unsupported(format!("system table {rows}")).with("table", table.name()));
            }
            _ => {
                return Err(Error::not_found(format!("no system table is called {name:?}"))
                    .with("table", table.name())
                    .with_hint(format!("the system tables are {}", NAMES.join(", "))));
            }
        };
        let schema = shape(table, kind)?;
        let fields = fields_from_arrow(&schema)?;
        Ok(Self { table: table.clone(), kind, schema, fields })
    }

    /// The columns.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The columns as those of a table, with ids for filters.
    pub fn fields(&self) -> &[DataField] {
        &self.fields
    }

    /// The rows. Some that do not match the filter may be among them.
    ///
    /// # Errors
    /// `NotFound` or `Corrupt` with the path of what could not be read.
    pub async fn stream(&self, filter: Predicate) -> Result<BatchStream> {
        let (table, wanted) = (&self.table, Wanted::new(filter, self.fields.clone()));
        Ok(match self.kind {
            Kind::Snapshots => return history::snapshots(table, wanted).await,
            Kind::Files => return files::stream(table, files::Content::All, wanted).await,
            Kind::FileKeyRanges => return files::stream(table, files::Content::Keys, wanted).await,
            Kind::FileIndexes => return files::stream(table, files::Content::Indexes, wanted).await,
            Kind::Schemas => history::schemas(table, &wanted).await?.into_stream(),
            Kind::Options => history::options(table).await?.into_stream(),
            Kind::Partitions => buckets::partitions(table).await?.into_stream(),
            Kind::Buckets => buckets::buckets(table, &wanted).await?.into_stream(),
            Kind::Manifests => manifests::manifests(table, &wanted).await?.into_stream(),
            Kind::Tags => names::tags(table, &wanted).await?.into_stream(),
            Kind::Branches => names::branches(table, &wanted).await?.into_stream(),
            Kind::Consumers => names::consumers(table, &wanted).await?.into_stream(),
            Kind::AggregationFields => fields::aggregation_fields(table).await?.into_stream(),
            Kind::Statistics => statistics::statistics(table).await?.into_stream(),
            Kind::TableIndexes => indexes::table_indexes(table).await?.into_stream(),
        })
    }
}

/// The columns of a system table: those of no rows.
fn shape(table: &Table, kind: Kind) -> Result<SchemaRef> {
    let none = match kind {
        Kind::Snapshots => history::snapshot_rows(table, &[])?,
        Kind::Files => files::rows_of(files::Content::All, &[])?,
        Kind::FileKeyRanges => files::rows_of(files::Content::Keys, &[])?,
        Kind::FileIndexes => file_indexes::rows_of(&[])?,
        Kind::Schemas => history::schema_rows(table, &[])?,
        Kind::Options => history::option_rows(&[])?,
        Kind::Partitions => buckets::partition_rows(&[])?,
        Kind::Buckets => buckets::bucket_rows(&[])?,
        Kind::Manifests => manifests::rows_of(table, &[])?,
        Kind::Tags => names::tag_rows(table, &[])?,
        Kind::Branches => names::branch_rows(table, &[])?,
        Kind::Consumers => names::consumer_rows(&[])?,
        Kind::AggregationFields => fields::rows_of(&[])?,
        Kind::Statistics => statistics::rows_of(None)?,
        Kind::TableIndexes => indexes::rows_of(table, &[])?,
    };
    Ok(none.schema)
}

/// All rows of the system table `name` of a table.
///
/// # Errors
/// As [`SystemTable::open`] and [`SystemTable::stream`].
pub async fn read(table: &Table, name: &str) -> Result<SystemRows> {
    let system = SystemTable::open(table, name)?;
    let batches = system.stream(Predicate::Constant(true)).await?.try_collect().await?;
    Ok(SystemRows { schema: system.schema, batches })
}

#[cfg(test)]
mod tests;
