//! One filter seen from the places where it prunes: partitions, keys, values.

use std::sync::Arc;

use linn_format::Result;
use linn_format::manifest::{EntryBatch, ManifestMeta};
use linn_format::predicate::Predicate;
use linn_format::schema::TableSchema;
use linn_format::stats::{ColumnRange, FileStats, evolve};
use linn_format::types::DataField;

use super::prune::PartitionFilter;
use crate::table::Table;

/// The parts of a filter; each is `Constant(true)` where the filter says nothing.
#[derive(Debug)]
pub(super) struct Filters {
    /// Over partition columns.
    pub(super) partition: Predicate,
    /// Over the trimmed primary key.
    pub(super) key: Predicate,
    /// Over all columns; `None` when it has nothing beyond the partition.
    pub(super) value: Option<Predicate>,
    /// Which partitions are asked for.
    pub(super) partitions: PartitionFilter,
    pub(super) partition_fields: Vec<DataField>,
    pub(super) key_fields: Vec<DataField>,
    /// Fields of the table's schema.
    pub(super) fields: Vec<DataField>,
}

impl Filters {
    pub(super) fn new(table: &Table, filter: &Predicate, partitions: PartitionFilter) -> Self {
        let schema = table.schema();
        let cloned = |fields: Vec<&DataField>| fields.into_iter().cloned().collect::<Vec<_>>();
        let partition_fields = cloned(schema.partition_fields());
        let key_fields = cloned(schema.trimmed_primary_keys());
        let among = |fields: &[DataField], id: i32| fields.iter().any(|f| f.id == id);
        let (_, rest) = filter.clone().split(|id| among(&partition_fields, id));
        Self {
            partition: filter.project(|id| among(&partition_fields, id)),
            key: filter.project(|id| among(&key_fields, id)),
            value: (rest != Predicate::Constant(true)).then(|| filter.clone()),
            partitions,
            partition_fields,
            key_fields,
            fields: schema.fields.clone(),
        }
    }

    /// Whether a manifest may have entries of the partitions asked for.
    pub(super) fn may_have(&self, meta: &ManifestMeta) -> Result<bool> {
        if self.partition == Predicate::Constant(true) {
            return Ok(true);
        }
        let rows = meta.num_added_files.saturating_add(meta.num_deleted_files);
        let stats =
            FileStats { stats: &meta.partition_stats, fields: &self.partition_fields, columns: None, row_count: rows };
        may_match(&self.partition, &self.partition_fields, stats)
    }

    /// Whether a file may have keys that are asked for. Key columns never change their type.
    pub(super) fn has_keys(&self, batch: &EntryBatch, i: usize) -> Result<bool> {
        if self.key == Predicate::Constant(true) {
            return Ok(true);
        }
        let stats = batch.key_stats(i)?;
        let stats = FileStats { stats: &stats, fields: &self.key_fields, columns: None, row_count: batch.row_count(i) };
        may_match(&self.key, &self.key_fields, stats)
    }

    /// Whether a file may have rows that are asked for, from the statistics of its columns.
    pub(super) fn has_values(&self, batch: &EntryBatch, i: usize, schema: &Arc<TableSchema>) -> Result<bool> {
        let Some(filter) = &self.value else { return Ok(true) };
        let stats = batch.value_stats(i)?;
        let columns = batch.value_stats_cols(i)?;
        let row_count = batch.row_count(i);
        let stats = FileStats { stats: &stats, fields: &schema.fields, columns: columns.as_deref(), row_count };
        may_match(filter, &self.fields, stats)
    }
}

/// Whether rows of these statistics may satisfy a filter over `fields`. Statistics that cannot be read say nothing: a
/// file is never lost by them.
fn may_match(filter: &Predicate, fields: &[DataField], stats: FileStats<'_>) -> Result<bool> {
    Ok(filter.may_match(|id| {
        let field = fields.iter().find(|f| f.id == id);
        field.and_then(|f| evolve(stats, f).ok()).unwrap_or_else(ColumnRange::unknown)
    }))
}
