//! Collecting statistics from batches, a column at a time.
//!
//! Floats: a column with a NaN has no minimum and maximum, and a zero bound covers both zeros, because readers disagree on where
//! NaN and the negative zero belong in the order.

use std::cmp::Ordering;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, Time32MillisecondType, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_buffer::{ArrowNativeType, NullBuffer};
use arrow_schema::DataType as Arrow;
use bytes::Bytes;

use super::StatsMode;
use super::mode::{cut_bytes, cut_text};
use crate::datum::{Datum, Float};
use crate::types::{DataField, DataType, Kind};
use crate::{Error, Result, ResultExt};

/// Statistics of one column.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnStats {
    /// Minimum; `None` is unknown.
    pub min: Option<Datum>,
    /// Maximum; `None` is unknown.
    pub max: Option<Datum>,
    /// Nulls; `None` is unknown.
    pub null_count: Option<i64>,
}

impl ColumnStats {
    /// Nothing is known.
    pub const NONE: Self = Self { min: None, max: None, null_count: None };

    /// Whether nothing is known.
    pub fn is_none(&self) -> bool {
        self.min.is_none() && self.max.is_none() && self.null_count.is_none()
    }
}

/// Collects statistics over the batches of one file.
#[derive(Debug)]
pub struct StatsCollector {
    columns: Vec<Column>,
}

#[derive(Debug)]
struct Column {
    name: String,
    data_type: DataType,
    mode: StatsMode,
    nulls: i64,
    min: Option<Datum>,
    max: Option<Datum>,
    /// Whether a NaN was seen.
    unordered: bool,
}

impl StatsCollector {
    /// For batches whose first columns are `fields`, with one mode a field.
    ///
    /// # Errors
    /// `Invalid` when the numbers differ.
    pub fn new(fields: &[DataField], modes: &[StatsMode]) -> Result<Self> {
        if fields.len() != modes.len() {
            return Err(Error::invalid(format!("{} stats modes for {} fields", modes.len(), fields.len())));
        }
        let columns = fields.iter().zip(modes).map(|(field, mode)| Column {
            name: field.name.clone(),
            data_type: field.data_type.clone(),
            mode: *mode,
            nulls: 0,
            min: None,
            max: None,
            unordered: false,
        });
        Ok(Self { columns: columns.collect() })
    }

    /// Adds the rows of a batch.
    ///
    /// # Errors
    /// `Invalid` when a column is missing or not of its field's type.
    pub fn update(&mut self, batch: &RecordBatch) -> Result<()> {
        if batch.num_columns() < self.columns.len() {
            return Err(Error::invalid(format!("batch of {} columns for statistics", batch.num_columns())));
        }
        for (column, array) in self.columns.iter_mut().zip(batch.columns()) {
            column.update(array).context("column", &column.name)?;
        }
        Ok(())
    }

    /// The statistics of each field, in order.
    pub fn finish(self) -> Vec<ColumnStats> {
        self.columns.into_iter().map(Column::finish).collect()
    }
}

impl Column {
    fn update(&mut self, array: &ArrayRef) -> Result<()> {
        self.nulls += array.logical_null_count() as i64;
        if matches!(self.mode, StatsMode::None | StatsMode::Counts) || self.unordered {
            return Ok(());
        }
        if array.null_count() == array.len() {
            return Ok(());
        }
        let Some(extremes) = extremes(array, &self.data_type.kind)? else {
            return Ok(());
        };
        if extremes.unordered {
            (self.unordered, self.min, self.max) = (true, None, None);
            return Ok(());
        }
        let (min, max) = (self.value(array, extremes.min)?, self.value(array, extremes.max)?);
        widen(&mut self.min, min, Ordering::Less);
        widen(&mut self.max, max, Ordering::Greater);
        Ok(())
    }

