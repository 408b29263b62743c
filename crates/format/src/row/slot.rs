//! Checked reading of one value inside a section of the binary layout (spec: format.md C.6).
//!
//! A section is the bytes of one row or array; offsets in slots count from its start. Nothing here trusts them.

use bytes::Bytes;

use crate::datum::Datum;
use crate::types::{DataType, Kind, MAX_COMPACT_DECIMAL};
use crate::{Error, Result};

use super::header_len;

/// Timestamps up to this precision are stored as milliseconds in the slot.
pub(crate) const MAX_COMPACT_TIMESTAMP: u8 = 3;
/// Strings and binaries up to this length are stored in the slot.
pub(crate) const MAX_INLINE: usize = 7;

/// The bytes of one row, array or vector.
#[derive(Clone, Copy)]
pub(crate) struct Section<'a> {
    bytes: &'a [u8],
}

/// The place of one value: its section and the offset of its slot or element.
#[derive(Clone, Copy)]
pub(crate) struct Slot<'a> {
    section: &'a [u8],
    at: usize,
}

impl<'a> Section<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// Whether bit `bit` counted from byte `from` is set; bits beyond the end are not.
    fn bit(&self, from: usize, bit: usize) -> bool {
        self.bytes.get(from + bit / 8).is_some_and(|byte| byte >> (bit % 8) & 1 == 1)
    }

    pub(crate) fn row_is_null(&self, i: usize) -> bool {
        self.bit(0, i + 8)
    }

    pub(crate) fn row_slot(&self, arity: usize, i: usize) -> Slot<'a> {
        Slot { section: self.bytes, at: header_len(arity) + i * 8 }
    }

    /// The elements of this array section, null or at their slots.
    pub(crate) fn elements(&self, element_len: usize) -> Result<impl Iterator<Item = Option<Slot<'a>>> + use<'a>> {
        let Self { bytes } = *self;
        let count = Slot { section: bytes, at: 0 }.int()?;
        let count = usize::try_from(count).map_err(|_| Error::corrupt(format!("binary array of {count} elements")))?;
        let header = array_header_len(count);
        if count.checked_mul(element_len).and_then(|n| n.checked_add(header)).is_none_or(|end| end > bytes.len()) {
            return Err(Error::corrupt(format!("binary array of {count} elements has only {} bytes", bytes.len())));
        }
        let section = *self;
        Ok((0..count)
            .map(move |i| (!section.bit(4, i)).then_some(Slot { section: bytes, at: header + i * element_len })))
    }
}

/// Bytes before the elements of an array: the count, and a null bit an element in words of 4 bytes.
pub(crate) fn array_header_len(count: usize) -> usize {
    4 + count.div_ceil(32) * 4
}

/// Bytes of an array element of this type.
pub(crate) fn element_len(kind: &Kind) -> usize {
    match kind {
        Kind::Boolean | Kind::TinyInt => 1,
        Kind::SmallInt => 2,
        Kind::Int | Kind::Float | Kind::Date | Kind::Time(_) => 4,
        _ => 8,
    }
}

impl<'a> Slot<'a> {
    fn fixed<const N: usize>(&self) -> Result<[u8; N]> {
        self.at
            .checked_add(N)
            .and_then(|end| self.section.get(self.at..end))
            .and_then(|bytes| bytes.try_into().ok())
            .ok_or_else(|| Error::corrupt(format!("binary section of {} bytes ends in a value", self.section.len())))
    }

    pub(crate) fn byte(&self) -> Result<i8> {
        self.fixed().map(i8::from_le_bytes)
    }

    pub(crate) fn boolean(&self) -> Result<bool> {
        self.byte().map(|b| b != 0)
    }

    pub(crate) fn short(&self) -> Result<i16> {
        self.fixed().map(i16::from_le_bytes)
    }

    pub(crate) fn int(&self) -> Result<i32> {
        self.fixed().map(i32::from_le_bytes)
    }

    pub(crate) fn long(&self) -> Result<i64> {
        self.fixed().map(i64::from_le_bytes)
    }

    pub(crate) fn float(&self) -> Result<f32> {
        self.fixed().map(f32::from_le_bytes)
    }

    pub(crate) fn double(&self) -> Result<f64> {
        self.fixed().map(f64::from_le_bytes)
    }

