//! The catalog seam: names to tables. Implementations live in `linn-catalog`.

mod global;
mod identifier;

use std::fmt;

use async_trait::async_trait;
use linn_format::Result;
use linn_format::options::Options;
use linn_format::schema::{NewTable, SchemaChange};

pub use global::{GLOBAL, global_names, read_global};
pub use identifier::Identifier;

use crate::table::Table;

/// Databases and tables by name. Every method is atomic for one table as far as the store allows.
#[async_trait]
pub trait Catalog: Send + Sync + fmt::Debug {
    /// Names of all databases, sorted.
    async fn list_databases(&self) -> Result<Vec<String>>;

    /// Creates a database. `AlreadyExists` unless `if_not_exists`.
    async fn create_database(&self, name: &str, if_not_exists: bool) -> Result<()>;

    /// Drops a database. `NotFound` unless `if_exists`; `Invalid` when it has tables, unless `cascade`.
    async fn drop_database(&self, name: &str, if_exists: bool, cascade: bool) -> Result<()>;

    /// Names of the tables of a database, sorted. `NotFound` without such a database.
    async fn list_tables(&self, database: &str) -> Result<Vec<String>>;

    /// Opens a table at its latest schema. `NotFound` when there is none.
    async fn table(&self, id: &Identifier) -> Result<Table>;

    /// Creates a table. `AlreadyExists` unless `if_not_exists`; `Invalid` when the definition breaks a rule.
    async fn create_table(&self, id: &Identifier, definition: NewTable, if_not_exists: bool) -> Result<()>;

    /// Changes a table's schema: all changes or none.
    async fn alter_table(&self, id: &Identifier, changes: Vec<SchemaChange>) -> Result<()>;

    /// Drops a table with its files. `NotFound` unless `if_exists`. A table whose folder is gone already is dropped.
    async fn drop_table(&self, id: &Identifier, if_exists: bool) -> Result<()>;

    /// Renames a table. `NotFound`, `AlreadyExists` as one expects.
    async fn rename_table(&self, from: &Identifier, to: &Identifier) -> Result<()>;

    /// The catalog's options as given, secrets among them: what shows them masks those.
    fn options(&self) -> &Options;
}
