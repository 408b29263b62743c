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

use linn_format::options::table::compaction::CLUSTERING_INCREMENTAL;
use linn_format::options::table::general::{DATA_EVOLUTION_ENABLED, ROW_TRACKING_ENABLED};
use linn_format::{Error, Result};

pub(crate) use compact::{Bin, compact, plan, rewrite_without};
pub use delete::RowDeletion;
pub(crate) use write::{AppendWriter, Settings, delete as delete_file};

use crate::table::Table;

/// Refuses append tables whose files hold more than rows.
pub(crate) fn check(table: &Table) -> Result<()> {
    for feature in [&ROW_TRACKING_ENABLED, &DATA_EVOLUTION_ENABLED, &CLUSTERING_INCREMENTAL] {
        if table.options().is_on(feature)? {
            let error = Error::unsupported(format!("writing tables with {}", feature.key));
            return Err(error.with("table", table.name()));
        }
    }
    Ok(())
}
