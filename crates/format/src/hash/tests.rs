//! Golden hashes and buckets (cases: B10), and columns against rows.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array, Int8Array,
    Int16Array, Int32Array, Int64Array, StringArray, TimestampMicrosecondArray, TimestampMillisecondArray,
    TimestampNanosecondArray,
};
use proptest::prelude::*;

use super::{BucketFunction, hash_bytes, hash_columns};
use crate::row::rows_from_columns;
use crate::types::{DataType, Kind};

fn check(array: impl arrow_array::Array + 'static, kind: Kind, hashes: &[i32]) {
    let array: ArrayRef = Arc::new(array);
    let types = [DataType::nullable(kind)];
    assert_eq!(hash_columns(std::slice::from_ref(&array), &types).unwrap(), hashes);
    let rows = rows_from_columns(&[array], &types).unwrap();
    assert_eq!(rows.iter().map(|row| row.hash()).collect::<Vec<_>>(), hashes);
}

#[test]
fn hashes_equal_the_reference() {
    let ints = vec![0, 1, 2, 3, -1, i32::MIN, i32::MAX];
    let hashes = [-300363099, 1465514398, 1340390384, -771300025, 1133687267, 916225219, -1125657321];
    check(Int32Array::from(ints), Kind::Int, &hashes);
    check(Int64Array::from(vec![i64::MIN, -1]), Kind::BigInt, &[302122119, -821098432]);
    let strings = StringArray::from(vec!["", "a", "1234567", "12345678"]);
    check(strings, Kind::Varchar(100), &[302122119, 943281246, 199144172, -391021801]);
    let decimals = || Decimal128Array::from(vec![150]);
    let compact = decimals().with_precision_and_scale(10, 2).unwrap();
    check(compact, Kind::Decimal { precision: 10, scale: 2 }, &[-616511498]);
    let wide = decimals().with_precision_and_scale(38, 2).unwrap();
    check(wide, Kind::Decimal { precision: 38, scale: 2 }, &[1232543739]);
    check(TimestampMicrosecondArray::from(vec![0]), Kind::Timestamp(6), &[2132375054]);
    check(TimestampMillisecondArray::from(vec![0]), Kind::Timestamp(3), &[-300363099]);
}

fn buckets(function: BucketFunction, array: impl arrow_array::Array + 'static, kind: Kind, n: i32) -> Vec<i32> {
    function.buckets(&[Arc::new(array)], &[DataType::nullable(kind)], n).unwrap()
}

#[test]
fn default_buckets_are_the_absolute_remainder() {
    let ints = Int32Array::from(vec![0, 1, 2, 3, -1, i32::MIN, i32::MAX]);
    assert_eq!(buckets(BucketFunction::Default, ints, Kind::Int, 4), [3, 2, 0, 1, 3, 3, 1]);
    let longs = Int64Array::from(vec![i64::MIN, -1]);
    assert_eq!(buckets(BucketFunction::Default, longs, Kind::BigInt, 4), [3, 0]);
    let strings = StringArray::from(vec!["", "a", "1234567", "12345678"]);
    assert_eq!(buckets(BucketFunction::Default, strings, Kind::Varchar(9), 4), [3, 2, 0, 1]);
    assert_eq!(buckets(BucketFunction::Default, BooleanArray::from(vec![true, false]), Kind::Boolean, 4), [2, 3]);
    assert_eq!(super::bucket::default_bucket(i32::MIN, 1000), 648);
    assert_eq!(super::bucket::default_bucket(i32::MIN, i32::MAX), 1);
    assert_eq!(super::bucket::default_bucket(i32::MIN, 1), 0);
}

#[test]
fn mod_buckets_floor() {
    let ints = Int32Array::from(vec![Some(5), Some(-1), Some(i32::MIN), None]);
    assert_eq!(buckets(BucketFunction::Mod, ints, Kind::Int, 4), [1, 3, 0, 0]);
    let longs = Int64Array::from(vec![i64::MIN, -3]);
    assert_eq!(buckets(BucketFunction::Mod, longs, Kind::BigInt, 7), [6, 4]);
    let array: ArrayRef = Arc::new(StringArray::from(vec!["a"]));
    assert!(BucketFunction::Mod.buckets(&[array], &[DataType::string()], 4).is_err());
}

