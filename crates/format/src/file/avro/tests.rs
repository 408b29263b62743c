//! Files of the reference, round trips, and damage.

use std::sync::Arc;

use arrow_array::RecordBatch;
use proptest::prelude::*;
use roaring::RoaringTreemap;

use super::Avro;
use super::define::define;
use crate::ErrorKind;
use crate::file::FileFormat;
use crate::fixture::{self, Memory, columns, plainly};
use crate::types::{DataField, DataType, Kind};

fn check_table(archive: &fixture::Archive, table: &str) {
    crate::file::golden::check_table(&Avro, archive, table);
}

#[test]
fn append_tables_of_the_reference_read() {
    for archive in [fixture::java21(), fixture::java09()] {
        check_table(archive, "types_append_avro");
        for codec in ["deflate", "null", "zstandard", "zstd"] {
            check_table(archive, &format!("codec_avro_{codec}"));
        }
    }
}

#[test]
fn primary_key_tables_of_the_reference_read() {
    for archive in [fixture::java21(), fixture::java09()] {
        check_table(archive, "types_pk_avro");
    }
}

fn typed(archive: &'static fixture::Archive) -> (Vec<DataField>, Vec<RecordBatch>, Vec<u8>) {
    let fields = fixture::schema(archive, "types_append_avro").fields;
    let (_, bytes) = fixture::files(archive, "types_append_avro", |f| f.ends_with(".avro")).next().unwrap();
    let batches = Memory::new(bytes).read(&Avro, columns(&fields)).unwrap();
    (fields, batches, bytes.to_vec())
}

#[test]
fn the_schema_is_the_reference_s() {
    let (fields, _, bytes) = typed(fixture::java21());
    let ours = define(&fields).unwrap();
    assert!(bytes.windows(ours.len()).any(|w| w == ours.as_bytes()), "{ours}");
}

#[test]
fn what_is_written_reads_back() {
    let (fields, batches, _) = typed(fixture::java21());
    for codec in ["zstd", "snappy", "deflate", "null"] {
        let file = Memory::write(&Avro, plainly(&fields, codec), &batches).unwrap();
        assert_eq!(file.read(&Avro, columns(&fields)).unwrap(), batches, "{codec}");
    }
}

/// Blocks of zstd carry checksums when Linn writes them.
#[test]
fn any_flipped_bit_of_our_own_is_found() {
    let (fields, batches, _) = typed(fixture::java21());
    let file = Memory::write(&Avro, plainly(&fields, "zstd"), &batches).unwrap().bytes();
    for at in (0..file.len() * 8).step_by(3) {
        let mut bytes = file.to_vec();
        bytes[at / 8] ^= 1 << (at % 8);
        match Memory::new(&bytes).read(&Avro, columns(&fields)) {
            Ok(read) => assert_eq!(read, batches, "bit {} of byte {} of {}", at % 8, at / 8, file.len()),
            Err(error) => assert!(matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Unsupported), "{error}"),
        }
    }
}

#[test]
fn rows_and_columns_are_left_out() {
    let (fields, batches, bytes) = typed(fixture::java21());
    let missing = DataField::new(99, "absent", DataType::string());
    let wanted = vec![fields[13].clone(), missing, fields[0].clone()];
    let deleted: RoaringTreemap = [0u64, 2].into_iter().collect();
    let mut read = columns(&wanted);
    read.deleted = Some(Arc::new(deleted));
    read.batch_size = 2;
    let got = Memory::new(&bytes).read(&Avro, read).unwrap();
    let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
    assert_eq!(got.iter().map(RecordBatch::num_rows).sum::<usize>(), rows - 2);
    assert!(got.iter().all(|b| b.num_rows() <= 2 && b.num_columns() == 3 && b.column(1).null_count() == b.num_rows()));
    assert_eq!(got[0].column(0).slice(0, 1).as_ref(), batches[0].column(13).slice(1, 1).as_ref());
}

#[test]
fn what_avro_cannot_hold_is_refused_by_name() {
    for kind in [Kind::Timestamp(9), Kind::LocalZonedTimestamp(7), Kind::Time(6), Kind::Variant] {
        let fields = [DataField::new(0, "c", DataType::nullable(kind))];
        let error = Avro.write(plainly(&fields, "zstd"), Box::new(Memory::default())).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.to_string().contains("column: c"), "{error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn damage_is_an_error_or_other_rows_but_never_a_panic(at in 0usize..20_000, flip in 1u8.., cut in any::<bool>()) {
        let (fields, _, mut bytes) = typed(fixture::java21());
        let at = at % bytes.len();
        if cut { bytes.truncate(at) } else { bytes[at] ^= flip }
        let _ = Memory::new(&bytes).read(&Avro, columns(&fields));
    }

    #[test]
    fn damage_behind_the_codec_is_no_panic_either(at in 0usize..20_000, flip in 1u8..) {
        let (fields, batches, _) = typed(fixture::java21());
        let mut bytes = Memory::write(&Avro, plainly(&fields, "null"), &batches).unwrap().bytes();
        let at = at % bytes.len();
        bytes[at] ^= flip;
        if let Err(error) = Memory::new(&bytes).read(&Avro, columns(&fields)) {
            prop_assert!(matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Unsupported), "{}", error);
        }
    }
}
