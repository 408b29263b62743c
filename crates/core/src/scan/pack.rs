//! Files of one bucket into splits of about the target size.
//!
//! A split of an append table is consecutive files in sequence order. Of a primary-key table it is whole sections, so
//! that all records of a key are in one split; where no two files share a visible key, any consecutive files.

use std::collections::HashSet;
use std::sync::Arc;

use linn_format::Result;
use linn_format::file::DataFileMeta;
use linn_format::options::MergeEngine;

use super::files::Entry;
use super::group::{Named, place};
use crate::file::row_groups;
use crate::manifest::LiveFiles;
use crate::merge::{KeyOrder, Section, sections};
use crate::table::Table;

/// Files of one split, and whether they can be read without merging.
pub(super) type Group = (Vec<Arc<DataFileMeta>>, bool);

/// How a table's files are packed.
#[derive(Debug)]
pub(super) struct Packing {
    target: u64,
    open_cost: u64,
    keys: Option<KeyOrder>,
    /// Files may hold different columns of the same rows.
    evolves: bool,
    /// No two visible files above level 0 share a key: deletion vectors, or the first-row engine.
    unmerged: bool,
    /// Merged rows have values that no file has.
    combines: bool,
}

impl Packing {
    pub(super) fn new(table: &Table) -> Result<Self> {
        let options = table.options();
        let engine = options.merge_engine()?;
        let vectors = options.deletion_vectors_enabled()?;
        let is_pk = table.schema().is_primary_key_table();
        Ok(Self {
            target: options.split_target_size()?,
            open_cost: options.split_open_file_cost()?,
            keys: is_pk.then(|| KeyOrder::of(table.schema())),
            evolves: table.data_evolves()?,
            unmerged: vectors || engine == MergeEngine::FirstRow,
            // With deletion vectors level 0 may be merged in as well.
            combines: matches!(engine, MergeEngine::PartialUpdate | MergeEngine::Aggregate),
        })
    }

    /// Packs the entries of a bucket whose files need no merge and can be told apart without making them; `None` for others,
    /// which [`pack`](Self::pack) is for. All of it can be read as it is.
    pub(super) fn pack_named(&self, files: &LiveFiles, bucket: &Named) -> Option<Vec<Vec<Entry>>> {
        if self.evolves {
            return None;
        }
        let at = |entry: Entry| place(files, entry);
        let mut entries = bucket.entries.clone();
        if self.keys.is_none() {
            entries.sort_by_key(|entry| at(*entry).map(|(batch, i)| batch.min_sequence_number(i)));
        } else {
            let mut levels = HashSet::new();
            for (batch, i) in entries.iter().filter_map(|entry| at(*entry)) {
                if batch.level(i) == 0 || batch.delete_row_count(i).is_some_and(|n| n > 0) {
                    return None;
                }
                levels.insert(batch.level(i));
            }
            if !self.unmerged && levels.len() != 1 {
                return None;
            }
            entries.retain(|entry| !bucket.ruled_out.contains(entry));
        }
        Some(self.bins(entries, |entry| at(*entry).map_or(0, |(batch, i)| bytes(batch.file_size(i)))))
    }

