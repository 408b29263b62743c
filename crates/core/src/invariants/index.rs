//! The lines of an index manifest against the files of their snapshot.

use std::collections::{HashMap, HashSet};

use linn_format::Result;
use linn_format::SnapshotId;
use linn_format::manifest::{DELETION_VECTORS_INDEX, FileKind, HASH_INDEX, IndexManifestEntry};
use linn_format::schema::Bucketing;

use super::live::Live;
use super::report::{Report, Rule};
use crate::table::Table;

pub(super) fn check(
    table: &Table,
    lines: &[IndexManifestEntry],
    live: Option<&Live>,
    id: SnapshotId,
    report: &mut Report,
) -> Result<()> {
    let postponed = table.schema().bucketing()? == Bucketing::Postponed;
    let place = |line: &IndexManifestEntry| format!("snapshot {id}, index file {}", line.file_name);
    let mut files: HashMap<(&[u8], i32, &str), i64> = HashMap::new();
    for (key, facts) in live.iter().flat_map(|live| &live.files) {
        files.insert((&key.partition, key.bucket, &key.name), facts.rows);
    }
    let (mut vectors, mut hashes) = (HashSet::new(), HashSet::new());
    for line in lines {
        if line.kind != FileKind::Add {
            report
                .fault(Rule::Index, place(line), "is a removal, which the list of all index files cannot contain")
                .until(id);
        }
        let partition = line.partition.to_serialized().to_vec();
        if line.index_type == HASH_INDEX {
            if line.row_count.saturating_mul(4) != line.file_size {
                let what = format!("has {} hashes in {} bytes", line.row_count, line.file_size);
                report.fault(Rule::Index, place(line), what).until(id);
            }
            if !hashes.insert((partition.clone(), line.bucket)) {
                report.fault(Rule::Index, place(line), "is the second hash index of its bucket").until(id);
            }
        }
        for vector in line.deletion_vectors.iter().flatten().filter(|_| line.index_type == DELETION_VECTORS_INDEX) {
            let name = vector.data_file.as_str();
            if !vectors.insert((partition.clone(), line.bucket, name)) {
                report
                    .fault(Rule::Index, place(line), format!("has a second deletion vector of file {name}"))
                    .until(id);
            }
            let end = i64::from(vector.offset).saturating_add(vector.length.into());
            if vector.offset < 0 || vector.length < 0 || end > line.file_size {
                report.fault(Rule::Index, place(line), format!("ends before the vector of file {name}")).until(id);
            }
            if live.is_none() {
                continue;
            }
            match files.get(&(partition.as_slice(), line.bucket, name)) {
                None => {
                    let what = format!("has a deletion vector of file {name}, which does not exist");
                    report.fault(Rule::Index, place(line), what).until(id);
                }
                Some(rows) if vector.cardinality.is_some_and(|n| n < 0 || n > *rows) => {
                    let what = format!("deletes {:?} of the {rows} rows of file {name}", vector.cardinality);
                    report.fault(Rule::Index, place(line), what).until(id);
                }
                Some(_) => {}
            }
        }
        if line.bucket < 0 && line.global_index.is_none() && !postponed {
            report.fault(Rule::Index, place(line), format!("is of bucket {}", line.bucket)).until(id);
        }
    }
    Ok(())
}
