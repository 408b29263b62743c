//! The partitions that a scan would find.

use std::collections::BTreeMap;

use linn_format::Result;
use linn_format::datum::compare_rows;
use linn_format::partition::partition_path;

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
        let plan = self.clone().every_level().plan().await?;
        let partitions = plan.splits.iter().map(|split| &split.partition);
        let distinct: BTreeMap<_, _> = partitions.map(|row| (row.to_serialized(), row)).collect();
        let mut found = Vec::with_capacity(distinct.len());
        for row in distinct.into_values() {
            let values = row.datums(fields.iter().map(|field| &field.data_type))?;
            let (legacy, default) = (options.legacy_partition_name()?, options.partition_default_name());
            found.push((values, partition_path(row, &fields, legacy, default)?));
        }
        found.sort_by(|(a, _), (b, _)| compare_rows(a, b));
        Ok(found.into_iter().map(|(_, path)| path).collect())
    }
}
