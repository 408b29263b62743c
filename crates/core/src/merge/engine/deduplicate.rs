//! `deduplicate`: the last record stands, with its kind.

use linn_format::Result;

use super::{MergeEngine, Verdict};
use crate::merge::source::Record;

/// The engine of `merge-engine=deduplicate`.
#[derive(Debug)]
pub(crate) struct Deduplicate;

impl MergeEngine for Deduplicate {
    fn merge(&mut self, group: &[Record]) -> Result<Option<Verdict>> {
        Ok(group.last().map(|&base| Verdict { base, kind: base.kind, folded: None }))
    }
}
