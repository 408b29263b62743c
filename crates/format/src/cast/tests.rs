//! Casts against the reference's rules.

use proptest::prelude::*;

use super::*;
use crate::ErrorKind;
use crate::datum::{Datum, array_from_datums, datums_from_array};
use crate::row::tests::any_scalar;
use crate::types::DataField;

fn one(value: Datum, from: Kind, to: Kind) -> Result<Option<Datum>> {
    let (from, to) = (DataType::nullable(from), DataType::nullable(to));
    let array = array_from_datums(&[Some(value), None], &from)?;
    let out = cast(&array, &from, &to)?;
    let mut values = datums_from_array(&out, &to)?;
    assert_eq!(values.pop(), Some(None));
    Ok(values.remove(0))
}

#[track_caller]
fn check(value: Datum, from: Kind, to: Kind, expected: impl Into<Option<Datum>>) {
    assert_eq!(one(value, from, to).unwrap(), expected.into());
}

fn decimal(unscaled: i128, precision: u8, scale: u8) -> Datum {
    Datum::Decimal { unscaled, precision, scale }
}

fn dec(precision: u8, scale: u8) -> Kind {
    Kind::Decimal { precision, scale }
}

fn text(value: &str) -> Datum {
    Datum::String(value.to_owned())
}

fn string() -> Kind {
    DataType::string().kind
}

fn at(millis: i64) -> Datum {
    Datum::Timestamp { millis, nanos: 0 }
}

#[test]
fn integers_wrap_and_floats_saturate() {
    check(Datum::Int(383), Kind::Int, Kind::TinyInt, Datum::TinyInt(127));
    check(Datum::BigInt(1 << 32), Kind::BigInt, Kind::Int, Datum::Int(0));
    check(Datum::Double(1e10), Kind::Double, Kind::Int, Datum::Int(i32::MAX));
    check(Datum::Double(1e10), Kind::Double, Kind::TinyInt, Datum::TinyInt(-1));
    check(Datum::Float(f32::NAN), Kind::Float, Kind::BigInt, Datum::BigInt(0));
    check(Datum::Int(2), Kind::Int, Kind::Boolean, Datum::Boolean(true));
    check(Datum::Boolean(true), Kind::Boolean, Kind::Double, Datum::Double(1.0));
}

#[test]
fn decimals_round_half_up_or_become_null() {
    check(decimal(125, 5, 2), dec(5, 2), dec(5, 1), decimal(13, 5, 1));
    check(decimal(-125, 5, 2), dec(5, 2), dec(5, 1), decimal(-13, 5, 1));
    check(decimal(99_999, 5, 2), dec(5, 2), dec(3, 1), None);
    check(decimal(-199, 5, 2), dec(5, 2), Kind::Int, Datum::Int(-1));
    check(decimal(30_000, 5, 2), dec(5, 2), Kind::TinyInt, Datum::TinyInt(44));
    check(decimal(150, 5, 2), dec(5, 2), Kind::Double, Datum::Double(1.5));
    check(decimal(150, 30, 2), dec(30, 2), Kind::Float, Datum::Float(1.5));
    check(Datum::Float(0.1), Kind::Float, dec(20, 18), decimal(100_000_001_490_116_120, 20, 18));
    check(Datum::Int(1234), Kind::Int, dec(3, 0), None);
    assert_eq!(one(Datum::Double(f64::NAN), Kind::Double, dec(9, 2)).unwrap_err().kind(), ErrorKind::Invalid);
}

