//! Bitmaps and sketches as the sets that they are: which bytes hold a union depends on the order it was made in.

use std::collections::BTreeSet;

use serde_json::{Value, json};

/// A kind of set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Members {
    /// Roaring bitmaps of 32 bits, without runs and with less than 4096 values in a container.
    Bitmap,
    /// HLL sketches that still hold their coupons.
    Coupons,
    /// Theta sketches that still hold all hashes.
    Hashes,
    /// Bytes that are only united with themselves.
    Whole,
}

impl Members {
    /// Those of an aggregate function; none for functions of other values.
    pub fn of(function: &str) -> Option<Self> {
        match function {
            "rbm32" => Some(Self::Bitmap),
            "rbm64" => Some(Self::Whole),
            "hll_sketch" => Some(Self::Coupons),
            "theta_sketch" => Some(Self::Hashes),
            _ => None,
        }
    }

    /// The members of hexadecimal bytes, sorted; what is no text stays as it is.
    ///
    /// # Panics
    /// When the bytes are of another layout.
    pub fn of_hex(self, value: &Value) -> Value {
        let Some(hex) = value.as_str() else { return value.clone() };
        let bytes: Vec<u8> = (0..hex.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap_or_else(|e| panic!("{hex}: {e}")))
            .collect();
        let members: BTreeSet<String> = match self {
            Self::Whole => [hex.to_owned()].into(),
            Self::Bitmap => bitmap(&bytes).iter().map(u32::to_string).collect(),
            Self::Coupons => {
                let from = match bytes[0] {
                    2 => 8,
                    3 => 12,
                    other => panic!("an HLL sketch of {other} integers before its coupons"),
                };
                bytes[from..].chunks(4).map(|c| format!("{c:?}")).collect()
            }
            Self::Hashes => {
                let (long, count) = match (bytes[0] & 0x3f, bytes[5] & 4 != 0) {
                    (1, true) => (1, 0),
                    (1, false) => (1, 1),
                    (2, _) => (2, number(&bytes, 8, 4)),
                    (other, _) => panic!("a theta sketch of {other} longs before its hashes"),
                };
                bytes[long * 8..].chunks(8).take(count).map(|c| format!("{c:?}")).collect()
            }
        };
        json!(members)
    }
}

fn number(bytes: &[u8], at: usize, len: usize) -> usize {
    bytes[at..at + len].iter().rev().fold(0, |n, byte| n << 8 | usize::from(*byte))
}

/// Cookie of bitmaps without run containers.
const PLAIN: usize = 12346;

fn bitmap(bytes: &[u8]) -> Vec<u32> {
    assert_eq!(number(bytes, 0, 4), PLAIN, "a bitmap with runs");
    let containers = number(bytes, 4, 4);
    let mut values = Vec::new();
    for container in 0..containers {
        let (key, count) = (number(bytes, 8 + container * 4, 2), number(bytes, 10 + container * 4, 2) + 1);
        let from = number(bytes, 8 + containers * 4 + container * 4, 4);
        let low = |i: usize| number(bytes, from + i * 2, 2);
        values.extend((0..count).map(|i| u32::try_from(key << 16 | low(i)).unwrap_or(0)));
    }
    values
}

/// The hexadecimal bytes of a bitmap of values that differ in their lower half only.
pub fn bitmap_of(values: &BTreeSet<u16>) -> String {
    let mut bytes: Vec<u8> = [PLAIN, usize::from(!values.is_empty())].iter().flat_map(|n| le(*n, 4)).collect();
    if !values.is_empty() {
        // Key 0, the count less one, and where the values begin.
        bytes.extend([le(0, 2), le(values.len() - 1, 2), le(16, 4)].concat());
        bytes.extend(values.iter().flat_map(|v| v.to_le_bytes()));
    }
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn le(number: usize, len: usize) -> Vec<u8> {
    number.to_le_bytes()[..len].to_vec()
}
