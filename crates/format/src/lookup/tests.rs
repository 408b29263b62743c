//! Lookup files: what is written is found, damage is found too, and the bytes are those of the format.

use arrow_array::{ArrayRef, BinaryArray, Int64Array, StringArray};
use bytes::Bytes;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::*;
use crate::row::{CompactOrder, compact_rows};
use crate::types::{DataType, Kind};
use crate::{Error, ErrorKind, Result};

impl BlockSource for Bytes {
    fn read(&self, offset: u64, len: usize) -> Result<Bytes> {
        let start = offset as usize;
        self.get(start..start + len).map(Bytes::copy_from_slice).ok_or_else(|| Error::corrupt("short"))
    }
}

fn types() -> Vec<DataType> {
    vec![DataType::required(Kind::BigInt), DataType::string()]
}

type Key = (i64, Option<String>);

fn keys(keys: &[Key]) -> BinaryArray {
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from_iter_values(keys.iter().map(|k| k.0))),
        Arc::new(StringArray::from_iter(keys.iter().map(|k| k.1.clone()))),
    ];
    compact_rows(&columns, &types()).unwrap()
}

fn write(entries: &BTreeMap<Key, Vec<u8>>, options: WriteOptions) -> Bytes {
    let sorted: Vec<Key> = entries.keys().cloned().collect();
    let mut writer = LookupWriter::new(Vec::new(), sorted.len() as u64, options);
    for (key, value) in keys(&sorted).iter().zip(entries.values()) {
        writer.put(key.unwrap(), value).unwrap();
    }
    writer.finish().unwrap().into()
}

fn open(file: &Bytes) -> Result<LookupReader<Bytes>> {
    LookupReader::open(file.clone(), file.len() as u64, CompactOrder::new(&types())?)
}

fn key() -> impl Strategy<Value = Key> {
    (-20i64..20, prop::option::of("[a-c]{0,3}"))
}

fn options() -> impl Strategy<Value = WriteOptions> {
    let codec =
        prop_oneof![Just(BlockCodec::None), Just(BlockCodec::Zstd(1)), Just(BlockCodec::Lz4), Just(BlockCodec::Lzo)];
    (codec, 16usize..400, prop::option::of(0.001f64..0.9)).prop_map(|(codec, block_size, bloom_fpp)| WriteOptions {
        block_size,
        codec,
        bloom_fpp,
    })
}

proptest! {
    #[test]
    fn what_is_written_is_found(
        entries in prop::collection::btree_map(key(), prop::collection::vec(any::<u8>(), 0..40), 0..120),
        absent in prop::collection::btree_set(key(), 0..60),
        options in options(),
    ) {
        let file = write(&entries, options);
        let reader = open(&file).unwrap();
        let mut asked: Vec<Key> = entries.keys().cloned().chain(absent).collect();
        asked.sort();
        asked.dedup();
        let asked_keys = keys(&asked);
        let mut found: Vec<Option<Vec<u8>>> = vec![None; asked.len()];
        reader
            .find_sorted((0..asked.len()).map(|i| asked_keys.value(i)), |i, value| {
                found[i] = Some(value.to_vec());
                Ok(())
            })
            .unwrap();
        for (i, key) in asked.iter().enumerate() {
            prop_assert_eq!(found[i].as_ref(), entries.get(key));
            let alone = reader.find(asked_keys.value(i)).unwrap();
            prop_assert_eq!(alone.as_ref(), entries.get(key));
        }
        let mut scanned = 0;
        reader.scan(|_, _| { scanned += 1; Ok(()) }).unwrap();
        prop_assert_eq!(scanned, entries.len());
    }

    /// A flipped bit is an error, or it lies where it changes no answer; never is there another value. The bloom filter
    /// has no checksum of its own: a flipped bit there can hide a key.
    #[test]
    fn damage_is_never_another_value(
        entries in prop::collection::btree_map(key(), prop::collection::vec(any::<u8>(), 0..40), 1..60),
        options in options(),
        at in any::<prop::sample::Index>(),
        bit in 0u8..8,
    ) {
        let file = write(&entries, options);
        let mut damaged = file.to_vec();
        let at = at.index(damaged.len());
        damaged[at] ^= 1 << bit;
        let Ok(reader) = open(&damaged.into()) else { return Ok(()) };
        let sorted: Vec<Key> = entries.keys().cloned().collect();
        for (key, value) in keys(&sorted).iter().zip(entries.values()) {
            match reader.find(key.unwrap()) {
                Ok(found) => prop_assert!(found.is_none() || found.as_ref() == Some(value)),
                Err(e) => prop_assert!(matches!(e.kind(), ErrorKind::Corrupt), "{e}"),
            }
        }
    }

    #[test]
    fn values_come_apart_as_they_were_put(
        row in prop::collection::vec(any::<u8>(), 0..20), position: u64, sequence: i64, kind in 0i8..4,
    ) {
        for processor in [Processor::Value, Processor::PositionAndValue, Processor::Position, Processor::Empty] {
            let mut value = Vec::new();
            processor.put(&row, position, sequence, kind, &mut value);
            let split = processor.split(&value).unwrap();
            prop_assert_eq!(split.row, processor.has_rows().then_some(&row[..]));
            prop_assert_eq!(split.position, processor.has_positions().then_some(position));
            if processor.has_rows() {
                prop_assert_eq!((split.sequence, split.kind), (sequence, kind));
            }
        }
    }
}

/// The layout of the format, byte by byte.
#[test]
fn a_small_file_has_the_bytes_of_the_format() {
    let entries = BTreeMap::from([((1, Some("a".to_owned())), vec![9u8]), ((2, None), vec![])]);
    let options = WriteOptions { block_size: 1 << 16, codec: BlockCodec::None, bloom_fpp: None };
    let file = write(&entries, options);
    // Header of two fields: kind and null bits in two bytes, then the BIGINT, then length and bytes of the string.
    let mut block = vec![12, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, b'a', 1, 9];
    block.extend([10, 0, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0]);
    block.extend([0, 0, 0, 0, 15, 0, 0, 0, 2, 0, 0, 0, 1]);
    let mut expected = block.clone();
    let trailer = |block: &[u8]| {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(block);
        hasher.update(&[0]);
        let mut trailer = vec![0];
        trailer.extend(hasher.finalize().to_le_bytes());
        trailer
    };
    expected.extend(trailer(&block));
    // One entry in the index: the last key, where the block lies and its size; all entries have one size.
    let mut index = vec![10, 0, 2, 2, 0, 0, 0, 0, 0, 0, 0, 2, 0, block.len() as u8];
    index.extend([14, 0, 0, 0, 0]);
    let at = expected.len();
    expected.extend(&index);
    expected.extend(trailer(&index));
    expected.extend([0; 20]);
    expected.extend((at as u64).to_le_bytes());
    expected.extend((index.len() as u32).to_le_bytes());
    expected.extend(1_481_571_681i32.to_le_bytes());
    assert_eq!(file, expected);
}

#[test]
fn names_of_remote_files_are_read_and_written() {
    let name = RemoteName::format("data-1.parquet", 77, Processor::PositionAndValue);
    assert_eq!(name, "data-1.parquet.77.position-and-value.v1.lookup");
    let parsed = RemoteName::parse(&name).unwrap();
    assert_eq!((parsed.processor, parsed.version.as_str()), (Processor::PositionAndValue, VERSION));
    assert_eq!(RemoteName::parse("data-1.parquet.index"), None);
    assert_eq!(RemoteName::parse("data-1.77.other.v1.lookup"), None);
}
