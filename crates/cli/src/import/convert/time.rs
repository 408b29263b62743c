//! Dates and times: from text, and from one unit to another. Digits of a second that a unit has not are cut, toward the past also
//! before 1970; a day holds no time of day.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, PrimitiveArray, StringArray, new_null_array};
use arrow::compute::cast;
use arrow::compute::kernels::cast_utils::{Parser, string_to_datetime};
use arrow::datatypes::{
    ArrowPrimitiveType, DataType as ArrowType, Date32Type, Decimal128Type, Int32Type, Int64Type, Time64NanosecondType,
    TimeUnit, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
};
use chrono::Utc;
use linn::format::limit::without_digits_beyond_nanos;
use linn::format::types::{DataType, Kind};
use linn::{Error, Result};

const DAY: i128 = 86_400_000_000_000;

/// Nanoseconds in the unit of a type of dates, times or timestamps.
fn unit_of(data_type: &ArrowType) -> Option<i128> {
    Some(match data_type {
        ArrowType::Date32 => DAY,
        ArrowType::Date64 => 1_000_000,
        ArrowType::Timestamp(unit, _) | ArrowType::Time32(unit) | ArrowType::Time64(unit) => match unit {
            TimeUnit::Second => 1_000_000_000,
            TimeUnit::Millisecond => 1_000_000,
            TimeUnit::Microsecond => 1_000,
            TimeUnit::Nanosecond => 1,
        },
        _ => return None,
    })
}

/// Whether both are times of the day, or both are days and instants.
pub(super) fn is_rescaled(from: &ArrowType, to: &ArrowType) -> bool {
    let is_clock = |t: &ArrowType| matches!(t, ArrowType::Time32(_) | ArrowType::Time64(_));
    unit_of(from).is_some() && unit_of(to).is_some() && is_clock(from) == is_clock(to)
}

/// The same instants in another unit; null where they are out of its range, and for a time of day that a date has not.
pub(super) fn rescale(column: &ArrayRef, to: &ArrowType) -> Result<ArrayRef> {
    let unit = unit_of(to).ok_or_else(|| Error::internal("the values are not times"))?;
    of_nanos(nanos(column)?.into_iter(), unit, to)
}

/// Instants of any year, from text or times, in nanoseconds under the type `to` of 128 bits; null for what is no instant.
pub(super) fn widen(column: &ArrayRef, to: &ArrowType) -> Result<ArrayRef> {
    let nanos: PrimitiveArray<Decimal128Type> = match column.data_type() {
        ArrowType::Utf8 => column.as_string::<i32>().iter().map(|text| instant(text?.trim())).collect(),
        from if is_rescaled(from, &ArrowType::Date32) => nanos(column)?.into_iter().collect(),
        _ => return Ok(new_null_array(to, column.len())),
    };
    Ok(Arc::new(nanos.with_data_type(to.clone())))
}

/// Dates, times and timestamps in nanoseconds.
fn nanos(column: &ArrayRef) -> Result<Vec<Option<i128>>> {
    let unit = unit_of(column.data_type()).ok_or_else(|| Error::internal("the values are not times"))?;
    let values: PrimitiveArray<Int64Type> = match column.data_type() {
        ArrowType::Date32 | ArrowType::Time32(_) => {
            cast(&cast(column, &ArrowType::Int32)?, &ArrowType::Int64)?.as_primitive::<Int64Type>().clone()
        }
        _ => cast(column, &ArrowType::Int64)?.as_primitive::<Int64Type>().clone(),
    };
    Ok(values.iter().map(|value| value.map(|value| i128::from(value) * unit)).collect())
}

/// Nanoseconds in a unit; null where they are out of its range.
fn of_nanos(nanos: impl Iterator<Item = Option<i128>>, unit: i128, to: &ArrowType) -> Result<ArrayRef> {
    let whole = |nanos: i128| (unit < DAY || nanos % unit == 0).then_some(nanos.div_euclid(unit));
    Ok(match to {
        ArrowType::Date32 | ArrowType::Time32(_) => {
            let values = nanos.map(|nanos| i32::try_from(whole(nanos?)?).ok());
            cast(&values.collect::<PrimitiveArray<Int32Type>>(), to)?
        }
        ArrowType::Timestamp(of, zone) => {
            let values: PrimitiveArray<Int64Type> = nanos.map(|nanos| i64::try_from(whole(nanos?)?).ok()).collect();
            match of {
                TimeUnit::Second => stamped::<TimestampSecondType>(&values, zone.clone()),
                TimeUnit::Millisecond => stamped::<TimestampMillisecondType>(&values, zone.clone()),
                TimeUnit::Microsecond => stamped::<TimestampMicrosecondType>(&values, zone.clone()),
                TimeUnit::Nanosecond => stamped::<TimestampNanosecondType>(&values, zone.clone()),
            }
        }
        other => return Err(Error::internal(format!("{other} is not a unit of time"))),
    })
}