    /// The value of a row, as much of it as the mode keeps of a bound: it may be large.
    fn value(&self, array: &ArrayRef, row: usize) -> Result<Option<Datum>> {
        Ok(match (self.mode, array.data_type()) {
            (StatsMode::Truncate(length), Arrow::Utf8) => {
                let text = array.as_string_opt::<i32>().map(|texts| texts.value(row));
                text.map(|text| Datum::String(cut_text(text, length).to_owned()))
            }
            (StatsMode::Truncate(length), Arrow::Binary) => {
                let bytes = array.as_binary_opt::<i32>().map(|binaries| binaries.value(row));
                bytes.map(|bytes| Datum::Bytes(Bytes::copy_from_slice(cut_bytes(bytes, length))))
            }
            _ => Datum::from_array(array, row, &self.data_type)?,
        })
    }

    fn finish(self) -> ColumnStats {
        if self.mode == StatsMode::None {
            return ColumnStats::NONE;
        }
        let zero = |bound: Option<Datum>, sign: f32| match bound {
            Some(Datum::Float(0.0)) => Some(Datum::Float(0.0f32.copysign(sign))),
            Some(Datum::Double(0.0)) => Some(Datum::Double(0.0f64.copysign(f64::from(sign)))),
            other => other,
        };
        let (min, max) = self.mode.bounds(zero(self.min, -1.0), zero(self.max, 1.0));
        ColumnStats { min, max, null_count: Some(self.nulls) }
    }
}

fn widen(bound: &mut Option<Datum>, value: Option<Datum>, side: Ordering) {
    let Some(value) = value else { return };
    if bound.as_ref().is_none_or(|bound| value.compare(bound) == Some(side)) {
        *bound = Some(value);
    }
}

/// The rows of the least and the greatest value of one array.
struct Extremes {
    min: usize,
    max: usize,
    unordered: bool,
}

/// `None` for types without order and for arrays without values.
fn extremes(array: &ArrayRef, kind: &Kind) -> Result<Option<Extremes>> {
    let wrong = || Error::invalid(format!("arrow array of {} for a column of kind {kind:?}", array.data_type()));
    let found = match kind {
        Kind::Boolean => {
            let values = array.as_boolean_opt().ok_or_else(wrong)?.values();
            search(array, |a, b| values.value(a).cmp(&values.value(b)))
        }
        Kind::TinyInt => natives::<Int8Type>(array).ok_or_else(wrong)?,
        Kind::SmallInt => natives::<Int16Type>(array).ok_or_else(wrong)?,
        Kind::Int => natives::<Int32Type>(array).ok_or_else(wrong)?,
        Kind::BigInt => natives::<Int64Type>(array).ok_or_else(wrong)?,
        Kind::Date => natives::<Date32Type>(array).ok_or_else(wrong)?,
        Kind::Time(_) => natives::<Time32MillisecondType>(array).ok_or_else(wrong)?,
        Kind::Decimal { .. } | Kind::WideTimestamp { .. } => natives::<Decimal128Type>(array).ok_or_else(wrong)?,
        Kind::Timestamp(0..=3) | Kind::LocalZonedTimestamp(0..=3) => {
            natives::<TimestampMillisecondType>(array).ok_or_else(wrong)?
        }
        Kind::Timestamp(4..=6) | Kind::LocalZonedTimestamp(4..=6) => {
            natives::<TimestampMicrosecondType>(array).ok_or_else(wrong)?
        }
        Kind::Timestamp(_) | Kind::LocalZonedTimestamp(_) => {
            natives::<TimestampNanosecondType>(array).ok_or_else(wrong)?
        }
        Kind::Float => floats::<Float32Type>(array).ok_or_else(wrong)?,
        Kind::Double => floats::<Float64Type>(array).ok_or_else(wrong)?,
        Kind::Char(_) | Kind::Varchar(_) => {
            let values = array.as_string_opt::<i32>().ok_or_else(wrong)?;
            texts(array, |row| values.value(row).as_bytes())
        }
        Kind::Binary(_) | Kind::Varbinary(_) => {
            let values = array.as_binary_opt::<i32>().ok_or_else(wrong)?;
            texts(array, |row| values.value(row))
        }
        _ => None,
    };
    Ok(found)
}

