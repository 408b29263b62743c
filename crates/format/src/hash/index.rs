//! Hash index files: the key hashes of one bucket of a table with dynamic buckets, 4 big-endian bytes each, in no order
//! (spec: format.md C.11). They have no checksum; only their length tells damage.

use bytes::Bytes;

use crate::{Error, Result};

/// Bytes of one hash.
const WIDTH: usize = 4;

/// The hashes in an index file that should hold `rows` of them.
///
/// # Errors
/// `Corrupt` when the file holds another number.
pub fn read_hash_index(bytes: &Bytes, rows: i64) -> Result<Vec<i32>> {
    let (hashes, rest) = bytes.as_chunks::<WIDTH>();
    if !rest.is_empty() || i64::try_from(hashes.len()) != Ok(rows) {
        return Err(Error::corrupt(format!("a hash index of {rows} keys has {} bytes", bytes.len())));
    }
    Ok(hashes.iter().map(|hash| i32::from_be_bytes(*hash)).collect())
}

/// An index file of these hashes.
pub fn write_hash_index(hashes: &[i32]) -> Bytes {
    let mut bytes = Vec::with_capacity(hashes.len() * WIDTH);
    for hash in hashes {
        bytes.extend_from_slice(&hash.to_be_bytes());
    }
    bytes.into()
}
