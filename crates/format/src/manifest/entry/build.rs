//! Building a batch of entries while a manifest is decoded: columns grow entry by entry, partitions and heads of names are kept
//! once.

use std::collections::HashMap;

use bytes::Bytes;

use super::StatsColumns;
use super::batch::{Columns, EntryBatch, REST_VARS, common, texts};
use super::name::split;
use super::program::Items;
use super::slots::{Num, Row, VARS, Var};
use super::write::put_texts;
use crate::file::FileSource;
use crate::manifest::FileKind;
use crate::manifest::avro::put_bytes;
use crate::row::BinaryRow;
use crate::{Error, Result};

/// How much more room is made than what the first entries of a file let expect.
const SLACK: f64 = 1.03;

/// Collects entries.
pub(super) struct Builder {
    columns: Columns,
    buffer: Vec<u8>,
    /// The part of an entry that comes next, and where it begins.
    part: usize,
    begin: usize,
    partitions: Interned,
    heads: Interned,
    /// How many entries are expected.
    room: usize,
    items: [Items; VARS],
    stats: StatsColumns,
    scratch: Vec<u8>,
}

impl Builder {
    pub(super) fn new(items: [Items; VARS], stats: StatsColumns) -> Self {
        let scratch = Vec::new();
        Self {
            columns: Columns::default(),
            buffer: Vec::new(),
            part: 0,
            begin: 0,
            partitions: Interned::default(),
            heads: Interned::default(),
            room: 0,
            items,
            stats,
            scratch,
        }
    }

    /// Makes room for what is expected of the whole file, of which this part has been taken in: what grows step by step takes
    /// several times its bytes in the end, all of them counted that are given back.
    pub(super) fn reserve(&mut self, taken: f64) {
        if self.columns.starts.is_empty() || taken <= 0.0 {
            return;
        }
        let expected = |now: usize| now as f64 / taken;
        if expected(self.buffer.len()) > self.buffer.capacity() as f64 {
            let all = (expected(self.buffer.len()) * SLACK) as usize;
            self.buffer.reserve_exact(all.saturating_sub(self.buffer.len()));
        }
        if expected(self.columns.starts.len()) > self.room as f64 {
            self.room = (expected(self.columns.starts.len()) * SLACK) as usize;
            self.columns.reserve(self.room);
        }
    }

    /// Appends an entry.
    pub(super) fn push(&mut self, row: &Row) -> Result<()> {
        if row.num(Num::Version) != super::VERSION {
            let found = row.num(Num::Version);
            return Err(Error::corrupt(format!("layout version {found} is not {}", super::VERSION)));
        }
        let partition = self.partitions.number(row.vars[Var::Partition as usize], |bytes| {
            BinaryRow::from_serialized(Bytes::copy_from_slice(bytes)).map(drop)
        })?;
        self.push_numbers(row, partition)?;
        self.push_common(row)?;
        self.push_identity(row)?;
        self.push_rest(row);
        Ok(())
    }

    fn push_numbers(&mut self, row: &Row, partition: u32) -> Result<()> {
        for num in [Num::Bucket, Num::TotalBuckets, Num::Level] {
            i32::try_from(row.num(num))
                .map_err(|_| Error::corrupt(format!("manifest field {num:?} is out of range")))?;
        }
        FileKind::from_number(row.num(Num::Kind))?;
        FileSource::from_number(row.num(Num::Source))?;
        let columns = &mut self.columns;
        columns.numbers.iter_mut().zip(row.nums).for_each(|(column, number)| column.push(number, self.room));
        columns.partition.push(i64::from(partition), self.room);
        columns.has_num.push(i64::from(row.has_num), self.room);
        columns.has_var.push(i64::from(row.has_var), self.room);
        Ok(())
    }

    fn push_common(&mut self, row: &Row) -> Result<()> {
        self.columns.starts.push(u32::try_from(self.buffer.len()).map_err(|_| too_large())?);
        (self.part, self.begin) = (0, self.buffer.len());
        let kept = common(self.stats);
        let (head, tail) = split(row.vars[Var::FileName as usize]);
        let head = self.heads.number(head, |_| Ok(()))?;
        self.columns.head.push(i64::from(head), self.room);
        for (at, var) in row.vars[..kept].iter().enumerate() {
            if at == Var::FileName as usize {
                self.buffer.extend_from_slice(tail);
            } else if !is_key_bound(row, at)? {
                self.buffer.extend_from_slice(var);
            }
            self.end();
        }
        Ok(())
    }

