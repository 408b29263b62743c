//! Where a table is put together from its parts.

use std::sync::Arc;

use linn_format::schema::TableSchema;

use crate::maintain::Upkeep;
use crate::seam::Env;
use crate::table::Table;

impl Table {
    /// A table called `name` (`db.table`, for messages) at `path`, relative to the store's root. The option `branch` of the
    /// schema chooses the branch. Its commits are followed by the upkeep that the options ask for: tags are made, and snapshots,
    /// changelogs, partitions and consumers expire.
    pub fn new(name: impl Into<String>, path: impl Into<String>, schema: TableSchema, env: Env) -> Self {
        Self::hooked(name.into(), &path.into(), schema, env, Arc::new(Upkeep))
    }
}
