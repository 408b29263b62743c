//! `hll_sketch` and `theta_sketch`: unions of Apache DataSketches in their own serialised forms.
//!
//! Sketches that still list what they have seen are united as they lie in bytes, all others by the library. Both give the
//! same bytes.

use datasketches::hll::{HllSketch, HllType, HllUnion};
use datasketches::theta::{CompactThetaSketch, ThetaUnionBuilder};
use linn_format::{Error, Result};

use super::bitmap::Room;

/// Appends the union of two HLL sketches, a compact one with four bits a register. The union is as precise as the second
/// sketch at most, as in the reference.
///
/// # Errors
/// `Corrupt` when one is not an HLL sketch.
pub(super) fn unite_hll(a: &[u8], b: &[u8], _room: &mut Room, out: &mut Vec<u8>) -> Result<()> {
    if let (Some(first), Some(second)) = (HllList::read(a), HllList::read(b))
        && first.lg_k == second.lg_k
    {
        let start = out.len();
        if second.unite(&first, out) {
            return Ok(());
        }
        out.truncate(start);
    }
    hll_by_library(a, b, out)
}

/// As [`unite_hll`], for all sketches.
pub(super) fn hll_by_library(a: &[u8], b: &[u8], out: &mut Vec<u8>) -> Result<()> {
    let (a, b) = (hll(a)?, hll(b)?);
    let mut union = HllUnion::new(b.lg_config_k()).map_err(|e| corrupt("HLL", e))?;
    union.update(&b);
    union.update(&a);
    out.extend_from_slice(&union.to_sketch(HllType::Hll4).serialize());
    Ok(())
}

/// Appends the union of two Theta sketches, a compact, ordered one of 4096 entries at most.
///
/// # Errors
/// `Corrupt` when one is not a compact Theta sketch with the default seed.
pub(super) fn unite_theta(a: &[u8], b: &[u8], _room: &mut Room, out: &mut Vec<u8>) -> Result<()> {
    if let (Some(first), Some(second)) = (theta_entries(a), theta_entries(b))
        && (first.len() + second.len()) / HASH <= THETA_ENTRIES
    {
        let start = out.len();
        if unite_entries(first, second, out) {
            return Ok(());
        }
        out.truncate(start);
    }
    theta_by_library(a, b, out)
}

/// As [`unite_theta`], for all sketches.
pub(super) fn theta_by_library(a: &[u8], b: &[u8], out: &mut Vec<u8>) -> Result<()> {
    let mut union = ThetaUnionBuilder::default().build().map_err(|e| corrupt("Theta", e))?;
    for bytes in [a, b] {
        let sketch = CompactThetaSketch::deserialize(bytes).map_err(|e| corrupt("Theta", e))?;
        union.update(&sketch).map_err(|e| corrupt("Theta", e))?;
    }
    out.extend(as_reference(union.to_sketch(true).serialize()));
    Ok(())
}

const SINGLE_ENTRY: u8 = 0x20;

/// The reference sets a flag on a sketch of one entry and notes the sampling probability in others; readers need neither.
fn as_reference(mut sketch: Vec<u8>) -> Vec<u8> {
    let one_long = sketch.first() == Some(&1);
    if one_long && sketch.len() == 16 {
        if let Some(flags) = sketch.get_mut(5) {
            *flags |= SINGLE_ENTRY;
        }
    } else if !one_long && let Some(probability) = sketch.get_mut(12..16) {
        probability.copy_from_slice(&1.0_f32.to_le_bytes());
    }
    sketch
}

/// An HLL sketch of so few values that it lists them: 8 bytes, then a number of 4 bytes for each.
struct HllList<'a> {
    lg_k: u8,
    coupons: &'a [u8],
}

const COUPON: usize = 4;
/// A list with so many coupons becomes something else.
const COUPONS: usize = 8;
const HLL_COMPACT: u8 = 8;

impl<'a> HllList<'a> {
    /// A compact list of at least one coupon; `None` for all else.
    fn read(bytes: &'a [u8]) -> Option<Self> {
        let (&[ints, version, family, lg_k, lg_size, flags, count, mode], rest) = bytes.split_first_chunk::<8>()?;
        let is_list = (ints, version, family, lg_size, flags) == (2, 1, 7, 3, HLL_COMPACT);
        // The lower bits are the mode, those above the registers that the sketch will have.
        if !is_list || !(4..=21).contains(&lg_k) || !matches!(mode & 0xf, 0 | 4 | 8) {
            return None;
        }
        let coupons = rest.get(..usize::from(count) * COUPON)?;
        let fits = (1..COUPONS).contains(&usize::from(count));
        let none_empty = coupons.chunks_exact(COUPON).all(|coupon| coupon != [0; COUPON]);
        (fits && none_empty).then_some(Self { lg_k, coupons })
    }

