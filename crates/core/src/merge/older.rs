//! The older record of a key, where it lies in files that a merge does not read (spec: format.md C.9, *lookup*).

use arrow_array::{ArrayRef, RecordBatch};
use async_trait::async_trait;
use linn_format::Result;

/// The records of files that lie below those being merged.
#[async_trait]
pub(crate) trait Older: Send {
    /// The newest record of each key, which is that of the lowest level. `keys` are the columns
    /// [`MergeSpec::key_columns`](super::MergeSpec::key_columns) of `rows` keys in ascending order, all above those of
    /// earlier calls. A record that is deleted counts as absent, whatever lies below it (cases: C1).
    async fn find(&mut self, keys: &[ArrayRef], rows: usize) -> Result<Found>;
}

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// For each key the row of `records` that is its record.
    pub(crate) rows: Vec<Option<u32>>,
    /// The records, with [`MergeSpec::input_schema`](super::MergeSpec::input_schema); `None` when there are none, or when it is
    /// only asked whether there are.
    pub(crate) records: Option<RecordBatch>,
}

/// An older record as the merge sees it: no level of a file being merged is as high.
pub(crate) const OLDER_LEVEL: i32 = i32::MAX;
