//! A file of the reference, and damage to it.

use futures::executor::block_on;

use super::*;
use crate::ErrorKind;
use crate::fixture::Memory;

/// Five rows of table `x21_blob` of the fixtures: `00010203ff` with the row's number in the first byte, null for row 3.
const FILE: [u8; 94] = *b"\xcf\x11\x4e\x58\x00\x01\x02\x03\xff\x15\x00\x00\x00\x00\x00\x00\x00\x71\x08\xd8\xc6\
\xcf\x11\x4e\x58\x01\x01\x02\x03\xff\x15\x00\x00\x00\x00\x00\x00\x00\xf4\xd1\x4e\x1b\
\xcf\x11\x4e\x58\x02\x01\x02\x03\xff\x15\x00\x00\x00\x00\x00\x00\x00\x3a\xbd\x84\xa6\
\xcf\x11\x4e\x58\x04\x01\x02\x03\xff\x15\x00\x00\x00\x00\x00\x00\x00\xe7\x62\x61\x06\
\x2a\x00\x00\x2b\x2c\x05\x00\x00\x00\x01";

fn read(bytes: &[u8]) -> Result<Vec<Option<Bytes>>> {
    let file = Memory::new(bytes);
    block_on(async {
        let mut values = Vec::new();
        for entry in entries(&file).await? {
            values.push(match entry {
                BlobEntry::Value(range) => Some(payload(&RangeReader::read(&file, range).await?)?),
                BlobEntry::Null => None,
                BlobEntry::Placeholder => return Err(Error::internal("no placeholder was written")),
            });
        }
        Ok(values)
    })
}

#[test]
fn a_file_of_the_reference_is_read() {
    let value = |row: u8| (row != 3).then(|| Bytes::from(vec![row, 1, 2, 3, 0xff]));
    assert_eq!(read(&FILE).unwrap(), (0..5).map(value).collect::<Vec<_>>());
    assert!(read(&[0, 0, 0, 0, 1]).unwrap().is_empty());
}

#[test]
fn placeholders_and_nulls_take_no_bytes() {
    let placed = placed(&[-2, 16, -1, 20], 36).unwrap();
    assert_eq!(placed, [BlobEntry::Placeholder, BlobEntry::Value(0..16), BlobEntry::Null, BlobEntry::Value(16..36)]);
    assert_eq!(BlobEntry::content(&(16..36)), 20..24);
    for (lengths, end) in [(&[-3][..], 0), (&[15], 15), (&[16], 17), (&[16, 16], 31)] {
        assert_eq!(super::placed(lengths, end).unwrap_err().kind(), ErrorKind::Corrupt, "{lengths:?}");
    }
}

#[test]
fn any_flipped_bit_of_a_value_is_found() {
    for bit in 0..84 * 8 {
        let mut bytes = FILE;
        bytes[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(read(&bytes).unwrap_err().kind(), ErrorKind::Corrupt, "bit {bit}");
    }
    for end in 0..FILE.len() {
        assert!(read(&FILE[..end]).is_err(), "{end} bytes");
    }
}
