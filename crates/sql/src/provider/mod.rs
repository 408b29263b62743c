//! Tables as DataFusion sees them.

mod filter;
mod place;
mod reading;
mod scan;
mod statistics;
mod system;
mod table;

use std::sync::Arc;

use datafusion::catalog::TableProvider;
use linn::core::system::READ_OPTIMIZED;
use linn::{Catalog, Identifier, Options, Result, Table};

pub(crate) use place::{FILE, POSITION, PlacedTable, TARGET};
pub use reading::Reading;
pub(crate) use reading::readings;
pub use table::LinnTable;

/// Opens the table of a name, with options for this statement.
pub(crate) async fn open_table(
    catalog: &Arc<dyn Catalog>,
    id: &Identifier,
    options: Option<&Options>,
) -> Result<Table> {
    let table = catalog.table(id).await?;
    match options {
        Some(options) => table.with_options(options),
        None => Ok(table),
    }
}

/// Opens what a name means: a table, or a system table of one.
pub(crate) async fn open(
    catalog: &Arc<dyn Catalog>,
    id: &Identifier,
    options: Option<&Options>,
) -> Result<Arc<dyn TableProvider>> {
    let table = open_table(catalog, id, options).await?;
    match &id.system {
        Some(name) if name == READ_OPTIMIZED => Ok(Arc::new(LinnTable::open(table.read_optimized()).await?)),
        Some(name) => system::open(&table, name).await,
        None => Ok(Arc::new(LinnTable::open(table).await?)),
    }
}
