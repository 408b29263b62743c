//! Digits of a second that a column has not: an assignment cuts them, toward the past also before 1970, as casts of timestamps do.

use std::sync::Arc;

use datafusion::arrow::array::cast::AsArray;
use datafusion::arrow::array::{Array, ArrayData, ArrayRef, PrimitiveArray, StringArray, make_array};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{
    ArrowPrimitiveType, DataType as Arrow, Time32MillisecondType, Time64MicrosecondType, Time64NanosecondType,
    TimeUnit, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
};
use linn::Result;

use super::assign::{is_text, partner};

/// Digits that the finest unit has.
const MOST: usize = 9;

/// Times and timestamps without digits of a second beyond `digits`, in the unit that they have; other columns as they are.
pub(super) fn floored(values: &ArrayRef, digits: u8) -> ArrayRef {
    match values.data_type() {
        Arrow::Time32(TimeUnit::Millisecond) => {
            let unit = 10_i32.pow(u32::from(3_u8.saturating_sub(digits)));
            floor::<Time32MillisecondType>(values, unit > 1, |value| value - value.rem_euclid(unit))
        }
        Arrow::Time64(TimeUnit::Microsecond) => long::<Time64MicrosecondType>(values, 6, digits),
        Arrow::Time64(TimeUnit::Nanosecond) => long::<Time64NanosecondType>(values, 9, digits),
        Arrow::Timestamp(TimeUnit::Millisecond, _) => long::<TimestampMillisecondType>(values, 3, digits),
        Arrow::Timestamp(TimeUnit::Microsecond, _) => long::<TimestampMicrosecondType>(values, 6, digits),
        Arrow::Timestamp(TimeUnit::Nanosecond, _) => long::<TimestampNanosecondType>(values, 9, digits),
        _ => Arc::clone(values),
    }
}

fn long<T: ArrowPrimitiveType<Native = i64>>(values: &ArrayRef, held: u8, digits: u8) -> ArrayRef {
    let unit = 10_i64.pow(u32::from(held.saturating_sub(digits)));
    floor::<T>(values, unit > 1, |value| value.saturating_sub(value.rem_euclid(unit)))
}

fn floor<T: ArrowPrimitiveType>(values: &ArrayRef, needed: bool, cut: impl Fn(T::Native) -> T::Native) -> ArrayRef {
    match values.as_primitive_opt::<T>().filter(|_| needed) {
        Some(column) => {
            let cut: PrimitiveArray<T> = column.unary(cut);
            Arc::new(cut.with_data_type(values.data_type().clone()))
        }
        None => Arc::clone(values),
    }
}

/// A column on its way into another type: its times, at any depth, without the digits that the unit of that type has not. Its own
/// type stays.
pub(super) fn without_finer(column: &ArrayRef, to: &Arrow) -> Result<ArrayRef> {
    let from = column.data_type();
    let timed = |kind: &Arrow| matches!(kind, Arrow::Timestamp(..) | Arrow::Time32(_) | Arrow::Time64(_));
    Ok(match digits(to) {
        Some(digits) if timed(from) => floored(column, digits),
        Some(_) if is_text(from) => short(column)?,
        Some(_) => Arc::clone(column),
        None if from == to => Arc::clone(column),
        None => inside(column, to)?,
    })
}

/// The digits of a second that a type of times holds.
fn digits(kind: &Arrow) -> Option<u8> {
    match kind {
        Arrow::Timestamp(unit, _) | Arrow::Time32(unit) | Arrow::Time64(unit) => Some(match unit {
            TimeUnit::Second => 0,
            TimeUnit::Millisecond => 3,
            TimeUnit::Microsecond => 6,
            TimeUnit::Nanosecond => 9,
        }),
        _ => None,
    }
}

/// The same for the parts of lists, maps and rows.
fn inside(column: &ArrayRef, to: &Arrow) -> Result<ArrayRef> {
    let data = column.to_data();
    let mut children = data.child_data().to_vec();
    let mut replace = |at: usize, to: &Arrow| -> Result<()> {
        if let Some(child) = children.get_mut(at) {
            *child = cut_child(child, to)?;
        }
        Ok(())
    };
    match (column.data_type(), to) {
        (
            Arrow::List(_) | Arrow::LargeList(_) | Arrow::FixedSizeList(..),
            Arrow::List(item) | Arrow::LargeList(item) | Arrow::FixedSizeList(item, _),
        ) => replace(0, item.data_type())?,
        (Arrow::Map(..), Arrow::Map(entries, _)) => replace(0, entries.data_type())?,
        (Arrow::Struct(from), Arrow::Struct(to)) => {
            let from: Vec<_> = from.iter().map(AsRef::as_ref).collect();
            for (at, field) in to.iter().enumerate() {
                let taken = partner(&from, at, field);
                let place = taken.and_then(|taken| from.iter().position(|field| std::ptr::eq(*field, taken)));
                if let Some(place) = place {
                    replace(place, field.data_type())?;
                }
            }
        }
        _ => return Ok(Arc::clone(column)),
    }
    Ok(make_array(data.into_builder().child_data(children).build()?))
}

fn cut_child(child: &ArrayData, to: &Arrow) -> Result<ArrayData> {
    Ok(without_finer(&make_array(child.clone()), to)?.to_data())
}

/// Texts of times with no more digits of a second than can be read.
fn short(column: &ArrayRef) -> Result<ArrayRef> {
    let texts = cast(column, &Arrow::Utf8)?;
    let texts = texts.as_string::<i32>();
    if !texts.iter().flatten().any(|text| fraction(text).is_some_and(|(_, length)| length > MOST)) {
        return Ok(Arc::clone(column));
    }
    let short = |text: &str| match fraction(text) {
        Some((start, length)) if length > MOST => {
            let (kept, rest) = (text.get(..start + MOST), text.get(start + length..));
            format!("{}{}", kept.unwrap_or(text), rest.unwrap_or_default())
        }
        _ => text.to_owned(),
    };
    let texts: StringArray = texts.iter().map(|text| text.map(short)).collect();
    Ok(cast(&texts, column.data_type())?)
}

/// Where the digits behind the point begin, and how many there are.
fn fraction(text: &str) -> Option<(usize, usize)> {
    let start = text.find('.')? + 1;
    let digits = text.get(start..)?.bytes().take_while(u8::is_ascii_digit).count();
    Some((start, digits))
}
