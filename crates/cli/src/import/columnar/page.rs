//! The headers of the pages of a Parquet column chunk, looked at before they are decoded for a mistake of old writers.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use linn::{Error, Result};

use super::thrift::{Cursor, FALSE, INT, STRUCT};

/// Bytes of a header that are read at first, and at the most: statistics in it may be long.
const HEADER: (u64, u64) = (1 << 10, 16 << 20);

/// What a header says of its page.
#[derive(Debug, PartialEq, Eq)]
struct Header {
    /// Bytes of the header itself.
    length: usize,
    /// Bytes of the page in the file.
    compressed: u64,
    /// Where the header says that the values of a page of version 2 are not compressed.
    not_compressed: Option<usize>,
}

/// Where, between two places of a file, headers of version 2 say that their values are not compressed. What is no header is left to
/// the reader, which says so better.
///
/// # Errors
/// `Unavailable` when the file cannot be read.
pub(super) fn not_compressed(file: &mut File, start: u64, end: u64) -> Result<Vec<u64>> {
    let mut places = Vec::new();
    let mut at = start;
    while at < end {
        let Some(header) = header(file, at, end)? else { break };
        places.extend(header.not_compressed.map(|place| at + place as u64));
        at = at.saturating_add(header.length as u64).saturating_add(header.compressed);
    }
    Ok(places)
}

fn unreadable(e: std::io::Error) -> Error {
    Error::unavailable("the input cannot be read").with_source(e)
}

fn header(file: &mut File, at: u64, end: u64) -> Result<Option<Header>> {
    let mut bytes = Vec::new();
    let mut wanted = HEADER.0;
    loop {
        file.seek(SeekFrom::Start(at)).map_err(unreadable)?;
        bytes.clear();
        file.take(wanted.min(end - at)).read_to_end(&mut bytes).map_err(unreadable)?;
        match parse(&bytes) {
            Some(header) => return Ok(Some(header)),
            None if wanted < HEADER.1 && wanted < end - at => wanted *= 16,
            None => return Ok(None),
        }
    }
}

fn parse(bytes: &[u8]) -> Option<Header> {
    let mut at = Cursor { bytes, at: 0 };
    let mut header = Header { length: 0, compressed: 0, not_compressed: None };
    let mut id = 0;
    while let Some(kind) = at.field(&mut id)? {
        match (id, kind) {
            (3, INT) => header.compressed = u64::try_from(at.signed()?).ok()?,
            (8, STRUCT) => header.not_compressed = at.version_2()?,
            _ => at.skip(kind, 0)?,
        }
    }
    header.length = at.at;
    Some(header)
}

impl Cursor<'_> {
    /// Where `is_compressed` of a header of version 2 is false.
    fn version_2(&mut self) -> Option<Option<usize>> {
        let (mut id, mut place) = (0, None);
        loop {
            let start = self.at;
            match self.field(&mut id)? {
                None => return Some(place),
                Some(FALSE) if id == 7 => place = Some(start),
                Some(kind) => self.skip(kind, 0)?,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read() {
        // Type 3, sizes 10 and -1 as numbers, checksum -2, version 2 with is_compressed false.
        let bytes = [0x15, 6, 0x15, 20, 0x15, 18, 0x15, 3, 0x4c, 0x15, 2, 0x62, 0x00, 0x00];
        let header = parse(&bytes).unwrap();
        assert_eq!((header.length, header.compressed), (bytes.len(), 9));
        assert_eq!(header.not_compressed, Some(11));
        assert!((0..bytes.len()).all(|end| parse(&bytes[..end]).is_none()));
    }
}
