//! News of commits within a process: who follows a table hears of a snapshot as soon as it is there.

use std::sync::Arc;

use tokio::sync::watch;

use super::Table;

/// Where commits to one table are told of. Clones are one.
#[derive(Debug, Clone)]
pub struct Commits(Arc<watch::Sender<u64>>);

impl Default for Commits {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(0)))
    }
}

impl Commits {
    /// Tells that there is a snapshot more. Whoever listens looks for itself which.
    pub(crate) fn announce(&self) {
        self.0.send_modify(|told| *told = told.wrapping_add(1));
    }

    /// Listens from now on.
    pub(crate) fn listen(&self) -> watch::Receiver<u64> {
        self.0.subscribe()
    }
}

impl Table {
    /// The same table, whose commits are told of at this place too: tables that a catalog opens by one name share it.
    #[must_use]
    pub fn with_commits(&self, commits: Commits) -> Self {
        self.changed(|inner| inner.caches.commits = commits)
    }

    pub(crate) fn commits(&self) -> &Commits {
        &self.inner.caches.commits
    }
}
