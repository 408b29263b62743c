//! Digits of a second that a column has not: an assignment cuts them, toward the past also before 1970, as casts of timestamps do.

use std::borrow::Cow;
use std::sync::Arc;

use datafusion::arrow::array::cast::AsArray;
use datafusion::arrow::array::{Array, ArrayData, ArrayRef, StringArray, make_array};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType as Arrow, TimeUnit};
use linn::Result;
use linn::format::limit::{floor_seconds, without_digits_beyond_nanos};

use super::assign::{is_text, partner};

/// A column on its way into another type: its times, at any depth, without the digits that the unit of that type has not. Its own
/// type stays.
pub(super) fn without_finer(column: &ArrayRef, to: &Arrow) -> Result<ArrayRef> {
    let from = column.data_type();
    let timed = |kind: &Arrow| matches!(kind, Arrow::Timestamp(..) | Arrow::Time32(_) | Arrow::Time64(_));
    Ok(match digits(to) {
        Some(digits) if timed(from) => floor_seconds(column, digits)?,
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
    let short: Vec<_> = texts.iter().map(|text| text.map(without_digits_beyond_nanos)).collect();
    if !short.iter().flatten().any(|text| matches!(text, Cow::Owned(_))) {
        return Ok(Arc::clone(column));
    }
    Ok(cast(&short.into_iter().collect::<StringArray>(), column.data_type())?)
}