#[test]
fn everything_has_a_spelling() {
    check(Datum::Double(1e10), Kind::Double, string(), text("1.0E10"));
    check(Datum::BigInt(12345), Kind::BigInt, Kind::Varchar(3), text("123"));
    check(Datum::Int(7), Kind::Int, Kind::Char(3), text("7  "));
    check(Datum::Boolean(false), Kind::Boolean, Kind::Char(7), text("false  "));
    check(text("äöü"), string(), Kind::Varchar(2), text("äö"));
    check(text("ä"), string(), Kind::Char(2), text("ä "));
    check(decimal(-5, 5, 2), dec(5, 2), string(), text("-0.05"));
    check(Datum::Date(19_831), Kind::Date, string(), text("2024-04-18"));
    check(Datum::Time(3_661_120), Kind::Time(3), string(), text("01:01:01.12"));
    check(Datum::Time(3_661_000), Kind::Time(3), string(), text("01:01:01.0"));
    check(at(-1), Kind::Timestamp(3), string(), text("1969-12-31 23:59:59.999"));
    check(at(0), Kind::LocalZonedTimestamp(6), string(), text("1970-01-01 00:00:00.000000"));
    check(Datum::Bytes(b"ab".to_vec().into()), Kind::Varbinary(9), Kind::Char(5), text("ab"));
}

#[test]
fn text_is_read_like_java_reads_it() {
    check(text("-12.9"), string(), Kind::Int, Datum::Int(-12));
    check(text("YES"), string(), Kind::Boolean, Datum::Boolean(true));
    check(text(" 1.5d "), string(), Kind::Double, Datum::Double(1.5));
    check(text("1.255"), string(), dec(5, 2), decimal(126, 5, 2));
    check(text("1e3"), string(), dec(3, 0), None);
    check(text("2024-4-8 09:00"), string(), Kind::Date, Datum::Date(19_821));
    check(text("19831"), string(), Kind::Date, Datum::Date(19_831));
    check(text("01:01:01.5"), string(), Kind::Time(3), Datum::Time(3_661_500));
    check(text("2024-02-31"), string(), Kind::Timestamp(3), at(1_709_164_800_000));
    check(text("1970-01-01T00:01"), string(), Kind::LocalZonedTimestamp(3), at(60_000));
    check(text("1970-01-01 00:00:00.9999"), string(), Kind::Timestamp(0), at(0));
    check(text("ab"), string(), Kind::Binary(3), Datum::Bytes(b"ab\0".to_vec().into()));
    for (bad, kind) in [
        ("", Kind::Int),
        ("2147483648", Kind::Int),
        (" 1", Kind::Int),
        ("maybe", Kind::Boolean),
        ("inf", Kind::Double),
        ("x", dec(5, 2)),
        ("2023-02-29", Kind::Date),
        ("1970-01-01 00:00", Kind::Timestamp(3)),
        ("12", Kind::LocalZonedTimestamp(3)),
    ] {
        assert_eq!(one(text(bad), string(), kind).unwrap_err().kind(), ErrorKind::Invalid, "{bad}");
    }
}

#[test]
fn times_before_1970_floor_to_dates_but_not_to_seconds() {
    check(at(-1), Kind::Timestamp(3), Kind::Date, Datum::Date(-1));
    check(at(-1), Kind::Timestamp(3), Kind::Time(3), Datum::Time(86_399_999));
    check(at(-1), Kind::Timestamp(3), Kind::BigInt, Datum::BigInt(0));
    check(at(-1_001), Kind::Timestamp(3), Kind::Timestamp(0), at(-1_000));
    check(Datum::Int(-2), Kind::Int, Kind::Timestamp(6), at(-2_000));
    check(Datum::Date(1), Kind::Date, Kind::LocalZonedTimestamp(9), at(86_400_000));
    let fine = Datum::Timestamp { millis: -1, nanos: 123_456 };
    check(
        fine.clone(),
        Kind::Timestamp(9),
        Kind::LocalZonedTimestamp(6),
        Datum::Timestamp { millis: -1, nanos: 123_000 },
    );
    check(fine, Kind::Timestamp(9), Kind::Timestamp(3), at(-1));
    assert_eq!(one(at(1 << 50), Kind::Timestamp(3), Kind::Timestamp(9)).unwrap_err().kind(), ErrorKind::Unsupported);
}

