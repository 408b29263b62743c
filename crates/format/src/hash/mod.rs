//! Murmur3 hashes of binary rows, a batch at a time, and the buckets they lead to (spec: format.md C.8).
//!
//! Hashes are computed from the arrays; no row objects are made. They decide where a key lives, so they must equal the
//! reference's for every value.

mod bucket;
mod index;

#[cfg(test)]
mod tests;

pub use crate::murmur::{hash_bytes, hash_words};
pub use bucket::BucketFunction;
pub use index::{hash_index_name, read_hash_index, write_hash_index};

use arrow_array::ArrayRef;
use arrow_buffer::{BooleanBuffer, NullBuffer};

use crate::Result;
use crate::murmur::{SEED, finish, mix_long};
use crate::row::{Column, Data, Encoder, columns, rows};
use crate::types::DataType;

/// Fields whose null bits fit in the first word of the header.
const ONE_WORD_ARITY: usize = 56;

/// The hash of the binary row of each row of a batch.
///
/// # Errors
/// `Invalid` when columns and types do not match in number, length, or Arrow type.
pub fn hash_columns(columns: &[ArrayRef], types: &[DataType]) -> Result<Vec<i32>> {
    let rows = rows(columns)?;
    let columns = self::columns(columns, types)?;
    if columns.len() <= ONE_WORD_ARITY && columns.iter().all(|c| is_fixed(&c.data)) {
        return Ok(hash_fixed(&columns, rows));
    }
    let mut encoder = Encoder::new(columns.len());
    (0..rows)
        .map(|row| {
            encoder.reset();
            for (i, column) in columns.iter().enumerate() {
                column.put(row, i, &mut encoder)?;
            }
            Ok(hash_words(encoder.bytes()))
        })
        .collect()
}

fn is_fixed(data: &Data) -> bool {
    match data {
        Data::Bit(_) | Data::Byte(_) | Data::Short(_) | Data::Word(_) | Data::Long(_) => true,
        Data::Decimal { precision, .. } => *precision <= crate::types::MAX_COMPACT_DECIMAL,
        _ => false,
    }
}

/// Rows without variable part: the header word, then one word a column.
fn hash_fixed(columns: &[Column], rows: usize) -> Vec<i32> {
    let mut hashes = headers(columns, rows);
    for Column { nulls, data, .. } in columns {
        let nulls = nulls.as_ref();
        match data {
            Data::Bit(v) => mix_bits(&mut hashes, v, nulls),
            Data::Byte(v) => mix_column(&mut hashes, v, nulls, |v| u64::from(v.cast_unsigned())),
            Data::Short(v) => mix_column(&mut hashes, v, nulls, |v| u64::from(v.cast_unsigned())),
            Data::Word(v) => mix_column(&mut hashes, v, nulls, |v| u64::from(v.cast_unsigned())),
            Data::Long(v) => mix_column(&mut hashes, v, nulls, i64::cast_unsigned),
            Data::Decimal { values, .. } => mix_column(&mut hashes, values, nulls, |v| v as u64),
            _ => {}
        }
    }
    let length = 8 + 8 * columns.len() as u32;
    hashes.into_iter().map(|h| finish(h, length)).collect()
}

/// The hash state behind the header: `+I` and the null bits.
fn headers(columns: &[Column], rows: usize) -> Vec<u32> {
    if columns.iter().all(|c| c.nulls.is_none()) {
        return vec![mix_long(SEED, 0); rows];
    }
    let mut headers = vec![0u64; rows];
    for (i, column) in columns.iter().enumerate() {
        if let Some(nulls) = &column.nulls {
            for (header, valid) in headers.iter_mut().zip(nulls) {
                *header |= u64::from(!valid) << (i + 8);
            }
        }
    }
    headers.into_iter().map(|header| mix_long(SEED, header)).collect()
}

#[inline]
fn mix_column<T: Copy>(hashes: &mut [u32], values: &[T], nulls: Option<&NullBuffer>, word: impl Fn(T) -> u64) {
    match nulls {
        None => {
            for (hash, value) in hashes.iter_mut().zip(values) {
                *hash = mix_long(*hash, word(*value));
            }
        }
        Some(nulls) => {
            for ((hash, value), valid) in hashes.iter_mut().zip(values).zip(nulls) {
                *hash = mix_long(*hash, if valid { word(*value) } else { 0 });
            }
        }
    }
}

fn mix_bits(hashes: &mut [u32], values: &BooleanBuffer, nulls: Option<&NullBuffer>) {
    for (row, (hash, value)) in hashes.iter_mut().zip(values).enumerate() {
        let valid = nulls.is_none_or(|n| n.is_valid(row));
        *hash = mix_long(*hash, u64::from(value && valid));
    }
}
