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
use arrow_buffer::ArrowNativeType;

use super::StatsMode;
use crate::datum::Datum;
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
        let value = |row| Datum::from_array(array, row, &self.data_type);
        let (min, max) = (value(extremes.min)?, value(extremes.max)?);
        widen(&mut self.min, min, Ordering::Less);
        widen(&mut self.max, max, Ordering::Greater);
        Ok(())
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
        Kind::Float => {
            let values = array.as_primitive_opt::<Float32Type>().ok_or_else(wrong)?.values();
            floats(array, |row| values[row].is_nan(), |a, b| values[a].total_cmp(&values[b]))
        }
        Kind::Double => {
            let values = array.as_primitive_opt::<Float64Type>().ok_or_else(wrong)?.values();
            floats(array, |row| values[row].is_nan(), |a, b| values[a].total_cmp(&values[b]))
        }
        Kind::Char(_) | Kind::Varchar(_) => {
            let values = array.as_string_opt::<i32>().ok_or_else(wrong)?;
            search(array, |a, b| values.value(a).cmp(values.value(b)))
        }
        Kind::Binary(_) | Kind::Varbinary(_) => {
            let values = array.as_binary_opt::<i32>().ok_or_else(wrong)?;
            search(array, |a, b| values.value(a).cmp(values.value(b)))
        }
        _ => None,
    };
    Ok(found)
}

fn natives<T: ArrowPrimitiveType>(array: &ArrayRef) -> Option<Option<Extremes>>
where
    T::Native: ArrowNativeType + Ord,
{
    let values = array.as_primitive_opt::<T>()?.values();
    Some(search(array, |a, b| values[a].cmp(&values[b])))
}

fn floats(
    array: &ArrayRef,
    is_nan: impl Fn(usize) -> bool,
    compare: impl Fn(usize, usize) -> Ordering,
) -> Option<Extremes> {
    let unordered = (0..array.len()).any(|row| array.is_valid(row) && is_nan(row));
    search(array, compare).map(|found| Extremes { unordered, ..found })
}

fn search(array: &ArrayRef, compare: impl Fn(usize, usize) -> Ordering) -> Option<Extremes> {
    match array.nulls() {
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
