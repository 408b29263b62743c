//! A new table, described column by column.

use linn_catalog::DEFAULT_DATABASE;
use linn_core::catalog::Identifier;
use linn_format::schema::NewTable;
use linn_format::types::{DataField, DataType};
use linn_format::{Result, ResultExt};

use crate::table::WarehouseTable;
use crate::warehouse::Warehouse;

/// Describes a table that does not exist yet.
#[derive(Debug)]
pub struct TableBuilder {
    warehouse: Warehouse,
    name: String,
    if_not_exists: bool,
    table: NewTable,
}

impl TableBuilder {
    pub(crate) fn new(warehouse: Warehouse, name: &str) -> Self {
        Self { warehouse, name: name.to_owned(), if_not_exists: false, table: NewTable::default() }
    }

    /// One more column, with its SQL type: `BIGINT`, `DECIMAL(10, 2) NOT NULL`, `ARRAY<STRING>`.
    ///
    /// # Errors
    /// `Invalid` for text that is no type, with the column.
    pub fn column(mut self, name: &str, sql_type: &str) -> Result<Self> {
        let data_type = DataType::parse(sql_type).context("column", name)?;
        // Ids are assigned when the table is created.
        self.table.columns.push(DataField::new(0, name, data_type));
        Ok(self)
    }

    /// The columns of the primary key, in key order.
    #[must_use]
    pub fn primary_key<S: Into<String>>(mut self, columns: impl IntoIterator<Item = S>) -> Self {
        self.table.primary_keys = columns.into_iter().map(Into::into).collect();
        self
    }

    /// The columns that rows are partitioned by, in partition order.
    #[must_use]
    pub fn partition_by<S: Into<String>>(mut self, columns: impl IntoIterator<Item = S>) -> Self {
        self.table.partition_keys = columns.into_iter().map(Into::into).collect();
        self
    }

    /// An option of the table, such as `bucket` or `merge-engine`.
    #[must_use]
    pub fn option(mut self, key: &str, value: &str) -> Self {
        self.table.options.set(key, value);
        self
    }

    /// A table that exists already is opened as it is.
    #[must_use]
    pub fn if_not_exists(mut self) -> Self {
        self.if_not_exists = true;
        self
    }

    /// Creates the table and opens it.
    ///
    /// # Errors
    /// `AlreadyExists` unless [`if_not_exists`](Self::if_not_exists); `Invalid` when the definition breaks a rule.
    pub async fn run(self) -> Result<WarehouseTable> {
        let id = Identifier::parse(&self.name, DEFAULT_DATABASE)?;
        let catalog = self.warehouse.catalog();
        catalog.create_database(&id.database, true).await?;
        catalog.create_table(&id, self.table, self.if_not_exists).await?;
        self.warehouse.table(&self.name).await
    }
}
