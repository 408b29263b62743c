//! Where the committed corpora come from: small files of every kind, as Linn writes them. `sim --corpora` writes them anew;
//! files of other implementations were added from `tests/fixtures` by hand.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array};
use linn_core::Storage;
use linn_format::datum::Datum;
use linn_format::index::{IndexSpec, IndexWriter};
use linn_format::lookup::{BlockCodec, LookupWriter, WriteOptions};
use linn_format::options::Options;
use linn_format::row::{BinaryRow, compact_rows};
use linn_format::types::DataType;

use super::target::data_fields;
use crate::sim::fault::Place;
use crate::sim::row::{self, Row, Values};
use crate::sim::{Shape, cut, shape};

/// Most bytes of an input.
const MOST: usize = 12_000;

/// Inputs by target, each with a name.
///
/// # Panics
/// When a table cannot be written.
pub fn seeds() -> BTreeMap<&'static str, BTreeMap<String, Vec<u8>>> {
    let mut seeds: BTreeMap<&'static str, BTreeMap<String, Vec<u8>>> = BTreeMap::new();
    let mut add = |target: &'static str, name: &str, bytes: Vec<u8>| {
        if bytes.len() <= MOST {
            seeds.entry(target).or_default().insert(name.to_owned(), bytes);
        }
    };
    for format in ["parquet", "orc", "avro"] {
        for bitmap64 in ["false", "true"] {
            let shape = Shape::of(shape::Engine::Last)
                .with_vectors()
                .with_producer(shape::Producer::Lookup)
                .with("file.format", format)
                .with("deletion-vectors.bitmap64", bitmap64)
                .with("num-levels", "4");
            let mut seen = BTreeSet::new();
            for (path, bytes) in files_of(&shape) {
                let target = match (Place::of(&path), path.rsplit('/').next().unwrap_or_default()) {
                    (Place::Snapshot, _) => "snapshot",
                    (Place::Schema, _) => "schema",
                    (Place::Manifest, name) if name.starts_with("manifest-list") => "manifest_list",
                    (Place::Manifest, name) if name.starts_with("index-manifest") => "index_manifest",
                    (Place::Manifest, _) => "manifest",
                    (Place::Index, _) => "deletion_vector",
                    (Place::Data, name) if name.ends_with(".parquet") => "parquet",
                    (Place::Data, name) if name.ends_with(".orc") => "orc",
                    (Place::Data, name) if name.ends_with(".avro") => "avro",
                    _ => continue,
                };
                // One of each kind is enough, and the last one of a kind has the most in it.
                if seen.insert(target) || target == "manifest" {
                    add(target, &format!("linn-{format}-{bitmap64}"), bytes);
                }
            }
        }
    }
    for (name, bytes) in [
        ("zstd", lookup(BlockCodec::Zstd(1))),
        ("lz4", lookup(BlockCodec::Lz4)),
        ("lzo", lookup(BlockCodec::Lzo)),
        ("none", lookup(BlockCodec::None)),
    ] {
        add("lookup", name, bytes);
    }
    for kind in ["bloom-filter", "bitmap", "range-bitmap"] {
        add("file_index", kind, file_index(kind, "k,s,w"));
    }
    add("file_index", "bsi", file_index("bsi", "k,s"));
    add("row", "datums", row_bytes());
    add("options", "table", b"bucket=4\nmerge-engine=partial-update\nfields.a.sequence-group=b,w\nsequence.field=s\nsnapshot.time-retained=1 h\ntarget-file-size=128 mb\nchangelog-producer=lookup\n".to_vec());
    add(
        "types",
        "row",
        b"ROW<a INT NOT NULL, b ARRAY<DECIMAL(20, 4)>, c MAP<STRING, TIMESTAMP(9) WITH LOCAL TIME ZONE>>".to_vec(),
    );
    add("types", "json", br#"{"id":1,"name":"a","type":{"type":"MAP","key":"STRING NOT NULL","value":{"type":"ROW","fields":[{"id":4,"name":"x","type":"BIGINT"}]}}}"#.to_vec());
    add("types", "path", b"dt=2026-01-01/h=%2F%3A".to_vec());
    seeds
}

/// The files of a small table of a kind.
fn files_of(shape: &Shape) -> Vec<(String, Vec<u8>)> {
    let world = cut::table(shape);
    let read = |path: String| {
        let bytes = futures::executor::block_on(world.disk.read(&path, None)).unwrap().to_vec();
        (path, bytes)
    };
    world.disk.paths().into_iter().map(read).collect()
}

fn lookup(codec: BlockCodec) -> Vec<u8> {
    let keys: ArrayRef = Arc::new(Int64Array::from_iter_values((0..50).map(|i| i * 3)));
    let keys = compact_rows(&[keys], &[DataType::parse("BIGINT").unwrap()]).unwrap();
    let options = WriteOptions { block_size: 256, codec, bloom_fpp: Some(0.05) };
    let mut writer = LookupWriter::new(Vec::new(), 50, options);
    for key in keys.iter().flatten() {
        writer.put(key, &[key, key].concat()).unwrap();
    }
    writer.finish().unwrap()
}

fn file_index(kind: &str, columns: &str) -> Vec<u8> {
    let options: Options = [(format!("file-index.{kind}.columns"), columns.to_owned())].into_iter().collect();
    let mut writer = IndexWriter::new(&data_fields(), &IndexSpec::from_options(&options).unwrap()).unwrap();
    let values = |i: i64| Values { s: Some(i), a: None, b: Some(-i), w: Some(format!("text {i}")) };
    let rows: Vec<Row> = (0..40).map(|i| Row { p: 0, k: i % 7, values: values(i64::from(i)), kind: 0 }).collect();
    writer.update(&row::batch(&rows).0).unwrap();
    writer.finish().unwrap().unwrap().to_vec()
}

fn row_bytes() -> Vec<u8> {
    let (int, long, text) = (DataType::parse("INT").unwrap(), DataType::parse("BIGINT").unwrap(), DataType::string());
    let datums = [
        (Some(Datum::Int(7)), &int),
        (Some(Datum::BigInt(-9)), &long),
        (Some(Datum::String("a text that is longer than seven bytes".into())), &text),
        (None, &text),
    ];
    BinaryRow::from_datums(&datums).unwrap().to_serialized().to_vec()
}