    /// The variable part this slot points to.
    fn part(&self) -> Result<&'a [u8]> {
        let word: [u8; 8] = self.fixed()?;
        let len = u32::from_le_bytes([word[0], word[1], word[2], word[3]]) as usize;
        let offset = u32::from_le_bytes([word[4], word[5], word[6], word[7]]) as usize;
        self.range(offset, len)
    }

    fn range(&self, offset: usize, len: usize) -> Result<&'a [u8]> {
        offset.checked_add(len).and_then(|end| self.section.get(offset..end)).ok_or_else(|| {
            let size = self.section.len();
            Error::corrupt(format!("binary value of {len} bytes at {offset} is beyond the {size} bytes of its section"))
        })
    }

    /// A string or binary, inline or in the variable part.
    pub(crate) fn bytes(&self) -> Result<&'a [u8]> {
        let word: [u8; 8] = self.fixed()?;
        if word[7] & 0x80 == 0 {
            return self.part();
        }
        let len = usize::from(word[7] & 0x7f);
        if len > MAX_INLINE {
            return Err(Error::corrupt(format!("inline binary value of {len} bytes")));
        }
        self.range(self.at, len)
    }

    pub(crate) fn string(&self) -> Result<&'a str> {
        std::str::from_utf8(self.bytes()?).map_err(|e| Error::corrupt("string is not UTF-8").with_source(e))
    }

    pub(crate) fn decimal(&self, precision: u8) -> Result<i128> {
        let unscaled = if precision <= MAX_COMPACT_DECIMAL {
            i128::from(self.long()?)
        } else {
            let part = self.part()?;
            if part.is_empty() || part.len() > 16 {
                return Err(Error::corrupt(format!("decimal of {} bytes", part.len())));
            }
            let negative = part[0] & 0x80 != 0;
            let mut wide = [if negative { 0xff } else { 0 }; 16];
            wide[16 - part.len()..].copy_from_slice(part);
            i128::from_be_bytes(wide)
        };
        let limit = 10u128.checked_pow(u32::from(precision)).unwrap_or(u128::MAX);
        if unscaled.unsigned_abs() >= limit {
            return Err(Error::corrupt(format!("decimal {unscaled} has more than {precision} digits")));
        }
        Ok(unscaled)
    }

    /// Milliseconds and nanoseconds within the millisecond.
    pub(crate) fn timestamp(&self, precision: u8) -> Result<(i64, i32)> {
        if precision <= MAX_COMPACT_TIMESTAMP {
            return Ok((self.long()?, 0));
        }
        let word: [u8; 8] = self.fixed()?;
        let nanos = i32::from_le_bytes([word[0], word[1], word[2], word[3]]);
        let offset = u32::from_le_bytes([word[4], word[5], word[6], word[7]]) as usize;
        if !(0..1_000_000).contains(&nanos) {
            return Err(Error::corrupt(format!("timestamp with {nanos} nanoseconds in a millisecond")));
        }
        let millis = Slot { section: self.section, at: offset }.long()?;
        Ok((millis, nanos))
    }

    /// The section of a nested row or array.
    pub(crate) fn nested(&self) -> Result<Section<'a>> {
        Ok(Section::new(self.part()?))
    }

    /// A nested row; it must be long enough for its fixed part.
    pub(crate) fn nested_row(&self, arity: usize) -> Result<Section<'a>> {
        let part = self.part()?;
        if part.len() < header_len(arity) + arity * 8 {
            return Err(Error::corrupt(format!("nested row of {arity} fields has only {} bytes", part.len())));
        }
        Ok(Section::new(part))
    }

    /// The key and value arrays of a map: a 4-byte length of the key array, then both.
    pub(crate) fn map(&self) -> Result<(Section<'a>, Section<'a>)> {
        let (keys, values) = self.split_part()?;
        Ok((Section::new(keys), Section::new(values)))
    }

    /// Value and metadata of a variant: a 4-byte length of the value, then both.
    pub(crate) fn variant(&self) -> Result<(&'a [u8], &'a [u8])> {
        self.split_part()
    }

    fn split_part(&self) -> Result<(&'a [u8], &'a [u8])> {
        let part = self.part()?;
        let first = Slot { section: part, at: 0 }.int()?;
        usize::try_from(first).ok().and_then(|len| part[4..].split_at_checked(len)).ok_or_else(|| {
            Error::corrupt(format!("binary value of {} bytes says its first half has {first}", part.len()))
        })
    }

    /// The elements of a vector of `length`: a 4-byte count, then the elements without null bits.
    pub(crate) fn vector(&self, length: usize, element_len: usize) -> Result<impl Iterator<Item = Slot<'a>> + use<'a>> {
        let part = self.part()?;
        let count = Slot { section: part, at: 0 }.int()?;
        if usize::try_from(count) != Ok(length) || part.len() < 4 + length * element_len {
            let size = part.len();
            return Err(Error::corrupt(format!("vector of {count} elements in {size} bytes should have {length}")));
        }
        Ok((0..length).map(move |i| Slot { section: part, at: 4 + i * element_len }))
    }

    /// The value as a scalar.
    pub(crate) fn datum(&self, data_type: &DataType) -> Result<Datum> {
        Ok(match &data_type.kind {
            Kind::Boolean => Datum::Boolean(self.boolean()?),
            Kind::TinyInt => Datum::TinyInt(self.byte()?),
            Kind::SmallInt => Datum::SmallInt(self.short()?),
            Kind::Int => Datum::Int(self.int()?),
            Kind::BigInt => Datum::BigInt(self.long()?),
            Kind::Float => Datum::Float(self.float()?),
            Kind::Double => Datum::Double(self.double()?),
            Kind::Date => Datum::Date(self.int()?),
            Kind::Time(_) => Datum::Time(self.int()?),
            Kind::Timestamp(p) | Kind::LocalZonedTimestamp(p) | Kind::WideTimestamp { precision: p, .. } => {
                let (millis, nanos) = self.timestamp(*p)?;
                Datum::Timestamp { millis, nanos }
            }
            Kind::Decimal { precision, scale } => {
                Datum::Decimal { unscaled: self.decimal(*precision)?, precision: *precision, scale: *scale }
            }
            Kind::Char(_) | Kind::Varchar(_) => Datum::String(self.string()?.to_owned()),
            Kind::Binary(_) | Kind::Varbinary(_) | Kind::Blob => Datum::Bytes(Bytes::copy_from_slice(self.bytes()?)),
            other => return Err(Error::unsupported(format!("reading a {other:?} as a scalar"))),
        })
    }
}
