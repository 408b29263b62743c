//! A reference to a blob in place of its bytes (spec: format.md C.14).

use std::ops::Range;

const VERSION: u8 = 2;
const MAGIC: u64 = 0x424C_4F42_4445_5343;

/// The serialised reference to the bytes `range` of the file at `uri`.
pub fn descriptor(uri: &str, range: &Range<u64>) -> Vec<u8> {
    let mut out = Vec::with_capacity(29 + uri.len());
    out.push(VERSION);
    out.extend_from_slice(&MAGIC.to_le_bytes());
    // A path is far shorter than 4 GiB.
    out.extend_from_slice(&(uri.len() as u32).to_le_bytes());
    out.extend_from_slice(uri.as_bytes());
    out.extend_from_slice(&range.start.to_le_bytes());
    out.extend_from_slice(&(range.end - range.start).to_le_bytes());
    out
}
