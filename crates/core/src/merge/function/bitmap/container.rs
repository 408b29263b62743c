//! Roaring containers one by one, as 64-bit bitmaps have them: kind, cardinality, then what the portable format has.

use linn_format::{Error, Result};
use roaring::RoaringBitmap;

use super::cursor::Cursor;
use super::few::{Few, United, many};

/// A container while bitmaps are united.
pub(super) trait Container<'a>: Sized {
    /// Reads one.
    ///
    /// # Errors
    /// `Corrupt` when it is none.
    fn read(input: &mut Cursor<'a>) -> Result<Self>;

    /// Takes the values of another one in.
    ///
    /// # Errors
    /// When the library has to.
    fn unite(&mut self, other: Self) -> Result<()>;

    /// Appends it, in the form that takes least room.
    ///
    /// # Errors
    /// `Internal` when it is not one container, or when the library has to.
    fn write(&mut self, out: &mut Vec<u8>) -> Result<()>;
}

impl Container<'_> for RoaringBitmap {
    fn read(input: &mut Cursor<'_>) -> Result<Self> {
        read(input)
    }

    fn unite(&mut self, other: Self) -> Result<()> {
        *self |= other;
        Ok(())
    }

    fn write(&mut self, out: &mut Vec<u8>) -> Result<()> {
        write(out, self)
    }
}

/// One list or two, which are united when they are written.
pub(super) struct Lists<'a>(Few<'a>, Option<Few<'a>>);

/// Reads a container that is a list.
///
/// # Errors
/// `Corrupt` when it is none.
pub(super) fn read_list<'a>(input: &mut Cursor<'a>) -> Result<Few<'a>> {
    let (kind, cardinality) = (input.byte()?, input.u32()?);
    match kind {
        RUNS => Few::runs(cardinality, input),
        VALUES => Few::values(cardinality, input),
        _ => Err(many()),
    }
}

/// Appends what lists came to.
pub(super) fn write_list(united: &United, out: &mut Vec<u8>) {
    out.push(if united.is_runs { RUNS } else { VALUES });
    out.extend_from_slice(&united.cardinality.to_le_bytes());
    united.write(out);
}

impl<'a> Container<'a> for Lists<'a> {
    fn read(input: &mut Cursor<'a>) -> Result<Self> {
        Ok(Self(read_list(input)?, None))
    }

    fn unite(&mut self, other: Self) -> Result<()> {
        if self.1.replace(other.0).is_some() || other.1.is_some() {
            return Err(many());
        }
        Ok(())
    }

    fn write(&mut self, out: &mut Vec<u8>) -> Result<()> {
        let mut united = United::default();
        united.unite(self.0, self.1)?;
        write_list(&united, out);
        Ok(())
    }
}

const RUNS: u8 = 0;
const BITS: u8 = 1;
const VALUES: u8 = 2;
const BITS_BYTES: usize = 8192;
/// The portable format's marks for bitmaps with and without runs.
const COOKIE_RUNS: u32 = 12347;
const COOKIE: u32 = 12346;
/// Bytes before the container in a bitmap of one: cookie, flags of runs, key and cardinality.
const HEADER_RUNS: usize = 4 + 1 + 4;
/// Bytes before the container in a bitmap of one: cookie, count, key and cardinality, offset.
const HEADER: usize = 4 + 4 + 4 + 4;

fn read(input: &mut Cursor<'_>) -> Result<RoaringBitmap> {
    let kind = input.byte()?;
    let cardinality = input.u32()?;
    let count = u16::try_from(cardinality.wrapping_sub(1)).map_err(|_| corrupt("its cardinality is wrong"))?;
    let mut portable = Vec::new();
    match kind {
        RUNS => {
            let runs = input.u16()?;
            portable.extend_from_slice(&COOKIE_RUNS.to_le_bytes());
            portable.push(1);
            portable.extend_from_slice(&[0, 0]);
            portable.extend_from_slice(&count.to_le_bytes());
            portable.extend_from_slice(&runs.to_le_bytes());
            portable.extend_from_slice(input.take(usize::from(runs) * 4)?);
        }
        BITS | VALUES => {
            let bytes = if kind == BITS { BITS_BYTES } else { (usize::from(count) + 1) * 2 };
            if kind == VALUES && bytes >= BITS_BYTES + 2 {
                return values(input.take(bytes)?);
            }
            portable.extend_from_slice(&COOKIE.to_le_bytes());
            portable.extend_from_slice(&1_u32.to_le_bytes());
            portable.extend_from_slice(&[0, 0]);
            portable.extend_from_slice(&count.to_le_bytes());
            portable.extend_from_slice(&(HEADER as u32).to_le_bytes());
            if kind == BITS && cardinality <= 4096 {
                return bits(input.take(bytes)?);
            }
            portable.extend_from_slice(input.take(bytes)?);
        }
        _ => return Err(corrupt("its kind is unknown")),
    }
    let container = RoaringBitmap::deserialize_from(portable.as_slice()).map_err(|e| corrupt("").with_source(e))?;
    if container.len() != u64::from(cardinality) || container.max().is_some_and(|max| max > u32::from(u16::MAX)) {
        return Err(corrupt("its cardinality is wrong"));
    }
    Ok(container)
}

/// Values of a container that is too full for its kind; Java reads such ones too.
fn values(bytes: &[u8]) -> Result<RoaringBitmap> {
    let values = bytes.chunks_exact(2).map(|b| u32::from(u16::from_le_bytes([b[0], b[1]])));
    RoaringBitmap::from_sorted_iter(values).map_err(|_| corrupt("its values are not in order"))
}

/// Bits of a container that is too empty for its kind.
fn bits(bytes: &[u8]) -> Result<RoaringBitmap> {
    let set = |at: &u32| bytes[(at / 8) as usize] & (1 << (at % 8)) != 0;
    RoaringBitmap::from_sorted_iter((0..=u32::from(u16::MAX)).filter(set)).map_err(|_| corrupt("its bits are wrong"))
}

fn write(out: &mut Vec<u8>, container: &mut RoaringBitmap) -> Result<()> {
    container.optimize();
    let mut portable = Vec::with_capacity(container.serialized_size());
    let failed = |e| Error::internal("a Roaring container cannot be written").with_source(e);
    container.serialize_into(&mut portable).map_err(failed)?;
    let cookie = portable.first_chunk::<4>().map_or(0, |b| u32::from_le_bytes(*b));
    let cardinality = u32::try_from(container.len()).unwrap_or(u32::MAX);
    let (kind, header) = match cookie & 0xffff {
        COOKIE_RUNS => (RUNS, HEADER_RUNS),
        _ if cardinality > 4096 => (BITS, HEADER),
        _ => (VALUES, HEADER),
    };
    let body = portable.get(header..).ok_or_else(|| Error::internal("a Roaring bitmap without a container"))?;
    out.push(kind);
    out.extend_from_slice(&cardinality.to_le_bytes());
    out.extend_from_slice(body);
    Ok(())
}

fn corrupt(why: &str) -> Error {
    Error::corrupt(format!("not a Roaring container: {why}"))
}
