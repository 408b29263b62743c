//! Who makes a snapshot the next one of its table, for everybody at once: the store, or a catalog.

use std::fmt;

use async_trait::async_trait;
use linn_format::snapshot::Snapshot;
use linn_format::{Error, Result};

use super::Env;

/// A snapshot that is to become the next one of its table.
#[derive(Debug, Clone, Copy)]
pub struct NewSnapshot<'a> {
    /// `db.table`.
    pub table: &'a str,
    /// The branch, unless it is the main one.
    pub branch: Option<&'a str>,
    /// Path of the snapshot's file, relative to the store's root. Readers find it there.
    pub path: &'a str,
    /// The snapshot. Everything that it refers to is in the store.
    pub snapshot: &'a Snapshot,
    /// Whether it may be there already.
    pub attempt: Attempt,
}

/// Whether a snapshot was tried to be committed before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attempt {
    /// It is tried for the first time: it is not there.
    First,
    /// An earlier attempt was [`Published::Uncertain`]: this very snapshot may be there.
    AfterUncertain,
}

/// How an attempt to commit a snapshot ended.
#[derive(Debug)]
pub enum Published {
    /// The snapshot is there.
    Done,
    /// Another snapshot has its number; this one is not there and never will be.
    Taken,
    /// It is certainly not there, for this reason, and a new attempt may succeed.
    Failed(Error),
    /// It may be there, or may yet appear. Only the same snapshot may be tried under this number again.
    Uncertain(Error),
}

/// Makes snapshots atomic. Of all snapshots with the same table, branch and number at most one is ever [`Published::Done`], whatever
/// number of processes tries at once; from then on its file is at its path with these bytes. To commit the same snapshot again is
/// harmless and `Done`. `linn_testkit::commit` checks an implementation.
#[async_trait]
pub trait SnapshotCommit: Send + Sync + fmt::Debug {
    /// Commits a snapshot. `env` has the store, clock and jitter of the table whose snapshot it is.
    ///
    /// # Errors
    /// `Internal` when the snapshot cannot be written as JSON; every other failure is a [`Published`].
    async fn commit(&self, env: &Env, new: NewSnapshot<'_>) -> Result<Published>;
}
