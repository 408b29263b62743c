//! Table schemas: JSON on disk, changes and their rules (spec: format.md C.3; features.md B10).
//!
//! A schema file never changes; a change of the table makes the next one. Field ids are never used twice.

mod access;
mod apply;
mod bucketing;
mod change;
mod column;
mod create;
mod default;
mod json;
mod layout;
mod option;
mod rename;
#[cfg(test)]
mod tests;
mod validate;
mod writable;

pub use apply::apply;
pub use bucketing::Bucketing;
pub use change::{Position, SchemaChange};
pub use create::NewTable;
pub use validate::validate;

use crate::SchemaId;
use crate::options::Options;
use crate::types::DataField;

/// Version of the JSON layout that is written.
pub const SCHEMA_VERSION: i32 = 3;

/// One version of a table's schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableSchema {
    /// Version of the JSON layout; 3 is written.
    pub version: i32,
    /// Number of this schema.
    pub id: SchemaId,
    /// Columns in order.
    pub fields: Vec<DataField>,
    /// Largest field id ever used in this table; it only grows.
    pub highest_field_id: i32,
    /// Names of the partition columns, in partition order.
    pub partition_keys: Vec<String>,
    /// Names of the primary key columns; empty for append tables.
    pub primary_keys: Vec<String>,
    /// Table options; unknown keys are kept.
    pub options: Options,
    /// Comment of the table.
    pub comment: Option<String>,
    /// When it was made, milliseconds since the epoch.
    pub time_millis: i64,
}
