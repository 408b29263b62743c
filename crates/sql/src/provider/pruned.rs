//! What a plan says of the partitions that it leaves out.

use std::fmt;
use std::sync::Arc;

use linn::core::scan::{PartitionTally, Scan};

use super::partition::Taken;

/// What the partitions of a table were asked, and how many were left.
#[derive(Debug, Clone, Default)]
pub(super) struct Pruned {
    by: String,
    tally: Option<Arc<PartitionTally>>,
}

impl Pruned {
    pub(super) fn of(taken: &Taken) -> Self {
        let by = taken.partition_text.join(" AND ");
        let tally = (!by.is_empty()).then(Arc::default);
        Self { by, tally }
    }

    /// The scan, which notes what it does to partitions.
    pub(super) fn tallied(&self, scan: Scan) -> Scan {
        match &self.tally {
            Some(tally) => scan.tally(Arc::clone(tally)),
            None => scan,
        }
    }
}

impl fmt::Display for Pruned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(tally) = &self.tally else { return Ok(()) };
        let (all, kept) = tally.counts();
        write!(f, ", partitions={kept}/{all} by {}", self.by)
    }
}
