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

/// What unions need room for, to be used again.
#[derive(Debug, Default)]
pub(super) struct Room {
    united: United,
    heads: Vec<Head>,
    bodies: Vec<u8>,
}

/// Appends the union of two bitmaps.
///
/// # Errors
/// `Corrupt` when one is not a bitmap.
pub(super) fn unite(a: &[u8], b: &[u8], room: &mut Room, out: &mut Vec<u8>) -> Result<()> {
    let start = out.len();
    if unite_lists(a, b, room, out).is_ok() {
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

/// A container of a union.
#[derive(Debug)]
struct Head {
    /// Upper 16 bits of its values.
    key: u16,
    cardinality: u32,
    is_runs: bool,
    /// Where it begins, from the first one.
    place: usize,
}

/// The containers of a bitmap that has lists only, one after the other.
struct Containers<'a> {
    heads: Cursor<'a>,
    flags: &'a [u8],
    bodies: Cursor<'a>,
    /// Of the next one.
    at: usize,
    count: usize,
    /// Upper 16 bits and the container.
    head: Option<(u16, Few<'a>)>,
}

impl<'a> Containers<'a> {
    fn new(bytes: &'a [u8]) -> Result<Self> {
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
        let heads = Cursor::new(input.take(count * 4)?);
        input.take(if !has_runs || count >= WITH_PLACES { count * 4 } else { 0 })?;
        let mut containers = Self { heads, flags, bodies: input, at: 0, count, head: None };
        containers.advance()?;
        Ok(containers)
    }

    fn advance(&mut self) -> Result<()> {
        if self.at == self.count {
            self.head = None;
            return Ok(());
        }
        let (key, cardinality) = (self.heads.u16()?, u32::from(self.heads.u16()?) + 1);
        let runs = self.flags.get(self.at / 8).is_some_and(|flags| flags & (1 << (self.at % 8)) != 0);
        let bodies = &mut self.bodies;
        let few = if runs { Few::runs(cardinality, bodies)? } else { Few::values(cardinality, bodies)? };
        if self.head.is_some_and(|(last, _)| last >= key) {
            return Err(many());
        }
        self.at += 1;
        self.head = Some((key, few));
        Ok(())
    }
}

/// Appends a bitmap of one container.
fn write_single(key: u16, united: &United, out: &mut Vec<u8>) {
    let [k0, k1] = key.to_le_bytes();
    let [c0, c1] = ((united.cardinality - 1) as u16).to_le_bytes();
    if united.is_runs {
        let [a, b, c, d] = COOKIE_RUNS.to_le_bytes();
        out.extend_from_slice(&[a, b, c, d, 1, k0, k1, c0, c1]);
    } else {
        let [a, b, c, d] = COOKIE.to_le_bytes();
        out.extend_from_slice(&[a, b, c, d, 1, 0, 0, 0, k0, k1, c0, c1, 16, 0, 0, 0]);
    }
    united.write(out);
}

/// Unites bitmaps that have lists only.
fn unite_lists(a: &[u8], b: &[u8], room: &mut Room, out: &mut Vec<u8>) -> Result<()> {
    let (mut first, mut second) = (Containers::new(a)?, Containers::new(b)?);
    let Room { united, heads, bodies } = room;
    if let (1, 1, Some((key, one)), Some((other_key, other))) = (first.count, second.count, first.head, second.head)
        && key == other_key
    {
        united.unite(one, Some(other))?;
        write_single(key, united, out);
        return Ok(());
    }
    heads.clear();
    bodies.clear();
    while let Some((key, one)) = first.head.into_iter().chain(second.head).min_by_key(|(key, _)| *key) {
        let both = first.head.zip(second.head).filter(|((a, _), (b, _))| a == b);
        united.unite(one, both.map(|(_, (_, other))| other))?;
        for bitmap in [&mut first, &mut second] {
            if bitmap.head.is_some_and(|(k, _)| k == key) {
                bitmap.advance()?;
            }
        }
        heads.push(Head { key, cardinality: united.cardinality, is_runs: united.is_runs, place: bodies.len() });
        united.write(bodies);
    }
    let (count, has_runs) = (heads.len(), heads.iter().any(|head| head.is_runs));
    if has_runs {
        out.extend_from_slice(&(COOKIE_RUNS | ((count as u32 - 1) << 16)).to_le_bytes());
        for heads in heads.chunks(8) {
            let flags = heads.iter().enumerate().map(|(at, head)| u8::from(head.is_runs) << at);
            out.push(flags.fold(0, |all, flag| all | flag));
        }
    } else {
        out.extend_from_slice(&COOKIE.to_le_bytes());
        out.extend_from_slice(&(count as u32).to_le_bytes());
    }
    for head in heads.iter() {
        out.extend_from_slice(&head.key.to_le_bytes());
        out.extend_from_slice(&((head.cardinality - 1) as u16).to_le_bytes());
    }
    if !has_runs || count >= WITH_PLACES {
        let header = 4 + if has_runs { count.div_ceil(8) } else { 4 } + count * 8;
        for head in heads.iter() {
            out.extend_from_slice(&((header + head.place) as u32).to_le_bytes());
        }
    }
    out.extend_from_slice(bodies);
    Ok(())
}
