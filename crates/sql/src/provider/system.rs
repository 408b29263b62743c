//! System tables: `t$snapshots` and the like, made from metadata when the statement is planned.

use std::sync::Arc;

use datafusion::catalog::TableProvider;
use datafusion::datasource::MemTable;
use linn::{Result, Table};

use crate::error::ours;

/// Opens the system table `name` of a table.
///
/// # Errors
/// `NotFound` for a name that is no system table.
pub(super) async fn open(table: &Table, name: &str) -> Result<Arc<dyn TableProvider>> {
    let batches = linn::core::system::read(table, name).await?;
    let schema = batches.schema;
    Ok(Arc::new(MemTable::try_new(schema, vec![batches.batches]).map_err(ours)?))
}
