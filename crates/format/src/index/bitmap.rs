//! `bitmap`: the rows of every distinct value, as roaring bitmaps behind a dictionary.
//!
//! Version 1 has one dictionary of value and offset; version 2 cuts it, sorted, into blocks with an index of their
//! first values. A negative offset is a single row, `-1 - row`.

use std::collections::BTreeMap;

use roaring::RoaringBitmap;

use super::bytes::{Reader, from, int, next_row, put_bitmap};
use super::key::{Key, Layout};
use crate::{Error, Result};

/// An index that is read.
pub(super) struct Bitmap<'a> {
    layout: Layout,
    rows: u32,
    nulls: Option<i32>,
    dictionary: Dictionary<'a>,
    bodies: &'a [u8],
}

enum Dictionary<'a> {
    Plain(BTreeMap<Key, i32>),
    Blocks(Vec<(Key, usize)>, &'a [u8]),
}

impl<'a> Bitmap<'a> {
    pub(super) fn parse(body: &'a [u8], layout: Layout) -> Result<Self> {
        let mut reader = Reader::new(body);
        let version = reader.byte()?;
        if !(1..=2).contains(&version) {
            return Err(Error::unsupported(format!("bitmap index version {version}")));
        }
        let rows = u32::try_from(reader.int()?).map_err(|_| Error::corrupt("bitmap index has negative rows"))?;
        let values = reader.count()?;
        let nulls = if reader.bool()? { Some(reader.int()?) } else { None };
        if version == 2 && nulls.is_some() {
            reader.int()?;
        }
        let (dictionary, bodies) = match version {
            1 => plain(&mut reader, layout, values)?,
            _ => blocks(&mut reader, layout)?,
        };
        Ok(Self { layout, rows, nulls, dictionary, bodies })
    }

    /// Rows that have one of the values.
    pub(super) fn any(&self, keys: &[Key]) -> Result<RoaringBitmap> {
        let mut found = RoaringBitmap::new();
        for key in keys {
            if let Some(offset) = self.find(key)? {
                found |= self.at(offset)?;
            }
        }
        Ok(found)
    }

    /// Rows that are null.
    pub(super) fn nulls(&self) -> Result<RoaringBitmap> {
        self.nulls.map_or_else(|| Ok(RoaringBitmap::new()), |offset| self.at(offset))
    }

    /// Rows that are not null and have none of the values.
    pub(super) fn none(&self, keys: &[Key]) -> Result<RoaringBitmap> {
        let mut rows = RoaringBitmap::new();
        rows.insert_range(0..self.rows);
        Ok(rows - self.any(keys)? - self.nulls()?)
    }

    fn find(&self, key: &Key) -> Result<Option<i32>> {
        let (blocks, bytes) = match &self.dictionary {
            Dictionary::Plain(offsets) => return Ok(offsets.get(key).copied()),
            Dictionary::Blocks(blocks, bytes) => (blocks, bytes),
        };
        let behind = blocks.partition_point(|(first, _)| first <= key);
        let Some((_, start)) = behind.checked_sub(1).and_then(|i| blocks.get(i)) else {
            return Ok(None);
        };
        let mut reader = from(bytes, *start)?;
        for _ in 0..reader.count()? {
            let value = self.layout.read(&mut reader)?;
            let offset = reader.int()?;
            reader.int()?;
            if value == *key {
                return Ok(Some(offset));
            }
        }
        Ok(None)
    }

    fn at(&self, offset: i32) -> Result<RoaringBitmap> {
        match usize::try_from(offset) {
            Ok(offset) => from(self.bodies, offset)?.bitmap(),
            // Negative, so that -1 - offset is a row.
            Err(_) => Ok(RoaringBitmap::from_iter([!offset as u32])),
        }
    }
}

fn plain<'a>(reader: &mut Reader<'a>, layout: Layout, values: usize) -> Result<(Dictionary<'a>, &'a [u8])> {
    let mut offsets = BTreeMap::new();
    for _ in 0..values {
        let key = layout.read(reader)?;
        offsets.insert(key, reader.int()?);
    }
    Ok((Dictionary::Plain(offsets), reader.rest()))
}

