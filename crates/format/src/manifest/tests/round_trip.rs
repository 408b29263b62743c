//! What is written is read.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use crate::SchemaId;
use crate::file::{DataFileMeta, FileSource};
use crate::manifest::*;
use crate::row::BinaryRow;
use crate::stats::SimpleStats;

fn row() -> impl Strategy<Value = BinaryRow> {
    vec(any::<i64>(), 0..3).prop_map(|values| {
        let mut bytes = vec![0; 8 + 8 * values.len()];
        for (i, v) in values.iter().enumerate() {
            bytes[8 + 8 * i..16 + 8 * i].copy_from_slice(&v.to_le_bytes());
        }
        let mut serialized = u32::try_from(values.len()).unwrap().to_be_bytes().to_vec();
        serialized.extend_from_slice(&bytes);
        BinaryRow::from_serialized(serialized).unwrap()
    })
}

fn stats() -> impl Strategy<Value = SimpleStats> {
    (row(), row(), vec(option::of(any::<i64>()), 0..4)).prop_map(|(min, max, null_counts)| SimpleStats {
        min,
        max,
        null_counts,
    })
}

fn names() -> impl Strategy<Value = Vec<String>> {
    vec("[a-zäß/]{0,8}", 0..3)
}

fn blob() -> impl Strategy<Value = Option<bytes::Bytes>> {
    option::of(vec(any::<u8>(), 0..20).prop_map(bytes::Bytes::from))
}

prop_compose! {
    fn numbers()(n in any::<[i64; 5]>(), level in any::<i32>(), optional in any::<[Option<i64>; 3]>(),
                 source in option::of(any::<bool>())) -> DataFileMeta {
        let empty = || SimpleStats { min: BinaryRow::empty(), max: BinaryRow::empty(), null_counts: Vec::new() };
        DataFileMeta {
            file_name: String::new(), file_size: n[0], row_count: n[1], min_key: BinaryRow::empty(),
            max_key: BinaryRow::empty(), key_stats: empty(), value_stats: empty(), min_sequence_number: n[2],
            max_sequence_number: n[3], schema_id: SchemaId(n[4]), level, extra_files: Vec::new(),
            creation_time: optional[0], delete_row_count: optional[1], embedded_index: None,
            file_source: source.map(|c| if c { FileSource::Compact } else { FileSource::Append }),
            value_stats_cols: None, external_path: None, first_row_id: optional[2], write_cols: None,
            write_cols_sequences: None,
        }
    }
}

prop_compose! {
    fn file()(numbers in numbers(), file_name in prop_oneof![".{0,20}", "data-[0-9a-f]{12}-[ab]-[0-9]{1,3}[.]orc"], min_key in row(), max_key in row(), key_stats in stats(),
              value_stats in stats(), extra_files in names(), embedded_index in blob(),
              value_stats_cols in option::of(names()), external_path in option::of(".{0,9}"),
              write_cols in option::of(names()), sequences in option::of(vec(any::<i64>(), 0..3))) -> DataFileMeta {
        DataFileMeta {
            file_name, min_key, max_key, key_stats, value_stats, extra_files, embedded_index, value_stats_cols,
            external_path, write_cols, write_cols_sequences: sequences, ..numbers
        }
    }
}

prop_compose! {
    fn entry()(delete in any::<bool>(), partition in row(), bucket in any::<i32>(), total_buckets in any::<i32>(),
               file in file()) -> ManifestEntry {
        let kind = if delete { FileKind::Delete } else { FileKind::Add };
        ManifestEntry { kind, partition, bucket, total_buckets, file }
    }
}

fn codec() -> impl Strategy<Value = Codec> {
    prop_oneof![
        Just(Codec::Null),
        Just(Codec::Deflate),
        Just(Codec::Snappy),
        Just(Codec::Zstd(1)),
        Just(Codec::Zstd(9))
    ]
}