fn stamped<T>(values: &PrimitiveArray<Int64Type>, zone: Option<Arc<str>>) -> ArrayRef
where
    T: ArrowPrimitiveType<Native = i64> + arrow::datatypes::ArrowTimestampType,
{
    Arc::new(values.reinterpret_cast::<T>().with_timezone_opt(zone))
}

/// Dates, times and timestamps from their text; null for other text.
pub(super) fn read(text: &StringArray, to: &ArrowType) -> Result<ArrayRef> {
    let unit = unit_of(to).ok_or_else(|| Error::internal("unknown unit of time"))?;
    let nanos: fn(&str) -> Option<i128> = match to {
        ArrowType::Time32(_) => clock,
        ArrowType::Date32 => date,
        _ => instant,
    };
    of_nanos(text.iter().map(|text| nanos(text?)), unit, to)
}

fn clock(text: &str) -> Option<i128> {
    // A number alone is no time of the day.
    Time64NanosecondType::parse(text).filter(|_| text.contains(':')).map(i128::from)
}

fn date(text: &str) -> Option<i128> {
    match Date32Type::parse(text) {
        // The parser passes over a time of day.
        Some(days) if !is_far(text) && !text.contains([' ', 'T', ':']) => Some(i128::from(days) * DAY),
        _ => instant(text),
    }
}

fn instant(text: &str) -> Option<i128> {
    if is_far(text) {
        return far(&without_digits_beyond_nanos(text));
    }
    let time = string_to_datetime(&Utc, &without_digits_beyond_nanos(text)).ok()?;
    Some(i128::from(time.timestamp()) * 1_000_000_000 + i128::from(time.timestamp_subsec_nanos()))
}

/// Whether the year has a sign or more than four digits.
fn is_far(text: &str) -> bool {
    text.starts_with(['-', '+']) || text.bytes().take_while(u8::is_ascii_digit).count() > 4 && text.contains('-')
}

/// An instant of any year, in UTC.
fn far(text: &str) -> Option<i128> {
    let signed = if text.starts_with(['-', '+']) { text.to_owned() } else { format!("+{text}") };
    let text: ArrayRef = Arc::new(StringArray::from(vec![signed]));
    let wide = DataType::nullable(Kind::WideTimestamp { precision: 9, zoned: false });
    let nanos = linn::format::cast::cast(&text, &DataType::string(), &wide).ok()?;
    let nanos = nanos.as_primitive_opt::<Decimal128Type>()?;
    nanos.is_valid(0).then(|| nanos.value(0))
}

#[cfg(test)]
mod tests {
    use arrow::array::{Date32Array, TimestampMicrosecondArray, TimestampSecondArray};

    use super::*;

    const MICROS: ArrowType = ArrowType::Timestamp(TimeUnit::Microsecond, None);

    #[test]
    fn units_cut_digits_and_keep_to_their_range() {
        let micros: ArrayRef = Arc::new(TimestampMicrosecondArray::from(vec![1_000, 1_999, -1_000, -1]));
        let millis = rescale(&micros, &ArrowType::Timestamp(TimeUnit::Millisecond, None)).unwrap();
        let expected = arrow::array::TimestampMillisecondArray::from(vec![1, 1, -1, -1]);
        assert_eq!(millis.as_ref(), &expected as &dyn Array);
        let seconds: ArrayRef = Arc::new(TimestampSecondArray::from(vec![i64::MAX / 1_000, 1]));
        let expected = TimestampMicrosecondArray::from(vec![None, Some(1_000_000)]);
        assert_eq!(rescale(&seconds, &MICROS).unwrap().as_ref(), &expected as &dyn Array);
        let days: ArrayRef = Arc::new(Date32Array::from(vec![i32::MAX, -1]));
        let expected = TimestampMicrosecondArray::from(vec![None, Some(-86_400_000_000)]);
        assert_eq!(rescale(&days, &MICROS).unwrap().as_ref(), &expected as &dyn Array);
    }

    #[test]
    fn text_of_any_year_is_read() {
        let text = ["2013-01-01", "2013-01-01T01:00:00+01:00", "+10000-01-01 00:00:00", "2013-02-30", "1-1-1 x"];
        let read = read(&StringArray::from(text.to_vec()), &MICROS).unwrap();
        let new_year = 1_356_998_400_000_000;
        let expected = TimestampMicrosecondArray::from(vec![
            Some(new_year),
            Some(new_year),
            Some(253_402_300_800_000_000),
            None,
            None,
        ]);
        assert_eq!(read.as_ref(), &expected as &dyn Array);
        let digits = StringArray::from(vec!["1969-12-31 23:59:59.9999999999999999", "2013-01-01 00:00:00.0000019"]);
        let expected = TimestampMicrosecondArray::from(vec![-1, new_year + 1]);
        assert_eq!(super::read(&digits, &MICROS).unwrap().as_ref(), &expected as &dyn Array);
    }
}
