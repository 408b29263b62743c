//! What a query would read of the files of its tables.

use datafusion::physical_plan::ExecutionPlan;
use linn::Split;

use super::scan::ScanExec;

/// What a query would read of one table, as its plan says.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reading {
    /// The table as `db.table`.
    pub table: String,
    /// Data files.
    pub files: usize,
    /// Bytes of these files.
    pub bytes: i64,
    /// Rows of these files, before they are merged and filtered.
    pub rows: i64,
    /// Splits that the files are dealt to.
    pub splits: usize,
    /// Splits whose files overlap and have to be merged.
    pub merged: usize,
}

impl Reading {
    pub(super) fn of<'s>(table: &str, splits: impl Iterator<Item = &'s Split>) -> Self {
        let nothing = Self { table: table.to_owned(), files: 0, bytes: 0, rows: 0, splits: 0, merged: 0 };
        splits.fold(nothing, |mut all, split| {
            all.files += split.files.len();
            all.bytes = all.bytes.saturating_add(split.files.bytes());
            all.rows = all.rows.saturating_add(split.row_count());
            all.splits += 1;
            all.merged += usize::from(!split.raw_convertible);
            all
        })
    }
}

/// The readings of a plan, one for each scan of a table, in the order of the plan.
pub(crate) fn readings(plan: &dyn ExecutionPlan) -> Vec<Reading> {
    let mut found: Vec<Reading> = plan.downcast_ref::<ScanExec>().map(ScanExec::reading).into_iter().collect();
    for child in plan.children() {
        found.extend(readings(child.as_ref()));
    }
    found
}