    fn push_identity(&mut self, row: &Row) -> Result<()> {
        let extra = row.var(Var::ExtraFiles).unwrap_or(&[0]);
        let (embedded, external) = (row.var(Var::EmbeddedIndex), row.var(Var::ExternalPath));
        if extra != [0] || embedded.is_some() || external.is_some() {
            self.scratch.clear();
            put_texts(&mut self.scratch, &texts(extra, self.items[Var::ExtraFiles as usize])?);
            put_bytes(&mut self.buffer, &self.scratch);
            for part in [embedded, external] {
                self.buffer.push(u8::from(part.is_some()));
                put_bytes(&mut self.buffer, part.unwrap_or_default());
            }
        }
        self.end();
        Ok(())
    }

    fn push_rest(&mut self, row: &Row) {
        if REST_VARS.iter().any(|v| row.var(*v).is_some()) {
            for var in REST_VARS {
                put_bytes(&mut self.buffer, row.vars[var as usize]);
            }
        }
        self.end();
    }

    /// Ends a part of the entry.
    fn end(&mut self) {
        if let Some(lengths) = self.columns.lengths.get_mut(self.part) {
            lengths.push((self.buffer.len() - self.begin) as i64, self.room);
        }
        (self.part, self.begin) = (self.part + 1, self.buffer.len());
    }

    pub(super) fn finish(mut self) -> Result<EntryBatch> {
        self.columns.partitions = self.partitions.put_into(&mut self.buffer)?;
        self.columns.heads = self.heads.put_into(&mut self.buffer)?;
        self.columns.shrink();
        // Bytes that take a little less room than they have stay where they are.
        if self.buffer.capacity() as f64 > self.buffer.len() as f64 * SLACK * SLACK {
            self.buffer.shrink_to_fit();
        }
        let buffer = Bytes::from(self.buffer);
        Ok(EntryBatch { columns: self.columns, buffer, items: self.items, stats: self.stats })
    }
}

/// Byte strings that many entries have, each kept once.
#[derive(Default)]
struct Interned {
    numbers: HashMap<Box<[u8]>, u32>,
    /// The one that was asked for last, and its number.
    last: (Vec<u8>, Option<u32>),
}

impl Interned {
    /// The number of a byte string; new ones are checked.
    fn number(&mut self, bytes: &[u8], check: impl FnOnce(&[u8]) -> Result<()>) -> Result<u32> {
        if let (last, Some(number)) = &self.last
            && **last == *bytes
        {
            return Ok(*number);
        }
        let number = match self.numbers.get(bytes) {
            Some(number) => *number,
            None => {
                check(bytes)?;
                let number = u32::try_from(self.numbers.len()).map_err(|_| too_large())?;
                self.numbers.insert(bytes.into(), number);
                number
            }
        };
        self.last.0.clear();
        self.last.0.extend_from_slice(bytes);
        self.last.1 = Some(number);
        Ok(number)
    }

    /// Puts them behind what is in the buffer; where they lie, by number.
    fn put_into(self, buffer: &mut Vec<u8>) -> Result<Vec<(u32, u32)>> {
        let mut all: Vec<(Box<[u8]>, u32)> = self.numbers.into_iter().collect();
        all.sort_unstable_by_key(|(_, number)| *number);
        let mut places = Vec::with_capacity(all.len());
        for (bytes, _) in &all {
            let start = u32::try_from(buffer.len()).map_err(|_| too_large())?;
            buffer.extend_from_slice(bytes);
            places.push((start, u32::try_from(buffer.len()).map_err(|_| too_large())?));
        }
        Ok(places)
    }
}

/// Whether a part is a bound of the key statistics that the smallest or largest key tells as well.
#[inline]
fn is_key_bound(row: &Row, at: usize) -> Result<bool> {
    const KEY_MIN: usize = Var::KeyMin as usize;
    const KEY_MAX: usize = Var::KeyMax as usize;
    const VALUE_MIN: usize = Var::ValueMin as usize;
    const VALUE_MAX: usize = Var::ValueMax as usize;
    let key = match at {
        KEY_MIN => Var::MinKey,
        KEY_MAX => Var::MaxKey,
        VALUE_MIN | VALUE_MAX if row.vars[at].is_empty() => return Err(no_row()),
        _ => return Ok(false),
    };
    // Nothing stands for the key, so nothing else may be empty.
    if row.vars[at].is_empty() { Err(no_row()) } else { Ok(row.vars[at] == row.vars[key as usize]) }
}

#[cold]
fn no_row() -> Error {
    Error::corrupt("a manifest entry has statistics without a row")
}

fn too_large() -> Error {
    Error::unsupported("manifests of more than 4 GiB")
}
