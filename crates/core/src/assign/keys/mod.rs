//! An index from primary keys to places, larger than memory: which partition and bucket every key of a table is in
//! (spec: features.md B6).
//!
//! A key stands for itself by 128 bits of hash, so that entries have one width: two of a thousand million keys share one
//! with a probability below 10⁻²⁰. New entries are in memory; when they exceed the budget they become a sorted run on
//! local disk. Runs at least double in size from the newest to the oldest, so there are few. Lookups come in batches and
//! read each run from front to back. Invariant: the newest entry of a key is the one that is found.

mod run;

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use linn_format::{Error, Result};

use crate::seam::Env;
use run::Run;

/// A key.
pub(super) type Fingerprint = u128;

/// Where a key is, and since when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    /// Number of a partition and bucket, given by the caller.
    pub(super) place: u32,
    /// Seconds since the epoch at which it was written.
    pub(super) since: u32,
}

/// Bytes that an entry in memory may take: its map doubles when 7 of 8 slots are taken.
const MEMORY: u64 = 2 * (32 + 1) * 8 / 7;

/// Fingerprints are hashes already.
#[derive(Debug, Default, Clone, Copy)]
struct Low(u64);

impl Hasher for Low {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u128(&mut self, value: u128) {
        self.0 = value as u64;
    }
}

/// What tells which of two entries of a key counts, when there should be only one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Twice {
    /// The newer one.
    Newer,
    /// Neither: the table has the key in two places.
    Refuse,
}

/// The index.
pub(super) struct KeyIndex {
    env: Env,
    memory: HashMap<Fingerprint, Entry, BuildHasherDefault<Low>>,
    max_in_memory: usize,
    /// Oldest and largest first.
    runs: Vec<Run>,
    /// Seconds after which an entry is forgotten.
    ttl: Option<u32>,
}

impl KeyIndex {
    /// An empty index that takes up to `budget` bytes of memory.
    pub(super) fn new(env: &Env, budget: u64, ttl: Option<u32>) -> Self {
        let max_in_memory = usize::try_from(budget / MEMORY).unwrap_or(usize::MAX).max(1);
        Self { env: env.clone(), memory: HashMap::default(), max_in_memory, runs: Vec::new(), ttl }
    }

    /// Seconds since the epoch, as entries carry them.
    pub(super) fn now(&self) -> u32 {
        u32::try_from(self.env.clock.now_millis() / 1000).unwrap_or(0)
    }

    fn is_alive(&self, entry: &Entry) -> bool {
        self.ttl.is_none_or(|ttl| self.now() <= entry.since.saturating_add(ttl))
    }

    /// Writes an entry, to memory in any case.
    pub(super) fn put(&mut self, key: Fingerprint, entry: Entry) {
        self.memory.insert(key, entry);
    }

    /// Spills when there is more in memory than the budget allows.
    ///
    /// # Errors
    /// `Unavailable` when local disk fails; everything is in memory then.
    pub(super) fn make_room(&mut self) -> Result<()> {
        if self.memory.len() > self.max_in_memory { self.spill(Twice::Newer) } else { Ok(()) }
    }

    /// Writes the entry of a key that must not be there yet.
    ///
    /// # Errors
    /// `Corrupt` when it is, as far as that shows now ([`settle`](Self::settle) shows the rest); `Unavailable`.
    pub(super) fn load(&mut self, key: Fingerprint, entry: Entry, twice: Twice) -> Result<()> {
        if self.memory.insert(key, entry).is_some() && twice == Twice::Refuse {
            return Err(twice_there());
        }
        if self.memory.len() > self.max_in_memory { self.spill(twice) } else { Ok(()) }
    }

    /// Ends loading: all runs become one.
    ///
    /// # Errors
    /// `Corrupt` when a key was loaded twice, `Unavailable`.
    pub(super) fn settle(&mut self, twice: Twice) -> Result<()> {
        if self.runs.is_empty() {
            return Ok(());
        }
        self.spill(twice)?;
        while self.runs.len() > 1 {
            self.merge_last(twice)?;
        }
        Ok(())
    }

    /// The entries of keys, which must be in order and differ.
    ///
    /// # Errors
    /// `Unavailable` when local disk fails.
    pub(super) fn get(&self, keys: &[Fingerprint]) -> Result<HashMap<Fingerprint, Entry>> {
        let mut found = HashMap::with_capacity(keys.len());
        let mut missing = Vec::new();
        for key in keys {
            match self.memory.get(key) {
                Some(entry) => drop(found.insert(*key, *entry)),
                None => missing.push(*key),
            }
        }
        for run in self.runs.iter().rev() {
            if missing.is_empty() {
                break;
            }
            let entries = run.get(&missing)?;
            let mut still = Vec::with_capacity(missing.len());
            for (key, entry) in missing.into_iter().zip(entries) {
                match entry {
                    Some(entry) => drop(found.insert(key, entry)),
                    None => still.push(key),
                }
            }
            missing = still;
        }
        found.retain(|_, entry| self.is_alive(entry));
        Ok(found)
    }

    fn spill(&mut self, twice: Twice) -> Result<()> {
        let mut entries: Vec<(Fingerprint, Entry)> = self.memory.iter().map(|(key, entry)| (*key, *entry)).collect();
        entries.sort_unstable_by_key(|(key, _)| *key);
        self.runs.push(Run::write(&self.env, entries.into_iter().map(Ok))?);
        self.memory.clear();
        while let [.., older, newer] = self.runs.as_slice()
            && newer.len() * 2 > older.len()
        {
            self.merge_last(twice)?;
        }
        Ok(())
    }

    fn merge_last(&mut self, twice: Twice) -> Result<()> {
        let [.., older, newer] = self.runs.as_slice() else { return Ok(()) };
        let alive =
            |entry: &Result<(Fingerprint, Entry)>| entry.as_ref().map_or(true, |(_, entry)| self.is_alive(entry));
        let merged = run::merge(older.entries()?, newer.entries()?, twice).filter(alive);
        let merged = Run::write(&self.env, merged)?;
        self.runs.truncate(self.runs.len() - 2);
        self.runs.push(merged);
        Ok(())
    }
}

fn twice_there() -> Error {
    Error::corrupt("the table has a key in two partitions")
        .with_hint("two jobs may have written it concurrently; delete one of the rows, or rewrite the table")
}

#[cfg(test)]
mod tests;
