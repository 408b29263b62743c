//! Whether a change may be committed on what the table holds. Pure: what was read in, the verdict out.

use std::collections::HashMap;

use linn_format::Result;
use linn_format::manifest::IndexManifestEntry;
use linn_format::types::DataType;

use super::conflict::{self, Rules};
use super::read::Base;
use super::{index, vector};

/// What is said of a change.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It may be committed.
    Fits {
        /// The bucket counts that it writes with, by partition.
        buckets: HashMap<Box<[u8]>, i32>,
        /// The index of the table with it.
        index: NewIndex,
    },
    /// It may not, for this reason.
    Conflict(String),
}

/// The index manifest of a new snapshot.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NewIndex {
    /// That of the snapshot before, if it has one.
    Same,
    /// None: no line is left.
    None,
    /// A new one of these lines.
    Lines(Vec<IndexManifestEntry>),
}

/// What is checked.
#[derive(Debug, Default)]
pub(super) struct Checks {
    /// What is held against the live files of the buckets.
    pub(super) files: FileCheck,
    /// Whether the bucket count of a partition may change.
    pub(super) may_rescale: bool,
    /// How deletion vectors are kept.
    pub(super) vectors: VectorCheck,
    /// Types of the trimmed primary key, when the key ranges of a level must be disjoint.
    pub(super) key_types: Option<Vec<DataType>>,
    /// Whether the table has no buckets.
    pub(super) unaware: bool,
}

/// Which files a change is held against.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum FileCheck {
    /// None, not even its own: it makes the table what it was.
    Nothing,
    /// Its own: it only adds rows.
    #[default]
    Itself,
    /// The live files of the buckets that it changes.
    Table,
}

/// How deletion vectors are kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum VectorCheck {
    /// They are not.
    #[default]
    None,
    /// By bucket: each has one index file.
    Buckets,
    /// By file: every file is paired with its vector.
    Files,
}

/// Judges a change. The first reason against it counts: its files, then what others have committed, then the index.
///
/// # Errors
/// `Corrupt` for a key range that cannot be read.
pub(super) fn judge(base: &Base<'_>, checks: &Checks) -> Result<Verdict> {
    let buckets = match files(base, checks)? {
        Ok(buckets) => buckets,
        Err(why) => return Ok(Verdict::Conflict(why)),
    };
    if let Some(why) = &base.ruled_out {
        return Ok(Verdict::Conflict(why.clone()));
    }
    if let Err(why) = index::check_hashes(&base.lines, &base.change.hash_bases) {
        return Ok(Verdict::Conflict(why));
    }
    if base.change.index.is_empty() {
        return Ok(Verdict::Fits { buckets, index: NewIndex::Same });
    }
    Ok(match index::combine(base.lines.clone(), &base.change.index, checks.unaware) {
        Ok(lines) if lines.is_empty() => Verdict::Fits { buckets, index: NewIndex::None },
        Ok(lines) => Verdict::Fits { buckets, index: NewIndex::Lines(lines) },
        Err(why) => Verdict::Conflict(why),
    })
}

/// Holds the files of a change against those of the table: the bucket counts that it writes with, or the reason against it.
fn files(base: &Base<'_>, checks: &Checks) -> Result<Result<HashMap<Box<[u8]>, i32>, String>> {
    if checks.files == FileCheck::Nothing {
        return Ok(Ok(HashMap::new()));
    }
    let written = match conflict::written_buckets(&base.delta) {
        Ok(written) => written,
        Err(why) => return Ok(Err(why)),
    };
    let whole = checks.files == FileCheck::Table;
    let paired;
    let mut delta = &base.delta;
    if whole && checks.vectors == VectorCheck::Files {
        match conflict::pair_delta(&base.files.files, base.delta.clone(), &base.change.index) {
            Ok(pairs) => paired = pairs,
            Err(why) => return Ok(Err(why)),
        }
        delta = &paired;
    }
    if whole && checks.vectors != VectorCheck::None {
        let against = match checks.vectors {
            VectorCheck::Buckets => vector::check(&base.files.files, delta, &base.lines, &base.change.index),
            VectorCheck::Files | VectorCheck::None => None,
        };
        if let Some(why) = against.or_else(|| vector::check_bases(&base.files.files, &base.change.bases)) {
            return Ok(Err(why));
        }
    }
    let rules =
        Rules { key_types: if whole { checks.key_types.clone() } else { None }, may_rescale: checks.may_rescale };
    // What is not checked against the table must still be consistent in itself.
    let none = conflict::Base::new();
    let files = if whole { &base.files.files } else { &none };
    match conflict::check(files, &base.files.buckets, delta, &rules)? {
        Some(why) => Ok(Err(why)),
        None => Ok(Ok(written)),
    }
}

#[cfg(test)]
mod tests;
