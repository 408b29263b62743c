//! What is written is read back, whatever the types, in one row group or many.

use std::sync::Arc;

use arrow_array::types::{TimestampMicrosecondType, TimestampNanosecondType};
use arrow_array::{Array, ArrayRef, FixedSizeBinaryArray, Int32Array, PrimitiveArray, RecordBatch};
use arrow_schema::{DataType as Arrow, TimeUnit};
use proptest::prelude::*;

use super::super::conform::conform;
use super::super::int96;
use super::random::{Random, batch, fields};
use super::{Memory, file_read, read, write};
use crate::ErrorKind;
use crate::types::{DataField, DataType, Kind, WIDE_TIMESTAMP, arrow_schema};

fn joined(batches: &[RecordBatch]) -> RecordBatch {
    arrow_select::concat::concat_batches(&batches[0].schema(), batches).unwrap()
}

/// Equality of what is not hidden below nulls.
fn assert_same(a: &RecordBatch, b: &RecordBatch) {
    assert_eq!(a.schema(), b.schema());
    for (i, (a, b)) in a.columns().iter().zip(b.columns()).enumerate() {
        assert_eq!(a, b, "column {i}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn batches_survive(seed: u64, rows in 1_usize..300, small: bool) {
        let mut random = Random(seed);
        let fields = fields(&mut random);
        let batch = batch(&mut random, &fields, rows);
        let options: &[_] = if small { &[("parquet.block.row.count.limit", "50"), ("parquet.page.size", "100")] } else { &[] };
        // Row groups end between batches.
        let parts: Vec<_> = (0..rows).step_by(40).map(|i| batch.slice(i, 40.min(rows - i))).collect();
        let bytes = write(&fields, &parts, options).unwrap();
        let file = Memory::new(bytes);
        assert_same(&joined(&read(&file, file_read(&fields)).unwrap()), &batch);

        // Some of the columns, in another order, with positions left out.
        let mut wanted: Vec<_> = fields.iter().filter(|_| random.below(2) == 0).cloned().collect();
        wanted.reverse();
        let deleted: roaring::RoaringTreemap = (0..rows as u64).filter(|_| random.below(3) == 0).collect();
        let alive: Vec<u32> = (0..rows as u32).filter(|i| !deleted.contains(u64::from(*i))).collect();
        let mut some = file_read(&wanted);
        some.deleted = Some(Arc::new(deleted));
        let got = read(&file, some).unwrap();
        prop_assert_eq!(got.iter().map(RecordBatch::num_rows).sum::<usize>(), alive.len());
        if !wanted.is_empty() && !alive.is_empty() {
            let columns: Vec<usize> = wanted.iter().map(|w| fields.iter().position(|f| f.id == w.id).unwrap()).collect();
            let kept = arrow_select::take::take_record_batch(&batch.project(&columns).unwrap(), &arrow_array::UInt32Array::from(alive)).unwrap();
            assert_same(&joined(&got), &kept);
        }
    }

    #[test]
    fn int96_holds_every_nanosecond(values: Vec<i64>) {
        let array: ArrayRef = Arc::new(PrimitiveArray::<TimestampNanosecondType>::from(values));
        let bytes = int96::encode(&array).unwrap();
        prop_assert_eq!(&conform(&bytes, array.data_type()).unwrap(), &array);
        let wide = conform(&array, &WIDE_TIMESTAMP).unwrap();
        prop_assert_eq!(&conform(&bytes, &WIDE_TIMESTAMP).unwrap(), &wide);
        prop_assert_eq!(&int96::encode_wide(&wide).unwrap(), &bytes);
    }

    #[test]
    fn int96_holds_every_instant_of_its_days(day: i32, nanos in 0_i64..86_400_000_000_000) {
        let bytes = int96_of(nanos, day);
        let wide = conform(&bytes, &WIDE_TIMESTAMP).unwrap();
        prop_assert_eq!(&int96::encode_wide(&wide).unwrap(), &bytes);
    }
}

/// 12 bytes of nanoseconds of the day and Julian day.
fn int96_of(nanos: i64, day: i32) -> ArrayRef {
    let bytes: Vec<u8> = nanos.to_le_bytes().into_iter().chain(day.to_le_bytes()).collect();
    Arc::new(FixedSizeBinaryArray::try_from_iter(std::iter::once(bytes)).unwrap())
}

#[test]
fn int96_before_1970_is_read_in_both_spellings() {
    let to = Arrow::Timestamp(TimeUnit::Nanosecond, None);
    let expected: ArrayRef = Arc::new(PrimitiveArray::<TimestampNanosecondType>::from(vec![-1]));
    // As the reference writes it: the day rounded towards zero, nanoseconds below zero.
    assert_eq!(&conform(&int96_of(-1, 2_440_588), &to).unwrap(), &expected);
    assert_eq!(&conform(&int96_of(86_399_999_999_999, 2_440_587), &to).unwrap(), &expected);
}

#[test]
fn int96_that_nanoseconds_cannot_hold_is_refused_and_microseconds_can() {
    let year_9999 = int96_of(0, 5_373_484);
    let nanos = conform(&year_9999, &Arrow::Timestamp(TimeUnit::Nanosecond, None)).unwrap_err();
    assert_eq!(nanos.kind(), ErrorKind::Unsupported);
    let micros = conform(&year_9999, &Arrow::Timestamp(TimeUnit::Microsecond, None)).unwrap();
    let expected: ArrayRef = Arc::new(PrimitiveArray::<TimestampMicrosecondType>::from(vec![253_402_214_400_000_000]));
    assert_eq!(&micros, &expected);
}

#[test]
fn regress_nothing_is_decoded_below_a_null_row() {
    let parts = vec![
        DataField::new(1, "t", DataType::required(Kind::Timestamp(9))),
        DataField::new(
            2,
            "v",
            DataType::required(Kind::Vector { element: Box::new(DataType::nullable(Kind::Float)), length: 3 }),
        ),
    ];
    let fields = [DataField::new(0, "r", DataType::nullable(Kind::Row(parts)))];
    let schema = arrow_schema(&fields).unwrap();
    let rows = arrow_array::new_null_array(schema.field(0).data_type(), 4);
    let batch = RecordBatch::try_new(schema, vec![rows]).unwrap();
    let file = Memory::new(write(&fields, std::slice::from_ref(&batch), &[]).unwrap());
    assert_eq!(joined(&read(&file, file_read(&fields)).unwrap()).column(0).null_count(), 4);
}

#[test]
fn columns_the_file_lacks_are_null_at_any_depth() {
    let field = |id, name: &str, kind| DataField::new(id, name, DataType::nullable(kind));
    let fields = [field(0, "a", Kind::Int), field(1, "r", Kind::Row(vec![field(2, "x", Kind::Int)]))];
    let batch = batch(&mut Random(7), &fields, 20);
    let file = Memory::new(write(&fields, std::slice::from_ref(&batch), &[]).unwrap());
    let wanted = [
        DataField::new(5, "new", DataType::required(Kind::Int)),
        field(1, "r", Kind::Row(vec![field(6, "y", Kind::BigInt)])),
    ];
    let got = joined(&read(&file, file_read(&wanted)).unwrap());
    assert_eq!(got.column(0).null_count(), 20);
    assert!(got.schema().field(0).is_nullable());
    assert_eq!(got.column(1).nulls(), batch.column(1).nulls());
    // Nothing but missing columns still has rows.
    let got = read(&file, file_read(&wanted[..1])).unwrap();
    assert_eq!(got.iter().map(RecordBatch::num_rows).sum::<usize>(), 20);
}

#[test]
fn a_null_in_a_not_null_column_is_refused_by_name() {
    let fields = [DataField::new(0, "k", DataType::required(Kind::Int))];
    let nullable = [DataField::new(0, "k", DataType::nullable(Kind::Int))];
    let column: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), None]));
    let batch = RecordBatch::try_new(arrow_schema(&nullable).unwrap(), vec![column]).unwrap();
    let error = write(&fields, &[batch], &[]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert_eq!(error.context()[0].1, "k");
}

#[test]
fn a_small_file_is_read_with_two_reads() {
    let fields = [DataField::new(0, "k", DataType::required(Kind::Int))];
    let column: ArrayRef = Arc::new(Int32Array::from_iter_values(0..100));
    let batch = RecordBatch::try_new(arrow_schema(&fields).unwrap(), vec![column]).unwrap();
    let file = Memory::new(write(&fields, &[batch], &[]).unwrap());
    read(&file, file_read(&fields)).unwrap();
    assert_eq!(file.reads(), 2);
}

#[test]
fn an_empty_file_has_no_rows() {
    let fields = [DataField::new(0, "k", DataType::required(Kind::Int))];
    let file = Memory::new(write(&fields, &[], &[]).unwrap());
    assert!(read(&file, file_read(&fields)).unwrap().is_empty());
}
