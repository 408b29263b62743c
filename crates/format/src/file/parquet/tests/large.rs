//! Large rows are read a batch at a time: a row group of them is many batches.

use std::sync::Arc;

use arrow_array::{ArrayRef, BinaryArray, Int64Array, RecordBatch};
use parquet::file::metadata::ParquetMetaDataReader;

use super::{Memory, file_read, read, write};
use crate::datum::Datum;
use crate::predicate::{CompareOp, Predicate};
use crate::types::{DataField, DataType, arrow_schema};

const ROWS: i64 = 80;
const BYTES: usize = 1_000_000;

fn fields() -> Vec<DataField> {
    let field = |id, name: &str, sql| DataField::new(id, name, DataType::parse(sql).unwrap());
    vec![field(0, "k", "BIGINT NOT NULL"), field(1, "v", "BYTES")]
}

fn large() -> (RecordBatch, Arc<Memory>) {
    // Does not get smaller.
    let mut state = 7_u64;
    let mut next = || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        (state >> 32) as u8
    };
    let values = (0..ROWS).map(|_| (0..BYTES).map(|_| next()).collect::<Vec<u8>>()).collect::<Vec<_>>();
    let values = BinaryArray::from_iter_values(values);
    let schema = arrow_schema(&fields()).unwrap();
    let batch = RecordBatch::try_new(schema, vec![Arc::new(Int64Array::from_iter_values(0..ROWS)), Arc::new(values)]);
    let batch = batch.unwrap();
    let parts: Vec<_> = (0..ROWS as usize).step_by(5).map(|start| batch.slice(start, 5)).collect();
    let bytes = write(&fields(), &parts, &[]).unwrap();
    (batch, Memory::new(bytes))
}

#[test]
fn a_row_group_of_large_rows_is_never_in_memory_as_a_whole() {
    let (batch, file) = large();
    let got = read(&file, file_read(&fields())).unwrap();
    assert!(got.len() >= 3 && got.iter().all(|part| part.num_rows() <= 33));
    assert_eq!(arrow_select::concat::concat_batches(batch.schema_ref(), &got).unwrap(), batch);
    // A batch is 32 MiB; pages overlap its ends.
    assert!(file.largest() < 50 << 20, "{} bytes at once", file.largest());

    // Not where large values are left out.
    let file = Memory::new(file.bytes.clone());
    let got = read(&file, file_read(&fields()[..1])).unwrap();
    assert_eq!((got.len(), got[0].num_rows()), (1, ROWS as usize));
}

#[test]
fn deleted_and_filtered_rows_are_left_out_of_it() {
    let (batch, file) = large();
    let mut some = file_read(&fields());
    some.deleted =
        Some(Arc::new((0..ROWS as u64).filter(|row| row.is_multiple_of(3) || (20..60).contains(row)).collect()));
    let got = read(&file, some.clone()).unwrap();
    let alive = |row: &u32| !row.is_multiple_of(3) && !(20..60).contains(row);
    let kept = |keep: &dyn Fn(&u32) -> bool| {
        let rows: arrow_array::UInt32Array = (0..ROWS as u32).filter(keep).collect::<Vec<_>>().into();
        arrow_select::take::take_record_batch(&batch, &rows).unwrap()
    };
    assert_eq!(arrow_select::concat::concat_batches(batch.schema_ref(), &got).unwrap(), kept(&alive));

    some.filter = Some(Predicate::Compare { field_id: 0, op: CompareOp::Gt, literal: Datum::BigInt(70) });
    some.exact_filter = true;
    let got = read(&file, some).unwrap();
    let late = |row: &u32| alive(row) && *row > 70;
    assert_eq!(arrow_select::concat::concat_batches(batch.schema_ref(), &got).unwrap(), kept(&late));
}

#[test]
fn row_groups_of_large_rows_end_before_they_are_too_large() {
    let row = |k: i64| {
        let columns: Vec<ArrayRef> =
            vec![Arc::new(Int64Array::from(vec![k])), Arc::new(BinaryArray::from_vec(vec![&[7; 17 << 20]]))];
        RecordBatch::try_new(arrow_schema(&fields()).unwrap(), columns).unwrap()
    };
    let rows: Vec<_> = (0..5).map(row).collect();
    let options = [("file.block-size", "40 mb"), ("parquet.compression", "none")];
    let bytes = write(&fields(), &rows, &options).unwrap();
    let metadata = ParquetMetaDataReader::new().parse_and_finish(&bytes::Bytes::from(bytes.clone())).unwrap();
    let groups: Vec<_> = metadata.row_groups().iter().map(|group| group.num_rows()).collect();
    assert_eq!(groups, [2, 2, 1]);
    // The bounds of large values would be held whole.
    for group in metadata.row_groups() {
        let known: Vec<_> = group.columns().iter().map(|column| column.statistics().is_some()).collect();
        assert_eq!(known, [true, false]);
    }
    let got = read(&Memory::new(bytes), file_read(&fields())).unwrap();
    assert_eq!(arrow_select::concat::concat_batches(rows[0].schema_ref(), &got).unwrap().num_rows(), 5);
}
