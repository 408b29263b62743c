//! The files of one level in key order, with their key ranges.

use std::cmp::Ordering;
use std::sync::Arc;

use linn_format::Result;
use linn_format::file::DataFileMeta;
use linn_format::row::columns_from_rows;
use linn_format::types::{DataField, DataType};

use crate::merge::{KeyEncoder, Keys};

/// Files whose key ranges do not overlap.
pub(super) struct Sorted {
    files: Vec<Arc<DataFileMeta>>,
    least: Keys,
    greatest: Keys,
}

impl Sorted {
    /// The files of each level, lowest level first, which has the newest records.
    ///
    /// # Errors
    /// `Corrupt` when a key range cannot be read.
    pub(super) fn by_level(files: &[Arc<DataFileMeta>], key: &[&DataField], encoder: &KeyEncoder) -> Result<Vec<Self>> {
        let types: Vec<DataType> = key.iter().map(|f| f.data_type.clone()).collect();
        let mut numbers: Vec<i32> = files.iter().map(|f| f.level).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let level = |number: &i32| {
            let level: Vec<_> = files.iter().filter(|f| f.level == *number).cloned().collect();
            Self::new(&level, &types, encoder)
        };
        numbers.iter().map(level).collect()
    }

    fn new(files: &[Arc<DataFileMeta>], types: &[DataType], encoder: &KeyEncoder) -> Result<Self> {
        let bounds = |files: &[Arc<DataFileMeta>], greatest: bool| {
            let bound = |f: &Arc<DataFileMeta>| if greatest { f.max_key.clone() } else { f.min_key.clone() };
            let keys: Vec<_> = files.iter().map(bound).collect();
            encoder.encode(&columns_from_rows(&keys, types)?, keys.len())
        };
        let least = bounds(files, false)?;
        let mut order: Vec<usize> = (0..files.len()).collect();
        order.sort_by(|a, b| least.compare(*a, &least, *b));
        let files: Vec<_> = order.into_iter().filter_map(|at| files.get(at).cloned()).collect();
        Ok(Self { least: bounds(&files, false)?, greatest: bounds(&files, true)?, files })
    }

    /// The file at a place.
    pub(super) fn file(&self, at: usize) -> Option<&Arc<DataFileMeta>> {
        self.files.get(at)
    }

    /// The first file that may have keys from the `least` to the `greatest` of these.
    pub(super) fn within(&self, keys: &Keys, least: usize, greatest: usize) -> Option<usize> {
        let first = (0..self.files.len()).find(|at| self.place(*at, keys, least).is_le())?;
        (!self.place(first, keys, greatest).is_lt()).then_some(first)
    }

    /// Where a key lies: `Less` before the keys of the file at a place, `Greater` behind them.
    pub(super) fn place(&self, at: usize, keys: &Keys, key: usize) -> Ordering {
        if self.greatest.compare(at, keys, key).is_lt() {
            Ordering::Greater
        } else if self.least.compare(at, keys, key).is_gt() {
            Ordering::Less
        } else {
            Ordering::Equal
        }
    }

    /// The file at a place, and which of the keys from `key` on it may have and are not settled. `key` moves on to those
    /// of the file.
    pub(super) fn keys_of(
        &self,
        at: usize,
        key: &mut usize,
        keys: &Keys,
        settled: &[bool],
    ) -> Option<(Arc<DataFileMeta>, Vec<usize>)> {
        let file = self.files.get(at)?.clone();
        while *key < settled.len() && self.place(at, keys, *key).is_lt() {
            *key += 1;
        }
        let inside = (*key..settled.len()).take_while(|key| self.place(at, keys, *key).is_eq());
        Some((file, inside.filter(|key| settled.get(*key) == Some(&false)).collect()))
    }
}
