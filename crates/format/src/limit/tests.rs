//! What types admit, at the top and inside of other types.

use std::sync::Arc;

use arrow_array::builder::{Int32Builder, ListBuilder, MapBuilder, StringBuilder};
use arrow_array::types::Decimal128Type;
use arrow_array::{
    Array, ArrayRef, BinaryArray, Decimal128Array, Float32Array, Float64Array, Int32Array, PrimitiveArray, StringArray,
    StructArray, Time32MillisecondArray, TimestampMicrosecondArray, TimestampMillisecondArray,
};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType as Arrow, Field};

use super::*;
use crate::types::DataType;

fn found(column: ArrayRef, data_type: &str) -> Vec<(usize, String, String)> {
    let data_type = DataType::parse(data_type).unwrap();
    let found: Vec<_> = misfits(&column, &data_type).into_iter().map(|m| (m.row, m.path("c"), m.what)).collect();
    assert_eq!(misfit(&column, &data_type).is_some(), !found.is_empty());
    found
}

fn text(values: &[Option<&str>]) -> ArrayRef {
    Arc::new(StringArray::from(values.to_vec()))
}

#[test]
fn texts_are_measured_in_characters_and_bytes_in_bytes() {
    let values = [Some("日本語"), None, Some("abcd"), Some("😀😀😀"), Some("😀😀😀😀")];
    let long = |row, of: &str| (row, "c".to_owned(), format!("a value of length 4 is too long for {of}(3)"));
    assert_eq!(found(text(&values), "CHAR(3)"), [long(2, "CHAR"), long(4, "CHAR")]);
    assert_eq!(found(text(&values), "VARCHAR(3)"), [long(2, "VARCHAR"), long(4, "VARCHAR")]);
    assert_eq!(found(text(&values), "STRING"), []);
    assert_eq!(found(text(&values).slice(2, 1), "VARCHAR(3)"), [long(0, "VARCHAR")]);
    let bytes = Arc::new(BinaryArray::from_vec(vec![&[1, 2], &[1, 2, 3], "日".as_bytes()]));
    assert_eq!(found(bytes, "BINARY(2)").iter().map(|m| m.0).collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn decimals_have_no_more_digits_than_their_type() {
    let values = |values: Vec<i128>, p| -> ArrayRef {
        let values = Decimal128Array::from(values);
        Arc::new(values.with_data_type(Arrow::Decimal128(p, 2)))
    };
    let large = found(values(vec![99_999, -100_000, 100_000], 5), "DECIMAL(5, 2)");
    assert_eq!(large.iter().map(|m| m.0).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(large[0].2, "a value of 6 digits is too large for DECIMAL(5, 2)");
    let most = 10_i128.pow(38) - 1;
    assert_eq!(found(values(vec![most, -most], 38), "DECIMAL(38, 2)"), []);
    assert_eq!(found(values(vec![most + 1, i128::MIN], 38), "DECIMAL(38, 2)").len(), 2);
    // What lies below a null is nothing.
    let null = PrimitiveArray::<Decimal128Type>::new(vec![1_000_000].into(), Some(NullBuffer::new_null(1)));
    assert_eq!(found(Arc::new(null.with_data_type(Arrow::Decimal128(5, 2))), "DECIMAL(5, 2)"), []);
}

#[test]
fn elements_are_looked_at_where_they_are_somebodys() {
    let mut lists = ListBuilder::new(StringBuilder::new());
    for list in [Some(vec![Some("a"), Some("abc")]), None, Some(vec![]), Some(vec![Some("ab"), None, Some("abcd")])] {
        lists.append_option(list);
    }
    let lists = lists.finish();
    let paths = |found: Vec<(usize, String, String)>| found.into_iter().map(|m| (m.0, m.1)).collect::<Vec<_>>();
    let at = |row| (row, "c.element".to_owned());
    assert_eq!(paths(found(Arc::new(lists.clone()), "ARRAY<VARCHAR(2)>")), [at(0), at(3)]);
    assert_eq!(paths(found(Arc::new(lists.slice(1, 3)), "ARRAY<VARCHAR(2)>")), [at(2)]);
    assert_eq!(paths(found(Arc::new(lists.clone()), "ARRAY<STRING NOT NULL>")), [at(3)]);
    // The elements of a null list are nobody's.
    let (field, offsets, values, _) = lists.into_parts();
    let nulls = NullBuffer::from(vec![false, true, true, true]);
    let hidden = arrow_array::ListArray::new(field, offsets, values, Some(nulls));
    assert_eq!(paths(found(Arc::new(hidden), "ARRAY<VARCHAR(2)>")), [at(3)]);
    let mut maps = MapBuilder::new(None, StringBuilder::new(), Int32Builder::new());
    for key in ["a", "abc"] {
        maps.keys().append_value(key);
        maps.values().append_null();
        maps.append(true).unwrap();
    }
    let maps: ArrayRef = Arc::new(maps.finish());
    assert_eq!(paths(found(maps.clone(), "MAP<VARCHAR(2), INT>")), [(1, "c.key".to_owned())]);
    assert_eq!(paths(found(maps, "MAP<STRING, INT NOT NULL>")), [(0, "c.value".into()), (1, "c.value".into())]);
}

#[test]
fn fields_of_rows_are_looked_at_where_there_is_a_row() {
    let children: Vec<ArrayRef> =
        vec![text(&[Some("long"), Some("long"), Some("s")]), Arc::new(Int32Array::from(vec![None, Some(1), None]))];
    let fields = vec![Field::new("t", Arrow::Utf8, true), Field::new("n", Arrow::Int32, true)];
    let nulls = Some(NullBuffer::from(vec![false, true, true]));
    let rows: ArrayRef = Arc::new(StructArray::new(fields.into(), children, nulls));
    assert_eq!(
        found(rows, "ROW<t VARCHAR(2), n INT NOT NULL>"),
        [
            (1, "c.t".to_owned(), "a value of length 4 is too long for VARCHAR(2)".to_owned()),
            (2, "c.n".to_owned(), "null where the type is NOT NULL".to_owned())
        ]
    );
}

#[test]
fn digits_of_seconds_that_a_type_has_not_are_dropped() {
    let cut = |column: ArrayRef, data_type: &str| cut_seconds(&column, &DataType::parse(data_type).unwrap()).unwrap();
    let millis = |values: Vec<i64>| -> ArrayRef { Arc::new(TimestampMillisecondArray::from(values)) };
    assert_eq!(&cut(millis(vec![1_999, 2_000, -1_999]), "TIMESTAMP(0)"), &millis(vec![1_000, 2_000, -2_000]));
    assert_eq!(&cut(millis(vec![1_999]), "TIMESTAMP(2)"), &millis(vec![1_990]));
    assert_eq!(&cut(millis(vec![1_999]), "TIMESTAMP(3)"), &millis(vec![1_999]));
    let micros = |values: Vec<i64>| -> ArrayRef { Arc::new(TimestampMicrosecondArray::from(values)) };
    assert_eq!(&cut(micros(vec![123_456, -1]), "TIMESTAMP(4)"), &micros(vec![123_400, -100]));
    let times = |values: Vec<i32>| -> ArrayRef { Arc::new(Time32MillisecondArray::from(values)) };
    assert_eq!(&cut(times(vec![86_399_999]), "TIME(0)"), &times(vec![86_399_000]));
    let rows = |value: i64| -> ArrayRef {
        let column = millis(vec![value]);
        Arc::new(StructArray::from(vec![(Arc::new(Field::new("t", column.data_type().clone(), true)), column)]))
    };
    assert_eq!(&cut(rows(1_999), "ROW<t TIMESTAMP(1)>"), &rows(1_900));
}

#[test]
fn finite_numbers_do_not_become_infinite() {
    let infinite: ArrayRef = Arc::new(Float32Array::from(vec![f32::INFINITY, f32::NEG_INFINITY, f32::INFINITY]));
    let of: ArrayRef = Arc::new(Float64Array::from(vec![f64::INFINITY, f64::NEG_INFINITY, 1e39]));
    assert_eq!(overflow(&of, &infinite), [2]);
    assert_eq!(overflow(&text(&[Some("inf"), Some("-1e39"), None]), &infinite), [1]);
    assert!(overflow(&infinite, &infinite).is_empty());
}
