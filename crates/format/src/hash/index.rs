//! Hash index files: the key hashes of one bucket of a table with dynamic buckets, 4 big-endian bytes each, in no order
//! (spec: format.md C.11).
//!
//! The format has no checksum, and a key whose hash is lost would get another bucket and be there twice. Names of files say
//! nothing to anyone, so the names of ours end with a checksum; of other files only the length tells damage
//! (docs/decisions/0012).

use bytes::Bytes;

use crate::{Error, Result};

/// Bytes of one hash.
const WIDTH: usize = 4;

/// What is before the checksum in a name.
const MARK: &str = "-crc32-";

/// The hashes in an index file of this name that should hold `rows` of them.
///
/// # Errors
/// `Corrupt` when the file holds another number, or other bytes than its name says.
pub fn read_hash_index(name: &str, bytes: &Bytes, rows: i64) -> Result<Vec<i32>> {
    let (hashes, rest) = bytes.as_chunks::<WIDTH>();
    if !rest.is_empty() || i64::try_from(hashes.len()) != Ok(rows) {
        return Err(Error::corrupt(format!("a hash index of {rows} keys has {} bytes", bytes.len())));
    }
    if let Some(expected) = checksum(name)
        && expected != crc32fast::hash(bytes)
    {
        return Err(Error::corrupt("a hash index does not have the checksum that its name ends with")
            .with_hint("its keys could be written twice; overwrite the partition to rebuild its index"));
    }
    Ok(hashes.iter().map(|hash| i32::from_be_bytes(*hash)).collect())
}

fn checksum(name: &str) -> Option<u32> {
    let (_, digits) = name.rsplit_once(MARK)?;
    (digits.len() == 8).then(|| u32::from_str_radix(digits, 16).ok())?
}

/// The name of an index file with these bytes, of an unused name's beginning.
pub fn hash_index_name(unused: &str, bytes: &Bytes) -> String {
    format!("{unused}{MARK}{:08x}", crc32fast::hash(bytes))
}

/// An index file of these hashes.
pub fn write_hash_index(hashes: &[i32]) -> Bytes {
    let mut bytes = Vec::with_capacity(hashes.len() * WIDTH);
    for hash in hashes {
        bytes.extend_from_slice(&hash.to_be_bytes());
    }
    bytes.into()
}

#[cfg(test)]
mod tests {
    use super::{hash_index_name, read_hash_index, write_hash_index};
    use crate::ErrorKind;

    #[test]
    fn any_flipped_bit_is_found_by_the_name() {
        let hashes = [0, -1, i32::MIN, 77];
        let bytes = write_hash_index(&hashes);
        let name = hash_index_name("index-1", &bytes);
        assert_eq!(name, "index-1-crc32-33c7ca32");
        assert_eq!(read_hash_index(&name, &bytes, 4).unwrap(), hashes);
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.to_vec();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let error = read_hash_index(&name, &flipped.into(), 4).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt, "bit {bit}");
        }
        // Names that others give say nothing.
        for other in ["index-1", "index-crc32-1", "index-1-crc32-0g000000", "index-1-crc32-000000001"] {
            assert_eq!(read_hash_index(other, &bytes, 4).unwrap(), hashes, "{other}");
        }
        assert_eq!(read_hash_index("index-1", &bytes, 3).unwrap_err().kind(), ErrorKind::Corrupt);
    }

    /// Fewer keys would be taken for new ones and be there twice.
    #[test]
    fn files_of_others_that_were_cut_or_grew_are_corrupt() {
        let bytes = write_hash_index(&[0, -1, i32::MIN, 77]);
        let grown = [&bytes[..], &bytes[..5]].concat();
        for name in ["index-9a1f2b3c-0d4e-4f50-8a61-b72c83d94ea5-0", "index-1-crc32-"] {
            for length in (0..grown.len()).filter(|length| *length != bytes.len()) {
                let cut = grown[..length].to_vec().into();
                let error = read_hash_index(name, &cut, 4).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Corrupt, "{length} bytes");
                assert!(error.to_string().contains("4 keys"), "{error}");
            }
            assert_eq!(read_hash_index(name, &bytes, -1).unwrap_err().kind(), ErrorKind::Corrupt);
            assert_eq!(read_hash_index(name, &bytes, i64::MAX).unwrap_err().kind(), ErrorKind::Corrupt);
        }
    }
}
