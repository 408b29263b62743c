//! BinaryRow, BinaryArray, BinaryMap and their serialised forms (spec: format.md C.6).
//!
//! Rows from files are untrusted: every offset is checked, and a row that contradicts the layout gives `Corrupt`.

use bytes::{BufMut, Bytes, BytesMut};

mod column;
mod compact;
mod decode;
mod encode;
mod slot;

#[cfg(test)]
pub(crate) mod tests;

pub use compact::{CompactOrder, columns_from_compact, compact_rows};
pub use decode::columns_from_rows;

pub(crate) use column::{Column, Data, columns, rows};
pub(crate) use compact::{Front, put_var_int};
pub(crate) use encode::Encoder;

use crate::datum::Datum;
use crate::types::{DataType, RowKind};
use crate::{Error, Result};
use slot::Section;

/// A row in the binary layout: null bits, fixed part of 8 bytes a field, variable part.
///
/// It exists only where the format demands it (partitions, keys, statistics, hashing). Two rows are equal when their bytes are.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BinaryRow {
    arity: usize,
    bytes: Bytes,
}

/// Bytes before the fixed part: the row kind and one null bit a field, in words of 8 bytes.
pub(crate) fn header_len(arity: usize) -> usize {
    arity.saturating_add(63 + 8) / 64 * 8
}

fn check(arity: usize, row: &[u8]) -> Result<()> {
    let fixed = arity.checked_mul(8).and_then(|f| f.checked_add(header_len(arity)));
    if fixed.is_none_or(|fixed| row.len() < fixed) {
        return Err(Error::corrupt(format!("binary row of {arity} fields has only {} bytes", row.len())));
    }
    Ok(())
}

impl BinaryRow {
    /// The row without fields: the partition of an unpartitioned table, the key of an append table.
    pub fn empty() -> Self {
        Self { arity: 0, bytes: Bytes::from_static(&[0; 8]) }
    }

    /// A row of known arity around its bytes (without the arity prefix).
    ///
    /// # Errors
    /// `Corrupt` when the bytes are shorter than header and fixed part.
    pub fn from_bytes(arity: usize, bytes: Bytes) -> Result<Self> {
        check(arity, &bytes)?;
        Ok(Self { arity, bytes })
    }

    /// A row from its serialised form: 4 bytes big-endian arity, then the row.
    ///
    /// # Errors
    /// `Corrupt` when the bytes are too short for the arity they claim.
    pub fn from_serialized(serialized: impl Into<Bytes>) -> Result<Self> {
        let serialized = serialized.into();
        let arity = Self::check_serialized(&serialized)?;
        Ok(Self { arity, bytes: serialized.slice(4..) })
    }

    /// Checks a row in its serialised form, without making it; its arity.
    ///
    /// # Errors
    /// As [`BinaryRow::from_serialized`].
    pub fn check_serialized(serialized: &[u8]) -> Result<usize> {
        let Some((prefix, row)) = serialized.split_first_chunk::<4>() else {
            return Err(Error::corrupt(format!("serialised binary row has only {} bytes", serialized.len())));
        };
        let arity = i32::from_be_bytes(*prefix);
        let arity = usize::try_from(arity).map_err(|_| Error::corrupt(format!("binary row has arity {arity}")))?;
        check(arity, row)?;
        Ok(arity)
    }

    /// The serialised form: 4 bytes big-endian arity, then the row.
    pub fn to_serialized(&self) -> Bytes {
        let mut out = BytesMut::with_capacity(self.bytes.len() + 4);
        out.put_u32(u32::try_from(self.arity).unwrap_or(u32::MAX));
        out.put_slice(&self.bytes);
        out.freeze()
    }

    /// A row of the given values; `None` is null. The row kind is `+I`.
    ///
    /// # Errors
    /// `Invalid` when a value is not of its type, `Unsupported` for nested types.
    pub fn from_datums(values: &[(Option<Datum>, &DataType)]) -> Result<Self> {
        let mut encoder = Encoder::new(values.len());
        for (i, (value, data_type)) in values.iter().enumerate() {
            match value {
                Some(value) => encoder.put_datum(i, value, data_type)?,
                None => encoder.put_null(i, data_type),
            }
        }
        encoder.row()
    }

    /// Number of fields.
    pub fn arity(&self) -> usize {
        self.arity
    }

    /// The bytes without the arity prefix.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The row kind in the header.
    ///
    /// # Errors
    /// `Corrupt` for a byte that is no row kind.
    pub fn kind(&self) -> Result<RowKind> {
        RowKind::from_byte(self.bytes.first().copied().unwrap_or(0))
    }

    /// Murmur3 hash of the bytes (spec: format.md C.8).
    pub fn hash(&self) -> i32 {
        crate::murmur::hash_words(&self.bytes)
    }

    /// Whether field `i` is null; a field beyond the arity is.
    pub fn is_null(&self, i: usize) -> bool {
        i >= self.arity || self.section().row_is_null(i)
    }

    /// Field `i` as a scalar of `data_type`; `None` is null.
    ///
    /// # Errors
    /// `Corrupt` when the row has no such field or its bytes contradict the type, `Unsupported` for nested types.
    pub fn datum(&self, i: usize, data_type: &DataType) -> Result<Option<Datum>> {
        if i >= self.arity {
            return Err(Error::corrupt(format!("binary row has {} fields, field {i} is asked for", self.arity)));
        }
        let section = self.section();
        if section.row_is_null(i) {
            return Ok(None);
        }
        section.row_slot(self.arity, i).datum(data_type).map(Some)
    }

    /// All fields as scalars.
    ///
    /// # Errors
    /// As [`datum`](Self::datum), and `Corrupt` when the arity is not the number of types.
    pub fn datums<'a>(&self, types: impl ExactSizeIterator<Item = &'a DataType>) -> Result<Vec<Option<Datum>>> {
        if types.len() != self.arity {
            return Err(Error::corrupt(format!("binary row has {} fields instead of {}", self.arity, types.len())));
        }
        types.enumerate().map(|(i, t)| self.datum(i, t)).collect()
    }

    fn section(&self) -> Section<'_> {
        Section::new(&self.bytes)
    }
}

impl Default for BinaryRow {
    fn default() -> Self {
        Self::empty()
    }
}

/// One row for each row of a batch (partitions, smallest and largest keys). Columns may be of any type.
///
/// # Errors
/// `Invalid` when columns and types do not match in number, length, or Arrow type.
pub fn rows_from_columns(columns: &[arrow_array::ArrayRef], types: &[DataType]) -> Result<Vec<BinaryRow>> {
    let rows = rows(columns)?;
    let columns = self::columns(columns, types)?;
    let mut encoder = Encoder::new(columns.len());
    (0..rows)
        .map(|row| {
            encoder.reset();
            for (i, column) in columns.iter().enumerate() {
                column.put(row, i, &mut encoder)?;
            }
            encoder.row()
        })
        .collect()
}
