//! Tables as DataFusion sees them.

mod computed;
mod dynamic;
mod filter;
mod log;
mod maybe;
mod metrics;
mod partition;
mod place;
mod pruned;
mod reading;
mod scan;
mod statistics;
mod system;
mod table;

use std::sync::Arc;

use datafusion::catalog::TableProvider;
use linn::core::catalog::GLOBAL;
use linn::core::commit::Reads;
use linn::core::system::{Log, READ_OPTIMIZED, ROW_TRACKING};
use linn::format::options::similar_option;
use linn::{Catalog, Error, Identifier, Options, Result, Table};

pub(crate) use partition::over_rows;
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
    let Some(options) = options else { return catalog.table(id).await };
    // A statement that does not do what its hint says would give other rows without a word.
    for (key, _) in options.iter() {
        if let Some(similar) = similar_option(key) {
            let error = Error::invalid(format!("unknown option '{key}'")).with("table", id);
            return Err(error.with_hint(format!("did you mean '{similar}'?")));
        }
    }
    // A branch has schemas of its own.
    let table = match options.raw("branch") {
        Some(branch) => {
            let branch = Some(branch.to_owned()).filter(|branch| branch != "main");
            catalog.table(&Identifier { branch, ..id.clone() }).await?
        }
        None => catalog.table(id).await?,
    };
    table.with_options(options)
}

/// The table, whose reads are noted there.
pub(crate) fn noting(table: Table, reads: Option<&Reads>) -> Result<Table> {
    match reads {
        Some(reads) => table.noting(reads),
        None => Ok(table),
    }
}

/// Opens what a name means: a table, or a system table of one. What is read of it is noted.
pub(crate) async fn open(
    catalog: &Arc<dyn Catalog>,
    id: &Identifier,
    options: Option<&Options>,
    reads: Option<&Reads>,
) -> Result<Arc<dyn TableProvider>> {
    if id.database == GLOBAL && id.system.is_none() && id.branch.is_none() {
        return system::open_global(&**catalog, &id.table).await;
    }
    let table = noting(open_table(catalog, id, options).await?, reads)?;
    if let Some(log) = id.system.as_deref().and_then(Log::named) {
        return Ok(Arc::new(log::LogTable::open(log, table).await?));
    }
    match id.system.as_deref() {
        Some(READ_OPTIMIZED | "read_optimized") => Ok(Arc::new(LinnTable::open(table.read_optimized()).await?)),
        Some(ROW_TRACKING) => Ok(Arc::new(LinnTable::open_tracked(table).await?)),
        Some(name) => system::open(&table, name),
        None => Ok(Arc::new(LinnTable::open(table).await?)),
    }
}
