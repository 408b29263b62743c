//! JSON rows as a record batch: the inverse of [`render`](crate::render), in the encoding of tests/fixtures/README.md.

use std::sync::Arc;

use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, Time32MillisecondType, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
};
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Int8Array, ListArray, MapArray, PrimitiveArray, RecordBatch, StringArray,
    StructArray,
};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{DataType as Arrow, FieldRef, Fields, TimeUnit};
use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, Timelike};
use linn_format::types::{DataField, arrow_schema};
use serde_json::Value;

const NULL: &Value = &Value::Null;

/// Rows as a batch of `fields`, and each row's kind by its `_kind` (`+I` when absent). Absent columns are null.
///
/// # Panics
/// When a value is not of its column's type.
pub fn rows(rows: &[Value], fields: &[DataField]) -> (RecordBatch, Int8Array) {
    let schema = arrow_schema(fields).expect("fields have Arrow types");
    let columns = schema.fields().iter().map(|f| member(rows.iter().map(Some), f)).collect();
    let kinds = rows.iter().map(|row| kind(row.get("_kind").and_then(Value::as_str).unwrap_or("+I")));
    (RecordBatch::try_new(schema, columns).expect("columns fit"), Int8Array::from_iter_values(kinds))
}

fn kind(text: &str) -> i8 {
    let kinds = ["+I", "-U", "+U", "-D"];
    let place = kinds.iter().position(|k| *k == text).unwrap_or_else(|| panic!("{text} is no row kind"));
    i8::try_from(place).expect("four kinds")
}

/// The column `field` of JSON objects.
fn member<'a>(rows: impl Iterator<Item = Option<&'a Value>>, field: &FieldRef) -> ArrayRef {
    let values: Vec<&Value> = rows.map(|row| row.and_then(|r| r.get(field.name())).unwrap_or(NULL)).collect();
    array(&values, field.data_type())
}

fn array(values: &[&Value], data_type: &Arrow) -> ArrayRef {
    let count = |text: &str, per_second| Some(timestamp(text, per_second));
    match data_type {
        Arrow::Boolean => Arc::new(values.iter().map(|v| v.as_bool()).collect::<BooleanArray>()),
        Arrow::Int8 => numbers::<Int8Type>(values, |v| v.as_i64()?.try_into().ok()),
        Arrow::Int16 => numbers::<Int16Type>(values, |v| v.as_i64()?.try_into().ok()),
        Arrow::Int32 => numbers::<Int32Type>(values, |v| v.as_i64()?.try_into().ok()),
        Arrow::Int64 => numbers::<Int64Type>(values, Value::as_i64),
        Arrow::Float32 => numbers::<Float32Type>(values, |v| text(v).parse().ok()),
        Arrow::Float64 => numbers::<Float64Type>(values, |v| text(v).parse().ok()),
        Arrow::Utf8 => Arc::new(values.iter().map(|v| v.as_str()).collect::<StringArray>()),
        Arrow::Binary => Arc::new(values.iter().map(|v| v.as_str().map(bytes)).collect::<BinaryArray>()),
        Arrow::Decimal128(..) => {
            typed::<Decimal128Type>(values, data_type, |v| v.as_str()?.replace('.', "").parse().ok())
        }
        Arrow::Date32 => numbers::<Date32Type>(values, |v| days(v.as_str()?)),
        Arrow::Time32(_) => numbers::<Time32MillisecondType>(values, |v| millis(v.as_str()?)),
        Arrow::Timestamp(TimeUnit::Millisecond, _) => {
            typed::<TimestampMillisecondType>(values, data_type, |v| count(v.as_str()?, 1_000))
        }
        Arrow::Timestamp(TimeUnit::Microsecond, _) => {
            typed::<TimestampMicrosecondType>(values, data_type, |v| count(v.as_str()?, 1_000_000))
        }
        Arrow::Timestamp(TimeUnit::Nanosecond, _) => {
            typed::<TimestampNanosecondType>(values, data_type, |v| count(v.as_str()?, 1_000_000_000))
        }
        Arrow::List(element) => list(values, element),
        Arrow::Map(entries, _) => map(values, entries),
        Arrow::Struct(fields) => structs(values, fields),
        other => panic!("{other} has no JSON form"),
    }
}

fn numbers<T: ArrowPrimitiveType>(values: &[&Value], one: impl Fn(&Value) -> Option<T::Native>) -> ArrayRef {
    typed::<T>(values, &T::DATA_TYPE, one)
}

fn typed<T: ArrowPrimitiveType>(
    values: &[&Value],
    data_type: &Arrow,
    one: impl Fn(&Value) -> Option<T::Native>,
) -> ArrayRef {
    let value = |v: &&Value| (!v.is_null()).then(|| one(v).unwrap_or_else(|| panic!("{v} is no {data_type}")));
    Arc::new(values.iter().map(value).collect::<PrimitiveArray<T>>().with_data_type(data_type.clone()))
}

