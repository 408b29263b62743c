//! Partition paths in both spellings (cases: F1), there and back.

use proptest::prelude::*;

use super::*;
use crate::datum::Datum;
use crate::types::{DataType, Kind};

fn path(value: Option<Datum>, kind: Kind, legacy: bool) -> String {
    let field = DataField::new(0, "k", DataType::nullable(kind));
    let row = BinaryRow::from_datums(&[(value, &field.data_type)]).unwrap();
    partition_path(&row, &[&field], legacy, "__DEFAULT_PARTITION__").unwrap()
}

fn timestamp(text: &str) -> Datum {
    let (millis, nanos) = crate::cast::parse::timestamp(text, 9).unwrap();
    Datum::Timestamp { millis, nanos }
}

#[test]
fn legacy_names_are_java_objects() {
    let check = |value, kind, expected: &str| assert_eq!(path(Some(value), kind, true), format!("k={expected}"));
    check(timestamp("2026-01-01 12:00:00"), Kind::Timestamp(3), "2026-01-01T12%3A00");
    check(timestamp("2026-01-01 12:00:05.12"), Kind::Timestamp(3), "2026-01-01T12%3A00%3A05.120");
    check(timestamp("2026-01-01 12:00:00.000001"), Kind::Timestamp(6), "2026-01-01T12%3A00%3A00.000001");
    check(timestamp("1969-12-31 23:59:59.999999999"), Kind::Timestamp(9), "1969-12-31T23%3A59%3A59.999999999");
    check(Datum::Date(19_831), Kind::Date, "19831");
    check(Datum::Time(3_661_000), Kind::Time(0), "3661000");
    check(Datum::Double(1e10), Kind::Double, "1.0E10");
    check(Datum::Float(1e-5), Kind::Float, "1.0E-5");
    check(Datum::Boolean(true), Kind::Boolean, "true");
    let decimal = Datum::Decimal { unscaled: -5, precision: 10, scale: 2 };
    check(decimal, Kind::Decimal { precision: 10, scale: 2 }, "-0.05");
    let text = Datum::String("a b/c:d=e%f#[x]^".to_owned());
    check(text, Kind::Varchar(99), "a b%2Fc%3Ad%3De%25f%23%5Bx%5D%5E");
    check(Datum::String("\u{1}\u{7f}ü".to_owned()), Kind::Varchar(99), "%01%7Fü");
}

#[test]
fn new_names_are_casts_to_string() {
    let check = |value, kind, expected: &str| assert_eq!(path(Some(value), kind, false), format!("k={expected}"));
    check(timestamp("2026-01-01 12:00:00"), Kind::Timestamp(3), "2026-01-01 12%3A00%3A00.000");
    check(timestamp("2026-01-01 12:00:00"), Kind::Timestamp(0), "2026-01-01 12%3A00%3A00");
    check(Datum::Date(19_831), Kind::Date, "2024-04-18");
    check(Datum::Time(3_661_000), Kind::Time(0), "01%3A01%3A01");
    check(Datum::Double(1e10), Kind::Double, "1.0E10");
    check(Datum::Bytes(b"ab".to_vec().into()), Kind::Varbinary(9), "ab");
}

#[test]
fn null_and_blank_share_the_default_name() {
    for value in [None, Some(""), Some("  \t"), Some("\u{2003}")] {
        let value = value.map(|v| Datum::String(v.to_owned()));
        assert_eq!(path(value, Kind::Varchar(9), true), "k=__DEFAULT_PARTITION__");
    }
    assert_eq!(path(Some(Datum::String("\u{a0}".to_owned())), Kind::Varchar(9), true), "k=\u{a0}");
}

#[test]
fn binary_keys_have_no_legacy_name() {
    let field = DataField::new(0, "k", DataType::nullable(Kind::Varbinary(9)));
    let row = BinaryRow::from_datums(&[(Some(Datum::Bytes(b"x".to_vec().into())), &field.data_type)]).unwrap();
    assert!(partition_path(&row, &[&field], true, "d").is_err());
}

