//! A warehouse: where tables are found by name.

use std::sync::Arc;

use linn_catalog::{DEFAULT_DATABASE, FilesystemCatalog};
use linn_core::Env;
use linn_core::catalog::{Catalog, Identifier};
use linn_format::Result;
use linn_format::options::Options;

use crate::create::TableBuilder;
use crate::table::WarehouseTable;

/// Databases and tables of one place. Cheap to clone; clones share what they have cached.
#[derive(Debug, Clone)]
pub struct Warehouse {
    catalog: Arc<dyn Catalog>,
}

impl Warehouse {
    /// Opens the warehouse at a URI: `file:/path` or a plain path, `memory:`, `s3://bucket/prefix`. The options are those of the
    /// store (see [`storage::open`](linn_core::storage::open)) and of the catalog (`table-default.…`). Nothing is read yet. Must be called
    /// within a Tokio runtime, on which the tasks of its tables run.
    ///
    /// ```
    /// # tokio::runtime::Runtime::new().unwrap().block_on(async {
    /// let warehouse = linn::Warehouse::open("memory:", linn::Options::new())?;
    /// # Ok::<(), linn::Error>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// `Invalid` for a URI or options that make no sense, and outside of a runtime; `Unsupported` for another scheme.
    pub fn open(uri: &str, options: Options) -> Result<Self> {
        let storage = linn_core::storage::open(uri, &options)?;
        Ok(Self::of(Arc::new(FilesystemCatalog::new(Env::system(storage)?, options))))
    }

    /// The warehouse of a catalog.
    pub fn of(catalog: Arc<dyn Catalog>) -> Self {
        Self { catalog }
    }

    /// The catalog, for everything that has no method here: listing, altering, dropping and renaming.
    pub fn catalog(&self) -> &Arc<dyn Catalog> {
        &self.catalog
    }

    /// Opens a table at its latest schema: `db.table`, `table` of the database `default`, or `db.table$branch_name`.
    ///
    /// # Errors
    /// `NotFound` when there is no such table, `Invalid` for text that is no name.
    pub async fn table(&self, name: &str) -> Result<WarehouseTable> {
        Ok(WarehouseTable::of(self.catalog.table(&Identifier::parse(name, DEFAULT_DATABASE)?).await?))
    }

    /// Starts to describe a new table; its database is created with it where there is none.
    pub fn create(&self, name: &str) -> TableBuilder {
        TableBuilder::new(self.clone(), name)
    }
}
