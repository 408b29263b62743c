//! Big-endian bytes of index bodies; no length is believed beyond the bytes that are there.

use roaring::RoaringBitmap;

use crate::{Error, Result};

/// Version of the parts of bit-sliced indexes and range bitmaps.
pub(super) const VERSION: u8 = 1;

/// A position in the bytes of an index.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reader<'a>(&'a [u8]);

#[cold]
fn short() -> Error {
    Error::corrupt("file index is truncated")
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// What is left.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.0
    }

    pub(super) fn take(&mut self, n: usize) -> Result<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(n).ok_or_else(short)?;
        self.0 = rest;
        Ok(head)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk::<N>().ok_or_else(short)?;
        self.0 = rest;
        Ok(*head)
    }

    pub(super) fn byte(&mut self) -> Result<u8> {
        Ok(self.array::<1>()?[0])
    }

    pub(super) fn bool(&mut self) -> Result<bool> {
        Ok(self.byte()? != 0)
    }

    pub(super) fn int(&mut self) -> Result<i32> {
        Ok(i32::from_be_bytes(self.array()?))
    }

    pub(super) fn long(&mut self) -> Result<i64> {
        Ok(i64::from_be_bytes(self.array()?))
    }

    /// An int that counts or measures.
    pub(super) fn length(&mut self) -> Result<usize> {
        usize::try_from(self.int()?).map_err(|_| Error::corrupt("file index has a negative length"))
    }

    /// A count of things of which each takes at least one byte.
    pub(super) fn count(&mut self) -> Result<usize> {
        let count = self.length()?;
        if count > self.0.len() { Err(short()) } else { Ok(count) }
    }

    /// A roaring bitmap in the portable format; what follows it stays.
    pub(super) fn bitmap(&mut self) -> Result<RoaringBitmap> {
        let bitmap = RoaringBitmap::deserialize_from(&mut self.0);
        bitmap.map_err(|e| Error::corrupt("file index has a malformed bitmap").with_source(e))
    }

    /// A string as Java's `writeUTF` has it; only the characters that UTF-8 shares with it.
    pub(super) fn utf(&mut self) -> Result<String> {
        let length = usize::from(u16::from_be_bytes(self.array()?));
        let bytes = self.take(length)?.to_vec();
        String::from_utf8(bytes).map_err(|e| Error::corrupt("file index has a malformed name").with_source(e))
    }
}

/// A head with its length in front, and what follows it.
pub(super) fn headed(bytes: &[u8]) -> Result<(Reader<'_>, &[u8])> {
    let mut reader = Reader::new(bytes);
    let length = reader.length()?;
    let head = reader.take(length)?;
    Ok((Reader::new(head), reader.rest()))
}

/// Reads the version of a part of an index; 1 is the only one there is.
pub(super) fn version(reader: &mut Reader<'_>, what: &str) -> Result<()> {
    let version = reader.byte()?;
    if version > VERSION { Err(Error::unsupported(format!("{what} version {version}"))) } else { Ok(()) }
}

/// The bytes `start..` of `bytes`.
pub(super) fn from(bytes: &[u8], start: usize) -> Result<Reader<'_>> {
    bytes.get(start..).map(Reader).ok_or_else(short)
}

/// Appends a bitmap in the portable format.
pub(super) fn put_bitmap(out: &mut Vec<u8>, bitmap: &RoaringBitmap) -> Result<()> {
    let written = bitmap.serialize_into(&mut *out);
    written.map_err(|e| Error::internal("bitmap cannot be serialized").with_source(e))
}

/// A length as the format's int.
pub(super) fn int(length: usize) -> Result<i32> {
    i32::try_from(length).map_err(|_| Error::unsupported("a file index of 2 GiB or more"))
}

/// Appends the length of a head, and the head.
pub(super) fn put_headed(out: &mut Vec<u8>, head: &[u8]) -> Result<()> {
    out.extend(int(head.len())?.to_be_bytes());
    out.extend_from_slice(head);
    Ok(())
}

/// The number of the next row of an index, which has so many; rows are ints in the format.
pub(super) fn next_row(rows: &mut u32) -> Result<u32> {
    let row = *rows;
    let next = row.checked_add(1).filter(|n| i32::try_from(*n).is_ok());
    *rows = next.ok_or_else(|| Error::unsupported("a file index of 2^31 rows"))?;
    Ok(row)
}
