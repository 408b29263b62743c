//! Statistics in the form that manifests store.

use super::{ColumnStats, SimpleStats};
use crate::row::BinaryRow;
use crate::types::{DataField, DataType};
use crate::{Error, Result};

impl SimpleStats {
    /// No columns.
    pub fn empty() -> Self {
        Self { min: BinaryRow::empty(), max: BinaryRow::empty(), null_counts: Vec::new() }
    }

    /// Statistics of all columns; what is unknown is null.
    ///
    /// # Errors
    /// `Invalid` when a value is not of its column's type.
    pub fn full<'a>(columns: &[ColumnStats], types: impl IntoIterator<Item = &'a DataType>) -> Result<Self> {
        let types: Vec<_> = types.into_iter().collect();
        if types.len() != columns.len() {
            return Err(Error::invalid(format!("statistics of {} columns for {}", columns.len(), types.len())));
        }
        let row = |value: fn(&ColumnStats) -> &Option<_>| {
            let values = columns.iter().zip(&types).map(|(c, t)| (value(c).clone(), *t));
            BinaryRow::from_datums(&values.collect::<Vec<_>>())
        };
        let null_counts = columns.iter().map(|c| c.null_count).collect();
        Ok(Self { min: row(|c| &c.min)?, max: row(|c| &c.max)?, null_counts })
    }

    /// Statistics of those columns of which anything is known, and their names; no names when that is all of them.
    ///
    /// The names go to `_VALUE_STATS_COLS` (`metadata.stats-dense-store`).
    ///
    /// # Errors
    /// As [`full`](Self::full).
    pub fn dense(columns: &[ColumnStats], fields: &[DataField]) -> Result<(Self, Option<Vec<String>>)> {
        if fields.len() != columns.len() {
            return Err(Error::invalid(format!("statistics of {} columns for {}", columns.len(), fields.len())));
        }
        let known = columns.iter().zip(fields).filter(|(c, _)| !c.is_none());
        let (kept, of): (Vec<_>, Vec<_>) = known.map(|(c, f)| (c.clone(), f)).unzip();
        let stats = Self::full(&kept, of.iter().map(|f| &f.data_type))?;
        let names = (of.len() < fields.len()).then(|| of.iter().map(|f| f.name.clone()).collect());
        Ok((stats, names))
    }
}
