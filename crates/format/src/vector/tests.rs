//! Round trips, damage, and the vectors of the reference.

use proptest::prelude::*;
use roaring::RoaringTreemap;

use super::{VectorKind, parse, range, read, write};
use crate::ErrorKind;
use crate::fixture;
use crate::manifest::DeletionVectorMeta;

/// Vectors lie back to back, so a file of the reference tells where they are; its first bytes tell their encoding.
fn scan(file: &[u8], overhead: i32) -> Vec<DeletionVectorMeta> {
    let (mut metas, mut at) = (Vec::new(), 1);
    while at < file.len() {
        let size = i32::from_be_bytes(file[at..at + 4].try_into().unwrap());
        let data_file = format!("file {}", metas.len());
        metas.push(DeletionVectorMeta { data_file, offset: at as i32, length: size + overhead, cardinality: None });
        at += size as usize + 8;
    }
    metas
}

fn check_table(archive: &fixture::Archive, table: &str, kind: VectorKind) -> u64 {
    let overhead = if kind == VectorKind::Bitmap64 { 8 } else { 0 };
    let mut rows = 0;
    for (path, file) in fixture::files(archive, table, |f| f.starts_with("index/")) {
        let metas = scan(file, overhead);
        let vectors: Vec<RoaringTreemap> = metas.iter().map(|meta| read(file, meta).unwrap()).collect();
        rows += vectors.iter().map(RoaringTreemap::len).sum::<u64>();
        let named = metas.iter().map(|m| m.data_file.as_str()).zip(&vectors);
        let (bytes, ours) = write(kind, named).unwrap();
        assert_eq!(bytes, file.to_vec(), "{path}: our bytes are the reference's");
        assert!(ours.iter().zip(&metas).all(|(a, b)| (a.offset, a.length) == (b.offset, b.length)));
    }
    rows
}

#[test]
fn vectors_of_the_reference_read_and_write() {
    for archive in [fixture::java21(), fixture::java09()] {
        for table in ["dv_append", "dv_pk_parquet", "dv_pk_avro", "dv_pk_orc"] {
            assert!(check_table(archive, table, VectorKind::Bitmap32) > 0);
        }
    }
    assert!(check_table(fixture::java21(), "x21_dv64_pk", VectorKind::Bitmap64) > 0);
}

#[test]
fn positions_beyond_an_int_need_64_bits() {
    let positions: RoaringTreemap = [5, 1 << 31].into_iter().collect();
    let error = write(VectorKind::Bitmap32, [("f", &positions)]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    let (file, metas) = write(VectorKind::Bitmap64, [("f", &positions)]).unwrap();
    assert_eq!(read(&file, &metas[0]).unwrap(), positions);
}

fn vectors() -> impl Strategy<Value = Vec<RoaringTreemap>> {
    let runs = prop::collection::vec((0u64..1 << 31, 1u64..200), 0..20);
    let one = runs.prop_map(|runs| runs.into_iter().flat_map(|(start, n)| start..(start + n).min(1 << 31)).collect());
    prop::collection::vec(one, 1..5)
}

proptest! {
    #[test]
    fn what_is_written_reads_back(vectors in vectors(), wide in any::<bool>()) {
        let kind = if wide { VectorKind::Bitmap64 } else { VectorKind::Bitmap32 };
        let (file, metas) = write(kind, vectors.iter().map(|v| ("f", v))).unwrap();
        for (meta, vector) in metas.iter().zip(&vectors) {
            prop_assert_eq!(&read(&file, meta).unwrap(), vector);
            let range = range(meta, file.len() as u64).unwrap();
            let part = &file[range.start as usize..range.end as usize];
            prop_assert_eq!(&parse(part, meta).unwrap(), vector);
        }
    }

    #[test]
    fn any_flipped_bit_is_found(vectors in vectors(), wide in any::<bool>(), at in any::<prop::sample::Index>(), bit in 0u8..8) {
        let kind = if wide { VectorKind::Bitmap64 } else { VectorKind::Bitmap32 };
        let (mut file, metas) = write(kind, vectors.iter().map(|v| ("f", v))).unwrap();
        let at = at.index(file.len());
        file[at] ^= 1 << bit;
        let failed = metas.iter().any(|meta| read(&file, meta).is_err_and(|e| e.kind() == ErrorKind::Corrupt));
        prop_assert!(failed);
    }
}
