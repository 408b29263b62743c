//! Order-preserving keys: rows of key (or user sequence) columns as integers or bytes that compare as the columns do.
//!
//! Columns that fit in 64 or 128 bits become one integer per row; everything else takes Arrow's row format. Which of
//! the three is decided by the column types alone, so all batches of one merge agree. Nulls are lowest whichever way
//! a column is sorted (spec: features.md B2).

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    Time32MillisecondType, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
};
use arrow_array::{Array, ArrayRef};
use arrow_row::{RowConverter, Rows, SortField};
use arrow_schema::{DataType as ArrowType, SortOptions, TimeUnit};
use linn_format::datum::{Float, one_nan};
use linn_format::types::DataField;
use linn_format::types::arrow_type;
use linn_format::{Error, Result};

/// The encoded rows of one batch.
#[derive(Debug)]
pub(crate) enum Keys {
    /// Keys of at most 64 bits.
    U64(Vec<u64>),
    /// Keys of at most 128 bits.
    U128(Vec<u128>),
    /// All other keys.
    Rows(Rows),
}

impl Keys {
    /// Compares row `a` of `self` with row `b` of `other`; both must come from the same [`KeyEncoder`].
    pub(crate) fn compare(&self, a: usize, other: &Self, b: usize) -> std::cmp::Ordering {
        match (self, other) {
            (Self::U64(x), Self::U64(y)) => x[a].cmp(&y[b]),
            (Self::U128(x), Self::U128(y)) => x[a].cmp(&y[b]),
            (Self::Rows(x), Self::Rows(y)) => x.row(a).cmp(&y.row(b)),
            _ => std::cmp::Ordering::Equal,
        }
    }
}

/// One of the three representations, so that the merge loop is compiled for each.
pub(crate) trait KeyColumn: Send + Sized + 'static {
    /// A key as it is compared.
    type Key<'a>: Ord + Copy;

    /// The key of a row.
    fn key(&self, row: usize) -> Self::Key<'_>;

    /// Takes the representation out of encoded keys.
    fn from_keys(keys: Keys) -> Result<Self>;
}

impl KeyColumn for Vec<u64> {
    type Key<'a> = u64;

    #[inline]
    fn key(&self, row: usize) -> u64 {
        self[row]
    }

    fn from_keys(keys: Keys) -> Result<Self> {
        match keys {
            Keys::U64(keys) => Ok(keys),
            _ => Err(mixed()),
        }
    }
}

impl KeyColumn for Vec<u128> {
    type Key<'a> = u128;

    #[inline]
    fn key(&self, row: usize) -> u128 {
        self[row]
    }

    fn from_keys(keys: Keys) -> Result<Self> {
        match keys {
            Keys::U128(keys) => Ok(keys),
            _ => Err(mixed()),
        }
    }
}

impl KeyColumn for Rows {
    type Key<'a> = arrow_row::Row<'a>;

    #[inline]
    fn key(&self, row: usize) -> arrow_row::Row<'_> {
        self.row(row)
    }

    fn from_keys(keys: Keys) -> Result<Self> {
        match keys {
            Keys::Rows(keys) => Ok(keys),
            _ => Err(mixed()),
        }
    }
}

fn mixed() -> Error {
    Error::internal("key representations of one merge differ")
}

/// Which representation an encoder yields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyWidth {
    /// [`Keys::U64`].
    U64,
    /// [`Keys::U128`].
    U128,
    /// [`Keys::Rows`].
    Rows,
}

#[derive(Debug)]
enum Method {
    Narrow(KeyWidth, Vec<Slot>),
    Rows(RowConverter),
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    bits: u32,
    nullable: bool,
}

/// Encodes the rows of some columns.
#[derive(Debug)]
pub(crate) struct KeyEncoder {
    columns: Vec<usize>,
    descending: bool,
    method: Method,
}

