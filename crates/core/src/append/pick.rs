//! Which files of an append table to put together (spec: features.md B5). Pure: files in, choices out.

use std::sync::Arc;

use linn_format::Result;
use linn_format::file::DataFileMeta;
use linn_format::options::Options;

/// Files of a bucket that a full compaction takes at the least.
const FULL_MIN_FILES: usize = 3;

type Files = Vec<Arc<DataFileMeta>>;

/// The options that decide picks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Policy {
    /// Size of a file that is large enough twice over.
    pub(super) target: u64,
    /// Files below this size are small.
    pub(super) small: u64,
    /// What opening a file costs, in bytes.
    pub(super) open_cost: u64,
    /// Small files that are worth a compaction whatever their size.
    pub(super) min_files: usize,
    /// Share of deleted rows above which a file is worth a compaction by itself.
    pub(super) delete_ratio: f64,
}

impl Policy {
    pub(super) fn of(options: &Options) -> Result<Self> {
        Ok(Self {
            target: options.target_file_size(false)?,
            small: options.small_file_size(false)?,
            open_cost: options.split_open_file_cost()?,
            min_files: options.compaction_min_files()?,
            delete_ratio: options.delete_ratio_threshold()?,
        })
    }

    /// Files without order: small ones by size, until there are two targets' worth or, at the end, enough of them. A full
    /// compaction leaves no two small files. `deleted` tells how many rows of a file are deleted, `None` when it has no
    /// deletion vector: those with one are put together among themselves and need not be many; large ones must have lost
    /// enough rows, or, in a full compaction, any.
    pub(super) fn unaware(
        &self,
        files: Files,
        full: bool,
        deleted: impl Fn(&DataFileMeta) -> Option<i64>,
    ) -> Vec<Files> {
        let (marked, plain): (Files, Files) = files.into_iter().partition(|file| deleted(file).is_some());
        let worth = |file: &Arc<DataFileMeta>| {
            full || size(file) < self.small || deleted(file).is_some_and(|rows| self.is_hollow(file, rows))
        };
        let mut bins = self.pack(marked.into_iter().filter(worth).collect(), 1);
        let small = plain.into_iter().filter(|file| size(file) < self.small).collect();
        bins.extend(self.pack(small, if full { 2 } else { self.min_files.max(2) }));
        bins
    }

    fn is_hollow(&self, file: &DataFileMeta, deleted: i64) -> bool {
        deleted as f64 > file.row_count as f64 * self.delete_ratio
    }

    /// Packs files by size; what is left at the end is a bin too when it has `enough` files.
    fn pack(&self, mut files: Files, enough: usize) -> Vec<Files> {
        files.sort_by(|a, b| a.file_size.cmp(&b.file_size).then_with(|| a.file_name.cmp(&b.file_name)));
        let (mut bins, mut bin, mut weight) = (Vec::new(), Files::new(), 0u64);
        for file in files {
            weight = weight.saturating_add(size(&file)).saturating_add(self.open_cost);
            bin.push(file);
            if bin.len() > 1 && weight >= self.target.saturating_mul(2) {
                bins.push(std::mem::take(&mut bin));
                weight = 0;
            }
        }
        if !bin.is_empty() && bin.len() >= enough {
            bins.push(bin);
        }
        bins
    }

    /// Files in sequence order: only neighbours may be put together. `deleted` is as for [`unaware`](Self::unaware).
    pub(super) fn ordered(
        &self,
        mut files: Files,
        full: bool,
        deleted: impl Fn(&DataFileMeta) -> Option<i64>,
    ) -> Vec<Files> {
        files.sort_by_key(|f| f.min_sequence_number);
        if full { self.ordered_full(files, deleted) } else { self.ordered_minor(files, deleted) }
    }

    /// From the first small file on, everything, when most of it is small; with deletion vectors always, from the first that
    /// is small or has one.
    fn ordered_full(&self, files: Files, deleted: impl Fn(&DataFileMeta) -> Option<i64>) -> Vec<Files> {
        let rest: Files = files.into_iter().skip_while(|f| size(f) >= self.small && deleted(f).is_none()).collect();
        if rest.iter().any(|file| deleted(file).is_some()) {
            return vec![rest];
        }
        let small = rest.iter().filter(|f| size(f) < self.small).count();
        if rest.len() >= FULL_MIN_FILES && small > rest.len() - small { vec![rest] } else { Vec::new() }
    }

