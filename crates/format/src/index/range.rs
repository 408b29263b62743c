//! `range-bitmap`: the place of every row's value in a sorted dictionary, as bit slices.
//!
//! The dictionary is cut into chunks; a chunk's head has its first value and that value's code, its body the values
//! that follow, with consecutive codes. Only the chunk that can hold a value is decoded.

use roaring::RoaringBitmap;

use super::bytes::{Reader, from};
use super::key::{Key, Layout};
use super::slices::Slices;
use crate::predicate::CompareOp;
use crate::types::Kind;
use crate::{Error, Result};

/// An index that is read.
pub(super) struct Range<'a> {
    rows: u32,
    layout: Layout,
    content: Option<Content<'a>>,
}

/// What there is when not every row is null.
struct Content<'a> {
    min: Key,
    max: Key,
    dictionary: &'a [u8],
    slices: Slices,
}

/// Where a value is in the dictionary, or would be.
enum Code {
    At(u32),
    Before(u32),
}

impl<'a> Range<'a> {
    pub(super) fn parse(body: &'a [u8], layout: Layout) -> Result<Self> {
        let (mut head, rest) = headed(body)?;
        version(&mut head)?;
        let rows = u32::try_from(head.int()?).map_err(|_| Error::corrupt("range bitmap has negative rows"))?;
        if head.int()? <= 0 {
            return Ok(Self { rows, layout, content: None });
        }
        let (min, max) = (layout.read(&mut head)?, layout.read(&mut head)?);
        let length = head.length()?;
        let mut rest = Reader::new(rest);
        let dictionary = rest.take(length)?;
        let slices = slices(rest.rest())?;
        Ok(Self { rows, layout, content: Some(Content { min, max, dictionary, slices }) })
    }

    pub(super) fn not_null(&self) -> RoaringBitmap {
        self.content.as_ref().map_or_else(RoaringBitmap::new, |c| c.slices.rows.clone())
    }

    pub(super) fn nulls(&self) -> RoaringBitmap {
        let mut rows = RoaringBitmap::new();
        rows.insert_range(0..self.rows);
        rows - self.not_null()
    }

    /// Rows whose value compares so with `key`.
    pub(super) fn compare(&self, op: CompareOp, key: &Key) -> Result<RoaringBitmap> {
        let Some(content) = &self.content else {
            return Ok(RoaringBitmap::new());
        };
        let code = if *key < content.min {
            Code::Before(0)
        } else if *key > content.max {
            Code::Before(u32::MAX)
        } else {
            find(content.dictionary, self.layout, key)?
        };
        let slices = &content.slices;
        Ok(match (code, op) {
            (Code::At(code), op) => slices.compare(op, code.into()),
            (Code::Before(_), CompareOp::Eq) => RoaringBitmap::new(),
            (Code::Before(_), CompareOp::NotEq) => slices.rows.clone(),
            (Code::Before(code), CompareOp::Lt | CompareOp::LtEq) => slices.compare(CompareOp::Lt, code.into()),
            (Code::Before(code), CompareOp::Gt | CompareOp::GtEq) => slices.compare(CompareOp::GtEq, code.into()),
        })
    }
}

/// A head with its length in front, and what follows it.
fn headed(bytes: &[u8]) -> Result<(Reader<'_>, &[u8])> {
    let mut reader = Reader::new(bytes);
    let length = reader.length()?;
    let head = reader.take(length)?;
    Ok((Reader::new(head), reader.rest()))
}

fn version(reader: &mut Reader<'_>) -> Result<()> {
    let version = reader.byte()?;
    if version > 1 { Err(Error::unsupported(format!("range bitmap version {version}"))) } else { Ok(()) }
}

fn slices(bytes: &[u8]) -> Result<Slices> {
    let (mut head, body) = headed(bytes)?;
    version(&mut head)?;
    let width = head.byte()?;
    if width > 32 {
        return Err(Error::corrupt("range bitmap has more than 32 bits"));
    }
    let rows_length = head.length()?;
    head.length()?;
    let rows = from(body, 0)?.bitmap()?;
    let mut bits = Vec::new();
    for _ in 0..width {
        let (offset, _) = (head.length()?, head.length()?);
        let start = rows_length.checked_add(offset).ok_or_else(|| Error::corrupt("range bitmap is too long"))?;
        bits.push(from(body, start)?.bitmap()?);
    }
    Ok(Slices { rows, bits })
}

fn find(dictionary: &[u8], layout: Layout, key: &Key) -> Result<Code> {
    let (mut head, body) = headed(dictionary)?;
    version(&mut head)?;
    let chunks = head.length()?;
    let (offsets_length, chunks_length) = (head.length()?, head.length()?);
    let mut body = Reader::new(body);
    let (offsets, heads) = (body.take(offsets_length)?, body.take(chunks_length)?);
    let mut offsets = Reader::new(offsets);
    let mut last = None;
    for _ in 0..chunks {
        let mut chunk = from(heads, offsets.length()?)?;
        version(&mut chunk)?;
        let first = layout.read(&mut chunk)?;
        if first > *key {
            break;
        }
        last = Some((first, chunk));
    }
    match last {
        None => Ok(Code::Before(0)),
        Some((first, chunk)) => find_in_chunk(first, chunk, body.rest(), layout, key),
    }
}

fn find_in_chunk(first: Key, mut head: Reader<'_>, bodies: &[u8], layout: Layout, key: &Key) -> Result<Code> {
    let code = u32::try_from(head.int()?).map_err(|_| Error::corrupt("range bitmap has a negative code"))?;
    if first == *key {
        return Ok(Code::At(code));
    }
    let (start, size) = (head.length()?, head.length()?);
    let first_length = head.length()?;
    // Chunks of values that vary in length have a list of offsets before the values; values know their own length.
    let skip = if layout == Layout::Bytes { first_length } else { 0 };
    let start = start.checked_add(skip).ok_or_else(|| Error::corrupt("range bitmap is too long"))?;
    let mut values = from(bodies, start)?;
    let mut code = code;
    for _ in 0..size {
        code = code.checked_add(1).ok_or_else(|| Error::corrupt("range bitmap has too many codes"))?;
        let value = layout.read(&mut values)?;
        if value == *key {
            return Ok(Code::At(code));
        }
        if value > *key {
            return Ok(Code::Before(code));
        }
    }
    Ok(Code::Before(code.saturating_add(1)))
}

/// The layout of a column's values in a range bitmap; `None` where there are none.
pub(super) fn layout(kind: &Kind) -> Option<Layout> {
    match kind {
        Kind::Decimal { precision, .. } if *precision <= 18 => Some(Layout::Long),
        Kind::WideTimestamp { .. } => None,
        Kind::Timestamp(p) | Kind::LocalZonedTimestamp(p) if *p > 6 => None,
        other => Layout::of(other),
    }
}
