//! `deduplicate`: the last record stands, with its kind.

use linn_format::Result;

use super::{MergeEngine, Verdict};
use crate::merge::source::Record;

/// The engine of `merge-engine=deduplicate`.
#[derive(Debug)]
pub(crate) struct Deduplicate;

impl MergeEngine for Deduplicate {
    fn merge(&mut self, group: &[Record], merged: &mut Vec<Verdict>) -> Result<()> {
        merged.extend(group.last().map(|&base| Verdict::as_is(base)));
        Ok(())
    }
}
