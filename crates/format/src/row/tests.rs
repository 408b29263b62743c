//! Binary rows: golden bytes, round trips, hostile bytes.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float32Array, Float64Array, Int32Array, Int64Array, StringArray};
use bytes::Bytes;
use proptest::prelude::*;

use super::*;
use crate::ErrorKind;
use crate::types::Kind;

fn string(text: &str) -> Option<Datum> {
    Some(Datum::String(text.to_owned()))
}

/// Keys and statistics as Java 2.1 wrote them for `k INT, v STRING, n BIGINT`.
#[test]
fn rows_equal_the_reference_bytes() {
    let key = b"\0\0\0\x01\0\0\0\0\0\0\0\x005\0\0\0\0\0\0\0";
    let stats = b"\0\0\0\x03\0\0\0\0\0\0\0\x005\0\0\0\0\0\0\0upd\0\0\0\0\x83\x01\0\0\0\0\0\0\0";
    let int = DataType::required(Kind::Int);
    let (text, long) = (DataType::string(), DataType::nullable(Kind::BigInt));
    let row = BinaryRow::from_datums(&[(Some(Datum::Int(53)), &int)]).unwrap();
    assert_eq!(&row.to_serialized()[..], key);
    let values = [(Some(Datum::Int(53)), &int), (string("upd"), &text), (Some(Datum::BigInt(1)), &long)];
    let row = BinaryRow::from_datums(&values).unwrap();
    assert_eq!(&row.to_serialized()[..], stats);
    assert_eq!(BinaryRow::from_serialized(&stats[..]).unwrap(), row);
    assert_eq!(&BinaryRow::empty().to_serialized()[..], [0; 12]);

    let columns: [ArrayRef; 3] = [
        Arc::new(Int32Array::from(vec![53])),
        Arc::new(StringArray::from(vec!["upd"])),
        Arc::new(Int64Array::from(vec![1])),
    ];
    assert_eq!(rows_from_columns(&columns, &[int, text, long]).unwrap(), [row]);
}

#[test]
fn long_strings_go_to_the_variable_part() {
    let text = DataType::string();
    let row = BinaryRow::from_datums(&[(string("12345678"), &text), (None, &text)]).unwrap();
    let expected = b"\0\x02\0\0\0\0\0\0\x08\0\0\0\x18\0\0\0\0\0\0\0\0\0\0\x0012345678";
    assert_eq!(row.as_bytes(), expected);
    assert_eq!(row.datum(0, &text).unwrap(), string("12345678"));
    assert!(row.is_null(1));
    assert_eq!(row.kind().unwrap(), RowKind::Insert);
}

#[test]
fn wide_nulls_keep_their_place() {
    let decimal = DataType::nullable(Kind::Decimal { precision: 38, scale: 2 });
    let time = DataType::nullable(Kind::Timestamp(6));
    let row = BinaryRow::from_datums(&[(None, &decimal), (None, &time)]).unwrap();
    let mut expected = vec![0; 48];
    expected[1] = 3;
    expected[12] = 24;
    expected[20] = 40;
    assert_eq!(row.as_bytes(), expected);
    assert_eq!(row.datum(0, &decimal).unwrap(), None);
    assert_eq!(row.datum(1, &time).unwrap(), None);
}

#[test]
fn values_of_other_types_are_refused() {
    let int = DataType::required(Kind::Int);
    assert_eq!(BinaryRow::from_datums(&[(string("x"), &int)]).unwrap_err().kind(), ErrorKind::Invalid);
    let array: ArrayRef = Arc::new(StringArray::from(vec!["x"]));
    assert_eq!(
        rows_from_columns(std::slice::from_ref(&array), std::slice::from_ref(&int)).unwrap_err().kind(),
        ErrorKind::Invalid
    );
    assert_eq!(rows_from_columns(&[array], &[]).unwrap_err().kind(), ErrorKind::Invalid);
}

fn corrupt(bytes: &[u8], kind: Kind) {
    let result = BinaryRow::from_serialized(Bytes::copy_from_slice(bytes))
        .and_then(|row| row.datum(0, &DataType::nullable(kind)));
    assert_eq!(result.unwrap_err().kind(), ErrorKind::Corrupt);
}

