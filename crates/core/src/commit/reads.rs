//! Statements whose commit rests on what they have read (decision 0019): noting reads, and waiting before another try.

use linn_format::Result;

use super::settings::Settings;
use crate::snapshot::travels;
use crate::table::{Reads, Table};

impl Reads {
    /// Waits before a statement whose commit was ruled out `tries` times is run again; false when `commit.max-retries` says that
    /// it is not.
    ///
    /// # Errors
    /// `Invalid` for bad option values.
    pub async fn wait(&self, tries: u32) -> Result<bool> {
        let Some(table) = self.lost() else { return Ok(false) };
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
