//! Verdicts on changes, one reason at a time.

use std::borrow::Cow;
use std::sync::Arc;

use linn_format::manifest::{EntryBatch, FileKind, HASH_INDEX, IndexManifestEntry, ManifestEntry};
use linn_format::types::Kind;

use super::super::base::BaseFiles;
use super::super::change::Change;
use super::super::conflict::Simple;
use super::*;
use crate::fixture::{file, row, vector_line};

use FileKind::{Add, Delete};

/// An entry of bucket 0 of the partition 1, which has two buckets.
fn entry(kind: FileKind, name: &str, level: i32, keys: (i32, i32)) -> ManifestEntry {
    let file = (*file(name, level, Some(keys))).clone();
    ManifestEntry { kind, partition: row(&[1]), bucket: 0, total_buckets: 2, file }
}

fn simple(entries: &[ManifestEntry]) -> Vec<Simple> {
    let batch = EntryBatch::from_entries(entries).unwrap();
    (0..batch.len()).map(|i| Simple::of(&batch, i)).collect()
}

/// A table that holds these files, and a change of these entries.
fn base(there: &[ManifestEntry], entries: &[ManifestEntry]) -> Base<'static> {
    let there = simple(there);
    let buckets = there.iter().map(|entry| (entry.key.partition.clone(), entry.total_buckets)).collect();
    let files = there.into_iter().map(|entry| (entry.key.clone(), entry)).collect();
    let change = Change { entries: entries.to_vec(), ..Change::default() };
    Base { delta: simple(entries), change: Cow::Owned(change), files: BaseFiles { files, buckets }, ..Base::default() }
}

fn changing(mut base: Base<'static>, index: &[IndexManifestEntry]) -> Base<'static> {
    base.change.to_mut().index = index.to_vec();
    base
}

/// The checks of a commit that is held against the table.
fn whole() -> Checks {
    let key_types = Some(vec![DataType::required(Kind::Int)]);
    Checks { files: FileCheck::Table, key_types, ..Checks::default() }
}

fn fits(base: &Base<'_>, checks: &Checks) -> NewIndex {
    match judge(base, checks).unwrap() {
        Verdict::Fits { index, .. } => index,
        Verdict::Conflict(why) => panic!("{why}"),
    }
}

fn refused(base: &Base<'_>, checks: &Checks, part: &str) {
    let verdict = judge(base, checks).unwrap();
    assert!(matches!(&verdict, Verdict::Conflict(why) if why.contains(part)), "{verdict:?}");
}

#[test]
fn new_rows_fit_and_tell_their_bucket_counts() {
    let base = base(&[], &[entry(Add, "a", 0, (1, 2))]);
    let partition = row(&[1]).to_serialized().to_vec().into_boxed_slice();
    let buckets = HashMap::from([(partition, 2)]);
    assert_eq!(judge(&base, &Checks::default()).unwrap(), Verdict::Fits { buckets, index: NewIndex::Same });
}

#[test]
fn only_what_is_checked_is_held_against_the_table() {
    let gone = base(&[], &[entry(Delete, "a", 0, (1, 2))]);
    refused(&gone, &whole(), "not in the table any more");
    let again = base(&[entry(Add, "a", 0, (1, 2))], &[entry(Add, "a", 0, (1, 2))]);
    refused(&again, &whole(), "in the table already");
    fits(&again, &Checks::default());
    let twice = base(&[], &[entry(Add, "a", 0, (1, 2)), entry(Add, "a", 0, (1, 2))]);
    refused(&twice, &Checks::default(), "twice");
    fits(&twice, &Checks { files: FileCheck::Nothing, ..Checks::default() });
}

#[test]
fn levels_stay_disjoint_where_the_key_says_so() {
    let overlap = base(&[entry(Add, "a", 3, (1, 5))], &[entry(Add, "b", 3, (4, 9))]);
    assert!(matches!(judge(&overlap, &whole()).unwrap(), Verdict::Conflict(_)));
    fits(&overlap, &Checks { key_types: None, ..whole() });
}

#[test]
fn a_bucket_count_changes_only_by_overwriting() {
    let mut other = entry(Add, "b", 0, (1, 2));
    other.total_buckets = 4;
    let rescaled = base(&[entry(Add, "a", 0, (1, 2))], &[other]);
    assert!(matches!(judge(&rescaled, &Checks::default()).unwrap(), Verdict::Conflict(_)));
    fits(&rescaled, &Checks { may_rescale: true, ..Checks::default() });
}

#[test]
fn what_others_have_committed_counts_after_the_files() {
    let mut base = base(&[], &[entry(Delete, "a", 0, (1, 2))]);
    base.ruled_out = Some("another user".to_owned());
    refused(&base, &whole(), "not in the table any more");
    base.delta.clear();
    refused(&base, &whole(), "another user");
}

#[test]
fn vectors_are_replaced_from_the_index_file_that_was_read() {
    let files = [entry(Add, "f", 5, (1, 2))];
    let checks = Checks { vectors: VectorCheck::Buckets, ..whole() };
    let mut first = changing(base(&files, &[]), &[vector_line(Add, "i1", &["f"])]);
    assert_eq!(fits(&first, &checks), NewIndex::Lines(vec![vector_line(Add, "i1", &["f"])]));
    first.lines = vec![vector_line(Add, "i0", &["f"])];
    refused(&first, &checks, "were changed by another commit");
    let mut last = changing(base(&files, &[]), &[vector_line(Delete, "i0", &["f"])]);
    last.lines = vec![vector_line(Add, "i0", &["f"])];
    assert_eq!(fits(&last, &checks), NewIndex::None);
}

#[test]
fn keys_of_dynamic_buckets_are_those_that_were_read() {
    let line = |name: &str| IndexManifestEntry { index_type: HASH_INDEX.into(), ..vector_line(Add, name, &[]) };
    let mut base = changing(base(&[], &[entry(Add, "a", 0, (1, 2))]), &[line("h1")]);
    base.change.to_mut().hash_bases.insert(row(&[1]).to_serialized().to_vec(), Arc::from(["h0".to_owned()]));
    refused(&base, &Checks::default(), "one writer");
    base.lines = vec![line("h0")];
    assert_eq!(fits(&base, &Checks::default()), NewIndex::Lines(vec![line("h1")]));
}
