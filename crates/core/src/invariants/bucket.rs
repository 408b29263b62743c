//! The files of one snapshot, bucket by bucket: levels, bucket numbers, sequence numbers, schemas.

use std::collections::{BTreeSet, HashMap};

use linn_format::options::table::compaction::PK_CLUSTERING_OVERRIDE;
use linn_format::row::BinaryRow;
use linn_format::schema::Bucketing;
use linn_format::types::DataType;
use linn_format::{Result, SchemaId, SnapshotId};

use super::live::{Facts, Key, Live};
use super::report::{Report, Rule};
use crate::commit::compare_keys;
use crate::table::Table;

type Files<'l> = Vec<(&'l Key, &'l Facts)>;

pub(super) fn check(
    table: &Table,
    live: &Live,
    schemas: &BTreeSet<SchemaId>,
    id: SnapshotId,
    report: &mut Report,
) -> Result<()> {
    let place = |key: &Key| format!("snapshot {id}, bucket {}, file {}", key.bucket, key.name);
    let mut counts: HashMap<&[u8], (i32, &Key)> = HashMap::new();
    let mut levels: HashMap<(&[u8], i32, i32), Files<'_>> = HashMap::new();
    for (key, facts) in &live.files {
        if !schemas.contains(&facts.schema) {
            report
                .fault(Rule::Schemas, place(key), format!("has schema {}, which does not exist", facts.schema))
                .until(id);
        }
        let (min, max) = facts.sequences;
        if min > max {
            report.fault(Rule::Sequence, place(key), format!("has sequence numbers from {min} to {max}")).until(id);
        }
        if facts.rows < 0 || facts.bytes < 0 || facts.deletes.is_some_and(|n| n < 0 || n > facts.rows) {
            let what =
                format!("has {} rows, {:?} of them deletions, in {} bytes", facts.rows, facts.deletes, facts.bytes);
            report.fault(Rule::Counts, place(key), what).until(id);
        }
        let total = facts.total_buckets;
        let outside = key.bucket < 0 && key.bucket != Bucketing::POSTPONED || total > 0 && key.bucket >= total;
        if outside {
            report.fault(Rule::Buckets, place(key), format!("is outside of the {total} buckets")).until(id);
        }
        if total > 0 {
            let (other, of) = *counts.entry(&key.partition).or_insert((total, key));
            if other != total {
                let what = format!("is of {total} buckets, but file {} of the partition is of {other}", of.name);
                report.fault(Rule::Buckets, place(key), what).advise("rescale the partition").until(id);
            }
        }
        if key.level > 0 {
            levels.entry((&key.partition, key.bucket, key.level)).or_default().push((key, facts));
        }
    }
    let clustered = table.options().is_on(&PK_CLUSTERING_OVERRIDE)?;
    if table.schema().primary_keys.is_empty() || clustered {
        return Ok(());
    }
    let types: Vec<DataType> =
        table.schema().trimmed_primary_keys().into_iter().map(|field| field.data_type.clone()).collect();
    for files in levels.into_values() {
        let overlaps = overlap(&files, &types);
        for (a, b) in report.read(overlaps, format!("snapshot {id}"))?.unwrap_or_default() {
            let what = format!("has keys of level {} that file {} has too", b.level, a.name);
            report.fault(Rule::Levels, place(b), what).advise("run a full compaction of the bucket").until(id);
        }
    }
    Ok(())
}

/// Pairs of files of a level whose keys overlap.
fn overlap<'l>(files: &Files<'l>, types: &[DataType]) -> Result<Vec<(&'l Key, &'l Key)>> {
    let mut ranges = Vec::with_capacity(files.len());
    for (key, facts) in files {
        let row = |bytes: &[u8]| BinaryRow::from_serialized(bytes.to_vec())?.datums(types.iter());
        ranges.push((row(&facts.min_key)?, row(&facts.max_key)?, *key));
    }
    ranges.sort_by(|a, b| compare_keys(&a.0, &b.0));
    let pairs = ranges.windows(2).filter(|pair| compare_keys(&pair[0].1, &pair[1].0).is_ge());
    Ok(pairs.map(|pair| (pair[0].2, pair[1].2)).collect())
}
