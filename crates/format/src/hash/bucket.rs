//! From bucket key to bucket (option `bucket-function.type`).

use arrow_array::ArrayRef;

use crate::row::{Column, Data, columns, rows};
use crate::types::{DataType, Kind};
use crate::{Error, Result};

use super::hash_columns;

/// How a bucket key leads to a bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BucketFunction {
    /// `abs(hash % n)` of the binary row.
    #[default]
    Default,
    /// `floorMod(key, n)` of a single INT or BIGINT; null counts as 0.
    Mod,
    /// Hive's hash of the values.
    Hive,
}

impl BucketFunction {
    /// The function of this name in `bucket-function.type`.
    ///
    /// # Errors
    /// `Invalid` for another name than `default`, `mod`, `hive`.
    pub fn parse(name: &str) -> Result<Self> {
        match name.to_ascii_lowercase().as_str() {
            "default" => Ok(Self::Default),
            "mod" => Ok(Self::Mod),
            "hive" => Ok(Self::Hive),
            _ => Err(Error::invalid(format!("bucket function {name:?} is not one of default, mod, hive"))),
        }
    }

    /// The bucket of each row, from its bucket-key columns.
    ///
    /// # Errors
    /// `Invalid` when `num_buckets` is not positive, columns do not match their types, or the function does not take them.
    pub fn buckets(&self, columns: &[ArrayRef], types: &[DataType], num_buckets: i32) -> Result<Vec<i32>> {
        if num_buckets <= 0 {
            return Err(Error::invalid(format!("{num_buckets} buckets")));
        }
        match self {
            Self::Default => {
                let hashes = hash_columns(columns, types)?;
                Ok(hashes.into_iter().map(|hash| default_bucket(hash, num_buckets)).collect())
            }
            Self::Mod => modulo(columns, types, num_buckets),
            Self::Hive => hive(columns, types, num_buckets),
        }
    }
}

/// The bucket of a key with this hash: the absolute value of the remainder that has the sign of the hash.
pub(crate) fn default_bucket(hash: i32, num_buckets: i32) -> i32 {
    (hash % num_buckets).abs()
}

fn modulo(columns: &[ArrayRef], types: &[DataType], num_buckets: i32) -> Result<Vec<i32>> {
    let ([column], [data_type]) = (columns, types) else {
        return Err(Error::invalid(format!("bucket function mod takes one bucket key, not {}", columns.len())));
    };
    let column = Column::new(column, data_type)?;
    let value = |row: usize, value: i64| if column.is_null(row) { 0 } else { value };
    let bucket = |value: i64| value.rem_euclid(i64::from(num_buckets)) as i32;
    match (&data_type.kind, &column.data) {
        (Kind::Int, Data::Word(v)) => {
            Ok(v.iter().enumerate().map(|(row, v)| bucket(value(row, i64::from(*v)))).collect())
        }
        (Kind::BigInt, Data::Long(v)) => Ok(v.iter().enumerate().map(|(row, v)| bucket(value(row, *v))).collect()),
        _ => Err(Error::invalid(format!("bucket function mod takes INT or BIGINT, not {data_type}"))),
    }
}

fn hive(arrays: &[ArrayRef], types: &[DataType], num_buckets: i32) -> Result<Vec<i32>> {
    let mut hashes = vec![0i32; rows(arrays)?];
    for (column, data_type) in columns(arrays, types)?.iter().zip(types) {
        let hash = hive_hash(column, data_type)?;
        for (row, state) in hashes.iter_mut().enumerate() {
            let value = if column.is_null(row) { 0 } else { hash(row) };
            *state = state.wrapping_mul(31).wrapping_add(value);
        }
    }
    Ok(hashes.into_iter().map(|hash| (hash & i32::MAX) % num_buckets).collect())
}

/// Hive's hash of one column, by row.
fn hive_hash<'a>(column: &'a Column, data_type: &DataType) -> Result<Box<dyn Fn(usize) -> i32 + 'a>> {
    let long = |v: i64| (v ^ v >> 32) as i32;
    Ok(match (&column.data, &data_type.kind) {
        (Data::Bit(v), _) => Box::new(|row| i32::from(v.value(row))),
        (Data::Byte(v), _) => Box::new(|row| i32::from(v[row])),
        (Data::Short(v), _) => Box::new(|row| i32::from(v[row])),
        (Data::Word(v), Kind::Float) => Box::new(|row| float_bits(v[row])),
        (Data::Word(v), _) => Box::new(|row| v[row]),
        (Data::Long(v), Kind::Double) => Box::new(move |row| long(double_bits(v[row]))),
        (Data::Long(v), Kind::BigInt) => Box::new(move |row| long(v[row])),
        (Data::Decimal { values, .. }, Kind::Decimal { scale, .. }) => {
            let scale = i32::from(*scale);
            Box::new(move |row| decimal_hash(values[row], scale))
        }
        (Data::String(v), _) => Box::new(|row| bytes_hash(v.value(row).as_bytes())),
        (Data::Binary(v), _) => Box::new(|row| bytes_hash(v.value(row))),
        _ => return Err(Error::invalid(format!("bucket function hive does not take {data_type}"))),
    })
}

/// The bits of a float, the same for both zeros.
fn float_bits(bits: i32) -> i32 {
    if f32::from_bits(bits.cast_unsigned()) == 0.0 { 0 } else { bits }
}

/// The bits of a double, the same for both zeros.
fn double_bits(bits: i64) -> i64 {
    if f64::from_bits(bits.cast_unsigned()) == 0.0 { 0 } else { bits }
}

fn bytes_hash(bytes: &[u8]) -> i32 {
    bytes.iter().fold(0i32, |hash, byte| hash.wrapping_mul(31).wrapping_add(i32::from(byte.cast_signed())))
}

/// The hash of a decimal without trailing zeros: 31 times that of the unscaled value, plus the scale.
fn decimal_hash(mut unscaled: i128, mut scale: i32) -> i32 {
    if unscaled == 0 {
        return 0;
    }
    while scale > 0 && unscaled % 10 == 0 {
        unscaled /= 10;
        scale -= 1;
    }
    let magnitude = unscaled.unsigned_abs().to_be_bytes();
    let (words, _) = magnitude.as_chunks::<4>();
    let words = words.iter().map(|w| i32::from_be_bytes(*w));
    let hash = words.fold(0i32, |hash, word| hash.wrapping_mul(31).wrapping_add(word));
    let signed = if unscaled < 0 { hash.wrapping_neg() } else { hash };
    signed.wrapping_mul(31).wrapping_add(scale)
}
