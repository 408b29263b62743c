//! What must hold of a table, stated once: for tests, for the simulator, and for a user's `linn check` (spec: reliability.md,
//! promises P1 to P9, as far as the state of a table shows them).
//!
//! [`check`] reads a table as any reader would and changes nothing. What it finds says which rule is broken, where, and what
//! can be done. It may run while others commit, compact and expire: what goes away under it is no finding.

mod bucket;
mod deep;
mod disk;
mod history;
mod index;
mod live;
mod metadata;
mod report;
mod side;

use linn_format::Result;

pub use report::{Finding, Report, Rule, Severity};

use crate::manifest::ManifestCache;
use crate::table::Table;

/// How much is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Depth {
    /// The metadata, and which files there are.
    #[default]
    Metadata,
    /// The rows of all files of the latest snapshot and the deletion vectors too.
    Deep,
}

/// Checks the branch of a table that its options choose. Memory grows with the files of the table, not with its rows.
///
/// # Errors
/// `Unavailable` when the store fails; everything that is wrong with the table itself is in the report.
pub async fn check(table: &Table, depth: Depth) -> Result<Report> {
    // What earlier reads have cached says nothing about what lies in the store now.
    let table = &table.with_manifest_cache(ManifestCache::default());
    let mut report = Report::default();
    let mut walk = history::Walk::new(table);
    walk.run(&mut report).await?;
    side::check(table, &mut walk, &mut report).await?;
    if depth == Depth::Deep {
        deep::check(table, &walk, &mut report).await?;
    }
    walk.forgive(&mut report).await?;
    report.arrange();
    Ok(report)
}

#[cfg(test)]
mod tests;
