//! Filters: what is left out by statistics never changes the answer, and bytes are saved.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, Int32Array, RecordBatch, StringArray};
use proptest::prelude::*;

use super::random::{Random, batch, fields};
use super::{Memory, file_read, read, write};
use crate::datum::Datum;
use crate::predicate::{CompareOp, Predicate};
use crate::types::{DataField, DataType, Kind, arrow_schema};

const OPS: [CompareOp; 6] =
    [CompareOp::Eq, CompareOp::NotEq, CompareOp::Lt, CompareOp::LtEq, CompareOp::Gt, CompareOp::GtEq];

fn rows(batches: &[RecordBatch]) -> usize {
    batches.iter().map(RecordBatch::num_rows).sum()
}

/// A filter whose literals are values of the batch.
fn filter(random: &mut Random, fields: &[DataField], batch: &RecordBatch) -> Option<Predicate> {
    let at = random.below(fields.len() as u64) as usize;
    let row = random.below(batch.num_rows() as u64) as usize;
    let field_id = fields[at].id;
    let op = OPS[random.below(6) as usize];
    let literal = Datum::from_array(batch.column(at), row, &fields[at].data_type).ok()??;
    Some(Predicate::Compare { field_id, op, literal })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn exact_filters_are_exact_and_loose_ones_lose_nothing(seed: u64, rows_in in 1_usize..200) {
        let mut random = Random(seed);
        let fields = fields(&mut random);
        let batch = batch(&mut random, &fields, rows_in);
        let parts: Vec<_> = (0..rows_in).step_by(30).map(|i| batch.slice(i, 30.min(rows_in - i))).collect();
        let options = [("parquet.block.row.count.limit", "60"), ("parquet.page.row.count.limit", "10")];
        let file = Memory::new(write(&fields, &parts, &options).unwrap());
        let first = filter(&mut random, &fields, &batch);
        let second = filter(&mut random, &fields, &batch);
        let (Some(first), Some(second)) = (first, second) else { return Ok(()) };
        for filter in [first.clone(), Predicate::And(vec![first.clone(), second.clone()]), Predicate::Or(vec![first, second])] {
            let mut asked = file_read(&fields);
            let keep = filter.evaluate(&batch, &fields).unwrap();
            let expected = arrow_select::filter::filter_record_batch(&batch, &keep).unwrap();
            asked.filter = Some(filter.clone());
            let loose = read(&file, asked.clone()).unwrap();
            asked.exact_filter = true;
            let exact = read(&file, asked.clone()).unwrap();
            prop_assert_eq!(rows(&exact), expected.num_rows());
            if !exact.is_empty() {
                let exact = arrow_select::concat::concat_batches(&exact[0].schema(), &exact).unwrap();
                prop_assert_eq!(exact.columns(), expected.columns());
            }
            let matching: usize = loose.iter().map(|b| filter.evaluate(b, &fields).unwrap().true_count()).sum();
            prop_assert_eq!(matching, expected.num_rows());
        }
    }
}

fn sorted_file() -> (Vec<DataField>, Arc<Memory>) {
    let fields = vec![
        DataField::new(0, "k", DataType::required(Kind::Int)),
        DataField::new(1, "v", DataType::nullable(Kind::Varchar(9))),
    ];
    let keys: ArrayRef = Arc::new(Int32Array::from_iter_values(0..10_000));
    let values: ArrayRef = Arc::new(StringArray::from_iter_values((0..10_000).map(|i| format!("v{i}"))));
    let batch = RecordBatch::try_new(arrow_schema(&fields).unwrap(), vec![keys, values]).unwrap();
    let parts: Vec<_> = (0..10).map(|i| batch.slice(i * 1000, 1000)).collect();
    let options = [("parquet.block.row.count.limit", "5000"), ("parquet.page.row.count.limit", "500")];
    let file = write(&fields, &parts, &options).unwrap();
    (fields, Memory::new(file))
}

#[test]
fn only_pages_that_may_match_come_back() {
    let (fields, file) = sorted_file();
    let key = |op, key| Predicate::Compare { field_id: 0, op, literal: Datum::Int(key) };
    let mut asked = file_read(&fields);
    asked.filter = Some(key(CompareOp::Eq, 7_250));
    let got = read(&file, asked.clone()).unwrap();
    assert!((1..=1024).contains(&rows(&got)), "{} rows", rows(&got));
    asked.exact_filter = true;
    let got = read(&file, asked.clone()).unwrap();
    assert_eq!(got[0].column(0).as_primitive::<Int32Type>().values(), &[7_250]);
    asked.filter = Some(key(CompareOp::Gt, 20_000));
    let before = file.reads();
    assert!(read(&file, asked).unwrap().is_empty());
    assert_eq!(file.reads() - before, 1, "nothing but the footer is read");
}

#[test]
fn deleted_rows_and_a_filter_work_together() {
    let (fields, file) = sorted_file();
    let mut asked = file_read(&fields);
    asked.filter = Some(Predicate::Compare { field_id: 0, op: CompareOp::GtEq, literal: Datum::Int(9_990) });
    asked.exact_filter = true;
    asked.deleted = Some(Arc::new([3, 9_991, 9_999].into_iter().collect()));
    let got = read(&file, asked).unwrap();
    let keys: Vec<i32> = got.iter().flat_map(|b| b.column(0).as_primitive::<Int32Type>().values().to_vec()).collect();
    assert_eq!(keys, [9_990, 9_992, 9_993, 9_994, 9_995, 9_996, 9_997, 9_998]);
}