#[test]
fn nested_values_become_strings() {
    use arrow_array::{ListArray, types::Int32Type};
    use std::sync::Arc;
    let from = DataType::nullable(Kind::Array(Box::new(DataType::nullable(Kind::Int))));
    let lists = vec![Some(vec![Some(1), None]), None, Some(vec![])];
    let array: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(lists));
    let out = cast(&array, &from, &DataType::string()).unwrap();
    let expected = [Some(text("[1, null]")), None, Some(text("[]"))];
    assert_eq!(datums_from_array(&out, &DataType::string()).unwrap(), expected);
}

#[test]
fn casts_are_implicit_explicit_or_absent() {
    let can = |from: Kind, to: Kind| {
        let (from, to) = (DataType::nullable(from), DataType::nullable(to));
        (can_cast(&from, &to, false), can_cast(&from, &to, true))
    };
    let (implicit, explicit, absent) = ((true, true), (false, true), (false, false));
    assert_eq!(can(Kind::Int, Kind::BigInt), implicit);
    assert_eq!(can(Kind::BigInt, Kind::Int), explicit);
    assert_eq!(can(Kind::Double, Kind::Float), explicit);
    assert_eq!(can(dec(9, 2), Kind::Float), implicit);
    assert_eq!(can(Kind::Double, dec(9, 2)), implicit);
    assert_eq!(can(Kind::Varchar(9), Kind::Varchar(2)), implicit);
    assert_eq!(can(Kind::Varchar(9), Kind::Char(2)), explicit);
    assert_eq!(can(Kind::Int, Kind::Varchar(2)), explicit);
    assert_eq!(can(Kind::Double, Kind::Boolean), absent);
    assert_eq!(can(Kind::Timestamp(3), Kind::Date), implicit);
    assert_eq!(can(Kind::LocalZonedTimestamp(3), Kind::Date), explicit);
    assert_eq!(can(Kind::Date, Kind::Timestamp(3)), explicit);
    assert_eq!(can(Kind::Date, Kind::Varchar(9)), absent);
    assert_eq!(can(Kind::Date, string()), explicit);
    assert_eq!(can(Kind::Timestamp(3), Kind::TinyInt), absent);
    assert_eq!(can(Kind::Int, Kind::Date), absent);
    assert_eq!(can(Kind::Int, Kind::Varbinary(9)), absent);
    let row = Kind::Row(vec![DataField::new(0, "a", DataType::nullable(Kind::Int))]);
    assert_eq!(can(row.clone(), string()), explicit);
    assert_eq!(can(Kind::Varchar(9), row), absent);
    let (nullable, required) = (DataType::nullable(Kind::Int), DataType::required(Kind::Int));
    assert!(!can_cast(&nullable, &required, false) && can_cast(&nullable, &required, true));
}

proptest! {
    #[test]
    fn widening_keeps_order_and_narrowing_undoes_it((value, from) in any_scalar(), (_, to) in any_scalar()) {
        if is_widening(&from, &to) {
            let wide = widen(&value, &to).unwrap();
            let same = narrow(&wide, &from).map(|back| back.compare(&value));
            prop_assert!(same == Some(Some(std::cmp::Ordering::Equal)) || from == to || same.is_none());
            if let Ok(Some(cast)) = one(value, from, to) {
                prop_assert_eq!(cast.compare(&wide), Some(std::cmp::Ordering::Equal));
            }
        }
    }

    #[test]
    fn every_cast_with_a_rule_gives_values_or_an_error((value, from) in any_scalar(), (_, to) in any_scalar()) {
        match one(value.clone(), from.clone(), to.clone()) {
            Ok(_) => prop_assert!(matrix::has_rule(&from, &to) || from == to),
            Err(e) => prop_assert!(matches!(e.kind(), ErrorKind::Invalid | ErrorKind::Unsupported), "{e}"),
        }
    }
}