impl KeyEncoder {
    /// An encoder of `columns` (positions in the batches) which are `fields`, all ascending or all descending.
    ///
    /// # Errors
    /// `Unsupported` naming the column for a type without an order.
    pub(crate) fn new(columns: Vec<usize>, fields: &[&DataField], descending: bool) -> Result<Self> {
        let types = fields.iter().map(|f| arrow_type(&f.data_type)).collect::<Result<Vec<_>>>()?;
        let slots: Option<Vec<Slot>> = types
            .iter()
            .zip(fields)
            .map(|(t, f)| Some(Slot { bits: narrow_bits(t)?, nullable: f.data_type.nullable }))
            .collect();
        let total = slots.as_ref().map(|s| s.iter().map(|s| s.bits + u32::from(s.nullable)).sum::<u32>());
        let method = match (slots, total) {
            (Some(slots), Some(total)) if total <= 64 => Method::Narrow(KeyWidth::U64, slots),
            (Some(slots), Some(total)) if total <= 128 => Method::Narrow(KeyWidth::U128, slots),
            _ => {
                let options = SortOptions { descending, nulls_first: true };
                for (t, f) in types.iter().zip(fields) {
                    if !RowConverter::supports_fields(&[SortField::new(t.clone())]) {
                        return Err(Error::unsupported("ordering values of this type").with("column", &f.name));
                    }
                }
                let sort = types.into_iter().map(|t| SortField::new_with_options(t, options)).collect();
                Method::Rows(RowConverter::new(sort)?)
            }
        };
        Ok(Self { columns, descending, method })
    }

    /// The representation that [`KeyEncoder::encode`] yields.
    pub(crate) fn width(&self) -> KeyWidth {
        match &self.method {
            Method::Narrow(width, _) => *width,
            Method::Rows(_) => KeyWidth::Rows,
        }
    }

    /// Encodes all rows of a batch, given all its columns.
    pub(crate) fn encode(&self, columns: &[ArrayRef], rows: usize) -> Result<Keys> {
        let mut picked = Vec::with_capacity(self.columns.len());
        for &c in &self.columns {
            let column = columns.get(c).ok_or_else(|| Error::internal("a key column is missing in a batch"))?;
            picked.push(column.clone());
        }
        match &self.method {
            Method::Narrow(KeyWidth::U64, slots) => Ok(Keys::U64(self.narrow(&picked, slots, rows)?)),
            Method::Narrow(_, slots) => Ok(Keys::U128(self.narrow(&picked, slots, rows)?)),
            Method::Rows(converter) => {
                let picked = picked.iter().map(one_nan).collect::<Result<Vec<_>>>()?;
                Ok(Keys::Rows(converter.convert_columns(&picked)?))
            }
        }
    }

    fn narrow<W: Word>(&self, columns: &[ArrayRef], slots: &[Slot], rows: usize) -> Result<Vec<W>> {
        let mut words = Vec::with_capacity(rows);
        for (column, slot) in columns.iter().zip(slots) {
            if column.len() != rows {
                return Err(Error::internal("a key column is shorter than its batch"));
            }
            let mask = if self.descending { u64::MAX >> (64 - slot.bits) } else { 0 };
            encode_column(column, slot, mask, &mut words)?;
        }
        words.resize(rows, W::default());
        Ok(words)
    }
}

/// An unsigned integer that takes bits from the right.
trait Word: Copy + Default {
    fn push(self, value: u64, bits: u32) -> Self;
}

impl Word for u64 {
    #[inline]
    fn push(self, value: u64, bits: u32) -> Self {
        if bits == 64 { value } else { (self << bits) | value }
    }
}

impl Word for u128 {
    #[inline]
    fn push(self, value: u64, bits: u32) -> Self {
        (self << bits) | Self::from(value)
    }
}

fn narrow_bits(t: &ArrowType) -> Option<u32> {
    Some(match t {
        ArrowType::Boolean => 1,
        ArrowType::Int8 => 8,
        ArrowType::Int16 => 16,
        ArrowType::Int32 | ArrowType::Date32 | ArrowType::Time32(_) | ArrowType::Float32 => 32,
        ArrowType::Int64 | ArrowType::Timestamp(_, _) | ArrowType::Float64 => 64,
        ArrowType::Decimal128(precision, _) if *precision <= 18 => 64,
        _ => return None,
    })
}

