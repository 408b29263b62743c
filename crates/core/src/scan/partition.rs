//! The partitions that a scan would find.

use std::collections::BTreeSet;

use linn_format::Result;
use linn_format::partition::partition_path;

use super::Scan;

impl Scan {
    /// The partitions with files, as `k=v/k=v` with the escapes of paths, sorted.
    ///
    /// # Errors
    /// As [`Scan::plan`].
    pub async fn partition_paths(&self) -> Result<Vec<String>> {
        let (schema, options) = (self.table.schema(), self.table.options());
        let fields = schema.partition_fields();
        let plan = self.clone().every_level().plan().await?;
        let rows: BTreeSet<Vec<u8>> =
            plan.splits.iter().map(|split| split.partition.to_serialized().to_vec()).collect();
        let mut paths = BTreeSet::new();
        for row in rows {
            let row = linn_format::row::BinaryRow::from_serialized(row)?;
            paths.insert(partition_path(
                &row,
                &fields,
                options.legacy_partition_name()?,
                options.partition_default_name(),
            )?);
        }
        Ok(paths.into_iter().filter(|path| !path.is_empty()).collect())
    }
}
