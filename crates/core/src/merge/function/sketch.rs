//! `hll_sketch` and `theta_sketch`: unions of Apache DataSketches in their own serialised forms.

use datasketches::hll::{HllSketch, HllType, HllUnion};
use datasketches::theta::{CompactThetaSketch, ThetaUnionBuilder};
use linn_format::{Error, Result};

/// Unites two HLL sketches into a compact one with four bits a register. The union is as precise as the second sketch at
/// most, as in the reference.
///
/// # Errors
/// `Corrupt` when one is not an HLL sketch.
pub(super) fn unite_hll(a: &[u8], b: &[u8]) -> Result<Vec<u8>> {
    let (a, b) = (hll(a)?, hll(b)?);
    let mut union = HllUnion::new(b.lg_config_k()).map_err(|e| corrupt("HLL", e))?;
    union.update(&b);
    union.update(&a);
    Ok(union.to_sketch(HllType::Hll4).serialize())
}

/// Unites two Theta sketches into a compact, ordered one of 4096 entries at most.
///
/// # Errors
/// `Corrupt` when one is not a compact Theta sketch with the default seed.
pub(super) fn unite_theta(a: &[u8], b: &[u8]) -> Result<Vec<u8>> {
    let mut union = ThetaUnionBuilder::default().build().map_err(|e| corrupt("Theta", e))?;
    for bytes in [a, b] {
        let sketch = CompactThetaSketch::deserialize(bytes).map_err(|e| corrupt("Theta", e))?;
        union.update(&sketch).map_err(|e| corrupt("Theta", e))?;
    }
    Ok(as_reference(union.to_sketch(true).serialize()))
}

/// The reference sets a flag on a sketch of one entry and notes the sampling probability in others; readers need neither.
fn as_reference(mut sketch: Vec<u8>) -> Vec<u8> {
    const SINGLE_ENTRY: u8 = 0x20;
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

fn hll(bytes: &[u8]) -> Result<HllSketch> {
    HllSketch::deserialize(bytes).map_err(|e| corrupt("HLL", e))
}

fn corrupt(kind: &str, e: datasketches::error::Error) -> Error {
    Error::corrupt(format!("not a serialised {kind} sketch")).with_source(e)
}
