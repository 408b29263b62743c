//! `range-bitmap`: the rank of every row's value in a sorted dictionary, as bit slices.

use std::collections::HashMap;

use roaring::RoaringBitmap;

use super::bytes::{Reader, VERSION, from, headed, int, next_row, put_bitmap, put_headed, version};
use super::dictionary::{self, Code};
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

impl<'a> Range<'a> {
    pub(super) fn parse(body: &'a [u8], layout: Layout) -> Result<Self> {
        let (mut head, rest) = headed(body)?;
        version(&mut head, "range bitmap")?;
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
            dictionary::find(content.dictionary, self.layout, key)?
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

fn slices(bytes: &[u8]) -> Result<Slices> {
    let (mut head, body) = headed(bytes)?;
    version(&mut head, "range bitmap")?;
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

/// An index being built: the distinct values in the order of their first rows, and for each row which one it has.
#[derive(Debug)]
pub(super) struct Builder {
    layout: Layout,
    chunk_size: usize,
    rows: u32,
    values: Values,
    codes: Vec<u32>,
}

#[derive(Debug)]
enum Values {
    /// By their order, which numbers of all kinds have in 64 bits.
    Numbers(HashMap<i64, u32>),
    Bytes(HashMap<Box<[u8]>, u32>),
}

/// The code of a row without a value; there are fewer values.
const NULL: u32 = u32::MAX;

impl Builder {
    /// `chunk_size` is that of the option, where it is set.
    pub(super) fn new(layout: Layout, chunk_size: Option<usize>) -> Self {
        let values = match layout {
            Layout::Bytes => Values::Bytes(HashMap::new()),
            _ => Values::Numbers(HashMap::new()),
        };
        let chunk_size = chunk_size.unwrap_or(match layout {
            // So few values that the reference looks at the heads alone.
            Layout::Boolean | Layout::Byte | Layout::Short => 0,
            _ => 16 << 10,
        });
        Self { layout, chunk_size, rows: 0, values, codes: Vec::new() }
    }

    pub(super) fn add(&mut self, key: Option<Key<&[u8]>>) -> Result<()> {
        next_row(&mut self.rows)?;
        let code = match (key, &mut self.values) {
            (None, _) => NULL,
            (Some(Key::Bytes(bytes)), Values::Bytes(values)) => match values.get(bytes) {
                Some(code) => *code,
                None => {
                    // Below the number of rows, which are below 2^31.
                    let code = values.len() as u32;
                    values.insert(bytes.into(), code);
                    code
                }
            },
            (Some(Key::Number(order) | Key::Double(order)), Values::Numbers(values)) => code(values, order),
            (Some(Key::Float(order)), Values::Numbers(values)) => code(values, order.into()),
            _ => return Err(Error::internal("a key does not fit its index")),
        };
        self.codes.push(code);
        Ok(())
    }

    pub(super) fn into_bytes(self) -> Result<Vec<u8>> {
        let mut values: Vec<(Key<&[u8]>, u32)> = match &self.values {
            Values::Numbers(values) => values.iter().map(|(order, code)| (self.key(*order), *code)).collect(),
            Values::Bytes(values) => values.iter().map(|(bytes, code)| (Key::Bytes(&**bytes), *code)).collect(),
        };
        values.sort_unstable();
        let mut ranks = vec![0; values.len()];
        for (rank, (_, code)) in values.iter().enumerate() {
            if let Some(slot) = ranks.get_mut(*code as usize) {
                *slot = rank as u64;
            }
        }
        let mut slices = Slices::default();
        for (row, code) in self.codes.iter().enumerate() {
            if let Some(rank) = ranks.get(*code as usize) {
                slices.push(row as u32, *rank)?;
            }
        }
        slices.bits.resize(width(values.len()), RoaringBitmap::new());
        let keys: Vec<Key<&[u8]>> = values.into_iter().map(|(key, _)| key).collect();
        let mut head = vec![VERSION];
        head.extend(int(self.rows as usize)?.to_be_bytes());
        head.extend(int(keys.len())?.to_be_bytes());
        for bound in [keys.first(), keys.last()].into_iter().flatten() {
            self.layout.write(bound, &mut head)?;
        }
        let dictionary = dictionary::write(self.layout, &keys, self.chunk_size)?;
        head.extend(int(dictionary.len())?.to_be_bytes());
        let mut out = Vec::new();
        put_headed(&mut out, &head)?;
        out.extend(dictionary);
        put_slices(&mut out, slices)?;
        Ok(out)
    }

    fn key(&self, order: i64) -> Key<&'static [u8]> {
        match self.layout {
            // Orders of floats are of 32 bits.
            Layout::Float => Key::Float(order as i32),
            Layout::Double => Key::Double(order),
            _ => Key::Number(order),
        }
    }
}

fn code(values: &mut HashMap<i64, u32>, order: i64) -> u32 {
    let next = values.len() as u32;
    *values.entry(order).or_insert(next)
}

/// How many slices so many values have. Without any the reference takes the bits of -1, and so must others, to the byte.
fn width(values: usize) -> usize {
    match values {
        0 => 64,
        values => (usize::BITS - (values - 1).leading_zeros()).max(1) as usize,
    }
}

fn put_slices(out: &mut Vec<u8>, mut slices: Slices) -> Result<()> {
    slices.optimize();
    let (mut places, mut body) = (Vec::new(), Vec::new());
    put_bitmap(&mut body, &slices.rows)?;
    let rows_length = body.len();
    for slice in &slices.bits {
        let start = body.len();
        put_bitmap(&mut body, slice)?;
        places.extend(int(start - rows_length)?.to_be_bytes());
        places.extend(int(body.len() - start)?.to_be_bytes());
    }
    // At most 64.
    let mut head = vec![VERSION, slices.bits.len() as u8];
    head.extend(int(rows_length)?.to_be_bytes());
    head.extend(int(places.len())?.to_be_bytes());
    head.extend(places);
    put_headed(out, &head)?;
    out.extend(body);
    Ok(())
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