#[test]
fn hive_buckets_follow_hive() {
    assert_eq!(buckets(BucketFunction::Hive, Int32Array::from(vec![Some(7), None]), Kind::Int, 8), [7, 0]);
    // "abc".hashCode() over bytes is 96354.
    assert_eq!(buckets(BucketFunction::Hive, StringArray::from(vec!["abc"]), Kind::Varchar(9), 1000), [354]);
    let floats = Float32Array::from(vec![-0.0, 0.0]);
    assert_eq!(buckets(BucketFunction::Hive, floats, Kind::Float, 8), [0, 0]);
    // new BigDecimal("1.5").hashCode() is 31 * 15 + 1.
    let decimals = Decimal128Array::from(vec![150, -150]).with_precision_and_scale(10, 2).unwrap();
    let kind = Kind::Decimal { precision: 10, scale: 2 };
    let negative = (-(31 * 15) + 1) & i32::MAX;
    assert_eq!(buckets(BucketFunction::Hive, decimals, kind, 1000), [466, negative % 1000]);
    assert!(BucketFunction::Default.buckets(&[], &[], 0).is_err());
}

#[test]
fn bytes_hash_tails_as_signed_words() {
    assert_eq!(hash_bytes(&[]), crate::murmur::finish(crate::murmur::SEED, 0));
    assert_ne!(hash_bytes(&[0xff]), hash_bytes(&[0xff, 0, 0, 0]));
}

fn any_columns() -> impl Strategy<Value = (Vec<ArrayRef>, Vec<DataType>)> {
    (0usize..20).prop_flat_map(|n| {
        let column = move |kind| (Just(kind), prop::collection::vec(any::<Option<(i64, i64, String)>>(), n));
        prop::collection::vec((0..14usize).prop_flat_map(column), 1..70).prop_map(|columns| {
            let columns: Vec<_> = columns.into_iter().map(|(kind, values)| column_of(kind, values)).collect();
            columns.into_iter().unzip()
        })
    })
}

fn column_of(kind: usize, values: Vec<Option<(i64, i64, String)>>) -> (ArrayRef, DataType) {
    let longs = || values.iter().map(|v| v.as_ref().map(|v| v.0));
    let wide = || values.iter().map(|v| v.as_ref().map(|v| i128::from(v.0) * i128::from(v.1)));
    let texts = || values.iter().map(|v| v.as_ref().map(|v| v.2.as_str()));
    let (array, kind): (ArrayRef, Kind) = match kind {
        0 => (Arc::new(BooleanArray::from_iter(longs().map(|v| v.map(|v| v > 0)))), Kind::Boolean),
        1 => (Arc::new(Int8Array::from_iter(longs().map(|v| v.map(|v| v as i8)))), Kind::TinyInt),
        2 => (Arc::new(Int16Array::from_iter(longs().map(|v| v.map(|v| v as i16)))), Kind::SmallInt),
        3 => (Arc::new(Int32Array::from_iter(longs().map(|v| v.map(|v| v as i32)))), Kind::Int),
        4 => (Arc::new(Int64Array::from_iter(longs())), Kind::BigInt),
        5 => (Arc::new(Float32Array::from_iter(longs().map(|v| v.map(|v| f32::from_bits(v as u32))))), Kind::Float),
        6 => (Arc::new(Float64Array::from_iter(longs().map(|v| v.map(|v| f64::from_bits(v as u64))))), Kind::Double),
        7 => (Arc::new(Date32Array::from_iter(longs().map(|v| v.map(|v| v as i32)))), Kind::Date),
        8 => (Arc::new(TimestampMillisecondArray::from_iter(longs())), Kind::Timestamp(3)),
        9 => (Arc::new(TimestampMicrosecondArray::from_iter(longs())), Kind::Timestamp(6)),
        10 => (Arc::new(TimestampNanosecondArray::from_iter(longs())), Kind::Timestamp(9)),
        11 => (
            Arc::new(Decimal128Array::from_iter(wide()).with_precision_and_scale(38, 3).unwrap()),
            Kind::Decimal { precision: 38, scale: 3 },
        ),
        12 => (
            Arc::new(
                Decimal128Array::from_iter(longs().map(|v| v.map(|v| i128::from(v) % 1000)))
                    .with_precision_and_scale(18, 3)
                    .unwrap(),
            ),
            Kind::Decimal { precision: 18, scale: 3 },
        ),
        _ => {
            let bytes = texts().map(|t| t.map(str::as_bytes)).collect::<Vec<_>>();
            (Arc::new(BinaryArray::from(bytes)), Kind::Varbinary(100))
        }
    };
    (array, DataType::nullable(kind))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn columnar_hashes_equal_row_hashes((columns, types) in any_columns()) {
        let rows = rows_from_columns(&columns, &types).unwrap();
        let expected: Vec<_> = rows.iter().map(|row| row.hash()).collect();
        prop_assert_eq!(hash_columns(&columns, &types).unwrap(), expected);
    }
}
