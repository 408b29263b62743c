//! The files of a split: entries of manifests, made into metadata when somebody looks at them.
//!
//! A plan of a million files is a million places in manifests that are decoded anyway; the metadata would be several times as
//! much. Invariant: every entry can be made, which is checked when the files are named.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use linn_format::Result;
use linn_format::file::DataFileMeta;
use linn_format::manifest::EntryBatch;

use crate::manifest::LiveFiles;

/// Where an entry stands: the number of its manifest, and its index there.
pub(super) type Entry = (u32, u32);

/// The manifests of a plan, which its splits share.
pub(super) type Batches = Arc<[Arc<EntryBatch>]>;

/// The files of a split, in order; a slice of their metadata.
#[derive(Debug, Clone, Default)]
pub struct Files {
    made: OnceLock<Vec<Arc<DataFileMeta>>>,
    named: Option<Named>,
}

#[derive(Debug, Clone)]
struct Named {
    batches: Batches,
    entries: Vec<Entry>,
}

impl Named {
    fn each(&self) -> impl Iterator<Item = (&EntryBatch, usize)> {
        let place = |(batch, entry): &Entry| Some((&**self.batches.get(*batch as usize)?, *entry as usize));
        self.entries.iter().filter_map(place)
    }
}

impl Files {
    /// The files of these entries.
    ///
    /// # Errors
    /// `Corrupt` when the file of an entry cannot be made.
    pub(super) fn named(batches: &Batches, entries: Vec<Entry>) -> Result<Self> {
        let named = Named { batches: Arc::clone(batches), entries };
        named.each().try_for_each(|(batch, entry)| batch.check(entry))?;
        Ok(Self { made: OnceLock::new(), named: Some(named) })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.named.as_ref().map_or_else(|| self.made.get().map_or(0, Vec::len), |named| named.entries.len())
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Records in all of them.
    pub fn rows(&self) -> i64 {
        self.sum(EntryBatch::row_count, |file| file.row_count)
    }

    /// Bytes of all of them.
    pub fn bytes(&self) -> i64 {
        self.sum(EntryBatch::file_size, |file| file.file_size)
    }

    /// Whether every file says that none of its records takes others back.
    pub fn take_nothing_back(&self) -> bool {
        match &self.named {
            Some(named) => named.each().all(|(batch, i)| batch.delete_row_count(i) == Some(0)),
            None => self.iter().all(|file| file.delete_row_count == Some(0)),
        }
    }

    fn sum(&self, named: fn(&EntryBatch, usize) -> i64, made: fn(&DataFileMeta) -> i64) -> i64 {
        let add = |sum: i64, more: i64| sum.saturating_add(more);
        match &self.named {
            Some(all) => all.each().map(|(batch, i)| named(batch, i)).fold(0, add),
            None => self.iter().map(|file| made(file)).fold(0, add),
        }
    }

    fn make(&self) -> Vec<Arc<DataFileMeta>> {
        let make = |(batch, i): (&EntryBatch, usize)| match batch.file(i) {
            Ok(file) => Arc::new(file),
            Err(e) => unreachable!("an entry that was checked cannot be made: {e}"),
        };
        self.named.iter().flat_map(Named::each).map(make).collect()
    }
}

impl Deref for Files {
    type Target = [Arc<DataFileMeta>];

    fn deref(&self) -> &Self::Target {
        self.made.get_or_init(|| self.make())
    }
}

impl From<Vec<Arc<DataFileMeta>>> for Files {
    fn from(files: Vec<Arc<DataFileMeta>>) -> Self {
        Self { made: OnceLock::from(files), named: None }
    }
}

impl Extend<Arc<DataFileMeta>> for Files {
    fn extend<T: IntoIterator<Item = Arc<DataFileMeta>>>(&mut self, more: T) {
        let mut files = std::mem::take(self).into_vec();
        files.extend(more);
        *self = files.into();
    }
}

impl Files {
    fn into_vec(self) -> Vec<Arc<DataFileMeta>> {
        match self.made.into_inner() {
            Some(made) => made,
            None => Self { made: OnceLock::new(), named: self.named }.make(),
        }
    }
}

impl IntoIterator for Files {
    type Item = Arc<DataFileMeta>;
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.into_vec().into_iter()
    }
}

impl<'f> IntoIterator for &'f Files {
    type Item = &'f Arc<DataFileMeta>;
    type IntoIter = std::slice::Iter<'f, Arc<DataFileMeta>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// The manifests of live files, to be shared.
pub(super) fn batches(files: &LiveFiles) -> Batches {
    files.batches.iter().map(|(batch, _)| Arc::clone(batch)).collect()
}
