//! When a writer compacts completely: every so many commits with rows (`full-compaction.delta-commits`).
//!
//! A new writer counts on from what the snapshots tell, so that writers of one commit each come to it as well.

use linn_format::Result;

use super::writer::Buckets;

/// Commits since the last full compaction.
#[derive(Debug)]
pub(super) struct Due {
    every: usize,
    /// `None` before the snapshots were asked.
    since: Option<usize>,
}

impl Due {
    /// Due with every `every`th commit.
    pub(super) fn new(every: usize) -> Self {
        Self { every, since: None }
    }

    /// Whether the commit that is being prepared is one of them.
    pub(super) async fn is_now(&mut self, buckets: &dyn Buckets) -> Result<bool> {
        let since = match self.since {
            Some(since) => since,
            None => *self.since.insert(buckets.commits_since_full(self.every).await?),
        };
        Ok(since + 1 >= self.every)
    }

    /// A commit was handed out.
    pub(super) fn committed(&mut self, full: bool) {
        self.since = if full { Some(0) } else { self.since.map(|since| since + 1) };
    }
}