fn blocks<'a>(reader: &mut Reader<'a>, layout: Layout) -> Result<(Dictionary<'a>, &'a [u8])> {
    let mut blocks = Vec::new();
    for _ in 0..reader.count()? {
        let first = layout.read(reader)?;
        blocks.push((first, reader.length()?));
    }
    let length = reader.length()?;
    let bytes = reader.take(length)?;
    Ok((Dictionary::Blocks(blocks, bytes), reader.rest()))
}

/// An index being built.
#[derive(Debug, Clone)]
pub(super) struct Builder {
    layout: Layout,
    version: u8,
    block_size: usize,
    rows: u32,
    nulls: RoaringBitmap,
    values: BTreeMap<Key, RoaringBitmap>,
}

impl Builder {
    pub(super) fn new(layout: Layout, version: u8, block_size: usize) -> Self {
        Self { layout, version, block_size, rows: 0, nulls: RoaringBitmap::new(), values: BTreeMap::new() }
    }

    pub(super) fn add(&mut self, key: Option<Key<&[u8]>>) -> Result<()> {
        let row = next_row(&mut self.rows)?;
        match key {
            None => self.nulls.insert(row),
            Some(key) => self.values.entry(key.kept()).or_default().insert(row),
        };
        Ok(())
    }

    pub(super) fn into_bytes(mut self) -> Result<Vec<u8>> {
        self.nulls.optimize();
        for rows in self.values.values_mut() {
            rows.optimize();
        }
        let mut bodies = Vec::new();
        let null_entry = place(&self.nulls, &mut bodies)?;
        let entries = self.values.iter().map(|(key, rows)| Ok((key, place(rows, &mut bodies)?)));
        let entries = entries.collect::<Result<Vec<_>>>()?;
        let mut out = vec![self.version];
        out.extend(int(self.rows as usize)?.to_be_bytes());
        out.extend(int(entries.len())?.to_be_bytes());
        out.push(u8::from(!self.nulls.is_empty()));
        if !self.nulls.is_empty() {
            out.extend(null_entry.0.to_be_bytes());
            if self.version == 2 {
                out.extend(int(self.nulls.serialized_size())?.to_be_bytes());
            }
        }
        if self.version == 1 {
            for (key, (offset, _)) in &entries {
                self.layout.write(key, &mut out)?;
                out.extend(offset.to_be_bytes());
            }
        } else {
            self.put_blocks(&entries, &mut out)?;
        }
        out.extend(bodies);
        Ok(out)
    }

    fn put_blocks(&self, entries: &[(&Key, (i32, i32))], out: &mut Vec<u8>) -> Result<()> {
        let mut blocks: Vec<(&Key, i32, Vec<u8>)> = Vec::new();
        for (key, (offset, length)) in entries {
            let mut entry = Vec::new();
            self.layout.write(key, &mut entry)?;
            entry.extend(offset.to_be_bytes());
            entry.extend(length.to_be_bytes());
            match blocks.last_mut() {
                Some((_, count, bytes)) if 4 + bytes.len() + entry.len() <= self.block_size => {
                    *count += 1;
                    bytes.extend(entry);
                }
                _ => blocks.push((key, 1, entry)),
            }
        }
        out.extend(int(blocks.len())?.to_be_bytes());
        let mut start = 0;
        for (first, _, bytes) in &blocks {
            self.layout.write(first, out)?;
            out.extend(int(start)?.to_be_bytes());
            start += 4 + bytes.len();
        }
        out.extend(int(start)?.to_be_bytes());
        for (_, count, bytes) in &blocks {
            out.extend(count.to_be_bytes());
            out.extend(bytes);
        }
        Ok(())
    }
}

/// Puts a bitmap among the bodies, unless it is a single row; its offset and length.
fn place(rows: &RoaringBitmap, bodies: &mut Vec<u8>) -> Result<(i32, i32)> {
    if rows.is_empty() {
        return Ok((0, 0));
    }
    if rows.len() == 1 {
        let row = rows.min().unwrap_or(0);
        // Rows are below 2^31, so this is -1 - row.
        return Ok((!(row as i32), -1));
    }
    let start = bodies.len();
    put_bitmap(bodies, rows)?;
    Ok((int(start)?, int(bodies.len() - start)?))
}
