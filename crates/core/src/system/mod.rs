//! System tables: what a table's metadata says, as rows (spec: features.md B13).
//!
//! Names, order, types and text of the columns are the reference's. Rows are made when asked for, from what is on disk then.

mod columns;
mod files;
mod history;
mod live;
mod manifests;
mod partitions;
mod text;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use linn_format::{Error, Result};

use crate::table::Table;

/// The rows of a system table.
#[derive(Debug, Clone)]
pub struct SystemRows {
    /// The columns, the same for every table.
    pub schema: SchemaRef,
    /// The rows.
    pub batches: Vec<RecordBatch>,
}

/// The system tables there are.
pub const NAMES: [&str; 9] =
    ["snapshots", "schemas", "options", "files", "file_key_ranges", "partitions", "buckets", "manifests", "tags"];

/// The read-optimised view: not made of metadata, but the table itself; see
/// [`Table::read_optimized`](crate::Table::read_optimized).
pub const READ_OPTIMIZED: &str = "ro";

/// Those of the format that are not built yet.
const WAITING: [&str; 8] = [
    "audit_log",
    "binlog",
    "branches",
    "consumers",
    "aggregation_fields",
    "statistics",
    "table_indexes",
    "row_tracking",
];

/// The rows of the system table `name` of a table. Those that describe files travel in time as the table's options say.
///
/// # Errors
/// `NotFound` for a name that is no system table, listing those there are; `Unsupported` for one that is not built yet;
/// `NotFound` or `Corrupt` with the path of what could not be read.
pub async fn read(table: &Table, name: &str) -> Result<SystemRows> {
    match name {
        "snapshots" => history::snapshots(table).await,
        "schemas" => history::schemas(table).await,
        "options" => history::options(table).await,
        "tags" => history::tags(table).await,
        "files" => files::files(table).await,
        "file_key_ranges" => files::key_ranges(table).await,
        "partitions" => partitions::partitions(table).await,
        "buckets" => partitions::buckets(table).await,
        "manifests" => manifests::manifests(table).await,
        waiting if WAITING.contains(&waiting) => {
            Err(Error::unsupported(format!("feature system table {waiting}")).with("table", table.name()))
        }
        other => Err(Error::not_found(format!("no system table is called {other:?}"))
            .with("table", table.name())
            .with_hint(format!("the system tables are {}", NAMES.join(", ")))),
    }
}

#[cfg(test)]
mod tests;
