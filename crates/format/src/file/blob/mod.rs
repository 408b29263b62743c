//! Blob files: the large values of one column, each with a checksum, and an index at the end (spec: format.md C.14).
//!
//! A file holds a value, a null or a placeholder for every row of a range; a placeholder says that an older file has the
//! row's value. Only reading is here; which of several files a row's value comes from is the table's business.

mod descriptor;
mod varint;

#[cfg(test)]
mod tests;

use std::ops::Range;

use bytes::Bytes;

use super::RangeReader;
use crate::{Error, Result, ResultExt};

pub use descriptor::descriptor;

const MAGIC: [u8; 4] = 1_481_511_375_u32.to_le_bytes();
const VERSION: u8 = 1;
/// Length of the index, and the version.
const FOOTER: u64 = 5;
/// Magic before a value; total length and checksum behind it.
const HEAD: u64 = 4;
const TAIL: u64 = 12;
const NULL: i64 = -1;
const PLACEHOLDER: i64 = -2;

/// What a blob file has for one row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlobEntry {
    /// Null.
    Null,
    /// Nothing: the value is that of an older file.
    Placeholder,
    /// A value in these bytes of the file, with what is around it; see [`payload`].
    Value(Range<u64>),
}

impl BlobEntry {
    /// Where the value's own bytes are.
    pub fn content(range: &Range<u64>) -> Range<u64> {
        range.start + HEAD..range.end - TAIL
    }
}

/// The entries of a file, in row order.
///
/// # Errors
/// `Corrupt` with the path when the index contradicts the file, `Unsupported` for another version.
pub async fn entries(file: &dyn RangeReader) -> Result<Vec<BlobEntry>> {
    let read = async {
        let size = file.size();
        let index_end = size.checked_sub(FOOTER).ok_or_else(|| Error::corrupt("blob file lacks its footer"))?;
        let footer = file.read(index_end..size).await?;
        let [a, b, c, d, version] = footer[..] else { return Err(Error::corrupt("blob file lacks its footer")) };
        if version != VERSION {
            return Err(Error::unsupported(format!("blob file version {version}")));
        }
        let length = u64::try_from(i32::from_le_bytes([a, b, c, d])).ok();
        let start = length.and_then(|length| index_end.checked_sub(length));
        let start = start.ok_or_else(|| Error::corrupt("blob file has an impossible index length"))?;
        let lengths = varint::deltas(&file.read(start..index_end).await?)?;
        placed(&lengths, start)
    };
    read.await.context("path", file.path())
}

/// The entries of these lengths, whose values fill the file up to `end`.
fn placed(lengths: &[i64], end: u64) -> Result<Vec<BlobEntry>> {
    let mut next = 0u64;
    let mut entries = Vec::with_capacity(lengths.len());
    for length in lengths {
        entries.push(match *length {
            NULL => BlobEntry::Null,
            PLACEHOLDER => BlobEntry::Placeholder,
            length => {
                let length = u64::try_from(length).ok().filter(|n| *n >= HEAD + TAIL && *n <= end - next);
                let length = length.ok_or_else(|| Error::corrupt("blob file has an impossible value length"))?;
                next += length;
                BlobEntry::Value(next - length..next)
            }
        });
    }
    if next == end { Ok(entries) } else { Err(Error::corrupt("blob file has bytes that belong to no value")) }
}

/// The value in the bytes of an entry.
///
/// # Errors
/// `Corrupt` when they are no entry or the checksum is not theirs.
pub fn payload(entry: &Bytes) -> Result<Bytes> {
    let malformed = || Error::corrupt("blob file has a malformed value");
    let value_end = entry.len().checked_sub(TAIL as usize).filter(|end| *end >= HEAD as usize).ok_or_else(malformed)?;
    // The checksum covers all that is before it.
    let (covered, checksum) = entry.split_at(value_end + 8);
    if !covered.starts_with(&MAGIC) || covered[value_end..] != (entry.len() as u64).to_le_bytes() {
        return Err(malformed());
    }
    if checksum != crc32fast::hash(covered).to_le_bytes() {
        return Err(Error::corrupt("blob file has a value with a wrong checksum"));
    }
    Ok(entry.slice(HEAD as usize..value_end))
}
