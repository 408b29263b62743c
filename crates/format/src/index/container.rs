//! The container of a data file's indexes: a head that says which column has which index where, and their bodies.

use bytes::Bytes;

use super::bytes::{Reader, int};
use crate::{Error, Result};

const MAGIC: i64 = 1_493_475_289_347_502;
const VERSION: i32 = 1;
/// Start of an index that has no body because no value was ever written to it.
const EMPTY: i32 = -1;

/// One index of one column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexPart {
    /// Column in the data file; `m[k]` for the key `k` of a map column `m`.
    pub column: String,
    /// Index type, such as [`BLOOM_FILTER`](super::BLOOM_FILTER).
    pub index_type: String,
    /// The body; `None` when no value was ever written to the index.
    pub body: Option<Bytes>,
}

/// The indexes of one data file, as embedded in its metadata or in its `.index` file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct IndexFile {
    /// All indexes, in file order.
    pub parts: Vec<IndexPart>,
}

impl IndexFile {
    /// Parses the bytes of an index file.
    ///
    /// # Errors
    /// `Corrupt` when they are none, `Unsupported` for another version.
    pub fn parse(bytes: &Bytes) -> Result<Self> {
        let mut head = Reader::new(bytes);
        if head.long()? != MAGIC {
            return Err(Error::corrupt("not a file index"));
        }
        let version = head.int()?;
        if version != VERSION {
            return Err(Error::unsupported(format!("file index version {version}")));
        }
        head.length()?;
        let mut parts = Vec::new();
        for _ in 0..head.count()? {
            let column = head.utf()?;
            for _ in 0..head.count()? {
                let index_type = head.utf()?;
                let (start, length) = (head.int()?, head.length()?);
                let body = if start == EMPTY { None } else { Some(body(bytes, start, length)?) };
                parts.push(IndexPart { column: column.clone(), index_type, body });
            }
        }
        Ok(Self { parts })
    }

    /// The indexes of a column.
    pub fn column<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a IndexPart> {
        self.parts.iter().filter(move |part| part.column == name)
    }

    /// The bytes of an index file; parts of one column must follow one another.
    ///
    /// # Errors
    /// `Unsupported` beyond 2 GiB, `Invalid` for a column name longer than 65,535 bytes.
    pub fn to_bytes(&self) -> Result<Bytes> {
        let groups: Vec<&[IndexPart]> = self.parts.chunk_by(|a, b| a.column == b.column).collect();
        let mut head_length = 8 + 4 + 4 + 4 + 4;
        for group in &groups {
            head_length += 2 + group[0].column.len() + 4;
            head_length += group.iter().map(|part| 2 + part.index_type.len() + 8).sum::<usize>();
        }
        let mut out = Vec::new();
        out.extend_from_slice(&MAGIC.to_be_bytes());
        out.extend_from_slice(&VERSION.to_be_bytes());
        out.extend_from_slice(&int(head_length)?.to_be_bytes());
        out.extend_from_slice(&int(groups.len())?.to_be_bytes());
        let mut start = head_length;
        for group in &groups {
            put_utf(&mut out, &group[0].column)?;
            out.extend_from_slice(&int(group.len())?.to_be_bytes());
            for part in *group {
                put_utf(&mut out, &part.index_type)?;
                let length = part.body.as_ref().map_or(0, Bytes::len);
                let at = if part.body.is_some() { int(start)? } else { EMPTY };
                out.extend_from_slice(&at.to_be_bytes());
                out.extend_from_slice(&int(length)?.to_be_bytes());
                start += length;
            }
        }
        out.extend_from_slice(&0i32.to_be_bytes());
        self.parts.iter().filter_map(|part| part.body.as_ref()).for_each(|body| out.extend_from_slice(body));
        Ok(out.into())
    }
}

fn body(bytes: &Bytes, start: i32, length: usize) -> Result<Bytes> {
    let start = usize::try_from(start).ok();
    let end = start.and_then(|start| start.checked_add(length)).filter(|end| *end <= bytes.len());
    match (start, end) {
        (Some(start), Some(end)) => Ok(bytes.slice(start..end)),
        _ => Err(Error::corrupt("file index refers to bytes beyond its end")),
    }
}

fn put_utf(out: &mut Vec<u8>, text: &str) -> Result<()> {
    let length = u16::try_from(text.len()).map_err(|_| Error::invalid("column name is too long for a file index"))?;
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(text.as_bytes());
    Ok(())
}
