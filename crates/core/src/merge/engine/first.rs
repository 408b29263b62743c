//! `first-row`: the first record stands; retractions are refused.

use linn_format::{Error, Result};

use super::{MergeEngine, Verdict};
use crate::merge::source::{Record, is_retract};

/// The engine of `merge-engine=first-row`.
#[derive(Debug)]
pub(crate) struct FirstRow;

impl FirstRow {
    /// The error of a retraction.
    pub(crate) fn refusal() -> Error {
        Error::invalid("merge engine first-row cannot take -U and -D records")
            .with_hint("set 'ignore-delete' to 'true' to leave them out")
    }
}

impl MergeEngine for FirstRow {
    fn merge(&mut self, group: &[Record], merged: &mut Vec<Verdict>) -> Result<()> {
        if group.iter().any(|r| is_retract(r.kind)) {
            return Err(Self::refusal());
        }
        merged.extend(group.first().map(|&base| Verdict::as_is(base)));
        Ok(())
    }
}