const SIGN: u64 = 1 << 63;

/// Bits of a double that order as the double does, with one NaN, greater than all.
pub(super) fn double_bits(v: f64) -> u64 {
    v.one_nan().order().cast_unsigned() ^ SIGN
}

fn float_bits(v: f32) -> u64 {
    u64::from(v.one_nan().order().cast_unsigned() ^ 1 << 31)
}

fn encode_column<W: Word>(column: &ArrayRef, slot: &Slot, mask: u64, words: &mut Vec<W>) -> Result<()> {
    macro_rules! primitive {
        ($t:ty, $bits:expr) => {{
            let array = column.as_primitive_opt::<$t>().ok_or_else(|| wrong_type(column))?;
            let values = array.values();
            push_all(column, slot, mask, words, |i| $bits(values[i]))
        }};
    }
    match column.data_type() {
        ArrowType::Boolean => {
            let array = column.as_boolean();
            push_all(column, slot, mask, words, |i| u64::from(array.value(i)))
        }
        ArrowType::Int8 => primitive!(Int8Type, |v: i8| u64::from((v as u8) ^ 0x80)),
        ArrowType::Int16 => primitive!(Int16Type, |v: i16| u64::from((v as u16) ^ 0x8000)),
        ArrowType::Int32 => primitive!(Int32Type, |v: i32| u64::from((v as u32) ^ 0x8000_0000)),
        ArrowType::Date32 => primitive!(Date32Type, |v: i32| u64::from((v as u32) ^ 0x8000_0000)),
        ArrowType::Time32(_) => primitive!(Time32MillisecondType, |v: i32| u64::from((v as u32) ^ 0x8000_0000)),
        ArrowType::Float32 => primitive!(Float32Type, float_bits),
        ArrowType::Int64 => primitive!(Int64Type, |v: i64| (v as u64) ^ SIGN),
        ArrowType::Timestamp(TimeUnit::Millisecond, _) => {
            primitive!(TimestampMillisecondType, |v: i64| (v as u64) ^ SIGN)
        }
        ArrowType::Timestamp(TimeUnit::Microsecond, _) => {
            primitive!(TimestampMicrosecondType, |v: i64| (v as u64) ^ SIGN)
        }
        ArrowType::Timestamp(TimeUnit::Nanosecond, _) => {
            primitive!(TimestampNanosecondType, |v: i64| (v as u64) ^ SIGN)
        }
        ArrowType::Float64 => primitive!(Float64Type, double_bits),
        // At most 18 digits: the value fits in 64 bits.
        ArrowType::Decimal128(_, _) => primitive!(Decimal128Type, |v: i128| (v as i64 as u64) ^ SIGN),
        _ => Err(wrong_type(column)),
    }
}

fn wrong_type(column: &ArrayRef) -> Error {
    Error::internal(format!("a key column has the unexpected type {}", column.data_type()))
}

/// Appends the bits of a column to the words, which the first one starts.
fn push_all<W: Word>(
    column: &ArrayRef,
    slot: &Slot,
    mask: u64,
    words: &mut Vec<W>,
    bits: impl Fn(usize) -> u64,
) -> Result<()> {
    match (slot.nullable, column.nulls().filter(|n| n.null_count() > 0)) {
        (false, None) => extend(words, column.len(), |word, i| word.push(bits(i) ^ mask, slot.bits)),
        (false, Some(_)) => return Err(Error::corrupt("null in a key column that is NOT NULL")),
        (true, nulls) => extend(words, column.len(), |word, i| {
            let valid = nulls.is_none_or(|n| n.is_valid(i));
            word.push(u64::from(valid), 1).push(if valid { bits(i) ^ mask } else { 0 }, slot.bits)
        }),
    }
    Ok(())
}

