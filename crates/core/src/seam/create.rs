//! Making a snapshot visible: the exclusive creation of its file, read back until the outcome is known.
//!
//! Creating the same bytes under the same name again is harmless: if one of the creations succeeds, it is this snapshot, and
//! once another snapshot has the number, none of them can succeed any more. So an uncertain creation is repeated, never
//! replaced by another (spec: reliability.md H1–H4, cases Q1, Q2). What is read back decides only when it is whole: a file that
//! comes back cut off says nothing about whose it is.

use async_trait::async_trait;
use bytes::Bytes;
use linn_format::snapshot::Snapshot;
use linn_format::{ErrorKind, Result};

use super::Env;
use super::commit::{Attempt, NewSnapshot, Published, SnapshotCommit};

/// How often the store is asked before the outcome stays open.
const ATTEMPTS: u32 = 6;
const FIRST_WAIT_MILLIS: u64 = 20;

/// The store commits: the exclusive creation of the snapshot's file makes it the next one.
#[derive(Debug, Clone, Copy, Default)]
pub struct CreateIfAbsent;

#[async_trait]
impl SnapshotCommit for CreateIfAbsent {
    async fn commit(&self, env: &Env, new: NewSnapshot<'_>) -> Result<Published> {
        let NewSnapshot { path, snapshot, .. } = new;
        let bytes = Bytes::from(snapshot.to_json()?);
        let mut uncertain = new.attempt == Attempt::AfterUncertain;
        let mut attempt = 0;
        loop {
            let error = match env.storage.create(path, bytes.clone()).await {
                Ok(()) => return Ok(Published::Done),
                Err(e) => e,
            };
            let may_be_there = match error.kind() {
                ErrorKind::AlreadyExists | ErrorKind::Unavailable => false,
                ErrorKind::UnknownOutcome | ErrorKind::Internal => true,
                _ if uncertain => true,
                _ => return Ok(Published::Failed(error)),
            };
            uncertain |= may_be_there;
            match env.storage.read(path, None).await {
                Ok(there) if there == bytes => return Ok(Published::Done),
                Ok(there) if Snapshot::from_json(&there).is_ok() => return Ok(Published::Taken),
                Err(e) if e.kind() == ErrorKind::NotFound => tracing::debug!(path, "the snapshot does not exist"),
                unread => {
                    tracing::debug!(path, error = ?unread.err(), "snapshot not read back");
                    // What is there may be ours: a client that tries again by itself is told of its own file.
                    uncertain |= error.kind() == ErrorKind::AlreadyExists;
                }
            }
            attempt += 1;
            if attempt >= ATTEMPTS {
                return Ok(if uncertain { Published::Uncertain(error) } else { Published::Failed(error) });
            }
            tracing::warn!(table = new.table, snapshot = snapshot.id.0, error = %error, "publishing a snapshot again");
            let wait = FIRST_WAIT_MILLIS << attempt;
            env.clock.sleep(wait + (wait as f64 * env.ids.jitter()) as u64).await;
        }
    }
}
