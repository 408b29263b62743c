//! What the reference's indexes say, compared with its rows and with what it pruned itself.

use std::collections::BTreeMap;

use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch};
use bytes::Bytes;
use serde_json::Value;

use super::columns::{column, datum};
use super::{batch, check};
use crate::file::avro::Avro;
use crate::fixture::{self, Memory};
use crate::index::{BITMAP, BLOOM_FILTER, BSI, IndexFile, IndexKind, IndexSpec, IndexWriter, RANGE_BITMAP};
use crate::predicate::{CompareOp, Predicate};
use crate::types::{DataField, DataType, Kind};

const ROWS_PER_FILE: usize = 100;

/// Index files beside the data, in the order of their data files.
fn beside(table: &str) -> Vec<Bytes> {
    fixture::files(fixture::java21(), table, |f| f.ends_with(".index")).map(|(_, bytes)| bytes.clone()).collect()
}

/// Index files in the manifests, by data file.
fn embedded(table: &str) -> BTreeMap<String, Bytes> {
    let file = vec![
        DataField::new(0, "_FILE_NAME", DataType::string()),
        DataField::new(1, "_EMBEDDED_FILE_INDEX", DataType::bytes()),
    ];
    let fields = [DataField::new(2, "_FILE", DataType::required(Kind::Row(file)))];
    let manifests = |f: &str| f.starts_with("manifest/manifest-") && !f.starts_with("manifest/manifest-list");
    let mut found = BTreeMap::new();
    for (_, bytes) in fixture::files(fixture::java21(), table, manifests) {
        for batch in Memory::new(bytes).read(&Avro, fixture::columns(&fields)).unwrap() {
            let file = batch.column(0).as_struct();
            let (names, indexes) = (file.column(0).as_string::<i32>(), file.column(1).as_binary::<i32>());
            for i in (0..names.len()).filter(|i| indexes.is_valid(*i)) {
                found.insert(names.value(i).to_owned(), Bytes::copy_from_slice(indexes.value(i)));
            }
        }
    }
    found
}

/// The columns that can be compared, and for each index file its rows.
fn rows(table: &str) -> (Vec<DataField>, Vec<RecordBatch>, Vec<Value>) {
    let archive = fixture::java21();
    let mut expected = fixture::expected(archive, table, "expected.jsonl");
    expected.sort_by_key(|row| row["id"].as_i64());
    let fields = fixture::schema(archive, table).fields;
    let known = |f: &DataField| column(&expected[..1], &f.name, &f.data_type).is_some();
    let fields: Vec<DataField> = fields.into_iter().filter(known).collect();
    let of_file =
        |rows: &[Value]| batch(&fields, fields.iter().map(|f| column(rows, &f.name, &f.data_type).unwrap()).collect());
    let batches = expected.chunks(ROWS_PER_FILE).map(of_file).collect();
    (fields, batches, expected)
}

fn predicates(field: &DataField, values: &[Value]) -> Vec<Predicate> {
    let field_id = field.id;
    let literals: Vec<_> = values.iter().filter_map(|row| datum(&row[&field.name], &field.data_type)).collect();
    let mut predicates = vec![
        Predicate::IsNull { field_id, negated: false },
        Predicate::IsNull { field_id, negated: true },
        Predicate::In { field_id, literals: literals.iter().step_by(17).cloned().collect(), negated: false },
        Predicate::In { field_id, literals: literals.iter().step_by(5).cloned().collect(), negated: true },
    ];
    use CompareOp::{Eq, Gt, GtEq, Lt, LtEq, NotEq};
    for (i, literal) in literals.iter().enumerate().step_by(7) {
        let op = [Eq, NotEq, Lt, LtEq, Gt, GtEq][i % 6];
        for op in [op, Eq, Lt] {
            let compare = Predicate::Compare { field_id, op, literal: literal.clone() };
            predicates.push(Predicate::Not(Box::new(compare.clone())));
            predicates.push(compare);
        }
    }
    predicates
}