fn natives<T: ArrowPrimitiveType>(array: &ArrayRef) -> Option<Option<Extremes>>
where
    T::Native: ArrowNativeType + Ord,
{
    Some(ordered(array, array.as_primitive_opt::<T>()?.values(), |v| v))
}

fn floats<T: ArrowPrimitiveType<Native: Float>>(array: &ArrayRef) -> Option<Option<Extremes>> {
    let values = array.as_primitive_opt::<T>()?.values();
    let unordered = match nulls(array) {
        None => values.iter().any(|v| v.is_nan()),
        Some(nulls) => nulls.valid_indices().any(|row| values[row].is_nan()),
    };
    Some(ordered(array, values, Float::order).map(|found| Extremes { unordered, ..found }))
}

/// Without nulls the bounds are found first, which takes no branch, and then where they are.
fn ordered<V: Copy, K: Ord + Copy>(array: &ArrayRef, values: &[V], order: impl Fn(V) -> K) -> Option<Extremes> {
    if let Some(nulls) = nulls(array) {
        return scan(nulls.valid_indices(), |a, b| order(values[a]).cmp(&order(values[b])));
    }
    let first = order(*values.first()?);
    let bounds = |(min, max): (K, K), v: &V| (min.min(order(*v)), max.max(order(*v)));
    let (min, max) = values.iter().fold((first, first), bounds);
    let place = |bound: K| values.iter().position(|v| order(*v) == bound);
    Some(Extremes { min: place(min)?, max: place(max)?, unordered: false })
}

/// Texts are compared by their first eight bytes, and as a whole only where these are the same.
fn texts<'a>(array: &ArrayRef, value: impl Fn(usize) -> &'a [u8]) -> Option<Extremes> {
    let head = |row: usize| {
        let text = value(row);
        let padded = || {
            let mut bytes = [0; 8];
            bytes.iter_mut().zip(text).for_each(|(byte, of_text)| *byte = *of_text);
            bytes
        };
        u64::from_be_bytes(text.first_chunk().copied().unwrap_or_else(padded))
    };
    let nulls = nulls(array);
    let mut bounds: Option<[(u64, usize); 2]> = None;
    for row in (0..array.len()).filter(|row| nulls.is_none_or(|nulls| nulls.is_valid(*row))) {
        let of_row = head(row);
        let [min, max] = bounds.get_or_insert([(of_row, row); 2]);
        if of_row < min.0 || of_row == min.0 && value(row) < value(min.1) {
            *min = (of_row, row);
        } else if of_row > max.0 || of_row == max.0 && value(row) > value(max.1) {
            *max = (of_row, row);
        }
    }
    bounds.map(|[min, max]| Extremes { min: min.1, max: max.1, unordered: false })
}

fn nulls(array: &ArrayRef) -> Option<&NullBuffer> {
    array.nulls().filter(|nulls| nulls.null_count() > 0)
}

fn search(array: &ArrayRef, compare: impl Fn(usize, usize) -> Ordering) -> Option<Extremes> {
    match nulls(array) {
        None => scan(0..array.len(), compare),
        Some(nulls) => scan(nulls.valid_indices(), compare),
    }
}

#[inline]
fn scan(mut rows: impl Iterator<Item = usize>, compare: impl Fn(usize, usize) -> Ordering) -> Option<Extremes> {
    let first = rows.next()?;
    let start = Extremes { min: first, max: first, unordered: false };
    Some(rows.fold(start, |mut found, row| {
        if compare(row, found.min) == Ordering::Less {
            found.min = row;
        } else if compare(row, found.max) == Ordering::Greater {
            found.max = row;
        }
        found
    }))
}