#[test]
fn paths_have_keys_in_order() {
    let fields = [DataField::new(0, "a/b", DataType::string()), DataField::new(1, "n", DataType::nullable(Kind::Int))];
    let fields: Vec<_> = fields.iter().collect();
    let values = [(Some(Datum::String("x".to_owned())), &fields[0].data_type), (None, &fields[1].data_type)];
    let row = BinaryRow::from_datums(&values).unwrap();
    let path = partition_path(&row, &fields, true, "D").unwrap();
    assert_eq!(path, "a%2Fb=x/n=D");
    let parsed = parse_partition_path(&path).unwrap();
    assert_eq!(parsed, [("a/b".to_owned(), "x".to_owned()), ("n".to_owned(), "D".to_owned())]);
    let named: Vec<_> = parsed.into_iter().map(|(key, text)| (key, (text != "D").then_some(text))).collect();
    assert_eq!(partition_from_values(&named, &fields).unwrap(), row);
    assert_eq!(partition_path(&BinaryRow::empty(), &[], true, "D").unwrap(), "");
    assert!(parse_partition_path("a=1/bucket-0").is_err());
    assert!(partition_from_values(&named[..1], &fields).is_err());
}

#[test]
fn floats_are_spelled_like_java() {
    use crate::cast::text::{double, float};
    let cases = [
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (1.0, "1.0"),
        (0.001, "0.001"),
        (0.0009, "9.0E-4"),
        (9999999.0, "9999999.0"),
        (1e7, "1.0E7"),
        (1.5e-7, "1.5E-7"),
        (123456.789, "123456.789"),
        (f64::MIN_POSITIVE, "2.2250738585072014E-308"),
        (5e-324, "4.9E-324"),
        (f64::MAX, "1.7976931348623157E308"),
        (f64::NAN, "NaN"),
        (f64::NEG_INFINITY, "-Infinity"),
        (2e23, "2.0E23"),
        (-1.25e10, "-1.25E10"),
    ];
    for (value, expected) in cases {
        assert_eq!(double(value), expected);
    }
    assert_eq!(float(0.1), "0.1");
    assert_eq!(float(f32::MIN_POSITIVE / 8_388_608.0), "1.4E-45");
    assert_eq!(float(1.0e10), "1.0E10");
    assert_eq!(float(6.104_260_7E-4), "6.1042607E-4");
}

proptest! {
    #[test]
    fn escaping_is_undone(text in any::<String>()) {
        prop_assert_eq!(unescape(&escape(&text)), text.clone());
        prop_assert!(!escape(&text).contains('/'));
    }

    #[test]
    fn values_read_back_in_both_spellings(millis in -62_000_000_000_000i64..200_000_000_000_000, nanos in 0..1_000_000, legacy: bool) {
        let values = [
            (Datum::Timestamp { millis, nanos }, Kind::Timestamp(9)),
            (Datum::Date((millis / 86_400_000) as i32), Kind::Date),
            (Datum::Time((millis.rem_euclid(86_400_000)) as i32), Kind::Time(3)),
            (Datum::Double(millis as f64 / 7.0), Kind::Double),
            (Datum::Float(millis as f32 / 7.0), Kind::Float),
            (Datum::BigInt(millis), Kind::BigInt),
            (Datum::Decimal { unscaled: i128::from(millis), precision: 38, scale: 5 }, Kind::Decimal { precision: 38, scale: 5 }),
        ];
        for (value, kind) in values {
            let data_type = DataType::nullable(kind);
            let text = partition_value(&value, &data_type, legacy).unwrap();
            prop_assert_eq!(parse_partition_value(&text, &data_type).unwrap(), value);
        }
    }

    #[test]
    fn any_text_parses_or_fails(text in ".{0,30}") {
        for kind in [Kind::Boolean, Kind::Int, Kind::Float, Kind::Double, Kind::Date, Kind::Time(3), Kind::Timestamp(3), Kind::Timestamp(9),
            Kind::Decimal { precision: 10, scale: 2 }] {
            let _ = parse_partition_value(&text, &DataType::nullable(kind));
        }
    }
}
