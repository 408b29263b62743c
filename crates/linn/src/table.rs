//! A table of a warehouse.

use linn_core::Table;
use linn_format::Result;
use linn_format::options::Options;
use linn_format::types::DataField;

use crate::read::TableRead;
use crate::tail::TableTail;
use crate::write::TableWrite;

/// A table at the schema that it had when it was opened. Cheap to clone.
#[derive(Debug, Clone)]
pub struct WarehouseTable {
    table: Table,
}

impl WarehouseTable {
    /// The same table with fewer conveniences and everything else.
    pub fn of(table: Table) -> Self {
        Self { table }
    }

    /// The table of `linn-core`.
    pub fn core(&self) -> &Table {
        &self.table
    }

    /// `db.table`.
    pub fn name(&self) -> &str {
        self.table.name()
    }

    /// The columns, in order.
    pub fn columns(&self) -> &[DataField] {
        &self.table.schema().fields
    }

    /// The same table with options that hold for this handle only, such as `scan.timestamp-millis`.
    ///
    /// # Errors
    /// `Invalid` for a value that an option cannot have, and for options that cannot change.
    pub fn with_options(&self, options: &Options) -> Result<Self> {
        Ok(Self { table: self.table.with_options(options)? })
    }

    /// Starts to describe a read.
    ///
    /// ```
    /// # use linn::{col, Options, Warehouse};
    /// # async fn run() -> linn::Result<()> {
    /// # let warehouse = Warehouse::open("memory:", Options::new())?;
    /// # let table = warehouse.create("t").column("id", "INT")?.column("day", "DATE")?.run().await?;
    /// let recent = col("day").gt_eq("2026-01-01").and(col("id").is_in([1, 2, 3]));
    /// let rows = table.read().columns(["id"]).filter(recent).limit(10).collect().await?;
    /// # assert!(rows.is_empty());
    /// # Ok(())
    /// # }
    /// # tokio::runtime::Runtime::new().unwrap().block_on(run()).unwrap();
    /// ```
    pub fn read(&self) -> TableRead {
        TableRead::new(self.table.clone())
    }

    /// Starts one commit that adds rows: to a table with a primary key the last row of a key wins, or is merged as the table's merge
    /// engine says.
    pub fn write(&self) -> TableWrite {
        TableWrite::new(self.table.clone())
    }

    /// Starts to describe a stream of the table's rows and changes.
    pub fn tail(&self) -> TableTail {
        TableTail::new(self.table.clone())
    }
}
