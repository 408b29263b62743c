//! Damaged manifests give `Corrupt` or an answer, never a panic.

use bytes::Bytes;

use super::fixture;
use crate::manifest::*;
use crate::{ErrorKind, Result};

/// Reads as anything and touches every field.
fn read_all(bytes: &Bytes) -> [Result<()>; 3] {
    let manifest = read_manifest(bytes).and_then(|batch| (0..batch.len()).try_for_each(|i| batch.entry(i).map(drop)));
    [manifest, read_manifest_list(bytes).map(drop), read_index_manifest(bytes).map(drop)]
}

fn is_ok_or_corrupt(bytes: Vec<u8>) {
    for result in read_all(&bytes.into()) {
        assert!(result.as_ref().map_or_else(|e| e.kind() == ErrorKind::Corrupt, |()| true), "{result:?}");
    }
}

/// The same records without compression, so that flips reach the records and not only the codec.
fn plain() -> [Vec<u8>; 3] {
    let batch = read_manifest(&fixture!("java-2.1/manifest-data-evolution")).unwrap();
    let lists = read_manifest_list(&fixture!("java-2.1/manifest-list")).unwrap();
    let index = read_index_manifest(&fixture!("java-2.1/index-manifest-dv")).unwrap();
    [
        write_manifest(&[batch.entry(0).unwrap()], Codec::Null).unwrap(),
        write_manifest_list(&lists[..1], Codec::Null).unwrap(),
        write_index_manifest(&index[..1], Codec::Null).unwrap(),
    ]
}

#[test]
fn flipped_bits_are_corrupt_or_harmless() {
    for file in plain() {
        for at in 0..file.len() {
            for bit in [0x01, 0x08, 0x80, 0xff] {
                let mut bytes = file.clone();
                bytes[at] ^= bit;
                is_ok_or_corrupt(bytes);
            }
        }
    }
}

/// Manifests of Linn carry checksums, those of others do not.
#[test]
fn any_flipped_bit_of_our_own_is_found() {
    fn check<T: PartialEq>(file: &[u8], read: impl Fn(&Bytes) -> Result<T>) {
        let whole = read(&Bytes::copy_from_slice(file)).unwrap();
        for at in 0..file.len() * 8 {
            let mut bytes = file.to_vec();
            bytes[at / 8] ^= 1 << (at % 8);
            match read(&Bytes::from(bytes)) {
                Ok(read) => assert!(read == whole, "bit {} of byte {} of {}", at % 8, at / 8, file.len()),
                Err(error) => assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}"),
            }
        }
    }
    let entries = |bytes: &Bytes| -> Result<Vec<ManifestEntry>> {
        let batch = read_manifest(bytes)?;
        (0..batch.len()).map(|at| batch.entry(at)).collect()
    };
    let codec = Codec::Zstd(1);
    let theirs = entries(&fixture!("java-2.1/manifest")).unwrap();
    check(&write_manifest(&theirs, codec).unwrap(), entries);
    let theirs = read_manifest_list(&fixture!("java-2.1/manifest-list")).unwrap();
    check(&write_manifest_list(&theirs, codec).unwrap(), read_manifest_list);
    let theirs = read_index_manifest(&fixture!("java-2.1/index-manifest-dv")).unwrap();
    check(&write_index_manifest(&theirs, codec).unwrap(), read_index_manifest);
}

#[test]
fn flips_in_compressed_files() {
    for file in [
        fixture!("java-2.1/manifest"),
        fixture!("java-2.1/index-manifest-hash"),
        fixture!("pypaimon-2.1/manifest-list"),
    ] {
        for at in 0..file.len() {
            let mut bytes = file.to_vec();
            bytes[at] ^= 0x10;
            is_ok_or_corrupt(bytes);
        }
    }
}

#[test]
fn cut_files_are_corrupt() {
    for file in plain() {
        let whole = Bytes::from(file);
        for len in 0..whole.len() {
            let [manifest, list, index] = read_all(&whole.slice(..len));
            // A file that ends after its header has no entries.
            let empty = read_manifest(&whole.slice(..len)).is_ok_and(|b| b.is_empty());
            assert!(
                manifest.is_err() && list.is_err() && index.is_err()
                    || empty
                    || len < whole.len() && {
                        read_manifest_list(&whole.slice(..len)).is_ok_and(|l| l.is_empty())
                            || read_index_manifest(&whole.slice(..len)).is_ok_and(|l| l.is_empty())
                    }
            );
        }
    }
}

#[test]
fn other_layout_versions_are_refused() {
    let mut bytes = plain()[1].clone();
    let record = bytes.windows(9).position(|w| w == b"manifest-").unwrap() - 2;
    assert_eq!(bytes[record], 4);
    bytes[record] = 2;
    assert_eq!(read_manifest_list(&bytes.into()).unwrap_err().kind(), ErrorKind::Corrupt);
}
