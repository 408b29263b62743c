//! Files that nothing refers to: what failed writes, cut-off expiries and lost races left (spec: features.md B14; reliability.md
//! H6, P8; cases: E1–E3).
//!
//! The order is the law here. Candidates are listed first, old ones only; then everything that is used, until no snapshot, tag,
//! changelog or branch is there that was not read; what is left of the candidates goes. Something that cannot be read may use
//! anything, so then nothing is deleted; nor when nothing at all is found to be used.

mod list;
mod used;

use std::collections::HashMap;

use bytes::Bytes;
use linn_format::{Error, Result};

use crate::reclaim::{Removal, RemovedFile, clean_folders, delete_all};
use crate::table::Table;

/// Age from which files are old unless something else is asked for: a day, which no commit takes.
const AGE_MILLIS: i64 = 24 * 60 * 60 * 1000;

/// What orphan cleaning found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Orphans {
    /// What nothing refers to.
    pub removal: Removal,
    /// Old files that were looked at.
    pub candidates: u64,
    /// Why files stay although nothing is known to use them.
    pub spared: Option<String>,
    /// Files that could not be removed.
    pub left: u64,
}

/// Finds the files of a table, in all its branches, that are older than a time (milliseconds since the epoch; a day before now
/// when not given) and that nothing refers to. Nothing is deleted.
///
/// # Errors
/// `Invalid` for a time that is not past; `NotFound` or `Corrupt` with the path of what cannot be read.
pub async fn orphans(table: &Table, older_than: Option<i64>) -> Result<Orphans> {
    find(table, older_than, 0).await
}

/// Removes the files that [`orphans`] finds. The age of files is told by the store's clock.
///
/// # Errors
/// As [`orphans`], and what the store yields when its clock is asked.
pub async fn remove_orphans(table: &Table, older_than: Option<i64>) -> Result<Orphans> {
    let behind = clock_behind(table).await?;
    let mut found = find(table, older_than, behind).await?;
    let files = &found.removal.data;
    found.left = delete_all(table, files).await;
    clean_folders(table, files.iter().map(|file| file.path.as_str())).await;
    if !files.is_empty() {
        tracing::info!(table = table.name(), files = files.len(), bytes = found.removal.bytes(), "orphans removed");
    }
    Ok(found)
}

/// Removes every file that nothing refers to, however young: for a table that nobody else writes to.
///
/// # Errors
/// As [`orphans`].
pub(super) async fn remove_unused(table: &Table) -> Result<Orphans> {
    let mut found = all(table, i64::MAX).await?;
    let files = &found.removal.data;
    found.left = delete_all(table, files).await;
    clean_folders(table, files.iter().map(|file| file.path.as_str())).await;
    Ok(found)
}

async fn find(table: &Table, older_than: Option<i64>, behind: i64) -> Result<Orphans> {
    let now = table.env().clock.now_millis();
    let older_than = older_than.unwrap_or(now.saturating_sub(AGE_MILLIS));
    if older_than >= now {
        return Err(Error::invalid("the time must be in the past")
            .with("table", table.name())
            .with_hint("files that are being written now are not in any snapshot yet"));
    }
    all(table, older_than.saturating_sub(behind)).await
}

async fn all(table: &Table, older_than: i64) -> Result<Orphans> {
    let listed = list::candidates(table, older_than).await?;
    let candidates = listed.len() as u64;
    let mut unused: HashMap<String, RemovedFile> = listed;
    let used = used::spare(table, &mut unused).await?;
    if used == 0 {
        let spared = (!unused.is_empty()).then(|| "no snapshot tells which files are used".to_owned());
        return Ok(Orphans { candidates, spared, ..Orphans::default() });
    }
    let mut data: Vec<RemovedFile> = unused.into_values().collect();
    data.sort_unstable();
    Ok(Orphans { removal: Removal { data, ..Removal::default() }, candidates, ..Orphans::default() })
}

/// By how much the store's clock is behind ours; 0 when it is not, which can only make files look younger.
async fn clock_behind(table: &Table) -> Result<i64> {
    let env = table.env();
    let path = table.manifest_path(&format!(".clock.{}.tmp", env.ids.uuid()));
    let before = env.clock.now_millis();
    env.storage.put(&path, Bytes::from_static(b"0")).await?;
    let entry = env.storage.stat(&path).await;
    env.storage.delete(&path).await?;
    Ok(entry?.modified_millis.map_or(0, |stored| before.saturating_sub(stored)).max(0))
}