/// Asks every index of a table everything; exact indexes must answer exactly.
fn check_table(table: &str, indexes: &[Bytes], exact: &[&str]) {
    let (fields, batches, values) = rows(table);
    assert_eq!(indexes.len(), batches.len());
    let mut answered = 0;
    for (index, batch) in indexes.iter().zip(&batches) {
        let file = IndexFile::parse(index).unwrap();
        for field in &fields {
            let exact = file.column(&field.name).any(|part| exact.contains(&part.index_type.as_str()));
            for predicate in predicates(field, &values) {
                let kept = check(index, batch, &fields, &predicate);
                if exact {
                    answered += 1;
                    let truth = predicate.mask(batch, &fields).unwrap().count_set_bits() as u64;
                    assert_eq!(kept.len(), truth, "{predicate:?}");
                }
            }
        }
    }
    assert!(answered > 100, "{answered}");
}

#[test]
fn bit_sliced_indexes() {
    check_table("x21_fileindex_bsi", &beside("x21_fileindex_bsi"), &[BSI]);
}

#[test]
fn range_bitmaps() {
    check_table("x21_fileindex_range_bitmap", &beside("x21_fileindex_range_bitmap"), &[RANGE_BITMAP]);
}

#[test]
fn bitmaps_and_bloom_filters() {
    for table in ["fileindex_file", "fileindex_embedded"] {
        let indexes = if table == "fileindex_file" { beside(table) } else { embedded(table).into_values().collect() };
        let (fields, batches, values) = rows(table);
        for (index, batch) in indexes.iter().zip(&batches) {
            for predicate in fields.iter().flat_map(|f| predicates(f, &values)) {
                check(index, batch, &fields, &predicate);
            }
        }
    }
}

#[test]
fn the_first_version_of_bitmaps() {
    let (fields, batches, values) = rows("x21_bitmap_v1");
    let field = fields.iter().find(|f| f.name == "c").unwrap();
    for literal in values.iter().filter_map(|row| datum(&row["c"], &field.data_type)) {
        let predicate = Predicate::Compare { field_id: field.id, op: CompareOp::Eq, literal };
        let kept = check(&beside("x21_bitmap_v1")[0], &batches[0], &fields, &predicate);
        assert_eq!(kept.len() as usize, predicate.mask(&batches[0], &fields).unwrap().count_set_bits());
    }
}

/// Files and rows that are left for `column = value`, as the reference counted them.
fn check_pruning(table: &str, indexes: &[Bytes], rows_per_file: u64) {
    let fields = fixture::schema(fixture::java21(), table).fields;
    for line in fixture::expected(fixture::java21(), table, "pruning.jsonl") {
        let field = fields.iter().find(|f| f.name == line["column"].as_str().unwrap()).unwrap();
        let literal = datum(&line["equals"], &field.data_type).unwrap();
        let predicate = Predicate::Compare { field_id: field.id, op: CompareOp::Eq, literal };
        let answers: Vec<u64> = indexes
            .iter()
            .filter_map(|index| match crate::index::evaluate(index, &fields, &predicate).unwrap() {
                crate::index::IndexResult::Skip => None,
                crate::index::IndexResult::Keep => Some(rows_per_file),
                crate::index::IndexResult::Rows(rows) => Some(rows.len()),
            })
            .collect();
        if line["plan_files"] == 0 && table == "fileindex_pk_embedded" && line["column"] == "id" {
            // Pruned by the statistics of the key; its bloom filter is fuller than it was made for.
            continue;
        }
        assert_eq!(answers.len() as u64, line["plan_files"].as_u64().unwrap(), "{table} {line}");
        assert_eq!(
            answers.iter().sum::<u64>(),
            line["rows_read_without_row_filter"].as_u64().unwrap(),
            "{table} {line}"
        );
    }
}

#[test]
fn as_much_is_pruned_as_the_reference_prunes() {
    check_pruning("fileindex_file", &beside("fileindex_file"), 100);
    check_pruning("fileindex_embedded", &embedded("fileindex_embedded").into_values().collect::<Vec<_>>(), 100);
    // Compaction left one file, written by another writer than the rest.
    let of_compaction: Vec<Bytes> =
        embedded("fileindex_pk_embedded").into_iter().filter(|(f, _)| f.contains("7449feeb")).map(|(_, b)| b).collect();
    assert_eq!(of_compaction.len(), 1);
    check_pruning("fileindex_pk_embedded", &of_compaction, 300);
}