prop_compose! {
    fn meta()(file_name in ".{0,20}", n in any::<[i64; 4]>(), partition_stats in stats(),
              small in any::<[Option<i32>; 4]>(), row_ids in any::<[Option<i64>; 2]>()) -> ManifestMeta {
        ManifestMeta {
            file_name, file_size: n[0], num_added_files: n[1], num_deleted_files: n[2], partition_stats,
            schema_id: SchemaId(n[3]), min_bucket: small[0], max_bucket: small[1], min_level: small[2],
            max_level: small[3], min_row_id: row_ids[0], max_row_id: row_ids[1],
        }
    }
}

prop_compose! {
    fn vector()(data_file in ".{0,9}", offset in any::<i32>(), length in any::<i32>(), cardinality in any::<Option<i64>>())
        -> DeletionVectorMeta {
        DeletionVectorMeta { data_file, offset, length, cardinality }
    }
}

prop_compose! {
    fn global()(range in any::<(i64, i64)>(), field in any::<i32>(), extra in option::of(vec(any::<i32>(), 0..3)),
                index_meta in blob(), source_meta in blob()) -> GlobalIndexMeta {
        GlobalIndexMeta {
            row_range_start: range.0, row_range_end: range.1, index_field_id: field, extra_field_ids: extra, index_meta,
            source_meta,
        }
    }
}

prop_compose! {
    fn index()(partition in row(), bucket in any::<i32>(), index_type in ".{0,9}", file_name in ".{0,9}",
               n in any::<(i64, i64)>(), deletion_vectors in option::of(vec(vector(), 0..3)),
               external_path in option::of(".{0,9}"), global_index in option::of(global())) -> IndexManifestEntry {
        IndexManifestEntry {
            kind: FileKind::Add, partition, bucket, index_type, file_name, file_size: n.0, row_count: n.1,
            deletion_vectors, external_path, global_index,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn manifests(entries in vec(entry(), 0..40), codec in codec()) {
        let bytes = write_manifest(&entries, codec).unwrap().into();
        let batch = read_manifest(&bytes).unwrap();
        let read: Vec<_> = (0..batch.len()).map(|i| batch.entry(i).unwrap()).collect();
        prop_assert_eq!(&read, &entries);
        for (i, a) in entries.iter().enumerate() {
            prop_assert_eq!(batch.file_name(i).to_string(), a.file.file_name.as_str());
            for (j, b) in entries.iter().enumerate() {
                let same = a.partition == b.partition && a.bucket == b.bucket && a.file.level == b.file.level
                    && a.file.file_name == b.file.file_name && a.file.extra_files == b.file.extra_files
                    && a.file.embedded_index == b.file.embedded_index && a.file.external_path == b.file.external_path;
                prop_assert_eq!(batch.identity(i) == batch.identity(j), same);
            }
        }
    }

    #[test]
    fn manifest_lists(metas in vec(meta(), 0..20), codec in codec()) {
        let bytes = write_manifest_list(&metas, codec).unwrap().into();
        prop_assert_eq!(read_manifest_list(&bytes).unwrap(), metas);
    }

    #[test]
    fn index_manifests(entries in vec(index(), 0..20), codec in codec()) {
        let bytes = write_index_manifest(&entries, codec).unwrap().into();
        prop_assert_eq!(read_index_manifest(&bytes).unwrap(), entries);
    }
}

#[test]
fn many_blocks() {
    let name = |i: usize| ManifestMeta {
        file_name: format!("manifest-{i}"),
        file_size: 1,
        num_added_files: 1,
        num_deleted_files: 0,
        partition_stats: SimpleStats { min: BinaryRow::empty(), max: BinaryRow::empty(), null_counts: Vec::new() },
        schema_id: SchemaId(0),
        min_bucket: None,
        max_bucket: None,
        min_level: None,
        max_level: None,
        min_row_id: None,
        max_row_id: None,
    };
    let metas: Vec<_> = (0..5_000).map(name).collect();
    let bytes = write_manifest_list(&metas, Codec::Zstd(1)).unwrap();
    assert_eq!(bytes, write_manifest_list(&metas, Codec::Zstd(1)).unwrap());
    let bytes = bytes.into();
    assert!(super::blocks(&bytes).len() > 3);
    assert_eq!(read_manifest_list(&bytes).unwrap(), metas);
}