#[test]
fn contradictions_are_corrupt() {
    corrupt(&[0, 0, 0], Kind::Int);
    corrupt(&[0xff; 40], Kind::Int);
    corrupt(&[0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3], Kind::Int);
    corrupt(&[0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0], Kind::Int);
    let slot = |slot: [u8; 8]| [&[0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0][..], &slot].concat();
    corrupt(&slot([9, 0, 0, 0, 16, 0, 0, 0]), Kind::Varchar(9));
    corrupt(&slot([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]), Kind::Varchar(9));
    corrupt(&slot([b'x', 0, 0, 0, 0, 0, 0, 0xff]), Kind::Varchar(9));
    corrupt(&slot([0xff, 0, 0, 0, 0, 0, 0, 0x81]), Kind::Varchar(9));
    corrupt(&slot([0xff; 8]), Kind::Timestamp(9));
    corrupt(&slot([0, 0, 0, 0, 16, 0, 0, 0]), Kind::Decimal { precision: 20, scale: 0 });
    corrupt(&slot([0, 0, 0, 0, 0, 0, 0, 1]), Kind::Decimal { precision: 2, scale: 0 });
    corrupt(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], Kind::Int);
}

/// A scalar and its type.
pub(crate) fn any_scalar() -> impl Strategy<Value = (Datum, Kind)> {
    let decimal = |precision: u8| {
        let limit = 10i128.pow(u32::from(precision));
        (1 - limit..limit).prop_map(move |unscaled| {
            (Datum::Decimal { unscaled, precision, scale: 2 }, Kind::Decimal { precision, scale: 2 })
        })
    };
    prop_oneof![
        any::<bool>().prop_map(|v| (Datum::Boolean(v), Kind::Boolean)),
        any::<i8>().prop_map(|v| (Datum::TinyInt(v), Kind::TinyInt)),
        any::<i16>().prop_map(|v| (Datum::SmallInt(v), Kind::SmallInt)),
        any::<i32>().prop_map(|v| (Datum::Int(v), Kind::Int)),
        any::<i64>().prop_map(|v| (Datum::BigInt(v), Kind::BigInt)),
        any::<f32>().prop_map(|v| (Datum::Float(v), Kind::Float)),
        any::<f64>().prop_map(|v| (Datum::Double(v), Kind::Double)),
        any::<i32>().prop_map(|v| (Datum::Date(v), Kind::Date)),
        (0..86_400_000i32).prop_map(|v| (Datum::Time(v), Kind::Time(3))),
        any::<i64>().prop_map(|millis| (Datum::Timestamp { millis, nanos: 0 }, Kind::Timestamp(3))),
        (any::<i64>(), 0..1_000_000i32)
            .prop_map(|(millis, nanos)| (Datum::Timestamp { millis, nanos }, Kind::LocalZonedTimestamp(9))),
        (2u8..=38).prop_flat_map(decimal),
        ".{0,12}".prop_map(|v| (Datum::String(v), Kind::Varchar(100))),
        prop::collection::vec(any::<u8>(), 0..20).prop_map(|v| (Datum::Bytes(v.into()), Kind::Varbinary(100))),
    ]
}

proptest! {
    #[test]
    fn scalars_come_back(values in prop::collection::vec((any_scalar(), any::<bool>()), 0..80)) {
        let types: Vec<_> = values.iter().map(|((_, kind), _)| DataType::nullable(kind.clone())).collect();
        let values: Vec<_> = values.into_iter().map(|((value, _), null)| (!null).then_some(value)).collect();
        let pairs: Vec<_> = values.iter().cloned().zip(&types).collect();
        let row = BinaryRow::from_datums(&pairs).unwrap();
        prop_assert_eq!(row.as_bytes().len() % 8, 0);
        let read = BinaryRow::from_serialized(row.to_serialized()).unwrap();
        prop_assert_eq!(read.datums(types.iter()).unwrap(), values);
    }

    #[test]
    fn hostile_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..120), (_, kind) in any_scalar()) {
        for arity in 0..4 {
            if let Ok(row) = BinaryRow::from_bytes(arity, Bytes::copy_from_slice(&bytes)) {
                for field in 0..arity + 1 {
                    if let Err(e) = row.datum(field, &DataType::nullable(kind.clone())) {
                        prop_assert_eq!(e.kind(), ErrorKind::Corrupt);
                    }
                }
            }
        }
    }
}

