//! Files of the reference, round trips of what can be written, and damage.

use std::sync::Arc;

use arrow_array::{Decimal128Array, RecordBatch, TimestampNanosecondArray};
use proptest::prelude::*;
use roaring::RoaringTreemap;

use super::Orc;
use crate::ErrorKind;
use crate::file::FileFormat;
use crate::file::golden::check_table;
use crate::fixture::{self, Memory, columns, plainly};
use crate::types::{DataField, DataType, Kind};

#[test]
fn tables_of_the_reference_read() {
    for archive in [fixture::java21(), fixture::java09()] {
        for table in
            ["types_pk_orc", "multiset_orc", "codec_orc_lz4", "codec_orc_none", "codec_orc_snappy", "codec_orc_zstd"]
        {
            check_table(&Orc, archive, table);
        }
    }
}

fn typed() -> (Vec<DataField>, Vec<RecordBatch>, Vec<u8>) {
    let archive = fixture::java21();
    let mut fields = fixture::schema(archive, "types_pk_orc").fields;
    fields.iter_mut().for_each(crate::file::golden::coarsen);
    let files = fixture::files(archive, "types_pk_orc", |f| f.ends_with(".orc"));
    let (_, bytes) = files.max_by_key(|(_, bytes)| bytes.len()).unwrap();
    let batches = Memory::new(bytes).read(&Orc, columns(&fields)).unwrap();
    (fields, batches, bytes.to_vec())
}

#[test]
fn what_is_written_reads_back() {
    let (fields, batches, _) = typed();
    for codec in ["zstd", "lz4", "snappy", "zlib", "none"] {
        let mut write = plainly(&fields, codec);
        let file = Memory::write(&Orc, write.clone(), &batches).unwrap();
        assert_eq!(file.read(&Orc, columns(&fields)).unwrap(), batches, "{codec}");
        write.options.set("orc.timestamp-ltz.legacy.type", "false");
        let file = Memory::write(&Orc, write, &batches).unwrap();
        assert_eq!(file.read(&Orc, columns(&fields)).unwrap(), batches, "{codec}, LTZ as instants");
    }
}

#[test]
fn nanoseconds_read_back_on_both_sides_of_the_epoch() {
    let fields = [DataField::new(0, "t", DataType::nullable(Kind::Timestamp(9)))];
    let schema = crate::types::arrow_schema(&fields).unwrap();
    let batch = |values: &[i64]| {
        let array = TimestampNanosecondArray::from_iter(values.iter().map(|n| Some(*n)).chain([None]));
        RecordBatch::try_new(schema.clone(), vec![Arc::new(array)]).unwrap()
    };
    // The format cannot tell the second before 1970 from the one after it.
    let ambiguous = Memory::write(&Orc, plainly(&fields, "zstd"), &[batch(&[-1])]).unwrap_err();
    assert_eq!(ambiguous.kind(), ErrorKind::Unsupported);
    assert!(ambiguous.to_string().contains("column: t"), "{ambiguous}");
    let batch = batch(&[0, 1, -1_000_000_000, -1_000_000_001, 1_500_000_001, i64::MAX, -2_208_902_409_765_432_110]);
    let file = Memory::write(&Orc, plainly(&fields, "zstd"), std::slice::from_ref(&batch)).unwrap();
    assert_eq!(file.read(&Orc, columns(&fields)).unwrap(), [batch]);
}

#[test]
fn nanoseconds_of_all_years_read_back() {
    let fields = crate::types::widened(&[DataField::new(0, "t", DataType::nullable(Kind::Timestamp(9)))]);
    let schema = crate::types::arrow_schema(&fields).unwrap();
    let nanos = [-62_135_596_800_000_000_000, 253_402_300_799_999_999_999, -1_000_000_001, 0, 1];
    let array = Decimal128Array::from(nanos.to_vec()).with_precision_and_scale(38, 9).unwrap();
    let batch = RecordBatch::try_new(schema, vec![Arc::new(array)]).unwrap();
    let file = Memory::write(&Orc, plainly(&fields, "zstd"), std::slice::from_ref(&batch)).unwrap();
    assert_eq!(file.read(&Orc, columns(&fields)).unwrap(), [batch]);
}

#[test]
fn what_cannot_be_written_is_refused_by_name() {
    let refused = ["VARIANT", "BLOB", "VECTOR<FLOAT, 3>", "ARRAY<VARIANT>", "ROW<v VARIANT>"];
    for field in refused.map(|sql| DataField::new(0, "odd", DataType::parse(sql).unwrap())) {
        let file = Memory::default();
        let error = Orc.write(plainly(std::slice::from_ref(&field), "zstd"), Box::new(file.clone())).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.to_string().contains("odd"), "{error}");
        assert!(file.bytes().is_empty());
    }
    let text = [DataField::new(0, "s", DataType::nullable(Kind::Varchar(9)))];
    let error = Orc.write(plainly(&text, "brotli"), Box::new(Memory::default())).err().unwrap();
    assert!(error.to_string().contains("orc codec brotli"), "{error}");
}

#[test]
fn rows_and_columns_are_left_out() {
    let (fields, batches, bytes) = typed();
    let missing = DataField::new(99, "absent", DataType::nullable(Kind::Date));
    let wanted = vec![fields[13].clone(), missing, fields[0].clone()];
    let deleted: RoaringTreemap = [0u64, 2].into_iter().collect();
    let mut read = columns(&wanted);
    read.deleted = Some(Arc::new(deleted));
    read.batch_size = 2;
    let got = Memory::new(&bytes).read(&Orc, read).unwrap();
    let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
    assert_eq!(got.iter().map(RecordBatch::num_rows).sum::<usize>(), rows - 2);
    assert_eq!(got[0].column(0).slice(0, 1).as_ref(), batches[0].column(13).slice(1, 1).as_ref());
    let none = Memory::new(&bytes).read(&Orc, columns(&[])).unwrap();
    assert_eq!(none.iter().map(RecordBatch::num_rows).sum::<usize>(), rows);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn damage_is_an_error_or_other_rows_but_never_a_panic(at in 0usize..20_000, flip in 1u8.., cut in any::<bool>()) {
        let (fields, _, mut bytes) = typed();
        let at = at % bytes.len();
        if cut { bytes.truncate(at) } else { bytes[at] ^= flip }
        if let Err(error) = Memory::new(&bytes).read(&Orc, columns(&fields)) {
            prop_assert_eq!(error.kind(), ErrorKind::Corrupt, "{}", error);
        }
    }
}