    /// Appends the sketch of these and other coupons; false when these are too many for a list.
    fn unite(&self, others: &Self, out: &mut Vec<u8>) -> bool {
        let start = out.len();
        out.extend_from_slice(&[2, 1, 7, self.lg_k, 3, HLL_COMPACT, 0, 0]);
        let first = out.len();
        out.extend_from_slice(self.coupons);
        for coupon in others.coupons.chunks_exact(COUPON) {
            if !out.get(first..).is_some_and(|there| there.chunks_exact(COUPON).any(|c| c == coupon)) {
                out.extend_from_slice(coupon);
            }
        }
        let count = (out.len() - first) / COUPON;
        if let Some(of_sketch) = out.get_mut(start + 6) {
            *of_sketch = count as u8;
        }
        count < COUPONS
    }
}

const HASH: usize = 8;
/// Entries of a union at most.
const THETA_ENTRIES: usize = 4096;
/// What the default seed hashes to.
const SEED: [u8; 2] = [0xcc, 0x93];
const THETA_EMPTY: u8 = 4;
const THETA_ORDERED: u8 = 16;
/// Read only, compact, ordered.
const THETA_FLAGS: u8 = 0x1a;

/// The hashes of a compact, ordered sketch that has left none out; `None` for all else.
fn theta_entries(bytes: &[u8]) -> Option<&[u8]> {
    let (&[longs, version, family, _, _, flags, seed_low, seed_high], rest) = bytes.split_first_chunk::<8>()?;
    if (version, family) != (3, 3) || [seed_low, seed_high] != SEED || flags & THETA_EMPTY != 0 {
        return None;
    }
    match longs {
        1 => rest.get(..HASH),
        2 if flags & THETA_ORDERED != 0 => {
            let count = u32::from_le_bytes(*rest.first_chunk()?) as usize;
            rest.get(HASH..count.checked_mul(HASH)?.checked_add(HASH)?)
        }
        _ => None,
    }
}

/// Appends the sketch of two ordered lists of hashes; false when one is not in order or a hash is none.
fn unite_entries(first: &[u8], second: &[u8], out: &mut Vec<u8>) -> bool {
    let start = out.len();
    out.extend_from_slice(&[2, 3, 3, 0, 0, THETA_FLAGS, SEED[0], SEED[1], 0, 0, 0, 0]);
    out.extend_from_slice(&1.0_f32.to_le_bytes());
    let entries = out.len();
    let head = |list: &[[u8; HASH]]| list.first().map(|bytes| u64::from_le_bytes(*bytes));
    let (mut first, mut second) = (first.as_chunks::<HASH>().0, second.as_chunks::<HASH>().0);
    // Zero is no hash, so that the first one is checked as well. What is out of order in one list is so in both together.
    let mut before = 0;
    loop {
        let heads = (head(first), head(second));
        let next = match heads {
            (None, None) => break,
            (Some(a), Some(b)) => a.min(b),
            (Some(next), None) | (None, Some(next)) => next,
        };
        if next <= before || next >= i64::MAX as u64 {
            return false;
        }
        before = next;
        first = first.get(usize::from(heads.0 == Some(next))..).unwrap_or_default();
        second = second.get(usize::from(heads.1 == Some(next))..).unwrap_or_default();
        out.extend_from_slice(&next.to_le_bytes());
    }
    match ((out.len() - entries) / HASH, out.get_mut(start..)) {
        (0, _) | (_, None) => return false,
        (1, Some(_)) => {
            out.drain(entries - HASH..entries);
            if let Some([longs, _, _, _, _, flags, ..]) = out.get_mut(start..) {
                (*longs, *flags) = (1, THETA_FLAGS | SINGLE_ENTRY);
            }
        }
        (count, Some(sketch)) => {
            if let Some(of_sketch) = sketch.get_mut(8..12) {
                of_sketch.copy_from_slice(&(count as u32).to_le_bytes());
            }
        }
    }
    true
}

fn hll(bytes: &[u8]) -> Result<HllSketch> {
    HllSketch::deserialize(bytes).map_err(|e| corrupt("HLL", e))
}

fn corrupt(kind: &str, e: datasketches::error::Error) -> Error {
    Error::corrupt(format!("not a serialised {kind} sketch")).with_source(e)
}
