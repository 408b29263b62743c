//! Damaged files give `Corrupt` (or, by luck, rows), never a panic.

use super::random::{Random, batch};
use super::{Memory, file_read, fixture, fixture_fields, read, write};
use crate::types::{DataField, DataType, Kind};
use crate::{ErrorKind, Result};

fn check<T>(result: Result<T>, what: &str) {
    if let Err(error) = result {
        // A name or type that is no longer the column's may also look like something we do not support.
        assert!(matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Unsupported), "{what}: {error}");
        assert!(error.context().iter().any(|(key, _)| *key == "path"), "{what}: {error}");
    }
}

#[test]
fn cut_files_are_corrupt() {
    let fields = fixture_fields("types_append_parquet");
    let bytes = fixture("types_append_parquet");
    for length in (0..bytes.len()).step_by(97) {
        let result = read(&Memory::new(bytes[..length].to_vec()), file_read(&fields));
        assert_eq!(result.map_err(|e| e.kind()).unwrap_err(), ErrorKind::Corrupt, "first {length} bytes");
    }
}

#[test]
fn files_with_a_damaged_byte_do_not_panic() {
    let fields = fixture_fields("types_append_parquet");
    let bytes = fixture("types_append_parquet");
    let mut random = Random(1);
    for at in (0..bytes.len()).step_by(29) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 + random.below(255) as u8;
        check(read(&Memory::new(damaged), file_read(&fields)), &format!("byte {at}"));
    }
}

#[test]
fn damaged_index_and_statistics_do_not_panic() {
    let fields = [
        DataField::new(0, "k", DataType::required(Kind::Int)),
        DataField::new(1, "v", DataType::nullable(Kind::Varchar(9))),
    ];
    let mut random = Random(2);
    let batch = batch(&mut random, &fields, 500);
    let bytes = write(&fields, &[batch], &[("parquet.page.row.count.limit", "50")]).unwrap();
    let mut read_some = file_read(&fields);
    read_some.filter = Some(crate::predicate::Predicate::IsNull { field_id: 1, negated: true });
    read_some.exact_filter = true;
    for at in (bytes.len() / 2..bytes.len()).step_by(3) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 + random.below(255) as u8;
        check(read(&Memory::new(damaged), read_some.clone()), &format!("byte {at}"));
    }
}
