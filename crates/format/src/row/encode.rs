//! Writing the binary layout into one reusable buffer (spec: format.md C.6).
//!
//! Null DECIMALs and TIMESTAMPs that do not fit their slot keep their place in the variable part: the reference reserves
//! it in every row it builds, so hashes and bytes of such rows depend on it.

use bytes::Bytes;

use crate::datum::{Datum, Float};
use crate::types::{DataType, Kind, MAX_COMPACT_DECIMAL};
use crate::{Error, Result};

use super::slot::{MAX_COMPACT_TIMESTAMP, MAX_INLINE, array_header_len};
use super::{BinaryRow, header_len};

/// Builds one row (or one array, for nested values) in a buffer that is reused.
pub(crate) struct Encoder {
    arity: usize,
    /// Start of the null bits, in bits: 8 in a row, behind the row kind; 32 in an array, behind the count.
    null_bits: usize,
    /// Start of the slots or elements.
    fixed: usize,
    /// Bytes of a slot or element.
    width: usize,
    /// Bytes before the variable part.
    fixed_end: usize,
    buf: Vec<u8>,
}

impl Encoder {
    /// For rows of `arity` fields; it starts as the row of zeros.
    pub(crate) fn new(arity: usize) -> Self {
        let fixed = header_len(arity);
        let fixed_end = fixed + arity * 8;
        Self { arity, null_bits: 8, fixed, width: 8, fixed_end, buf: vec![0; fixed_end] }
    }

    /// For an array of `count` elements of `width` bytes.
    pub(super) fn array(count: usize, width: usize) -> Result<Self> {
        let size = i32::try_from(count).map_err(|_| Error::invalid(format!("array of {count} elements")))?;
        let fixed = array_header_len(count);
        let fixed_end = (fixed + count * width).next_multiple_of(8);
        let mut buf = vec![0; fixed_end];
        buf[..4].copy_from_slice(&size.to_le_bytes());
        Ok(Self { arity: count, null_bits: 32, fixed, width, fixed_end, buf })
    }

    /// Back to the row of zeros.
    pub(crate) fn reset(&mut self) {
        self.buf.truncate(self.fixed_end);
        self.buf.fill(0);
    }

