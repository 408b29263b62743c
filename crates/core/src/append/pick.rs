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
}

impl Policy {
    pub(super) fn of(options: &Options) -> Result<Self> {
        Ok(Self {
            target: options.target_file_size(false)?,
            small: options.small_file_size(false)?,
            open_cost: options.split_open_file_cost()?,
            min_files: options.compaction_min_files()?,
        })
    }

    /// Files without order: small ones by size, until there are two targets' worth or, at the end, enough of them. A full
    /// compaction leaves no two small files.
    pub(super) fn unaware(&self, files: Files, full: bool) -> Vec<Files> {
        let mut small: Files = files.into_iter().filter(|f| size(f) < self.small).collect();
        small.sort_by(|a, b| a.file_size.cmp(&b.file_size).then_with(|| a.file_name.cmp(&b.file_name)));
        let (mut bins, mut bin, mut weight) = (Vec::new(), Files::new(), 0u64);
        for file in small {
            weight = weight.saturating_add(size(&file)).saturating_add(self.open_cost);
            bin.push(file);
            if bin.len() > 1 && weight >= self.target.saturating_mul(2) {
                bins.push(std::mem::take(&mut bin));
                weight = 0;
            }
        }
        let enough = if full { 2 } else { self.min_files.max(2) };
        if bin.len() >= enough {
            bins.push(bin);
        }
        bins
    }

    /// Files in sequence order: only neighbours may be put together.
    pub(super) fn ordered(&self, mut files: Files, full: bool) -> Vec<Files> {
        files.sort_by_key(|f| f.min_sequence_number);
        if full { self.ordered_full(files) } else { self.ordered_minor(files) }
    }

    /// From the first small file on, everything, when most of it is small.
    fn ordered_full(&self, files: Files) -> Vec<Files> {
        let rest: Files = files.into_iter().skip_while(|f| size(f) >= self.small).collect();
        let small = rest.iter().filter(|f| size(f) < self.small).count();
        if rest.len() >= FULL_MIN_FILES && small > rest.len() - small { vec![rest] } else { Vec::new() }
    }

    /// Windows of enough files; a window that has grown to two targets loses its first file.
    fn ordered_minor(&self, files: Files) -> Vec<Files> {
        let mut windows = Vec::new();
        let mut window = std::collections::VecDeque::new();
        let mut weight = 0u64;
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

    const POLICY: Policy = Policy { target: 100, small: 70, open_cost: 10, min_files: 4 };

    #[test]
    fn small_files_without_order_are_packed_by_size() {
        let pick = |sizes: &[i64], full| names(POLICY.unaware(files(sizes), full));
        assert_eq!(pick(&[60, 80, 50, 69], false), ["f2 f0 f3"]);
        assert_eq!(pick(&[1, 2, 3, 4, 5], false), ["f0 f1 f2 f3 f4"]);
        assert!(pick(&[1, 2, 3], false).is_empty());
        assert_eq!(pick(&[1, 2, 3], true), ["f0 f1 f2"]);
        assert!(pick(&[1, 90], true).is_empty());
    }

    #[test]
    fn files_with_order_are_put_together_with_their_neighbours() {
        let pick = |sizes: &[i64], full| names(POLICY.ordered(files(sizes), full));
        assert_eq!(pick(&[1, 1, 1, 1, 1, 1, 1, 1, 1], false), ["f0 f1 f2 f3", "f4 f5 f6 f7"]);
        assert_eq!(pick(&[190, 20, 20, 20, 20], false), ["f1 f2 f3 f4"]);
        assert_eq!(pick(&[90, 80, 1, 2, 90, 3], true), ["f2 f3 f4 f5"]);
        assert!(pick(&[1, 90, 90], true).is_empty());
        assert!(pick(&[1, 1], true).is_empty());
    }
}
