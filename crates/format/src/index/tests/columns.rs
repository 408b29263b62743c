//! Columns and literals out of the fixtures' JSON.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, Int32Array, Int64Array, StringArray,
    TimestampMillisecondArray,
};
use chrono::{NaiveDate, NaiveDateTime};
use serde_json::Value;

use crate::datum::Datum;
use crate::types::{DataType, Kind};

/// The value as a literal of the type, if there is one.
pub(super) fn datum(value: &Value, data_type: &DataType) -> Option<Datum> {
    Some(match (&data_type.kind, value) {
        (_, Value::Null) => return None,
        (Kind::Boolean, v) => Datum::Boolean(v.as_bool().unwrap()),
        (Kind::Int, v) => Datum::Int(number(v)),
        (Kind::BigInt, v) => Datum::BigInt(number(v)),
        (Kind::Varchar(_), v) => Datum::String(v.as_str().unwrap().to_owned()),
        (Kind::Date, v) => {
            let date: NaiveDate = v.as_str().unwrap().parse().unwrap();
            Datum::Date((date - NaiveDate::default()).num_days() as i32)
        }
        (Kind::Timestamp(3), v) => {
            let time: NaiveDateTime = v.as_str().unwrap().parse().unwrap();
            Datum::Timestamp { millis: time.and_utc().timestamp_millis(), nanos: 0 }
        }
        (Kind::Decimal { precision, scale }, v) => {
            let unscaled = v.as_str().unwrap().replace('.', "").parse().unwrap();
            Datum::Decimal { unscaled, precision: *precision, scale: *scale }
        }
        _ => return None,
    })
}

fn number<T: std::str::FromStr<Err: std::fmt::Debug>>(value: &Value) -> T {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned).parse().unwrap()
}

/// The column of the rows' values; `None` for types that are not indexed here.
pub(super) fn column(rows: &[Value], name: &str, data_type: &DataType) -> Option<ArrayRef> {
    let data: Vec<Option<Datum>> = rows.iter().map(|row| datum(&row[name], data_type)).collect();
    macro_rules! gather {
        ($array:ty, $pattern:pat => $value:expr) => {
            Arc::new(
                data.into_iter()
                    .map(|d| match d {
                        Some($pattern) => Some($value),
                        _ => None,
                    })
                    .collect::<$array>(),
            )
        };
    }
    Some(match &data_type.kind {
        Kind::Boolean => gather!(BooleanArray, Datum::Boolean(v) => v),
        Kind::Int => gather!(Int32Array, Datum::Int(v) => v),
        Kind::BigInt => gather!(Int64Array, Datum::BigInt(v) => v),
        Kind::Varchar(_) => gather!(StringArray, Datum::String(v) => v),
        Kind::Date => gather!(Date32Array, Datum::Date(v) => v),
        Kind::Timestamp(3) => gather!(TimestampMillisecondArray, Datum::Timestamp { millis, .. } => millis),
        Kind::Decimal { precision, scale } => {
            let values = data.into_iter().map(|d| match d {
                Some(Datum::Decimal { unscaled, .. }) => Some(unscaled),
                _ => None,
            });
            let array = values.collect::<Decimal128Array>();
            Arc::new(array.with_precision_and_scale(*precision, *scale as i8).unwrap())
        }
        _ => return None,
    })
}
