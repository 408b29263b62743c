//! `rbm32`: the union of 32-bit Roaring bitmaps in Roaring's portable format; `rbm64` in [`wide`].
//!
//! Bitmaps whose containers are all lists are united as they lie in bytes, the others by the library.

mod container;
mod cursor;
mod few;
mod wide;

pub(super) use wide::unite as unite_wide;
#[cfg(test)]
pub(super) use wide::unite_by_library as wide_by_library;

use linn_format::{Error, Result};
use roaring::RoaringBitmap;

use cursor::Cursor;
use few::{Few, United, many};

/// Appends the union of two bitmaps.
///
/// # Errors
/// `Corrupt` when one is not a bitmap.
pub(super) fn unite(a: &[u8], b: &[u8], out: &mut Vec<u8>) -> Result<()> {
    let start = out.len();
    if unite_lists(a, b, out).is_ok() {
        return Ok(());
    }
    out.truncate(start);
    unite_by_library(a, b, out)
}

/// As [`unite`], of all bitmaps.
pub(super) fn unite_by_library(a: &[u8], b: &[u8], out: &mut Vec<u8>) -> Result<()> {
    let mut union = read(a)?;
    union |= read(b)?;
    union.optimize();
    out.reserve(union.serialized_size());
    union.serialize_into(out).map_err(corrupt)
}

fn read(bytes: &[u8]) -> Result<RoaringBitmap> {
    RoaringBitmap::deserialize_from(bytes).map_err(corrupt)
}

fn corrupt(e: std::io::Error) -> Error {
    Error::corrupt("not a serialised Roaring bitmap").with_source(e)
}

const COOKIE_RUNS: u32 = 12347;
const COOKIE: u32 = 12346;
/// Containers from which on the form with runs has their places too.
const WITH_PLACES: usize = 4;

/// A container's upper 16 bits, and the container.
type Keyed<'a> = (u16, Few<'a>);

/// The containers of a bitmap that has lists only.
fn lists(bytes: &[u8]) -> Result<Vec<Keyed<'_>>> {
    let mut input = Cursor::new(bytes);
    let cookie = input.u32()?;
    let (count, has_runs) = match cookie {
        COOKIE => (input.u32()? as usize, false),
        _ if cookie & 0xffff == COOKIE_RUNS => ((cookie >> 16) as usize + 1, true),
        _ => return Err(many()),
    };
    if count > usize::from(u16::MAX) + 1 {
        return Err(many());
    }
    let flags = input.take(if has_runs { count.div_ceil(8) } else { 0 })?;
    let mut heads = Cursor::new(input.take(count * 4)?);
    input.take(if !has_runs || count >= WITH_PLACES { count * 4 } else { 0 })?;
    let mut containers: Vec<Keyed<'_>> = Vec::with_capacity(count);
    for at in 0..count {
        let (key, cardinality) = (heads.u16()?, u32::from(heads.u16()?) + 1);
        let runs = flags.get(at / 8).is_some_and(|flags| flags & (1 << (at % 8)) != 0);
        let few = if runs { Few::runs(cardinality, &mut input)? } else { Few::values(cardinality, &mut input)? };
        if containers.last().is_some_and(|(last, _)| *last >= key) {
            return Err(many());
        }
        containers.push((key, few));
    }
    Ok(containers)
}

/// Unites bitmaps that have lists only.
fn unite_lists(a: &[u8], b: &[u8], out: &mut Vec<u8>) -> Result<()> {
    let (first, second) = (lists(a)?, lists(b)?);
    let (mut first, mut second) = (first.into_iter().peekable(), second.into_iter().peekable());
    let mut united = United::default();
    let (mut heads, mut bodies) = (Vec::new(), Vec::new());
    loop {
        let key = match (first.peek(), second.peek()) {
            (None, None) => break,
            (Some((a, _)), Some((b, _))) => *a.min(b),
            (Some((key, _)), None) | (None, Some((key, _))) => *key,
        };
        let mut parts = [first.next_if(|(k, _)| *k == key), second.next_if(|(k, _)| *k == key)].into_iter().flatten();
        let (Some((_, one)), other) = (parts.next(), parts.next()) else { return Err(many()) };
        united.unite(one, other.map(|(_, other)| other))?;
        heads.push((key, united.cardinality, united.is_runs, bodies.len()));
        united.write(&mut bodies);
    }
    let (count, has_runs) = (heads.len(), heads.iter().any(|(_, _, runs, _)| *runs));
    if has_runs {
        out.extend_from_slice(&(COOKIE_RUNS | ((count as u32 - 1) << 16)).to_le_bytes());
        for heads in heads.chunks(8) {
            let flags = heads.iter().enumerate().map(|(at, (_, _, runs, _))| u8::from(*runs) << at);
            out.push(flags.fold(0, |all, flag| all | flag));
        }
    } else {
        out.extend_from_slice(&COOKIE.to_le_bytes());
        out.extend_from_slice(&(count as u32).to_le_bytes());
    }
    for (key, cardinality, _, _) in &heads {
        out.extend_from_slice(&key.to_le_bytes());
        out.extend_from_slice(&((cardinality - 1) as u16).to_le_bytes());
    }
    if !has_runs || count >= WITH_PLACES {
        let header = 4 + if has_runs { count.div_ceil(8) } else { 4 } + count * 8;
        for (_, _, _, place) in &heads {
            out.extend_from_slice(&((header + place) as u32).to_le_bytes());
        }
    }
    out.extend_from_slice(&bodies);
    Ok(())
}
