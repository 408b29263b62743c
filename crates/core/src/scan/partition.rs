//! The partitions that a scan would find.

use std::collections::BTreeMap;

use linn_format::Result;
use linn_format::datum::compare_rows;
use linn_format::partition::partition_path;
use linn_format::row::BinaryRow;

use super::Scan;

impl Scan {
    /// The partitions with files, as `k=v/k=v` with the escapes of paths, in the order of their values.
    ///
    /// # Errors
    /// As [`Scan::plan`].
    pub async fn partition_paths(&self) -> Result<Vec<String>> {
        let (schema, options) = (self.table.schema(), self.table.options());
        let fields = schema.partition_fields();
        if fields.is_empty() {
            return Ok(Vec::new());
        }
        let rows = self.clone().every_level().partition_rows().await?;
        let mut found = Vec::with_capacity(rows.len());
        for row in rows {
            let values = row.datums(fields.iter().map(|field| &field.data_type))?;
            let (legacy, default) = (options.legacy_partition_name()?, options.partition_default_name());
            found.push((values, partition_path(&row, &fields, legacy, default)?));
        }
        found.sort_by(|(a, _), (b, _)| compare_rows(a, b));
        Ok(found.into_iter().map(|(_, path)| path).collect())
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
