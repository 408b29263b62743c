//! The dictionary of a range bitmap: sorted values in chunks; the code of a value is its rank.
//!
//! A chunk's head has its first value and that value's code, its body the values that follow, with consecutive codes.
//! Only the chunk that can hold a value is decoded.

use super::bytes::{Reader, VERSION, from, headed, int, put_headed, version};
use super::key::{Key, Layout};
use crate::{Error, Result};

/// Where a value is in the dictionary, or would be.
pub(super) enum Code {
    At(u32),
    Before(u32),
}

pub(super) fn find(dictionary: &[u8], layout: Layout, key: &Key) -> Result<Code> {
    let (mut head, body) = headed(dictionary)?;
    version(&mut head, "range bitmap")?;
    let chunks = head.length()?;
    let (offsets_length, chunks_length) = (head.length()?, head.length()?);
    let mut body = Reader::new(body);
    let (offsets, heads) = (body.take(offsets_length)?, body.take(chunks_length)?);
    let mut offsets = Reader::new(offsets);
    let mut last = None;
    for _ in 0..chunks {
        let mut chunk = from(heads, offsets.length()?)?;
        version(&mut chunk, "range bitmap")?;
        let first = layout.read(&mut chunk)?;
        if first > *key {
            break;
        }
        last = Some((first, chunk));
    }
    match last {
        None => Ok(Code::Before(0)),
        Some((first, chunk)) => find_in_chunk(first, chunk, body.rest(), layout, key),
    }
}

fn find_in_chunk(first: Key, mut head: Reader<'_>, bodies: &[u8], layout: Layout, key: &Key) -> Result<Code> {
    let code = u32::try_from(head.int()?).map_err(|_| Error::corrupt("range bitmap has a negative code"))?;
    if first == *key {
        return Ok(Code::At(code));
    }
    let (start, size) = (head.length()?, head.length()?);
    let first_length = head.length()?;
    // Chunks of values that vary in length have a list of offsets before the values; values know their own length.
    let skip = if layout == Layout::Bytes { first_length } else { 0 };
    let start = start.checked_add(skip).ok_or_else(|| Error::corrupt("range bitmap is too long"))?;
    let mut values = from(bodies, start)?;
    let mut code = code;
    for _ in 0..size {
        code = code.checked_add(1).ok_or_else(|| Error::corrupt("range bitmap has too many codes"))?;
        let value = layout.read(&mut values)?;
        if value == *key {
            return Ok(Code::At(code));
        }
        if value > *key {
            return Ok(Code::Before(code));
        }
    }
    Ok(Code::Before(code.saturating_add(1)))
}

/// The dictionary of sorted values; the values behind the first of a chunk take up to `limit` bytes, and so do their offsets.
pub(super) fn write<B: AsRef<[u8]>>(layout: Layout, keys: &[Key<B>], limit: usize) -> Result<Vec<u8>> {
    let (mut offsets, mut heads, mut bodies) = (Vec::new(), Vec::new(), Vec::new());
    let (mut chunks, mut code, mut rest) = (0, 0, keys);
    while let Some((first, others)) = rest.split_first() {
        let chunk = Chunk::fill(layout, others, limit)?;
        offsets.extend(int(heads.len())?.to_be_bytes());
        heads.push(VERSION);
        let start = heads.len();
        layout.write(first, &mut heads)?;
        let width = heads.len() - start;
        let lengths = match layout {
            Layout::Bytes => [chunk.offsets.len(), chunk.values.len()],
            _ => [chunk.values.len(), width],
        };
        for number in [code, bodies.len(), chunk.size].into_iter().chain(lengths) {
            heads.extend(int(number)?.to_be_bytes());
        }
        bodies.extend(chunk.offsets);
        bodies.extend(chunk.values);
        chunks += 1;
        code += 1 + chunk.size;
        rest = others.get(chunk.size..).unwrap_or_default();
    }
    let mut head = vec![VERSION];
    for number in [chunks, offsets.len(), heads.len()] {
        head.extend(int(number)?.to_be_bytes());
    }
    let mut out = Vec::new();
    put_headed(&mut out, &head)?;
    Ok([out, offsets, heads, bodies].concat())
}

/// The values behind the first one of a chunk.
#[derive(Default)]
struct Chunk {
    size: usize,
    /// Where each value starts; only of values that vary in length.
    offsets: Vec<u8>,
    values: Vec<u8>,
}

impl Chunk {
    fn fill<B: AsRef<[u8]>>(layout: Layout, keys: &[Key<B>], limit: usize) -> Result<Self> {
        let mut chunk = Self::default();
        for key in keys {
            let start = chunk.values.len();
            layout.write(key, &mut chunk.values)?;
            let varies = layout == Layout::Bytes;
            if chunk.values.len() > limit || (varies && chunk.offsets.len() + 4 > limit) {
                chunk.values.truncate(start);
                break;
            }
            if varies {
                chunk.offsets.extend(int(start)?.to_be_bytes());
            }
            chunk.size += 1;
        }
        Ok(chunk)
    }
}
