//! Append tables: rows without a key, in files that are never merged, only made larger (spec: features.md B5, B7).
//!
//! With buckets the rows of a bucket keep the order in which they were written, by sequence number; without, all files of
//! a partition lie in bucket 0 and have no order. Invariant: compaction changes neither the rows nor that order.

mod compact;
mod delete;
mod pick;
mod vectors;
mod write;

#[cfg(test)]
mod tests;

use linn_format::{Error, Result};

pub(crate) use compact::{Bin, compact, plan, rewrite_without};
pub use delete::RowDeletion;
pub(crate) use write::{AppendWriter, Settings, delete as delete_file};

use crate::table::Table;

/// Refuses append tables whose files hold more than rows.
pub(crate) fn check(table: &Table) -> Result<()> {
    for key in ["row-tracking.enabled", "data-evolution.enabled", "clustering.incremental"] {
        if table.options().get(key).is_some_and(|value| value.trim().eq_ignore_ascii_case("true")) {
            return Err(Error::unsupported(format!("feature writing tables with {key}")).with("table", table.name()));
        }
    }
    Ok(())
}
