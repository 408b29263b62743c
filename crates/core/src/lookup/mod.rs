//! Looking up the rows that keys have in the files of a bucket.
//!
//! A compaction asks for many keys in order, so its lookups walk the files below it beside the merge ([`join`]).

mod join;

use std::collections::BTreeMap;
use std::sync::Arc;

use linn_format::Result;
use roaring::RoaringTreemap;

use crate::compact::Task;
use crate::merge::Older;
use join::Join;

/// Positions of rows by file.
pub(crate) type Marks = BTreeMap<String, RoaringTreemap>;

/// The files that lie below a compaction.
pub(crate) struct Below {
    join: Arc<futures::lock::Mutex<Join>>,
}

impl Below {
    /// Those of a compaction; nothing is read yet.
    ///
    /// # Errors
    /// `Corrupt` when a key range cannot be read.
    pub(crate) fn new(task: &Task) -> Result<Self> {
        Ok(Self { join: Arc::new(futures::lock::Mutex::new(Join::new(task)?)) })
    }

    /// What a merge asks.
    pub(crate) fn older(&self) -> Arc<futures::lock::Mutex<dyn Older>> {
        self.join.clone()
    }

    /// Where the records that were found lie: the output of the compaction supersedes them.
    pub(crate) async fn marks(&self) -> Marks {
        self.join.lock().await.take_marks()
    }
}
