//! A sorted run of entries on local disk: 24 bytes an entry (key, place, time; little-endian), in blocks whose first keys
//! are kept in memory. The file is removed when the run is dropped.

use std::cmp::Ordering;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use linn_format::{Error, Result};

use super::{Entry, Fingerprint, Twice, twice_there};
use crate::seam::Env;

const WIDTH: usize = 24;

/// Entries of a block: about a page.
const BLOCK: usize = 170;

/// A run.
#[derive(Debug)]
pub(super) struct Run {
    path: PathBuf,
    file: Option<File>,
    len: u64,
    /// The first key of each block.
    firsts: Vec<Fingerprint>,
}

impl Drop for Run {
    fn drop(&mut self) {
        drop(self.file.take());
        std::fs::remove_file(&self.path).ok();
    }
}

fn disk(path: &Path, e: std::io::Error) -> Error {
    Error::unavailable("the key index cannot use local disk")
        .with("path", path.display())
        .with_hint("free disk space, or raise lookup.cache-max-memory-size")
        .with_source(e)
}

impl Run {
    /// Writes entries that are in the order of their keys.
    ///
    /// # Errors
    /// `Unavailable`, and those of the entries; nothing is left behind then.
    pub(super) fn write(env: &Env, entries: impl Iterator<Item = Result<(Fingerprint, Entry)>>) -> Result<Self> {
        std::fs::create_dir_all(&env.spill_dir).map_err(|e| disk(&env.spill_dir, e))?;
        let path = env.spill_dir.join(format!("keys-{}", env.ids.uuid()));
        let file = File::options().read(true).write(true).create_new(true).open(&path).map_err(|e| disk(&path, e))?;
        // From here on dropping the run removes the file.
        let mut run = Self { path, file: None, len: 0, firsts: Vec::new() };
        let mut out = BufWriter::new(file);
        for entry in entries {
            let (key, entry) = entry?;
            if run.len.is_multiple_of(BLOCK as u64) {
                run.firsts.push(key);
            }
            run.len += 1;
            out.write_all(&encode(key, entry)).map_err(|e| disk(&run.path, e))?;
        }
        let file = out.into_inner().map_err(|e| disk(&run.path, e.into_error()))?;
        run.file = Some(file);
        Ok(run)
    }

    /// Number of entries.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// The entries of keys, which must be in order.
    pub(super) fn get(&self, keys: &[Fingerprint]) -> Result<Vec<Option<Entry>>> {
        let file = self.file.as_ref().ok_or_else(|| Error::internal("a run without a file"))?;
        let mut found = Vec::with_capacity(keys.len());
        let mut bytes = vec![0; BLOCK * WIDTH];
        let mut block: Option<(usize, Vec<(Fingerprint, Entry)>)> = None;
        for key in keys {
            let Some(number) = self.firsts.partition_point(|first| first <= key).checked_sub(1) else {
                found.push(None);
                continue;
            };
            let entries = match &block {
                Some((read, entries)) if *read == number => entries,
                _ => {
                    let start = number * BLOCK;
                    let count = usize::try_from(self.len).unwrap_or(usize::MAX).saturating_sub(start).min(BLOCK);
                    let part = bytes.get_mut(..count * WIDTH).unwrap_or_default();
                    file.read_exact_at(part, (start * WIDTH) as u64).map_err(|e| disk(&self.path, e))?;
                    let (entries, _) = part.as_chunks::<WIDTH>();
                    &block.insert((number, entries.iter().map(decode).collect())).1
                }
            };
            let at = entries.binary_search_by(|(other, _)| other.cmp(key)).ok();
            found.push(at.and_then(|at| entries.get(at)).map(|(_, entry)| *entry));
        }
        Ok(found)
    }

    /// All entries in order.
    pub(super) fn entries(&self) -> Result<impl Iterator<Item = Result<(Fingerprint, Entry)>> + use<>> {
        let path = self.path.clone();
        let mut reader = BufReader::with_capacity(1 << 18, File::open(&path).map_err(|e| disk(&path, e))?);
        let mut rest = self.len;
        Ok(std::iter::from_fn(move || {
            rest = rest.checked_sub(1)?;
            let mut bytes = [0; WIDTH];
            Some(reader.read_exact(&mut bytes).map(|()| decode(&bytes)).map_err(|e| disk(&path, e)))
        }))
    }
}

/// The entries of two runs in order; of a key that both have the newer entry, or none.
pub(super) fn merge(
    older: impl Iterator<Item = Result<(Fingerprint, Entry)>>,
    newer: impl Iterator<Item = Result<(Fingerprint, Entry)>>,
    twice: Twice,
) -> impl Iterator<Item = Result<(Fingerprint, Entry)>> {
    let (mut older, mut newer) = (older.peekable(), newer.peekable());
    std::iter::from_fn(move || {
        let order = match (older.peek(), newer.peek()) {
            (None, None) => return None,
            (Some(Ok((a, _))), Some(Ok((b, _)))) => a.cmp(b),
            (Some(Err(_)), _) | (_, None) => Ordering::Less,
            (_, Some(Err(_))) | (None, _) => Ordering::Greater,
        };
        match order {
            Ordering::Less => older.next(),
            Ordering::Greater => newer.next(),
            Ordering::Equal if twice == Twice::Refuse => Some(Err(twice_there())),
            Ordering::Equal => {
                older.next();
                newer.next()
            }
        }
    })
}

fn encode(key: Fingerprint, entry: Entry) -> [u8; WIDTH] {
    let mut bytes = [0; WIDTH];
    let (id, rest) = bytes.split_at_mut(16);
    let (place, since) = rest.split_at_mut(4);
    id.copy_from_slice(&key.to_le_bytes());
    place.copy_from_slice(&entry.place.to_le_bytes());
    since.copy_from_slice(&entry.since.to_le_bytes());
    bytes
}

fn decode(bytes: &[u8; WIDTH]) -> (Fingerprint, Entry) {
    let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    let mut key = [0; 16];
    key.copy_from_slice(&bytes[..16]);
    (u128::from_le_bytes(key), Entry { place: word(16), since: word(20) })
}
