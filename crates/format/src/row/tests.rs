use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array, Int64Array, StringArray};
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
    assert_eq!(rows_from_columns(&[array.clone()], &[int.clone()]).unwrap_err().kind(), ErrorKind::Invalid);
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