fn extend<W: Word>(words: &mut Vec<W>, rows: usize, next: impl Fn(W, usize) -> W) {
    if words.is_empty() {
        words.extend((0..rows).map(|i| next(W::default(), i)));
    } else {
        words.iter_mut().enumerate().for_each(|(i, word)| *word = next(*word, i));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{Float64Array, Int32Array, Int64Array, StringArray};
    use linn_format::types::{DataType, Kind};

    use super::*;

    fn encoder(kinds: &[(Kind, bool)], descending: bool) -> KeyEncoder {
        let fields: Vec<_> = kinds
            .iter()
            .enumerate()
            .map(|(i, (k, n))| DataField::new(i as i32, format!("c{i}"), DataType { kind: k.clone(), nullable: *n }))
            .collect();
        KeyEncoder::new((0..kinds.len()).collect(), &fields.iter().collect::<Vec<_>>(), descending).unwrap()
    }

    /// The rows of `columns` are given in ascending order.
    fn check(kinds: &[(Kind, bool)], columns: Vec<ArrayRef>, width: KeyWidth, descending: bool) {
        let encoder = encoder(kinds, descending);
        assert_eq!(encoder.width(), width);
        let rows = columns[0].len();
        let keys = encoder.encode(&columns, rows).unwrap();
        for a in 0..rows {
            for b in 0..rows {
                assert_eq!(keys.compare(a, &keys, b), a.cmp(&b), "{a} {b}");
            }
        }
    }

    #[test]
    fn integers_keep_their_order() {
        let bigint = |v: Vec<Option<i64>>| Arc::new(Int64Array::from(v)) as ArrayRef;
        let values = vec![Some(i64::MIN), Some(-1), Some(0), Some(7), Some(i64::MAX)];
        check(&[(Kind::BigInt, false)], vec![bigint(values.clone())], KeyWidth::U64, false);
        let mut nullable = vec![None];
        nullable.extend(values.clone());
        check(&[(Kind::BigInt, true)], vec![bigint(nullable)], KeyWidth::U128, false);
        let mut falling = vec![None];
        falling.extend(values.into_iter().rev());
        check(&[(Kind::BigInt, true)], vec![bigint(falling)], KeyWidth::U128, true);
    }

    #[test]
    fn composite_keys_compare_column_by_column() {
        let a = Arc::new(Int32Array::from(vec![-5, -5, 0, 0, 9])) as ArrayRef;
        let b = Arc::new(Int32Array::from(vec![1, 2, i32::MIN, i32::MAX, 0])) as ArrayRef;
        check(&[(Kind::Int, false), (Kind::Int, false)], vec![a, b], KeyWidth::U64, false);
        let f = Arc::new(Float64Array::from(vec![f64::NEG_INFINITY, -1.5, 0.0, 1e-300, f64::NAN])) as ArrayRef;
        check(&[(Kind::Double, false)], vec![f], KeyWidth::U64, false);
    }

    #[test]
    fn strings_take_the_row_format() {
        let s = Arc::new(StringArray::from(vec![None, Some(""), Some("a"), Some("aa"), Some("b")])) as ArrayRef;
        check(&[(Kind::Varchar(9), true)], vec![s], KeyWidth::Rows, false);
        let s = Arc::new(StringArray::from(vec![None, Some("b"), Some("aa"), Some("a"), Some("")])) as ArrayRef;
        check(&[(Kind::Varchar(9), true)], vec![s], KeyWidth::Rows, true);
    }

    #[test]
    fn there_is_one_nan_and_it_is_greatest() {
        let text = Arc::new(StringArray::from(vec!["a"; 3])) as ArrayRef;
        let floats = Arc::new(Float64Array::from(vec![f64::INFINITY, f64::NAN, -f64::NAN])) as ArrayRef;
        for (kinds, columns) in [
            (vec![(Kind::Double, false)], vec![floats.clone()]),
            (vec![(Kind::Varchar(9), false), (Kind::Double, false)], vec![text, floats]),
        ] {
            let keys = encoder(&kinds, false).encode(&columns, 3).unwrap();
            assert_eq!(keys.compare(0, &keys, 1), std::cmp::Ordering::Less, "{kinds:?}");
            assert_eq!(keys.compare(1, &keys, 2), std::cmp::Ordering::Equal, "{kinds:?}");
        }
    }
}