/// A number, or its name when JSON has no number for it.
fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn bytes(hex: &str) -> Vec<u8> {
    let digit = |i: usize| u8::from_str_radix(&hex[i..i + 2], 16).unwrap_or_else(|e| panic!("{hex}: {e}"));
    (0..hex.len()).step_by(2).map(digit).collect()
}

fn days(text: &str) -> Option<i32> {
    let date: NaiveDate = text.parse().ok()?;
    i32::try_from((date - NaiveDate::default()).num_days()).ok()
}

fn millis(text: &str) -> Option<i32> {
    let time: NaiveTime = text.parse().ok()?;
    i32::try_from(time.num_seconds_from_midnight() * 1_000 + time.nanosecond() / 1_000_000).ok()
}

fn timestamp(text: &str, per_second: i64) -> i64 {
    let wall: NaiveDateTime = text.trim_end_matches('Z').parse().unwrap_or_else(|e| panic!("{text}: {e}"));
    let since: DateTime<chrono::Utc> = wall.and_utc();
    since.timestamp() * per_second + i64::from(since.timestamp_subsec_nanos()) / (1_000_000_000 / per_second)
}

/// The items of all lists one after the other, and where each list begins.
fn flat<'a>(values: &[&'a Value]) -> (Vec<&'a Value>, OffsetBuffer<i32>) {
    let lists = || values.iter().map(|v| v.as_array().map_or(&[][..], Vec::as_slice));
    (lists().flatten().collect(), OffsetBuffer::from_lengths(lists().map(<[Value]>::len)))
}

fn valid(values: &[&Value]) -> Vec<bool> {
    values.iter().map(|v| !v.is_null()).collect()
}

fn list(values: &[&Value], element: &FieldRef) -> ArrayRef {
    let (items, offsets) = flat(values);
    let items = array(&items, element.data_type());
    Arc::new(ListArray::new(Arc::clone(element), offsets, items, Some(valid(values).into())))
}

fn map(values: &[&Value], entries: &FieldRef) -> ArrayRef {
    let Arrow::Struct(pair) = entries.data_type() else { panic!("entries are {}", entries.data_type()) };
    let (items, offsets) = flat(values);
    let side = |n: usize| {
        let parts: Vec<&Value> = items.iter().map(|entry| entry.get(n).unwrap_or(NULL)).collect();
        array(&parts, pair[n].data_type())
    };
    let pairs = StructArray::new(pair.clone(), vec![side(0), side(1)], None);
    Arc::new(MapArray::new(Arc::clone(entries), offsets, pairs, Some(valid(values).into()), false))
}

fn structs(values: &[&Value], fields: &Fields) -> ArrayRef {
    let columns = fields.iter().map(|f| member(values.iter().map(|v| Some(*v)), f)).collect();
    Arc::new(StructArray::new(fields.clone(), columns, Some(valid(values).into())))
}

#[cfg(test)]
mod tests {
    use linn_format::types::DataType;
    use serde_json::json;

    use super::*;
    use crate::render;

    #[test]
    fn rows_come_back() {
        let names = [
            "DOUBLE",
            "DECIMAL(5, 2)",
            "DATE",
            "TIME(3)",
            "TIMESTAMP(6)",
            "TIMESTAMP(9) WITH LOCAL TIME ZONE",
            "BYTES",
            "FLOAT",
        ];
        let mut fields: Vec<DataField> = (0_i32..)
            .zip(names)
            .map(|(i, sql)| DataField::new(i, format!("c{i}"), DataType::parse(sql).unwrap()))
            .collect();
        let nested = json!({ "id": 8, "name": "c8", "type": { "type": "MAP", "key": "STRING NOT NULL", "value": {
            "type": "ARRAY", "element": { "type": "ROW", "fields": [{ "id": 9, "name": "x", "type": "SMALLINT" }] } } } });
        fields.push(DataField::from_json(&nested).unwrap());
        let all = [
            json!({ "c0": "NaN", "c1": "-0.05", "c2": "1969-12-31", "c3": "01:02:03.004", "c4": "1969-12-31T23:59:59.999999",
                    "c5": "2024-02-29T00:00:00.000000001Z", "c6": "00ff", "c7": 0.1,
                    "c8": [["a", [{ "x": 1 }, null]], ["b", null]] }),
            json!({ "c0": null, "c1": null, "c2": null, "c3": null, "c4": null, "c5": null, "c6": null, "c7": null, "c8": null }),
        ];
        let (batch, _) = rows(&all, &fields);
        assert_eq!(render::rows(&[batch], &fields), all);
    }

    #[test]
    fn kinds_are_those_of_files() {
        let all = [json!({}), json!({ "_kind": "-U" }), json!({ "_kind": "+U" }), json!({ "_kind": "-D" })];
        let fields = [DataField::new(0, "a", DataType::parse("INT").unwrap())];
        assert_eq!(rows(&all, &fields).1.values().to_vec(), [0, 1, 2, 3]);
    }
}
