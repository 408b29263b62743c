//! A look at a file's tail before the library parses it.
//!
//! The library follows the type tree recursively and believes it: a type that contains itself would end the process
//! (a stack overflow cannot be caught). So the footer is walked here first: every type has one parent that comes
//! before it, and the tree is not deeper than [`MAX_DEPTH`].

use std::io::Read;

use super::source::Source;
use crate::{Error, Result};

/// Bytes of the tail read at first.
const TAIL: u64 = 64 << 10;
const MAX_DEPTH: u32 = 64;
/// Bytes of a footer, decompressed, at the most.
const MAX_FOOTER: u64 = 256 << 20;

fn corrupt(what: &str) -> Error {
    Error::corrupt(format!("orc file {what}"))
}

/// Checks the tail and leaves it in the source's window.
///
/// # Errors
/// `Corrupt` when the tail is not one, or its types do not form a tree.
pub(super) async fn check(source: &mut Source) -> Result<()> {
    let size = source.size();
    let length = size.min(TAIL);
    let tail = source.load(size - length, length).await?;
    let (postscript_length, rest) = tail.split_last().ok_or_else(|| corrupt("is empty"))?;
    let start = rest.len().checked_sub(usize::from(*postscript_length)).ok_or_else(|| corrupt("is too short"))?;
    let postscript = Postscript::parse(&rest[start..])?;
    let behind = u64::from(*postscript_length) + 1;
    let needed = postscript.footer.checked_add(postscript.metadata).and_then(|n| n.checked_add(behind));
    let needed = needed.filter(|n| *n <= size).ok_or_else(|| corrupt("has a footer longer than itself"))?;
    if needed > length {
        source.load(size - needed, needed).await?;
    }
    let footer = source.fetch(size - behind - postscript.footer, postscript.footer).await?;
    check_types(&decompress(&footer, postscript.compression)?)
}

struct Postscript {
    footer: u64,
    metadata: u64,
    compression: u64,
}

impl Postscript {
    fn parse(bytes: &[u8]) -> Result<Self> {
        let mut this = Self { footer: 0, metadata: 0, compression: 0 };
        let mut magic = false;
        let mut wire = Wire(bytes);
        while let Some((field, value)) = wire.next()? {
            match (field, value) {
                (1, Value::Number(n)) => this.footer = n,
                (2, Value::Number(n)) => this.compression = n,
                (5, Value::Number(n)) => this.metadata = n,
                (8000, Value::Bytes(b)) => magic = b == b"ORC",
                _ => {}
            }
        }
        if magic { Ok(this) } else { Err(corrupt("does not end like one")) }
    }
}

/// Joins the chunks of a compressed section; each has a header of three bytes, little endian, the lowest bit saying
/// that the chunk is stored as it is.
fn decompress(mut data: &[u8], compression: u64) -> Result<Vec<u8>> {
    if compression == 0 {
        return Ok(data.to_vec());
    }
    let mut out = Vec::new();
    while let Some((head, rest)) = data.split_first_chunk::<3>() {
        let header = u32::from_le_bytes([head[0], head[1], head[2], 0]);
        let (chunk, rest) = rest.split_at_checked((header >> 1) as usize).ok_or_else(|| corrupt("has a cut footer"))?;
        data = rest;
        if header & 1 == 1 {
            out.extend_from_slice(chunk);
            continue;
        }
        let left = MAX_FOOTER.saturating_sub(out.len() as u64);
        expand(chunk, compression, left, &mut out)
            .map_err(|e| corrupt("has a footer that does not decompress").with_source(e))?;
    }
    Ok(out)
}

fn expand(chunk: &[u8], compression: u64, limit: u64, out: &mut Vec<u8>) -> std::io::Result<()> {
    match compression {
        1 => flate2::read::DeflateDecoder::new(chunk).take(limit).read_to_end(out).map(drop),
        2 => {
            let length = snap::raw::decompress_len(chunk)?;
            if length as u64 > limit || length / 32 > chunk.len() {
                return Err(std::io::Error::other("length is not plausible"));
            }
            out.extend(snap::raw::Decoder::new().decompress_vec(chunk)?);
            Ok(())
        }
        4 => {
            // A lz4 block does not say its size; it expands 255 times at the most.
            let bound = chunk.len().saturating_mul(255).min(usize::try_from(limit).unwrap_or(usize::MAX));
            out.extend(lz4_flex::block::decompress(chunk, bound).map_err(std::io::Error::other)?);
            Ok(())
        }
        5 => zstd::stream::read::Decoder::new(chunk)?.take(limit).read_to_end(out).map(drop),
        _ => Err(std::io::Error::other("unknown compression")),
    }
}

/// Walks the types of a footer.
fn check_types(footer: &[u8]) -> Result<()> {
    let mut depths: Vec<Option<u32>> = vec![Some(0)];
    let mut types = 0usize;
    let mut wire = Wire(footer);
    while let Some((field, value)) = wire.next()? {
        let (4, Value::Bytes(described)) = (field, value) else {
            continue;
        };
        let own = types;
        types += 1;
        let depth = depths.get(own).copied().flatten();
        for child in subtypes(described)? {
            let child = usize::try_from(child).map_err(|_| corrupt("has a type out of range"))?;
            let depth = depth.ok_or_else(|| corrupt("has a type without a parent"))? + 1;
            if child <= own || child > footer.len() || depth > MAX_DEPTH {
                return Err(corrupt("has types that are not a tree"));
            }
            if depths.len() <= child {
                depths.resize(child + 1, None);
            }
            if let Some(slot) = depths.get_mut(child)
                && slot.replace(depth).is_some()
            {
                return Err(corrupt("has a type with two parents"));
            }
        }
    }
    if types == 0 || depths.len() > types { Err(corrupt("has a type out of range")) } else { Ok(()) }
}

fn subtypes(described: &[u8]) -> Result<Vec<u64>> {
    let mut children = Vec::new();
    let mut wire = Wire(described);
    while let Some((field, value)) = wire.next()? {
        match (field, value) {
            (2, Value::Number(child)) => children.push(child),
            (2, Value::Bytes(packed)) => {
                let mut packed = Wire(packed);
                while !packed.0.is_empty() {
                    children.push(packed.number()?);
                }
            }
            _ => {}
        }
    }
    Ok(children)
}

/// Protocol buffer fields.
struct Wire<'a>(&'a [u8]);

enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
    Fixed,
}

impl<'a> Wire<'a> {
    fn next(&mut self) -> Result<Option<(u64, Value<'a>)>> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let tag = self.number()?;
        let value = match tag & 7 {
            0 => Value::Number(self.number()?),
            1 => self.take(8).map(|_| Value::Fixed)?,
            5 => self.take(4).map(|_| Value::Fixed)?,
            2 => {
                let length = usize::try_from(self.number()?).map_err(|_| corrupt("has a cut footer"))?;
                Value::Bytes(self.take(length)?)
            }
            _ => return Err(corrupt("has a malformed footer")),
        };
        Ok(Some((tag >> 3, value)))
    }

    fn number(&mut self) -> Result<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.take(1)?[0];
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(corrupt("has a malformed footer"))
    }

    fn take(&mut self, n: usize) -> Result<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(n).ok_or_else(|| corrupt("has a cut footer"))?;
        self.0 = rest;
        Ok(head)
    }
}
