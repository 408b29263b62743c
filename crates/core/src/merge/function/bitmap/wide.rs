//! `rbm64`: the union of 64-bit Roaring bitmaps as Java's `Roaring64Bitmap` serialises them: a radix tree over the upper 48
//! bits of the values, whose leaves number containers of lower 16 bits, then the containers.
//!
//! A union keeps the numbers of the first bitmap's containers and appends those of the second, as the reference does.
//! Numbers are little endian, keys big endian.

use linn_format::{Error, Result};
use roaring::RoaringBitmap;

use super::Room;
use super::container::{Container, Lists, read_list, write_list};
use super::cursor::Cursor;
use super::few::{Few, United, many};

const NOT_TRIMMED: u8 = 0xfe;
const KEY_BYTES: usize = 6;
const LEAF: u8 = 4;
/// Most children, and bytes of the body, of the four kinds of branches.
const BRANCHES: [(usize, usize); 4] = [(4, 4), (16, 16), (48, 256), (256, 32)];

/// Appends the union of two bitmaps.
///
/// # Errors
/// `Corrupt` when one is not a bitmap.
pub(in crate::merge::function) fn unite(a: &[u8], b: &[u8], room: &mut Room, out: &mut Vec<u8>) -> Result<()> {
    let start = out.len();
    if unite_single(a, b, &mut room.united, out).is_ok() {
        return Ok(());
    }
    out.truncate(start);
    if unite_as::<Lists<'_>>(a, b, out).is_ok() {
        return Ok(());
    }
    out.truncate(start);
    unite_by_library(a, b, out)
}

/// As [`unite`], of all bitmaps.
pub(in crate::merge::function) fn unite_by_library(a: &[u8], b: &[u8], out: &mut Vec<u8>) -> Result<()> {
    unite_as::<RoaringBitmap>(a, b, out)
}

fn unite_as<'a, C: Container<'a>>(a: &'a [u8], b: &'a [u8], out: &mut Vec<u8>) -> Result<()> {
    let mut union = Bitmap64::<C>::read(a)?;
    union.take(Bitmap64::read(b)?)?;
    union.write(out)
}

type Key = [u8; KEY_BYTES];

