//! The partitions that a scan would find.

use std::collections::BTreeMap;

use linn_format::Result;
use linn_format::datum::compare_rows;
use linn_format::row::BinaryRow;

use super::Scan;

impl Scan {
    /// The names of the partitions with files, as [`Table::partition_name`](crate::Table::partition_name) spells them, in the order
    /// of their values.
    ///
    /// # Errors
    /// As [`Scan::plan`].
    pub async fn partition_names(&self) -> Result<Vec<String>> {
        let fields = self.table.schema().partition_fields();
        if fields.is_empty() {
            return Ok(Vec::new());
        }
        let rows = self.clone().every_level().partition_rows().await?;
        let mut found = Vec::with_capacity(rows.len());
        for row in rows {
            let values = row.datums(fields.iter().map(|field| &field.data_type))?;
            found.push((values, self.table.partition_name(&row)?));
        }
        found.sort_by(|(a, _), (b, _)| compare_rows(a, b));
        Ok(found.into_iter().map(|(_, name)| name).collect())
    }

    /// The partitions with files, each once.
    ///
    /// # Errors
    /// As [`Scan::plan`].
    pub async fn partition_rows(&self) -> Result<Vec<BinaryRow>> {
        let splits = self.plan().await?.splits;
        let distinct: BTreeMap<_, _> = splits.into_iter().map(|s| (s.partition.to_serialized(), s.partition)).collect();
        Ok(distinct.into_values().collect())
    }
}
