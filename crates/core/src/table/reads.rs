//! What a statement has read of the tables that it writes (decision 0019). A table handle that notes reads hands them to its
//! commits, which are ruled out by what others have committed since.

use std::sync::Arc;

use linn_format::Result;
use linn_format::snapshot::Snapshot;
use parking_lot::Mutex;

use super::settings::Settings;
use crate::scan::Scan;
use crate::snapshot::travels;
use crate::table::Table;

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

/// One read of a table.
#[derive(Debug, Clone)]
pub(crate) struct Noted {
    /// What was planned; its table notes nothing.
    pub(crate) scan: Scan,
    /// The snapshot that was read; `None` when the table was empty.
    pub(crate) snapshot: Option<Arc<Snapshot>>,
}

impl Reads {
    /// Notes a read.
    pub(crate) fn note(&self, scan: Scan, snapshot: Option<Arc<Snapshot>>) {
        self.0.lock().noted.push(Noted { scan, snapshot });
    }

    /// The reads of a table that its commit has to be held against.
    pub(crate) fn of(&self, table: &Table) -> Vec<Noted> {
        let inner = self.0.lock();
        let same = |noted: &&Noted| noted.scan.reads(table);
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

    /// Waits before a statement whose commit was ruled out `tries` times is run again; false when `commit.max-retries` says that
    /// it is not.
    ///
    /// # Errors
    /// `Invalid` for bad option values.
    pub async fn wait(&self, tries: u32) -> Result<bool> {
        let Some(table) = self.0.lock().lost.clone() else { return Ok(false) };
        let settings = Settings::of(&table)?;
        if tries > settings.max_retries {
            return Ok(false);
        }
        let env = table.env();
        env.clock.sleep(settings.wait(tries.saturating_sub(1), env.ids.jitter())).await;
        Ok(true)
    }
}

impl Table {
    /// The same table, whose batch reads of the present are noted in `reads`, and whose next commit of rows is a conflict when
    /// others have changed since what was read, as far as `linn.isolation-level` asks for it. Reads include what was
    /// committed and waits for its compaction. A table whose options travel in time stays as it is.
    ///
    /// # Errors
    /// `Invalid` for bad option values.
    pub fn noting(&self, reads: &Reads) -> Result<Self> {
        if travels(self.options())? {
            return Ok(self.clone());
        }
        let merged = [("deletion-vectors.merge-on-read", "true")].into_iter().collect();
        let vectors = self.schema().is_primary_key_table() && self.options().deletion_vectors_enabled()?;
        let table = if vectors { self.with_options(&merged)? } else { self.clone() };
        Ok(table.with_reads(Some(reads.clone())))
    }
}
