//! Casts among dates, times and timestamps, and between timestamps and seconds.

use std::sync::Arc;

use arrow_array::types::{
    Date32Type, Decimal128Type, Int32Type, Int64Type, Time32MillisecondType, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType,
};
use arrow_array::{ArrayRef, PrimitiveArray};

use super::number::{integers, typed};
use crate::datum::civil::MILLIS_PER_DAY;
use crate::options::WIDE_HINT;
use crate::types::split;
use crate::types::{DataType, Kind, WIDE_TIMESTAMP, arrow_type, split_wide, wide_of};
use crate::{Error, Result};

/// Milliseconds and nanoseconds within the millisecond, by row.
type Instants = Vec<Option<(i64, i32)>>;

pub(super) fn cast(array: &ArrayRef, from: &DataType, to: &DataType) -> Result<ArrayRef> {
    if matches!((&from.kind, &to.kind), (Kind::Time(_), Kind::Time(_))) {
        return Ok(array.clone());
    }
    let instants = read(array, from)?;
    let millis = instants.iter().map(|v| v.map(|(millis, _)| millis));
    Ok(match &to.kind {
        Kind::Date => {
            let days = millis.map(|v| v.map(|v| v.div_euclid(MILLIS_PER_DAY) as i32));
            Arc::new(days.collect::<PrimitiveArray<Date32Type>>())
        }
        Kind::Time(_) => {
            let times = millis.map(|v| v.map(|v| v.rem_euclid(MILLIS_PER_DAY) as i32));
            Arc::new(times.collect::<PrimitiveArray<Time32MillisecondType>>())
        }
        // Seconds round to zero, and an INT keeps their low bits.
        Kind::BigInt => Arc::new(millis.map(|v| v.map(|v| v / 1_000)).collect::<PrimitiveArray<Int64Type>>()),
        Kind::Int => Arc::new(millis.map(|v| v.map(|v| (v / 1_000) as i32)).collect::<PrimitiveArray<Int32Type>>()),
        Kind::Timestamp(p) | Kind::LocalZonedTimestamp(p) => {
            let instants = instants.into_iter().map(|v| v.map(|v| truncate(v, *p)));
            write(instants, *p, to)?
        }
        Kind::WideTimestamp { precision, .. } => {
            let nanos = instants.into_iter().map(|v| v.map(|v| truncate(v, *precision)));
            let nanos = nanos.map(|v| v.map(|(millis, nanos)| wide_of(millis, nanos)));
            Arc::new(nanos.collect::<PrimitiveArray<Decimal128Type>>().with_data_type(WIDE_TIMESTAMP))
        }
        other => return Err(Error::internal(format!("no cast of a time to {other:?}"))),
    })
}

fn read(array: &ArrayRef, from: &DataType) -> Result<Instants> {
    Ok(match &from.kind {
        Kind::Date => {
            let days = typed::<Date32Type>(array, from)?;
            days.iter().map(|v| v.map(|v| (i64::from(v) * MILLIS_PER_DAY, 0))).collect()
        }
        Kind::Time(_) => {
            typed::<Time32MillisecondType>(array, from)?.iter().map(|v| v.map(|v| (i64::from(v), 0))).collect()
        }
        Kind::Timestamp(p) | Kind::LocalZonedTimestamp(p) => match p {
            0..=3 => typed::<TimestampMillisecondType>(array, from)?.iter().map(|v| v.map(|v| (v, 0))).collect(),
            4..=6 => {
                typed::<TimestampMicrosecondType>(array, from)?.iter().map(|v| v.map(|v| split(v, 1_000))).collect()
            }
            _ => {
                let nanos = typed::<TimestampNanosecondType>(array, from)?;
                nanos.iter().map(|v| v.map(|v| split(v, 1_000_000))).collect()
            }
        },
        Kind::WideTimestamp { .. } => {
            let nanos = typed::<Decimal128Type>(array, from)?;
            nanos.iter().map(|v| v.map(split_wide).transpose()).collect::<Result<_>>()?
        }
        _ => integers(array, from)?.iter().map(|v| v.map(|v| (v.wrapping_mul(1_000), 0))).collect(),
    })
}

/// Drops digits beyond the precision, if any is not zero; whole milliseconds round to zero, as the reference's do.
fn truncate((millis, nanos): (i64, i32), precision: u8) -> (i64, i32) {
    if precision <= 3 {
        let unit = 10i64.pow(3 - u32::from(precision));
        if nanos == 0 && millis % unit == 0 { (millis, 0) } else { (millis / unit * unit, 0) }
    } else {
        let unit = 10i32.pow(9u32.saturating_sub(u32::from(precision)));
        (millis, nanos / unit * unit)
    }
}

fn write(instants: impl Iterator<Item = Option<(i64, i32)>>, precision: u8, to: &DataType) -> Result<ArrayRef> {
    let arrow = arrow_type(to)?;
    let units = |per_milli: i64| {
        move |(millis, nanos): (i64, i32)| {
            let value = millis.checked_mul(per_milli);
            let value = value.and_then(|v| v.checked_add(i64::from(nanos) / (1_000_000 / per_milli)));
            value.ok_or_else(|| {
                Error::unsupported(format!("a timestamp of {millis} milliseconds at precision {precision}"))
                    .with_hint(WIDE_HINT)
            })
        }
    };
    let values = |per_milli| instants.map(move |v| v.map(units(per_milli)).transpose());
    Ok(match precision {
        0..=3 => {
            let array = values(1).collect::<Result<PrimitiveArray<TimestampMillisecondType>>>()?;
            Arc::new(array.with_data_type(arrow))
        }
        4..=6 => {
            let array = values(1_000).collect::<Result<PrimitiveArray<TimestampMicrosecondType>>>()?;
            Arc::new(array.with_data_type(arrow))
        }
        _ => {
            let array = values(1_000_000).collect::<Result<PrimitiveArray<TimestampNanosecondType>>>()?;
            Arc::new(array.with_data_type(arrow))
        }
    })
}
