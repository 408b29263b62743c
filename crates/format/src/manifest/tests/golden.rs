//! Manifests of other writers decode, and are written again to the letter.

use bytes::Bytes;

use super::{blocks, fixture, header_has};
use crate::SchemaId;
use crate::file::FileSource;
use crate::manifest::*;

const CODEC: Codec = Codec::Zstd(1);

fn entries(bytes: &Bytes) -> Vec<ManifestEntry> {
    let batch = read_manifest(bytes).unwrap();
    (0..batch.len()).map(|i| batch.entry(i).unwrap()).collect()
}

#[test]
fn schemas_are_the_references_to_the_letter() {
    let check = |written: Vec<u8>, theirs: Bytes| {
        let start = written.iter().position(|b| *b == b'{').unwrap();
        let end = written.windows(10).position(|w| w == b"avro.codec").unwrap() - 1;
        assert!(header_has(&theirs, std::str::from_utf8(&written[start..end]).unwrap()));
    };
    check(write_manifest(&[], CODEC).unwrap(), fixture!("java-2.1/manifest"));
    check(write_manifest_list(&[], CODEC).unwrap(), fixture!("java-2.1/manifest-list"));
    check(write_index_manifest(&[], CODEC).unwrap(), fixture!("java-2.1/index-manifest-dv"));
}

#[test]
fn writing_again_gives_the_references_blocks() {
    for theirs in [
        fixture!("java-2.1/manifest"),
        fixture!("java-2.1/manifest-data-evolution"),
        fixture!("java-2.1/manifest-embedded-index"),
    ] {
        let ours = Bytes::from(write_manifest(&entries(&theirs), CODEC).unwrap());
        assert_eq!(blocks(&ours), blocks(&theirs));
    }
    let theirs = fixture!("java-2.1/manifest-list");
    let ours = write_manifest_list(&read_manifest_list(&theirs).unwrap(), CODEC).unwrap();
    assert_eq!(blocks(&ours.into()), blocks(&theirs));
    for theirs in [fixture!("java-2.1/index-manifest-dv"), fixture!("java-2.1/index-manifest-hash")] {
        let ours = write_index_manifest(&read_index_manifest(&theirs).unwrap(), CODEC).unwrap();
        assert_eq!(blocks(&ours.into()), blocks(&theirs));
    }
}

#[test]
fn entries_of_the_reference() {
    let all = entries(&fixture!("java-2.1/manifest"));
    assert_eq!(all.len(), 10);
    let first = &all[0];
    assert_eq!(first.kind, FileKind::Delete);
    assert_eq!((first.bucket, first.total_buckets, first.partition.arity()), (0, 2, 0));
    let file = &first.file;
    assert_eq!(file.file_name, "data-834071e0-6c16-4309-bec6-4158307359db-2.parquet");
    assert_eq!((file.file_size, file.row_count, file.level), (1247, 5, 0));
    assert_eq!(file.schema_id, SchemaId(0));
    assert_eq!(file.min_key.as_bytes()[8], 21);
    assert_eq!(file.key_stats.null_counts, [Some(0)]);
    assert_eq!(file.file_source, Some(FileSource::Append));
    assert_eq!(file.value_stats_cols, None);
    assert_eq!(file.delete_row_count, Some(5));
    assert!(all.iter().any(|e| e.kind == FileKind::Add && e.file.level == 5));
}

#[test]
fn embedded_indexes_and_written_columns() {
    let embedded = &entries(&fixture!("java-2.1/manifest-embedded-index"))[0].file;
    assert!(embedded.embedded_index.as_ref().is_some_and(|b| b.starts_with(&1_493_475_289_347_502i64.to_be_bytes())));
    let evolved = &entries(&fixture!("java-2.1/manifest-data-evolution"))[0].file;
    assert!(evolved.first_row_id.is_some());
    assert!(evolved.write_cols.is_some());
}

#[test]
fn old_formats_hold_the_same_table() {
    let key = |e: &ManifestEntry| (e.kind as u8, e.bucket, e.file.level, e.file.row_count, e.file.min_key.clone());
    assert_eq!(entries(&fixture!("java-0.9/manifest")).len(), 10);
    let [orc, parquet] =
        [fixture!("java-0.9/manifest-orc"), fixture!("java-0.9/manifest-parquet")].map(|b| entries(&b));
    assert_eq!(orc.iter().map(key).collect::<Vec<_>>(), parquet.iter().map(key).collect::<Vec<_>>());
    assert_eq!(orc.iter().map(|e| e.kind as i32).sum::<i32>(), 5);
    for file in orc.iter().chain(&parquet).map(|e| &e.file) {
        assert!(file.creation_time.is_some_and(|t| t > 1_700_000_000_000));
        assert!(file.value_stats.min.arity() > 1);
        assert_eq!(file.value_stats.null_counts.len(), file.value_stats.min.arity());
    }
    let files = |bytes| read_manifest_list(&bytes).unwrap().iter().map(|m| m.num_added_files).collect::<Vec<_>>();
    assert_eq!(files(fixture!("java-0.9/manifest-list")), [2, 2, 2, 2, 2, 2]);
    assert_eq!(files(fixture!("java-0.9/manifest-list-orc")), files(fixture!("java-0.9/manifest-list-parquet")));
    let vectors = read_index_manifest(&fixture!("java-0.9/index-manifest-dv")).unwrap();
    let first = &vectors[0].deletion_vectors.as_ref().unwrap()[0];
    assert_eq!((first.offset, first.length, first.cardinality), (1, 22, None));
}

#[test]
fn other_record_names_and_more_fields() {
    let all = entries(&fixture!("pypaimon-2.1/manifest"));
    assert_eq!(all.iter().map(|e| e.file.row_count).sum::<i64>(), 10);
    assert_eq!(all[0].file.value_stats_cols, Some(Vec::new()));
    let list = read_manifest_list(&fixture!("pypaimon-2.1/manifest-list")).unwrap();
    assert_eq!((list[0].min_bucket, list[0].max_bucket), (Some(0), Some(1)));
}

#[test]
fn vectors_of_the_reference() {
    let all = read_index_manifest(&fixture!("java-2.1/index-manifest-dv")).unwrap();
    assert_eq!(all[0].index_type, DELETION_VECTORS_INDEX);
    let ranges = all[0].deletion_vectors.as_ref().unwrap();
    assert_eq!((ranges[1].offset, ranges[1].length, ranges[1].cardinality), (31, 26, Some(3)));
    let all = read_index_manifest(&fixture!("java-2.1/index-manifest-hash")).unwrap();
    assert_eq!((all[0].index_type.as_str(), all[0].row_count), (HASH_INDEX, 50));
    assert_eq!(all[0].deletion_vectors, None);
}

#[test]
fn value_statistics_can_be_left_out() {
    let batch = read_manifest_columns(&fixture!("java-2.1/manifest"), StatsColumns::Keys).unwrap();
    let file = batch.file(0).unwrap();
    assert_eq!(file.value_stats.min.arity(), 0);
    assert_eq!(file.value_stats_cols, Some(Vec::new()));
    assert_eq!(file.key_stats.null_counts, [Some(0)]);
    assert_eq!(batch.partitions().unwrap().len(), 1);
}