/// A column of `kind` from numbers; some values are null.
fn column(data_type: &DataType, arrow: &arrow_schema::DataType, seeds: &[u8]) -> ArrayRef {
    use arrow_array::{FixedSizeListArray, ListArray, MapArray, StructArray};
    use arrow_buffer::{NullBuffer, OffsetBuffer};
    use arrow_schema::DataType as ArrowType;
    let valid = |seed: &u8| !data_type.nullable || !seed.is_multiple_of(5);
    let nulls = Some(NullBuffer::from_iter(seeds.iter().map(valid)));
    let lengths: Vec<_> = seeds.iter().map(|s| if valid(s) { usize::from(s % 4) } else { 0 }).collect();
    let children = |n: usize| (0..n).map(|i| seeds[i % seeds.len()].wrapping_add(i as u8)).collect::<Vec<_>>();
    let inner = children(lengths.iter().sum());
    match (&data_type.kind, arrow) {
        (Kind::Array(element), ArrowType::List(field)) => {
            let values = column(element, field.data_type(), &inner);
            Arc::new(ListArray::new(field.clone(), OffsetBuffer::from_lengths(lengths), values, nulls))
        }
        (Kind::Map(key, value), ArrowType::Map(entries, _)) => {
            let ArrowType::Struct(fields) = entries.data_type() else { panic!("map without entries") };
            let entry = StructArray::new(
                fields.clone(),
                vec![column(key, fields[0].data_type(), &inner), column(value, fields[1].data_type(), &inner)],
                None,
            );
            Arc::new(MapArray::new(entries.clone(), OffsetBuffer::from_lengths(lengths), entry, nulls, false))
        }
        (Kind::Row(row), ArrowType::Struct(fields)) => {
            let columns = row.iter().zip(fields).map(|(f, a)| column(&f.data_type, a.data_type(), seeds)).collect();
            Arc::new(StructArray::new(fields.clone(), columns, nulls))
        }
        (Kind::Variant, ArrowType::Struct(fields)) => {
            let bytes = DataType::required(Kind::Varbinary(99));
            Arc::new(StructArray::new(
                fields.clone(),
                vec![column(&bytes, fields[0].data_type(), seeds), column(&bytes, fields[1].data_type(), seeds)],
                nulls,
            ))
        }
        (Kind::Vector { element, length }, ArrowType::FixedSizeList(field, size)) => {
            let values = column(element, field.data_type(), &children(seeds.len() * *length as usize));
            Arc::new(FixedSizeListArray::new(field.clone(), *size, values, nulls))
        }
        (kind, _) => {
            let datum = |seed: &u8| match kind {
                Kind::SmallInt => Datum::SmallInt(i16::from(*seed) - 100),
                Kind::Float => Datum::Float(f32::from(*seed) / 3.0),
                Kind::Timestamp(_) => Datum::Timestamp { millis: -i64::from(*seed), nanos: i32::from(*seed) },
                Kind::Decimal { precision, scale } => {
                    Datum::Decimal { unscaled: -1_i128 << (seed % 60), precision: *precision, scale: *scale }
                }
                Kind::Varbinary(_) => Datum::Bytes(vec![*seed; usize::from(seed % 12)].into()),
                _ => Datum::String("x".repeat(usize::from(seed % 12))),
            };
            let values: Vec<_> = seeds.iter().map(|s| valid(s).then(|| datum(s))).collect();
            crate::datum::array_from_datums(&values, data_type).unwrap()
        }
    }
}

pub(crate) fn any_column(data_type: &DataType, seeds: &[u8]) -> ArrayRef {
    column(data_type, &crate::types::arrow_type(data_type).unwrap(), seeds)
}