    /// Windows of enough files; a window that has grown to two targets loses its first file. A file that has lost enough
    /// rows is written anew by itself where no window takes it up.
    fn ordered_minor(&self, files: Files, deleted: impl Fn(&DataFileMeta) -> Option<i64>) -> Vec<Files> {
        let mut windows: Vec<Files> = Vec::new();
        let mut window = std::collections::VecDeque::new();
        let mut weight = 0u64;
        let mut alone: Files =
            files.iter().filter(|f| deleted(f).is_some_and(|rows| self.is_hollow(f, rows))).cloned().collect();
        for file in files {
            weight = weight.saturating_add(size(&file));
            window.push_back(file);
            if window.len() >= self.min_files.max(2) {
                windows.push(window.drain(..).collect());
                weight = 0;
            } else if weight >= self.target.saturating_mul(2)
                && let Some(first) = window.pop_front()
            {
                weight = weight.saturating_sub(size(&first));
            }
        }
        alone.retain(|file| !windows.iter().flatten().any(|taken| taken.file_name == file.file_name));
        windows.extend(alone.into_iter().map(|file| vec![file]));
        windows
    }
}

fn size(file: &DataFileMeta) -> u64 {
    u64::try_from(file.file_size).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::file;

    fn files(sizes: &[i64]) -> Files {
        let numbered = |(i, size): (usize, &i64)| {
            let mut file = (*file(&format!("f{i}"), 0, None)).clone();
            file.file_size = *size;
            file.min_sequence_number = i as i64;
            Arc::new(file)
        };
        sizes.iter().enumerate().map(numbered).collect()
    }

    fn names(picked: Vec<Files>) -> Vec<String> {
        picked.iter().map(|bin| bin.iter().map(|f| &*f.file_name).collect::<Vec<_>>().join(" ")).collect()
    }

    const POLICY: Policy = Policy { target: 100, small: 70, open_cost: 10, min_files: 4, delete_ratio: 0.2 };

    #[test]
    fn small_files_without_order_are_packed_by_size() {
        let pick = |sizes: &[i64], full| names(POLICY.unaware(files(sizes), full, |_| None));
        assert_eq!(pick(&[60, 80, 50, 69], false), ["f2 f0 f3"]);
        assert_eq!(pick(&[1, 2, 3, 4, 5], false), ["f0 f1 f2 f3 f4"]);
        assert!(pick(&[1, 2, 3], false).is_empty());
        assert_eq!(pick(&[1, 2, 3], true), ["f0 f1 f2"]);
        assert!(pick(&[1, 90], true).is_empty());
    }

    #[test]
    fn files_with_order_are_put_together_with_their_neighbours() {
        let pick = |sizes: &[i64], full| names(POLICY.ordered(files(sizes), full, |_| None));
        assert_eq!(pick(&[1, 1, 1, 1, 1, 1, 1, 1, 1], false), ["f0 f1 f2 f3", "f4 f5 f6 f7"]);
        assert_eq!(pick(&[190, 20, 20, 20, 20], false), ["f1 f2 f3 f4"]);
        assert_eq!(pick(&[90, 80, 1, 2, 90, 3], true), ["f2 f3 f4 f5"]);
        assert!(pick(&[1, 90, 90], true).is_empty());
        assert!(pick(&[1, 1], true).is_empty());
    }

    /// Sizes and deleted rows; every file has 10 rows.
    fn marked(
        all: &[(i64, Option<i64>)],
        pick: impl Fn(Files, &dyn Fn(&DataFileMeta) -> Option<i64>) -> Vec<Files>,
    ) -> Vec<String> {
        let files: Files = files(&all.iter().map(|(size, _)| *size).collect::<Vec<_>>())
            .into_iter()
            .map(|file| Arc::new(DataFileMeta { row_count: 10, ..(*file).clone() }))
            .collect();
        names(pick(files, &|file| all[file.min_sequence_number as usize].1))
    }

    #[test]
    fn files_with_deleted_rows_are_written_anew() {
        let unaware = |all: &[(i64, Option<i64>)], full| marked(all, |files, of| POLICY.unaware(files, full, of));
        assert_eq!(unaware(&[(1, Some(1)), (2, None), (90, Some(2)), (91, Some(3))], false), ["f0 f3"]);
        assert_eq!(unaware(&[(1, Some(1)), (2, None), (90, Some(2))], true), ["f0 f2"]);
        let ordered = |all: &[(i64, Option<i64>)], full| marked(all, |files, of| POLICY.ordered(files, full, of));
        assert_eq!(ordered(&[(90, None), (90, Some(3)), (90, Some(2)), (90, None)], false), ["f1"]);
        assert_eq!(ordered(&[(90, None), (90, Some(1)), (90, None)], true), ["f1 f2"]);
        assert_eq!(ordered(&[(1, Some(9)), (1, None), (1, None), (1, None)], false), ["f0 f1 f2 f3"]);
    }
}
