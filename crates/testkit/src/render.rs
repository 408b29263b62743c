//! Record batches as JSON rows, in the encoding of tests/fixtures/README.md.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    Time32MillisecondType, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
};
use arrow_array::{Array, ArrayRef, RecordBatch, StructArray};
use arrow_schema::{DataType as Arrow, TimeUnit};
use chrono::{DateTime, NaiveDate, NaiveTime, TimeDelta};
use linn_format::types::{DataField, DataType, Kind};
use serde_json::{Map, Value, json};

use crate::variant;

/// The rows of batches whose columns are named as `fields`.
///
/// # Panics
/// When a column is missing or has another Arrow type than its field's.
pub fn rows(batches: &[RecordBatch], fields: &[DataField]) -> Vec<Value> {
    batches.iter().flat_map(|batch| (0..batch.num_rows()).map(move |i| row(batch, fields, i))).collect()
}

fn row(batch: &RecordBatch, fields: &[DataField], i: usize) -> Value {
    let column = |f: &DataField| {
        let array = batch.column_by_name(&f.name).unwrap_or_else(|| panic!("no column {}", f.name));
        (f.name.clone(), value(array, &f.data_type, i))
    };
    Value::Object(fields.iter().map(column).collect::<Map<_, _>>())
}

/// One value.
///
/// # Panics
/// When the array is not of the type's Arrow type.
pub fn value(array: &ArrayRef, data_type: &DataType, i: usize) -> Value {
    if array.is_null(i) {
        return Value::Null;
    }
    match &data_type.kind {
        Kind::Boolean => json!(array.as_boolean().value(i)),
        Kind::TinyInt => json!(array.as_primitive::<Int8Type>().value(i)),
        Kind::SmallInt => json!(array.as_primitive::<Int16Type>().value(i)),
        Kind::Int => json!(array.as_primitive::<Int32Type>().value(i)),
        Kind::BigInt => json!(array.as_primitive::<Int64Type>().value(i)),
        // Through the shortest decimal of the four-byte number: its eight-byte twin has other digits.
        Kind::Float => float(format!("{:?}", array.as_primitive::<Float32Type>().value(i)).parse().unwrap_or(f64::NAN)),
        Kind::Double => float(array.as_primitive::<Float64Type>().value(i)),
        Kind::Char(_) | Kind::Varchar(_) => json!(array.as_string::<i32>().value(i)),
        Kind::Binary(_) | Kind::Varbinary(_) | Kind::Blob => json!(hex(array.as_binary::<i32>().value(i))),
        Kind::Decimal { scale, .. } => {
            json!(decimal(array.as_primitive::<Decimal128Type>().value(i), usize::from(*scale)))
        }
        Kind::Date => json!(date(array.as_primitive::<Date32Type>().value(i)).to_string()),
        Kind::Time(_) => json!(time(array.as_primitive::<Time32MillisecondType>().value(i))),
        Kind::Timestamp(precision) => json!(timestamp(array, i, *precision)),
        Kind::LocalZonedTimestamp(precision) => json!(timestamp(array, i, *precision) + "Z"),
        Kind::Array(element) => list(&array.as_list::<i32>().value(i), element),
        Kind::Vector { element, .. } => list(&array.as_fixed_size_list().value(i), element),
        Kind::Map(key, value) => entries(&array.as_map().value(i), key, value),
        Kind::Multiset(element) => entries(&array.as_map().value(i), element, &DataType::required(Kind::Int)),
        Kind::Row(fields) => nested(array.as_struct(), fields, i),
        Kind::Variant => {
            let part = |n: usize| array.as_struct().column(n).as_binary::<i32>().value(i);
            json!(variant::text(part(0), part(1)))
        }
        other => panic!("{other:?} has no JSON form"),
    }
}

fn float(value: f64) -> Value {
    if value.is_finite() {
        // As the parser reads it, which may miss the last bit: expected rows have come through it as well.
        return format!("{value:?}").parse().unwrap_or_else(|_| json!(value));
    }
    json!(if value.is_nan() {
        "NaN"
    } else if value > 0.0 {
        "Infinity"
    } else {
        "-Infinity"
    })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

pub(crate) fn decimal(unscaled: i128, scale: usize) -> String {
    let sign = if unscaled < 0 { "-" } else { "" };
    let digits = format!("{:0>width$}", unscaled.unsigned_abs(), width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    if scale == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
}

fn date(days: i32) -> NaiveDate {
    NaiveDate::default() + TimeDelta::days(i64::from(days))
}

fn time(millis: i32) -> String {
    let (seconds, rest) = (millis.div_euclid(1000), millis.rem_euclid(1000));
    let time = NaiveTime::from_num_seconds_from_midnight_opt(seconds.unsigned_abs(), rest.unsigned_abs() * 1_000_000);
    time.map_or_else(|| format!("{millis} ms"), |t| t.format("%H:%M:%S%.3f").to_string())
}

fn timestamp(array: &ArrayRef, i: usize, precision: u8) -> String {
    if let Some(text) = array.as_string_opt::<i32>() {
        // As `linn.read.wide-timestamps` spells it.
        return text.value(i).replacen(' ', "T", 1);
    }
    let (value, unit) = match array.data_type() {
        Arrow::Timestamp(TimeUnit::Millisecond, _) => {
            (array.as_primitive::<TimestampMillisecondType>().value(i), 1_000)
        }
        Arrow::Timestamp(TimeUnit::Microsecond, _) => {
            (array.as_primitive::<TimestampMicrosecondType>().value(i), 1_000_000)
        }
        Arrow::Timestamp(TimeUnit::Nanosecond, _) => {
            (array.as_primitive::<TimestampNanosecondType>().value(i), 1_000_000_000)
        }
        other => panic!("{other} is no timestamp"),
    };
    let (seconds, fraction) = (value.div_euclid(unit), value.rem_euclid(unit) * (1_000_000_000 / unit));
    let whole = DateTime::from_timestamp(seconds, 0)
        .map_or_else(|| format!("{seconds} s"), |t| t.format("%Y-%m-%dT%H:%M:%S").to_string());
    match usize::from(precision) {
        0 => whole,
        digits => format!("{whole}.{}", &format!("{fraction:09}")[..digits]),
    }
}

fn list(items: &ArrayRef, element: &DataType) -> Value {
    Value::Array((0..items.len()).map(|i| value(items, element, i)).collect())
}

fn entries(entries: &StructArray, key: &DataType, item: &DataType) -> Value {
    let (keys, items) = (entries.column(0), entries.column(1));
    Value::Array((0..entries.len()).map(|i| json!([value(keys, key, i), value(items, item, i)])).collect())
}

fn nested(array: &StructArray, fields: &[DataField], i: usize) -> Value {
    let column = |(n, f): (usize, &DataField)| (f.name.clone(), value(array.column(n), &f.data_type, i));
    Value::Object(fields.iter().enumerate().map(column).collect::<Map<_, _>>())
}
