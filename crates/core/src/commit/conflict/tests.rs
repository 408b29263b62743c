//! Changes against tables, one rule at a time.

use linn_format::types::Kind;

use super::*;
use crate::fixture::{row, vector_line as index};

fn entry(kind: FileKind, name: &str, level: i32, keys: (i32, i32)) -> Simple {
    let serialized = |key: i32| row(&[key]).to_serialized().to_vec().into_boxed_slice();
    Simple {
        kind,
        key: Key {
            partition: row(&[1]).to_serialized().to_vec().into_boxed_slice(),
            bucket: 0,
            level,
            file_name: name.into(),
            rest: Box::default(),
            vector: None,
        },
        total_buckets: 2,
        min_key: serialized(keys.0),
        max_key: serialized(keys.1),
    }
}

fn add(name: &str, level: i32, keys: (i32, i32)) -> Simple {
    entry(FileKind::Add, name, level, keys)
}

fn remove(name: &str, level: i32, keys: (i32, i32)) -> Simple {
    entry(FileKind::Delete, name, level, keys)
}

fn against(base: &[Simple], delta: &[Simple]) -> Option<String> {
    let files = base.iter().map(|entry| (entry.key.clone(), entry.clone())).collect();
    let buckets = base.iter().map(|entry| (entry.key.partition.clone(), entry.total_buckets)).collect();
    let rules = Rules { key_types: Some(vec![DataType::required(Kind::Int)]), may_rescale: false };
    check(&files, &buckets, delta, &rules).unwrap()
}

fn says(why: Option<String>, part: &str) {
    assert!(why.as_ref().is_some_and(|why| why.contains(part)), "{why:?}");
}

#[test]
fn a_compaction_fits_the_files_it_was_made_of() {
    let base = [add("a", 0, (1, 5)), add("b", 5, (1, 9))];
    let delta = [remove("a", 0, (1, 5)), remove("b", 5, (1, 9)), add("c", 5, (1, 9))];
    assert_eq!(against(&base, &delta), None);
    assert_eq!(against(&base, &[remove("a", 0, (1, 5)), add("a", 4, (1, 5))]), None, "a file may change its level");
}

#[test]
fn what_is_gone_cannot_be_removed_and_what_is_there_not_added() {
    says(against(&[], &[remove("a", 0, (1, 5))]), "not in the table any more");
    says(against(&[add("a", 1, (1, 5))], &[remove("a", 0, (1, 5))]), "not in the table any more");
    says(against(&[add("a", 0, (1, 5))], &[add("a", 0, (1, 5))]), "already");
}

#[test]
fn a_change_must_not_name_a_file_twice() {
    says(against(&[], &[add("a", 0, (1, 5)), add("a", 0, (1, 5))]), "twice");
    says(against(&[add("a", 0, (1, 5))], &[remove("a", 0, (1, 5)), add("a", 0, (1, 5))]), "twice");
}

#[test]
fn keys_of_a_level_are_disjoint() {
    let base = [add("a", 3, (1, 5)), add("b", 3, (8, 9))];
    says(against(&base, &[add("c", 3, (5, 6))]), "overlapping");
    says(against(&base, &[add("c", 3, (6, 8))]), "overlapping");
    assert_eq!(against(&base, &[add("c", 3, (6, 7))]), None);
    assert_eq!(against(&base, &[add("c", 2, (1, 9))]), None, "another level");
    assert_eq!(against(&base, &[add("c", 0, (1, 9)), add("d", 0, (1, 9))]), None, "level 0 overlaps");
    assert_eq!(against(&base, &[remove("a", 3, (1, 5)), add("c", 3, (1, 7))]), None, "the old file is gone");
}

#[test]
fn a_partition_has_one_bucket_count() {
    let mut other = add("c", 0, (1, 1));
    other.total_buckets = 4;
    says(against(&[add("a", 0, (1, 5))], &[other.clone()]), "2 buckets and this writes it with 4");
    says(against(&[], &[add("a", 0, (1, 5)), other.clone()]), "2 and with 4");
    let rules = Rules { key_types: None, may_rescale: true };
    let buckets = [(other.key.partition.clone(), 2)].into_iter().collect();
    assert_eq!(check(&Base::new(), &buckets, &[other], &rules).unwrap(), None);
}

/// A change of files and vectors against a table with vectors.
fn with_vectors(
    base: &[Simple],
    vectors: &[IndexManifestEntry],
    delta: &[Simple],
    changes: &[IndexManifestEntry],
) -> Option<String> {
    let base = base.iter().map(|entry| (entry.key.clone(), entry.clone())).collect();
    let base = pair_base(base, vectors).unwrap();
    let delta = match pair_delta(&base, delta.to_vec(), changes) {
        Ok(delta) => delta,
        Err(why) => return Some(why),
    };
    check(&base, &HashMap::new(), &delta, &Rules::default()).unwrap()
}

#[test]
fn regress_concurrent_deletes_of_one_file_conflict() {
    use FileKind::{Add, Delete};
    let base = [add("f", 0, (0, 0)), add("g", 0, (0, 0))];
    let none: [IndexManifestEntry; 0] = [];
    assert_eq!(with_vectors(&base, &none, &[], &[index(Add, "i1", &["f"])]), None, "the first vector");
    let one = [index(Add, "i1", &["f"])];
    says(with_vectors(&base, &one, &[], &[index(Add, "i2", &["f"])]), "any more");
    assert_eq!(with_vectors(&base, &one, &[], &[index(Delete, "i1", &["f"]), index(Add, "i2", &["f"])]), None);
    assert_eq!(with_vectors(&base, &one, &[], &[index(Add, "i2", &["g"])]), None, "another file");
    let two = [index(Add, "i2", &["f"])];
    says(with_vectors(&base, &two, &[], &[index(Delete, "i1", &["f"]), index(Add, "i3", &["f"])]), "any more");
    says(with_vectors(&base, &one, &[remove("f", 0, (0, 0))], &[]), "any more");
    assert_eq!(with_vectors(&base, &one, &[remove("f", 0, (0, 0))], &[index(Delete, "i1", &["f"])]), None);
    says(with_vectors(&base, &none, &[], &[index(Add, "i1", &["gone"])]), "gets a deletion vector");
}
