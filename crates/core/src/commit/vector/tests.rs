//! Changes of deletion vectors in buckets, one rule at a time.

use super::super::conflict::Key;
use super::*;
use crate::fixture::{row, vector_line as line};

fn entry(kind: FileKind, name: &str, level: i32) -> Simple {
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
        total_buckets: 1,
        min_key: Box::default(),
        max_key: Box::default(),
    }
}

fn base(files: &[(&str, i32)]) -> Base {
    let added = files.iter().map(|(name, level)| entry(FileKind::Add, name, *level));
    added.map(|entry| (entry.key.clone(), entry)).collect()
}

fn says(why: Option<String>, part: &str) {
    assert!(why.as_ref().is_some_and(|why| why.contains(part)), "{why:?}");
}

use FileKind::{Add, Delete};

#[test]
fn an_index_file_is_replaced_from_the_one_that_was_read() {
    let base = base(&[("f", 5)]);
    let one = [line(Add, "i1", &["f"])];
    assert_eq!(check(&base, &[], &[], &one), None, "the first");
    assert_eq!(check(&base, &[], &one, &[line(Delete, "i1", &["f"]), line(Add, "i2", &["f"])]), None);
    says(check(&base, &[], &one, &[line(Add, "i2", &["f"])]), "another commit");
    says(check(&base, &[], &[], &[line(Delete, "i1", &["f"]), line(Add, "i2", &["f"])]), "another commit");
    let two = [line(Add, "i2", &["f"])];
    says(check(&base, &[], &two, &[line(Delete, "i1", &["f"]), line(Add, "i3", &["f"])]), "another commit");
}

#[test]
fn regress_a_vector_of_a_file_that_was_compacted_away_is_a_conflict() {
    let base = base(&[("g", 5)]);
    says(check(&base, &[], &[], &[line(Add, "i1", &["f"])]), "not in the table any more");
    let delta = [entry(Delete, "g", 5), entry(Add, "h", 5)];
    says(check(&base, &delta, &[], &[line(Add, "i1", &["g"])]), "not in the table any more");
    assert_eq!(check(&base, &delta, &[], &[line(Add, "i1", &["h"])]), None, "a vector of a new file");
    let moved = [entry(Delete, "g", 4), entry(Add, "g", 5)];
    assert_eq!(check(&super::tests::base(&[("g", 4)]), &moved, &[], &[line(Add, "i1", &["g"])]), None);
}

#[test]
fn regress_a_file_that_got_a_vector_meanwhile_is_not_removed() {
    let base = base(&[("f", 5), ("g", 5)]);
    let one = [line(Add, "i1", &["f"])];
    let delta = [entry(Delete, "f", 5), entry(Add, "h", 5)];
    says(check(&base, &delta, &one, &[]), "got a deletion vector");
    assert_eq!(check(&base, &delta, &one, &[line(Delete, "i1", &["f"])]), None);
    assert_eq!(check(&base, &[entry(Delete, "g", 5)], &one, &[]), None, "another file");
    assert_eq!(check(&base, &[entry(Delete, "f", 5), entry(Add, "f", 6)], &one, &[]), None, "it only moves");
}

#[test]
fn a_compaction_needs_the_files_above_that_it_knew() {
    let basis = |files: &[&str]| {
        [Basis {
            partition: row(&[1]).to_serialized().to_vec().into_boxed_slice(),
            bucket: 0,
            files: files.iter().map(|f| (*f).to_owned()).collect(),
        }]
    };
    let there = base(&[("a", 0), ("f", 5), ("g", 4)]);
    assert_eq!(check_bases(&there, &basis(&["f", "g"])), None);
    says(check_bases(&there, &basis(&["f"])), "above level 0");
    says(check_bases(&there, &basis(&["f", "g", "h"])), "above level 0");
}