pub(crate) fn nested_types() -> Vec<DataType> {
    use crate::types::DataField;
    let nullable = |kind| Box::new(DataType::nullable(kind));
    let decimal = Kind::Decimal { precision: 30, scale: 1 };
    let row = Kind::Row(vec![
        DataField::new(1, "a", DataType::nullable(Kind::SmallInt)),
        DataField::new(2, "b", DataType::string()),
        DataField::new(3, "c", DataType::nullable(decimal.clone())),
        DataField::new(4, "d", DataType::nullable(Kind::Timestamp(6))),
    ]);
    let list = Kind::Array(nullable(Kind::SmallInt));
    let map = Kind::Map(Box::new(DataType::required(Kind::Varchar(99))), nullable(Kind::Timestamp(9)));
    let kinds = vec![
        Kind::Array(nullable(list.clone())),
        Kind::Array(nullable(decimal)),
        Kind::Array(nullable(row.clone())),
        Kind::Map(Box::new(DataType::required(Kind::Varchar(99))), nullable(map)),
        Kind::Vector { element: Box::new(DataType::required(Kind::Float)), length: 3 },
        Kind::Variant,
        list,
        row,
    ];
    kinds.into_iter().map(DataType::nullable).collect()
}

proptest! {
    #[test]
    fn nested_columns_come_back(seeds in prop::collection::vec(any::<u8>(), 1..9)) {
        for data_type in nested_types() {
            let types = [data_type];
            let array = any_column(&types[0], &seeds);
            let rows = rows_from_columns(std::slice::from_ref(&array), &types).unwrap();
            let read = columns_from_rows(&rows, &types).unwrap();
            // Where the array is null its children are free: compare what the rows say.
            prop_assert_eq!(read[0].data_type(), array.data_type());
            prop_assert_eq!(rows_from_columns(&read, &types).unwrap(), rows);
            prop_assert_eq!(read[0].logical_nulls().map_or(0, |n| n.null_count()), array.null_count());
            prop_assert_eq!(crate::hash::hash_columns(&read, &types).unwrap(), crate::hash::hash_columns(&[array], &types).unwrap());
        }
    }

    #[test]
    fn hostile_nested_bytes_never_panic(bytes in prop::collection::vec(prop_oneof![Just(0u8), 0u8..40, any::<u8>()], 16..120)) {
        let row = BinaryRow::from_bytes(1, bytes.into()).unwrap();
        for data_type in nested_types() {
            let _ = columns_from_rows(std::slice::from_ref(&row), &[data_type]);
        }
    }

    #[test]
    fn damaged_nested_rows_never_panic(seeds in prop::collection::vec(any::<u8>(), 1..5), at in any::<prop::sample::Index>(), with: u8) {
        for data_type in nested_types() {
            let types = [data_type];
            for row in rows_from_columns(&[any_column(&types[0], &seeds)], &types).unwrap() {
                let mut bytes = row.as_bytes().to_vec();
                let at = at.index(bytes.len());
                bytes[at] = with;
                let _ = columns_from_rows(&[BinaryRow::from_bytes(1, bytes.into()).unwrap()], &types);
            }
        }
    }
}

/// A key and a partition are found by their bytes.
#[test]
fn every_nan_has_the_same_bytes() {
    let types = [DataType::required(Kind::Double), DataType::required(Kind::Float)];
    let doubles: ArrayRef =
        Arc::new(Float64Array::from(vec![f64::NAN, -f64::NAN, f64::from_bits(0x7ff0_0000_0000_0001)]));
    let floats: ArrayRef = Arc::new(Float32Array::from(vec![-f32::NAN, f32::NAN, f32::from_bits(0xffc1_2345)]));
    let rows = rows_from_columns(&[doubles, floats], &types).unwrap();
    assert!(rows.iter().all(|row| *row == rows[0]));
    let values = [(Some(Datum::Double(-f64::NAN)), &types[0]), (Some(Datum::Float(-f32::NAN)), &types[1])];
    assert_eq!(BinaryRow::from_datums(&values).unwrap(), rows[0]);
    let bytes = rows[0].to_serialized();
    assert!(bytes.ends_with(&[0, 0, 0, 0, 0, 0, 0xf8, 0x7f, 0, 0, 0xc0, 0x7f, 0, 0, 0, 0]), "{bytes:?}");
}