/// How a bitmap of one key begins: it is not empty, one key, one leaf.
const SINGLE: [u8; 13] = [1, 1, 0, 0, 0, 0, 0, 0, 0, LEAF, 0, 0, 0];
/// What follows its key: number 0, one array.
const SINGLE_PLACE: [u8; 12] = [0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0];
/// What follows the mark whether that array was trimmed: one place, which is taken.
const SINGLE_SLOT: [u8; 5] = [1, 0, 0, 0, 1];
/// What follows the container: one container, in the first array, number 0.
const SINGLE_END: [u8; 16] = [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

/// Unites bitmaps that have one key, the same, and one container, which is a list.
fn unite_single(a: &[u8], b: &[u8], united: &mut United, out: &mut Vec<u8>) -> Result<()> {
    let ((key, first), (other_key, second)) = (single(a)?, single(b)?);
    if key != other_key {
        return Err(many());
    }
    united.unite(first, Some(second))?;
    out.extend_from_slice(&SINGLE);
    out.extend_from_slice(key);
    out.extend_from_slice(&SINGLE_PLACE);
    out.push(NOT_TRIMMED);
    out.extend_from_slice(&SINGLE_SLOT);
    write_list(united, out);
    out.extend_from_slice(&SINGLE_END);
    Ok(())
}

/// Key and container of a bitmap that has one.
fn single(bytes: &[u8]) -> Result<(&[u8], Few<'_>)> {
    let mut input = Cursor::new(bytes);
    let is_single = input.take(SINGLE.len())? == SINGLE;
    let key = input.take(KEY_BYTES)?;
    let is_first = input.take(SINGLE_PLACE.len())? == SINGLE_PLACE;
    input.byte()?;
    let is_taken = input.take(SINGLE_SLOT.len())? == SINGLE_SLOT;
    if !(is_single && is_first && is_taken) {
        return Err(many());
    }
    let container = read_list(&mut input)?;
    input.take(SINGLE_END.len())?;
    Ok((key, container))
}

#[derive(Debug)]
struct Bitmap64<C> {
    /// Keys in ascending order, with the numbers of their containers.
    keys: Vec<(Key, usize)>,
    slots: Vec<Option<C>>,
    /// Number that the next container gets.
    next: usize,
}

impl<C> Default for Bitmap64<C> {
    fn default() -> Self {
        Self { keys: Vec::new(), slots: Vec::new(), next: 0 }
    }
}

impl<'a, C: Container<'a>> Bitmap64<C> {
    fn read(bytes: &'a [u8]) -> Result<Self> {
        let mut input = Cursor::new(bytes);
        if input.byte()? == 0 {
            return Ok(Self::default());
        }
        let count = input.u64()?;
        let mut bitmap = Self::default();
        bitmap.read_node(&mut input, 0)?;
        if !bitmap.keys.is_sorted_by(|(a, _), (b, _)| a < b) {
            bitmap.keys.sort_unstable();
            bitmap.keys.dedup_by_key(|(key, _)| *key);
        }
        if bitmap.keys.len() as u64 != count {
            return Err(corrupt("the tree has another number of keys than it says"));
        }
        bitmap.read_containers(&mut input)?;
        let slots = &bitmap.slots;
        if bitmap.keys.iter().any(|(_, at)| slots.get(*at).is_none_or(Option::is_none)) {
            return Err(corrupt("a key without a container"));
        }
        Ok(bitmap)
    }

    fn read_node(&mut self, input: &mut Cursor<'a>, depth: usize) -> Result<()> {
        let kind = input.byte()?;
        let children = usize::from(input.u16()?);
        let prefix = usize::from(input.byte()?);
        input.take(prefix)?;
        if kind == LEAF {
            let key: Key = input.take(KEY_BYTES)?.try_into().map_err(|_| corrupt("a key is too short"))?;
            let at = usize::try_from(input.u64()?).map_err(|_| corrupt("a container number is too large"))?;
            self.keys.push((key, at));
            return Ok(());
        }
        let Some(&(most, body)) = BRANCHES.get(usize::from(kind)) else {
            return Err(corrupt("an unknown kind of node"));
        };
        if children > most || depth >= KEY_BYTES {
            return Err(corrupt("a node has too many children"));
        }
        input.take(body)?;
        (0..children).try_for_each(|_| self.read_node(input, depth + 1))
    }

    fn read_containers(&mut self, input: &mut Cursor<'a>) -> Result<()> {
        match input.u32()? {
            0 => {}
            1 => {
                input.byte()?;
                let slots = input.u32()?;
                for _ in 0..slots {
                    let slot = match input.byte()? {
                        0 => None,
                        _ => Some(C::read(input)?),
                    };
                    self.slots.push(slot);
                }
            }
            // A second array begins after 2^31 containers.
            _ => return Err(Error::unsupported("a 64-bit bitmap of more than 2^31 containers")),
        }
        input.u64()?;
        input.u32()?;
        self.next = usize::try_from(input.u32()?).map_or(0, |last| last.saturating_add(1)).min(self.slots.len());
        Ok(())
    }

    /// Takes the containers of another bitmap in.
    fn take(&mut self, mut other: Self) -> Result<()> {
        let mine = self.keys.len();
        for (key, at) in other.keys {
            let container = other.slots.get_mut(at).and_then(Option::take);
            let container = container.ok_or_else(|| corrupt("two keys with one container"))?;
            let there = self.keys.get(..mine).unwrap_or_default().binary_search_by(|(k, _)| k.cmp(&key)).ok();
            match there.and_then(|place| self.slots.get_mut(self.keys.get(place)?.1)) {
                Some(Some(there)) => there.unite(container)?,
                Some(none) => *none = Some(container),
                None => self.append(key, container),
            }
        }
        if self.keys.len() > mine {
            self.keys.sort_unstable();
        }
        Ok(())
    }

    fn append(&mut self, key: Key, container: C) {
        if self.next >= self.slots.len() {
            // Room grows by half, as in the reference: what is unused is written too.
            let room = self.slots.len();
            self.slots.resize_with((room + (room >> 1)).max(self.next + 1), || None);
        }
        self.slots[self.next] = Some(container);
        self.keys.push((key, self.next));
        self.next += 1;
    }

    fn write(mut self, out: &mut Vec<u8>) -> Result<()> {
        if self.keys.is_empty() {
            out.push(0);
            return Ok(());
        }
        out.push(1);
        out.extend_from_slice(&(self.keys.len() as u64).to_le_bytes());
        write_node(out, &self.keys, 0);
        out.extend_from_slice(&1_u32.to_le_bytes());
        out.push(NOT_TRIMMED);
        out.extend_from_slice(&(self.slots.len() as u32).to_le_bytes());
        for slot in &mut self.slots {
            match slot {
                None => out.push(0),
                Some(container) => {
                    out.push(1);
                    container.write(out)?;
                }
            }
        }
        let used = self.slots.iter().flatten().count() as u64;
        out.extend_from_slice(&used.to_le_bytes());
        out.extend_from_slice(&0_u32.to_le_bytes());
        out.extend_from_slice(&(self.next.saturating_sub(1) as u32).to_le_bytes());
        Ok(())
    }
}

/// Writes the tree over some keys, which come in order and agree in their first `depth` bytes.
fn write_node(out: &mut Vec<u8>, leaves: &[(Key, usize)], depth: usize) {
    if let [(key, at)] = leaves {
        out.extend_from_slice(&[LEAF, 0, 0, 0]);
        out.extend_from_slice(key);
        out.extend_from_slice(&(*at as u64).to_le_bytes());
        return;
    }
    let (Some((first, _)), Some((last, _))) = (leaves.first(), leaves.last()) else { return };
    let same = (depth..KEY_BYTES).take_while(|&i| first[i] == last[i]).count();
    let branch = (depth + same).min(KEY_BYTES - 1);
    let children: Vec<&[(Key, usize)]> = leaves.chunk_by(|(a, _), (b, _)| a[branch] == b[branch]).collect();
    let bytes: Vec<u8> = children.iter().filter_map(|c| c.first()).map(|(key, _)| key[branch]).collect();
    let kind = BRANCHES.iter().position(|(most, _)| bytes.len() <= *most).unwrap_or(BRANCHES.len() - 1);
    out.push(kind as u8);
    out.extend_from_slice(&(bytes.len() as u16).to_le_bytes());
    out.push(same as u8);
    out.extend_from_slice(&first[depth..depth + same]);
    write_body(out, kind, &bytes);
    for child in children {
        write_node(out, child, branch + 1);
    }
}

/// Which bytes a branch has children for.
fn write_body(out: &mut Vec<u8>, kind: usize, bytes: &[u8]) {
    let mut body = match kind {
        2 => vec![0xff; 256],
        3 => {
            let mut mask = vec![0; 32];
            bytes.iter().for_each(|b| mask[usize::from(b >> 3)] |= 1 << (b & 7));
            out.extend_from_slice(&mask);
            return;
        }
        _ => vec![0; BRANCHES[kind].1],
    };
    for (at, byte) in bytes.iter().enumerate() {
        match kind {
            2 => body[usize::from(*byte)] = at as u8,
            _ => body[at] = *byte,
        }
    }
    // Java packs the bytes into integers, first one first, and writes these little endian.
    let word = if kind == 0 { 4 } else { 8 };
    body.chunks_mut(word).for_each(<[u8]>::reverse);
    out.extend_from_slice(&body);
}

fn corrupt(why: &str) -> Error {
    Error::corrupt(format!("not a serialised 64-bit Roaring bitmap: {why}"))
}
