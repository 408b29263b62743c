//! Files of an overwrite that do not overlap go to the highest level at once: nothing older is left to merge them with
//! (option `overwrite-upgrade`).

use std::collections::BTreeMap;

use linn_format::Result;
use linn_format::datum::Datum;
use linn_format::manifest::ManifestEntry;
use linn_format::options::table::compaction::PK_CLUSTERING_OVERRIDE;

use super::conflict::compare;
use super::overwrite::Target;
use crate::table::Table;

/// Lifts the files of every bucket of the target where that is possible.
pub(super) fn upgrade(table: &Table, target: &Target, entries: Vec<ManifestEntry>) -> Result<Vec<ManifestEntry>> {
    let schema = table.schema();
    let clustering = table.options().is_on(&PK_CLUSTERING_OVERRIDE)?;
    // A file with removals must be merged before it may be read as it is, which files of the highest level are.
    let fixed =
        |entry: &ManifestEntry| entry.file.level > 0 || entry.bucket < 0 || entry.file.delete_row_count != Some(0);
    if schema.primary_keys.is_empty() || clustering || entries.iter().any(fixed) {
        return Ok(entries);
    }
    let types: Vec<_> = schema.trimmed_primary_keys().into_iter().map(|field| &field.data_type).collect();
    let highest = i32::try_from(table.options().num_levels()?.saturating_sub(1)).unwrap_or(i32::MAX);
    let mut buckets: BTreeMap<(Vec<u8>, i32), Vec<(Vec<Option<Datum>>, Vec<Option<Datum>>, ManifestEntry)>> =
        BTreeMap::new();
    let mut upgraded = Vec::new();
    for entry in entries {
        if !target.holds(&entry.partition)? {
            upgraded.push(entry);
            continue;
        }
        let min = entry.file.min_key.datums(types.iter().copied())?;
        let max = entry.file.max_key.datums(types.iter().copied())?;
        buckets.entry((entry.partition.as_bytes().to_vec(), entry.bucket)).or_default().push((min, max, entry));
    }
    for mut files in buckets.into_values() {
        files.sort_by(|a, b| compare(&a.0, &b.0));
        let disjoint = files.windows(2).all(|pair| compare(&pair[0].1, &pair[1].0).is_lt());
        for (_, _, mut entry) in files {
            if disjoint {
                entry.file.level = highest;
            }
            upgraded.push(entry);
        }
    }
    Ok(upgraded)
}