#[test]
fn indexes_on_keys_of_maps() {
    let fields = [DataField::new(50, "mp[a]", DataType::string())];
    let ask = |index: &Bytes, value: &str| {
        let literal = crate::datum::Datum::String(value.into());
        let predicate = Predicate::Compare { field_id: 50, op: CompareOp::Eq, literal };
        crate::index::evaluate(index, &fields, &predicate).unwrap()
    };
    let indexes = beside("fileindex_file");
    assert_eq!(ask(&indexes[0], "x1"), crate::index::IndexResult::Keep);
    let absent = |n: i32| ask(&indexes[0], &format!("nowhere {n}")) == crate::index::IndexResult::Skip;
    assert!((0..20).any(absent));
}

#[test]
fn our_bloom_filters_are_the_reference_s() {
    let (fields, batches, _) = rows("fileindex_file");
    let index = &beside("fileindex_file")[0];
    let theirs = IndexFile::parse(index).unwrap();
    for (column, items, fpp) in
        [("id", 200, 0.1), ("s", 100, 0.01), ("big", 200, 0.1), ("d", 200, 0.1), ("ts", 200, 0.1)]
    {
        let spec = IndexSpec { column: column.into(), kind: IndexKind::BloomFilter { items, fpp } };
        let mut writer = IndexWriter::new(&fields, &[spec]).unwrap();
        writer.update(&batches[0]).unwrap();
        let ours = IndexFile::parse(&writer.finish().unwrap().unwrap()).unwrap();
        let body = theirs.column(column).find(|p| p.index_type == BLOOM_FILTER).unwrap().body.clone();
        assert_eq!(ours.parts[0].body, body, "{column}");
    }
}

/// Our bodies for the columns that have an index of the type in the reference's file, and the reference's.
fn bodies(table: &str, index_type: &str, kind: IndexKind) -> Vec<(Bytes, Bytes)> {
    let (fields, batches, _) = rows(table);
    let mut pairs = Vec::new();
    for (index, batch) in beside(table).iter().zip(&batches) {
        let theirs = IndexFile::parse(index).unwrap();
        for part in theirs.parts.iter().filter(|p| p.index_type == index_type && !p.column.contains('[')) {
            let spec = IndexSpec { column: part.column.clone(), kind };
            let mut writer = IndexWriter::new(&fields, &[spec]).unwrap();
            writer.update(batch).unwrap();
            let ours = IndexFile::parse(&writer.finish().unwrap().unwrap()).unwrap();
            pairs.push((ours.parts[0].body.clone().unwrap(), part.body.clone().unwrap()));
        }
    }
    pairs
}

#[test]
fn our_sliced_indexes_are_the_reference_s() {
    let range = IndexKind::RangeBitmap { chunk_size: None };
    for (table, index_type, kind) in
        [("x21_fileindex_bsi", BSI, IndexKind::Bsi), ("x21_fileindex_range_bitmap", RANGE_BITMAP, range)]
    {
        let pairs = bodies(table, index_type, kind);
        assert_eq!(pairs.len(), 6, "{table}");
        pairs.iter().for_each(|(ours, theirs)| assert_eq!(ours, theirs, "{table}"));
    }
}

/// The reference puts the bitmaps in the order of a hash table.
#[test]
fn our_bitmaps_take_as_many_bytes_as_the_reference_s() {
    let pairs = bodies("fileindex_file", BITMAP, IndexKind::Bitmap { version: 2, block_size: 16 << 10 });
    assert!(!pairs.is_empty());
    pairs.iter().for_each(|(ours, theirs)| assert_eq!(ours.len(), theirs.len()));
}

#[test]
fn containers_are_written_as_they_were_read() {
    for index in beside("fileindex_file") {
        let file = IndexFile::parse(&index).unwrap();
        assert!(file.parts.iter().any(|p| p.index_type == BITMAP));
        assert_eq!(IndexFile::parse(&file.to_bytes().unwrap()).unwrap(), file);
        assert_eq!(file.to_bytes().unwrap().len(), index.len());
    }
}
