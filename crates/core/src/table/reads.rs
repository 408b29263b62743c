//! What a statement has read of the tables that it writes (decision 0019). A table handle that notes reads hands them to its
//! commits, which are ruled out by what others have committed since.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use linn_format::Result;
use linn_format::snapshot::Snapshot;
use parking_lot::Mutex;

use super::Table;

/// The reads of one statement. Clones are one.
#[derive(Debug, Clone, Default)]
pub struct Reads(Arc<Mutex<Inner>>);

#[derive(Debug, Default)]
struct Inner {
    noted: Vec<Noted>,
    /// Whether the statement has been committed: what its job does afterwards is checked no more.
    committed: bool,
    /// The table whose commit was ruled out.
    lost: Option<Table>,
}

/// A planned read, as far as commits ask about it.
#[async_trait]
pub(crate) trait NotedScan: Send + Sync + fmt::Debug {
    /// Whether it is a read of this table's branch.
    fn is_of(&self, table: &Table) -> bool;

    /// Whether the snapshot's own changes may be of rows that were read.
    ///
    /// # Errors
    /// `Corrupt` or `NotFound` for metadata that cannot be read, `Unavailable` when the store fails.
    async fn is_touched_by(&self, snapshot: &Snapshot) -> Result<bool>;
}

/// One read of a table.
#[derive(Debug, Clone)]
pub(crate) struct Noted {
    /// What was planned.
    pub(crate) scan: Arc<dyn NotedScan>,
    /// The snapshot that was read; `None` when the table was empty.
    pub(crate) snapshot: Option<Arc<Snapshot>>,
}

impl Reads {
    /// Notes a read.
    pub(crate) fn note(&self, scan: Arc<dyn NotedScan>, snapshot: Option<Arc<Snapshot>>) {
        self.0.lock().noted.push(Noted { scan, snapshot });
    }

    /// The reads of a table that its commit has to be held against.
    pub(crate) fn of(&self, table: &Table) -> Vec<Noted> {
        let inner = self.0.lock();
        let same = |noted: &&Noted| noted.scan.is_of(table);
        if inner.committed { Vec::new() } else { inner.noted.iter().filter(same).cloned().collect() }
    }

    /// Notes that a commit which was held against the reads was made.
    pub(crate) fn committed(&self) {
        self.0.lock().committed = true;
    }

    /// Notes that a commit to this table which was held against the reads was ruled out.
    pub(crate) fn lose(&self, table: &Table) {
        self.0.lock().lost = Some(table.with_reads(None));
    }

    /// Whether another commit ruled out the one of this statement, so that nothing of it is in the table: run again, it reads
    /// what the other one left.
    pub fn is_lost(&self) -> bool {
        let inner = self.0.lock();
        inner.lost.is_some() && !inner.committed
    }

    /// The table whose commit was ruled out.
    pub(crate) fn lost(&self) -> Option<Table> {
        self.0.lock().lost.clone()
    }
}