    /// Packs the files of a bucket. `has_values` judges a file by its values; it is asked only where leaving the file
    /// out cannot change the merged rows.
    pub(super) fn pack(
        &self,
        mut files: Vec<Arc<DataFileMeta>>,
        has_values: impl Fn(&DataFileMeta) -> bool,
    ) -> Result<Vec<Group>> {
        let Some(keys) = &self.keys else {
            if self.evolves {
                return Ok(self.row_groups(&files));
            }
            files.sort_by_key(|f| f.min_sequence_number);
            return Ok(self.bins(files, |f| size(f)).into_iter().map(|bin| (bin, true)).collect());
        };
        let raw = files.iter().all(|f| f.level != 0 && without_deletes(f));
        let one_level = files.iter().map(|f| f.level).collect::<HashSet<_>>().len() == 1;
        if raw && (self.unmerged || one_level) {
            files.retain(|f| has_values(f));
            return Ok(self.bins(files, |f| size(f)).into_iter().map(|bin| (bin, true)).collect());
        }
        let mut sections = sections(&files, keys)?;
        sections.retain_mut(|section| self.narrow(section, &has_values));
        let sections: Vec<Vec<_>> = sections.iter().map(|s| s.files().cloned().collect()).collect();
        let bins = self.bins(sections, |section| section.iter().map(|f| size(f)).sum());
        let group = |bin: Vec<Vec<_>>| {
            let files: Vec<Arc<DataFileMeta>> = bin.into_iter().flatten().collect();
            let raw = files.len() == 1 && files.iter().all(|f| without_deletes(f));
            (files, raw)
        };
        Ok(bins.into_iter().map(group).collect())
    }

    /// Consecutive files, in the order in which they are.
    pub(super) fn in_order(&self, files: Vec<Arc<DataFileMeta>>) -> Vec<Vec<Arc<DataFileMeta>>> {
        self.bins(files, |f| size(f))
    }

    /// Files that hold the same rows stay together. Only files of all columns, alone, tell of their rows by themselves.
    fn row_groups(&self, files: &[Arc<DataFileMeta>]) -> Vec<Group> {
        let bins = self.bins(row_groups(files), |group| group.iter().map(|f| size(f)).sum());
        let group = |bin: Vec<Vec<_>>| {
            let whole = bin
                .iter()
                .all(|group: &Vec<Arc<DataFileMeta>>| matches!(group.as_slice(), [file] if file.write_cols.is_none()));
            (bin.into_iter().flatten().collect(), whole)
        };
        bins.into_iter().map(group).collect()
    }

    /// Leaves out what the values rule out; whether anything is left. In one run no two records share a key; in several
    /// the section goes as a whole or not at all, unless merging makes values of its own.
    fn narrow(&self, section: &mut Section, has_values: impl Fn(&DataFileMeta) -> bool) -> bool {
        if let [run] = section.runs.as_mut_slice() {
            run.retain(|f| has_values(f));
            return !run.is_empty();
        }
        self.combines || section.files().any(|f| has_values(f))
    }

    /// Consecutive items together until one more would exceed the target; every item weighs at least the cost of opening.
    fn bins<T>(&self, items: Vec<T>, weigh: impl Fn(&T) -> u64) -> Vec<Vec<T>> {
        let mut bins: Vec<Vec<T>> = Vec::new();
        let mut weight = 0u64;
        for item in items {
            let more = weigh(&item).max(self.open_cost);
            match bins.last_mut() {
                Some(bin) if weight.saturating_add(more) <= self.target => bin.push(item),
                _ => {
                    bins.push(vec![item]);
                    weight = 0;
                }
            }
            weight = weight.saturating_add(more);
        }
        bins
    }
}

fn size(file: &DataFileMeta) -> u64 {
    bytes(file.file_size)
}

fn bytes(size: i64) -> u64 {
    u64::try_from(size).unwrap_or(0)
}

/// Old writers did not count retractions; their files above level 0 have none.
fn without_deletes(file: &DataFileMeta) -> bool {
    file.delete_row_count.is_none_or(|n| n == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_hold_consecutive_items() {
        let packing =
            Packing { target: 10, open_cost: 2, keys: None, evolves: false, unmerged: false, combines: false };
        let check = |items: &[u64], want: &[&[u64]]| assert_eq!(packing.bins(items.to_vec(), |i| *i), want);
        check(&[], &[]);
        check(&[1, 1, 1, 1, 1, 1], &[&[1, 1, 1, 1, 1], &[1]]);
        check(&[4, 4, 4], &[&[4, 4], &[4]]);
        check(&[20, 1, 9], &[&[20], &[1], &[9]]);
    }
}
