//! The pages of a Parquet column chunk, looked at before they are decoded: their checksums, so that an error names the
//! page, and a mistake of old writers in their headers.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use linn::{Error, Result};

use super::thrift::{Cursor, FALSE, INT, STRUCT};
use crate::import::ahead::damaged;

/// Bytes of a header that are read at first, and at the most: statistics in it may be long.
const HEADER: (u64, u64) = (1 << 10, 16 << 20);

/// What a header says of its page.
#[derive(Debug, PartialEq, Eq)]
struct Header {
    /// Bytes of the header itself.
    length: usize,
    /// Bytes of the page in the file.
    compressed: u64,
    checksum: Option<u32>,
    /// Where the header says that the values of a page of version 2 are not compressed.
    not_compressed: Option<usize>,
}

/// What was found in a column chunk.
#[derive(Debug, Default)]
pub(super) struct Pages {
    /// Where headers of version 2 say that their values are not compressed.
    pub(super) not_compressed: Vec<u64>,
}

/// Looks at the pages between two places of a file. What is no header is left to the reader, which says so better.
///
/// # Errors
/// `Corrupt` when the checksum of a page is another than its header says.
pub(super) fn check(file: &mut File, start: u64, end: u64) -> Result<Pages> {
    let mut pages = Pages::default();
    let mut at = start;
    while at < end {
        let Some(header) = header(file, at, end)? else { break };
        pages.not_compressed.extend(header.not_compressed.map(|place| at + place as u64));
        let body = at + header.length as u64;
        let next = body.saturating_add(header.compressed);
        if next > end {
            break;
        }
        if let Some(said) = header.checksum {
            let found = checksum(file, body, header.compressed)?;
            if found != said {
                return Err(damaged(format!("the page at byte {at} has the checksum {found:08x}, not {said:08x}")));
            }
        }
        at = next;
    }
    Ok(pages)
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

fn checksum(file: &mut File, start: u64, length: u64) -> Result<u32> {
    let mut hasher = crc32fast::Hasher::new();
    let mut buffer = vec![0; 64 << 10];
    file.seek(SeekFrom::Start(start)).map_err(unreadable)?;
    let mut body = file.take(length);
    loop {
        match body.read(&mut buffer).map_err(unreadable)? {
            0 => return Ok(hasher.finalize()),
            read => hasher.update(buffer.get(..read).unwrap_or_default()),
        }
    }
}

fn parse(bytes: &[u8]) -> Option<Header> {
    let mut at = Cursor { bytes, at: 0 };
    let mut header = Header { length: 0, compressed: 0, checksum: None, not_compressed: None };
    let mut id = 0;
    while let Some(kind) = at.field(&mut id)? {
        match (id, kind) {
            (3, INT) => header.compressed = u64::try_from(at.signed()?).ok()?,
            // A checksum is 32 bits, whatever sign they have.
            (4, INT) => header.checksum = Some(at.signed()? as u32),
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
        assert_eq!((header.length, header.compressed, header.checksum), (bytes.len(), 9, Some(u32::MAX - 1)));
        assert_eq!(header.not_compressed, Some(11));
        assert!((0..bytes.len()).all(|end| parse(&bytes[..end]).is_none()));
    }
}
