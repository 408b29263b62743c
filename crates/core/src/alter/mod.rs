//! Changing the schema of a table: changes are applied to the newest schema, and refused where the rows of the table do not fit the
//! new one.

mod check;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use linn_format::schema::{SchemaChange, TableSchema, apply};
use linn_format::{Error, ErrorKind, Result, ResultExt};

use crate::schema::Schemas;
use crate::snapshot::Snapshots;
use crate::table::Table;

/// How often a change of schema is applied anew because another one came first.
const ATTEMPTS: usize = 20;

impl Schemas {
    /// Changes the table's schema; what comes back is the new one. When others change it at the same time, the changes are
    /// applied to what they made.
    ///
    /// # Errors
    /// `NotFound` where there is no table, `Invalid` for changes that its schema does not admit, `Conflict` when others kept
    /// coming first.
    pub async fn commit(&self, table: &Table, changes: &[SchemaChange]) -> Result<Arc<TableSchema>> {
        for _ in 0..ATTEMPTS {
            let Some(id) = self.list().await?.pop() else {
                return Err(Error::not_found("no table").with("path", self.dir()));
            };
            let has_snapshot = Snapshots::new(table).latest_id().await?.is_some();
            let now = table.env().clock.now_millis();
            let old = self.get(id).await?;
            let schema = apply(&old, changes, has_snapshot, now).context("table", table.name())?;
            check::check_values(table, &old, &schema).await.context("table", table.name())?;
            match self.publish(&schema).await {
                Ok(()) => return self.get(schema.id).await,
                Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
                Err(e) => return Err(e.with("table", table.name())),
            }
        }
        Err(Error::conflict("other jobs kept changing the schema").with("table", table.name()))
    }
}