    /// The row built so far.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.buf
    }

    /// The row built so far, copied.
    pub(crate) fn row(&self) -> Result<BinaryRow> {
        BinaryRow::from_bytes(self.arity, Bytes::copy_from_slice(&self.buf))
    }

    /// The first `len` bytes of the elements of an array.
    pub(super) fn elements(&self, len: usize) -> &[u8] {
        &self.buf[self.fixed..self.fixed + len]
    }

    /// Whether this is a row, not an array.
    pub(crate) fn is_row(&self) -> bool {
        self.null_bits == 8
    }

    fn at(&self, i: usize) -> usize {
        self.fixed + i * self.width
    }

    /// Little-endian bytes of a value of at most 8 bytes.
    #[inline]
    pub(crate) fn put_fixed<const N: usize>(&mut self, i: usize, bytes: [u8; N]) {
        let at = self.at(i);
        self.buf[at..at + N].copy_from_slice(&bytes);
    }

    pub(crate) fn set_null_bit(&mut self, i: usize) {
        let bit = self.null_bits + i;
        self.buf[bit / 8] |= 1 << (bit % 8);
    }

    /// Null; the slot is zero already.
    pub(crate) fn put_null(&mut self, i: usize, data_type: &DataType) {
        self.set_null_bit(i);
        if self.is_row() {
            self.reserve_null(i, reserved_len(&data_type.kind));
        }
    }

    /// Keeps the place of a null in the variable part.
    pub(crate) fn reserve_null(&mut self, i: usize, len: usize) {
        if len > 0 {
            let offset = self.buf.len() as u64;
            self.buf.resize(self.buf.len() + len, 0);
            self.put_fixed(i, (offset << 32).to_le_bytes());
        }
    }

    /// A string or binary, inline if short.
    pub(crate) fn put_bytes(&mut self, i: usize, bytes: &[u8]) -> Result<()> {
        if bytes.len() > MAX_INLINE {
            return self.put_part(i, &[bytes]);
        }
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        word[7] = 0x80 | bytes.len() as u8;
        self.put_fixed(i, word);
        Ok(())
    }

    /// A value in the variable part, given in pieces.
    pub(super) fn put_part(&mut self, i: usize, pieces: &[&[u8]]) -> Result<()> {
        let offset = self.buf.len();
        for piece in pieces {
            self.buf.extend_from_slice(piece);
        }
        let len = self.buf.len() - offset;
        if i32::try_from(self.buf.len()).is_err() {
            return Err(Error::invalid(format!("value of {len} bytes makes a binary row longer than 2 GiB")));
        }
        self.buf.resize(self.buf.len().next_multiple_of(8), 0);
        self.put_fixed(i, ((offset as u64) << 32 | len as u64).to_le_bytes());
        Ok(())
    }

    /// A DECIMAL of `precision`.
    pub(crate) fn put_decimal(&mut self, i: usize, unscaled: i128, precision: u8) -> Result<()> {
        if precision <= MAX_COMPACT_DECIMAL {
            let long = i64::try_from(unscaled)
                .map_err(|_| Error::invalid(format!("decimal {unscaled} has more than {precision} digits")))?;
            self.put_fixed(i, long.to_le_bytes());
            return Ok(());
        }
        let wide = unscaled.to_be_bytes();
        let minimal = &wide[16 - minimal_len(unscaled)..];
        let offset = self.buf.len();
        self.buf.extend_from_slice(minimal);
        self.buf.resize(offset + 16, 0);
        self.put_fixed(i, ((offset as u64) << 32 | minimal.len() as u64).to_le_bytes());
        Ok(())
    }

    /// A TIMESTAMP of `precision`: milliseconds and nanoseconds within the millisecond.
    pub(crate) fn put_timestamp(&mut self, i: usize, millis: i64, nanos: i32, precision: u8) {
        if precision <= MAX_COMPACT_TIMESTAMP {
            self.put_fixed(i, millis.to_le_bytes());
            return;
        }
        let offset = self.buf.len() as u64;
        self.buf.extend_from_slice(&millis.to_le_bytes());
        self.put_fixed(i, (offset << 32 | u64::from(nanos.unsigned_abs())).to_le_bytes());
    }

    /// A scalar.
    pub(crate) fn put_datum(&mut self, i: usize, value: &Datum, data_type: &DataType) -> Result<()> {
        match (value, &data_type.kind) {
            (Datum::Boolean(v), Kind::Boolean) => self.put_fixed(i, [u8::from(*v)]),
            (Datum::TinyInt(v), Kind::TinyInt) => self.put_fixed(i, v.to_le_bytes()),
            (Datum::SmallInt(v), Kind::SmallInt) => self.put_fixed(i, v.to_le_bytes()),
            (Datum::Int(v), Kind::Int) | (Datum::Date(v), Kind::Date) | (Datum::Time(v), Kind::Time(_)) => {
                self.put_fixed(i, v.to_le_bytes());
            }
            (Datum::BigInt(v), Kind::BigInt) => self.put_fixed(i, v.to_le_bytes()),
            (Datum::Float(v), Kind::Float) => self.put_fixed(i, v.one_nan().to_le_bytes()),
            (Datum::Double(v), Kind::Double) => self.put_fixed(i, v.one_nan().to_le_bytes()),
            (
                Datum::Timestamp { millis, nanos },
                Kind::Timestamp(p) | Kind::LocalZonedTimestamp(p) | Kind::WideTimestamp { precision: p, .. },
            ) => {
                self.put_timestamp(i, *millis, *nanos, *p);
            }
            (Datum::Decimal { unscaled, scale: of, .. }, Kind::Decimal { precision, scale }) if of == scale => {
                self.put_decimal(i, *unscaled, *precision)?;
            }
            (Datum::String(v), Kind::Char(_) | Kind::Varchar(_)) => self.put_bytes(i, v.as_bytes())?,
            (Datum::Bytes(v), Kind::Binary(_) | Kind::Varbinary(_) | Kind::Blob) => self.put_bytes(i, v)?,
            (value, kind) => return Err(Error::invalid(format!("value {value:?} is not a {kind:?}"))),
        }
        Ok(())
    }
}

/// Bytes that a null of this kind occupies in the variable part of a row.
pub(crate) fn reserved_len(kind: &Kind) -> usize {
    match kind {
        Kind::Decimal { precision, .. } if *precision > MAX_COMPACT_DECIMAL => 16,
        Kind::Timestamp(p) | Kind::LocalZonedTimestamp(p) | Kind::WideTimestamp { precision: p, .. }
            if *p > MAX_COMPACT_TIMESTAMP =>
        {
            8
        }
        _ => 0,
    }
}

/// Bytes of the shortest two's complement form.
pub(super) fn minimal_len(value: i128) -> usize {
    let significant = 128 - if value < 0 { (!value).leading_zeros() } else { value.leading_zeros() };
    significant as usize / 8 + 1
}
