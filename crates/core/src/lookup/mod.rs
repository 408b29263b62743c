//! Looking up the rows that keys have in the files of a bucket.
//!
//! A compaction asks for keys in order. Many keys are looked up by walking the files beside the merge ([`join`]); a few
//! are asked of lookup files, which are made once and kept ([`stored`], [`files`]).

mod files;
mod join;
mod local;
mod sorted;
mod stored;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use linn_format::Result;
use linn_format::file::DataFileMeta;
use roaring::RoaringTreemap;

use crate::file::BucketFiles;
use crate::merge::{MergeSpec, Older};
use crate::seam::Env;
use crate::vector::BucketVectors;
pub(crate) use files::{LookupFiles, Shape};
use join::Join;
use stored::Stored;

/// Positions of rows by file.
pub(crate) type Marks = BTreeMap<String, RoaringTreemap>;

/// Rows of the files below a compaction, for each row of level 0 in it, from which on lookup files are asked. Measured with a
/// million rows below: making the lookup file costs as much as eight to ten walks; from then on a compaction with one new row
/// for a thousand below takes a third of the time of one that walks, with one for 250 six tenths, and with one for about 128
/// the same. A file lies there until about as many rows have come as it has, so at 1:256 the making hardly counts.
const ROWS_FOR_A_LOOKUP: i64 = 256;

/// What is wanted of the records that are looked up, beside that they are there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// Their rows.
    pub(crate) rows: bool,
    /// Where they lie, as they are marked deleted there.
    pub(crate) places: bool,
}

/// What is looked up where: the keys of new records in older files of their bucket.
pub(crate) struct Lookup {
    /// The seams.
    pub(crate) env: Env,
    /// The bucket's files.
    pub(crate) files: Arc<dyn BucketFiles>,
    /// The merge of all columns.
    pub(crate) spec: Arc<MergeSpec>,
    /// Files of the new records.
    pub(crate) new: Vec<Arc<DataFileMeta>>,
    /// The files that are looked into.
    pub(crate) older: Vec<Arc<DataFileMeta>>,
    /// Their deletion vectors.
    pub(crate) vectors: Arc<BucketVectors>,
    /// What is wanted of the records.
    pub(crate) wanted: Wanted,
    /// Whether files are decoded ahead on other threads.
    pub(crate) ahead: bool,
    /// The lookup files that are kept; `None` where none are.
    pub(crate) lookups: Option<Arc<LookupFiles>>,
    /// What lookup files of this table are made of.
    pub(crate) shape: Arc<Shape>,
}

/// The files that lie below a compaction.
pub(crate) enum Below {
    /// They are walked.
    Walked(Arc<futures::lock::Mutex<Join>>),
    /// Their lookup files are asked.
    Stored(Arc<futures::lock::Mutex<Stored>>),
}

impl Below {
    /// Those of a lookup; nothing is read yet.
    ///
    /// # Errors
    /// `Corrupt` when a key range cannot be read.
    pub(crate) fn new(lookup: Lookup) -> Result<Self> {
        match lookup.lookups.clone().filter(|lookups| is_for_lookups(&lookup, lookups)) {
            Some(lookups) => Ok(Self::Stored(Arc::new(futures::lock::Mutex::new(Stored::new(lookup, lookups)?)))),
            None => Ok(Self::Walked(Arc::new(futures::lock::Mutex::new(Join::new(lookup)?)))),
        }
    }

    /// What a merge asks.
    pub(crate) fn older(&self) -> Arc<futures::lock::Mutex<dyn Older>> {
        match self {
            Self::Walked(join) => join.clone(),
            Self::Stored(stored) => stored.clone(),
        }
    }

    /// Where the records that were found lie: the output of the compaction supersedes them.
    pub(crate) async fn marks(&self) -> Marks {
        match self {
            Self::Walked(join) => join.lock().await.take_marks(),
            Self::Stored(stored) => stored.lock().await.take_marks(),
        }
    }
}

/// Whether a compaction has so few new rows that lookup files pay, or has the lookup files anyway.
fn is_for_lookups(lookup: &Lookup, lookups: &LookupFiles) -> bool {
    let rows = |files: &[Arc<DataFileMeta>]| -> i64 { files.iter().map(|f| f.row_count).fold(0, i64::saturating_add) };
    let (new, below) = (rows(&lookup.new), rows(&lookup.older));
    below > 0 && (lookups.are_beside() || new.saturating_mul(ROWS_FOR_A_LOOKUP) < below)
}

fn mark(marks: &mut Marks, file: &str, position: u64) {
    match marks.get_mut(file) {
        Some(rows) => _ = rows.insert(position),
        None => _ = marks.insert(file.to_owned(), [position].into_iter().collect()),
    }
}
