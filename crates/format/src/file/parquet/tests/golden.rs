//! Files that Java wrote: their rows as Java reads them, their schemas as we write them.

use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch};
use bytes::Bytes;
use parquet::file::metadata::ParquetMetaDataReader;

use super::super::Parquet;
use super::super::schema::{Nanos, message};
use super::{Memory, file_read, fixture, fixture_fields, read, write};
use crate::file::golden::{check_table, coarsen};
use crate::fixture::{canonical, expected, files, java09, java21, render, schema};
use crate::types::{DataField, DataType, Kind};

#[test]
fn tables_are_read_as_java_reads_them() {
    let codecs = ["gzip", "lz4", "lz4_raw", "snappy", "uncompressed", "zstd"];
    check_table(&Parquet, java21(), "types_append_parquet");
    check_table(&Parquet, java21(), "types_pk_parquet");
    for archive in [java21(), java09()] {
        check_table(&Parquet, archive, "multiset_parquet");
        codecs.iter().for_each(|codec| check_table(&Parquet, archive, &format!("codec_parquet_{codec}")));
    }
}

/// But for the rows in arrays: 0.9 takes one of nulls for a null.
#[test]
fn files_of_java_0_9_are_read_as_it_reads_them() {
    let mut fields = fixture_fields("types_append_parquet");
    fields.retain(|f| f.name != "c_arr_row");
    fields.iter_mut().for_each(coarsen);
    let row = DataType::required(Kind::Row(fields.clone()));
    let expected = expected(java09(), "types_append_parquet", "expected.jsonl");
    let expected: Vec<String> = expected.iter().map(|value| canonical(value, &row).to_string()).collect();
    let mut rows = 0;
    for (path, bytes) in files(java09(), "types_append_parquet", |f| f.ends_with(".parquet")) {
        for batch in read(&Memory::new(bytes.to_vec()), file_read(&fields)).unwrap() {
            for row in render(&batch, &fields) {
                assert!(expected.contains(&row.to_string()), "{path}: {row}");
                rows += 1;
            }
        }
    }
    assert_eq!(rows, expected.len());
}

#[test]
fn what_we_write_of_all_types_reads_the_same() {
    let mut fields = fixture_fields("types_append_parquet");
    // Nanoseconds of the years 1677 to 2262 only; these files hold others.
    fields.iter_mut().for_each(coarsen);
    let batches = read(&Memory::new(fixture("types_append_parquet")), file_read(&fields)).unwrap();
    let bytes = write(&fields, &batches, &[]).unwrap();
    assert_eq!(read(&Memory::new(bytes), file_read(&fields)).unwrap(), batches);
}

#[test]
fn vectors_are_read() {
    let fields = fixture_fields("x21_vector");
    let batches = read(&Memory::new(fixture("x21_vector")), file_read(&fields)).unwrap();
    let rows: Vec<String> = batches.iter().flat_map(|b| render(b, &fields)).map(|row| row["v"].to_string()).collect();
    assert_eq!(rows.len(), 5);
    assert!(rows[1].replace('"', "").starts_with("[1.0,1.5,-1.0,"), "{}", rows[1]);
    assert_eq!(rows[3], "null");
}

#[test]
fn variants_are_read_as_value_and_metadata() {
    let fields = fixture_fields("x21_variant");
    let batches = read(&Memory::new(fixture("x21_variant")), file_read(&fields)).unwrap();
    assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), 10);
    let variants = batches[0].column(1).as_struct();
    assert_eq!(variants.null_count(), 1);
    let metadata = variants.column_by_name("metadata").unwrap().as_binary::<i32>();
    // Version 1 in the low bits of the header of the variant's dictionary.
    assert!((0..variants.len()).filter(|i| variants.is_valid(*i)).all(|i| metadata.value(i)[0] & 0x0f == 1));
}

#[test]
fn schemas_are_those_of_java() {
    let same_as_java = |table: &str, fields: &[DataField]| {
        let metadata = ParquetMetaDataReader::new().parse_and_finish(&Bytes::from(fixture(table))).unwrap();
        let theirs = metadata.file_metadata().schema_descr();
        let ours = message(fields, Nanos::Int96).unwrap();
        assert_eq!(format!("{:#?}", ours.root_schema()), format!("{:#?}", theirs.root_schema()), "{table}");
    };
    for table in ["types_append_parquet", "multiset_parquet", "x21_variant", "x21_vector"] {
        same_as_java(table, &fixture_fields(table));
    }
    same_as_java("types_pk_parquet", &schema(java21(), "types_pk_parquet").key_value_fields());
}

#[test]
fn the_schema_we_declare_is_the_schema_in_the_file() {
    let fields = fixture_fields("types_append_parquet");
    assert!(fields.iter().any(|f| matches!(f.data_type.kind, Kind::Timestamp(9))));
    let batch = super::random::batch(&mut super::random::Random(3), &fields, 10);
    let bytes = Bytes::from(write(&fields, &[batch], &[]).unwrap());
    let metadata = ParquetMetaDataReader::new().parse_and_finish(&bytes).unwrap();
    let file = metadata.file_metadata();
    assert_eq!(file.schema(), message(&fields, Nanos::Int96).unwrap().root_schema());
    assert_eq!(file.key_value_metadata(), None);
}
