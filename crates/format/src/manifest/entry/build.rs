//! Building a batch of entries while a manifest is decoded: columns grow entry by entry, partitions are kept once.

use std::collections::HashMap;

use bytes::Bytes;

use super::StatsColumns;
use super::batch::{Columns, EntryBatch, REST_VARS, common, texts};
use super::program::Items;
use super::slots::{Num, Row, VARS, Var};
use super::write::put_texts;
use crate::file::FileSource;
use crate::manifest::FileKind;
use crate::manifest::avro::put_bytes;
use crate::row::BinaryRow;
use crate::{Error, Result};

/// Collects entries.
pub(super) struct Builder {
    columns: Columns,
    buffer: Vec<u8>,
    /// The part of an entry that comes next, and where it begins.
    part: usize,
    begin: usize,
    interned: HashMap<Box<[u8]>, u32>,
    last: Option<(Box<[u8]>, u32)>,
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
            interned: HashMap::new(),
            last: None,
            items,
            stats,
            scratch,
        }
    }

    /// Makes room for about so many entries.
    pub(super) fn reserve(&mut self, count: usize) {
        self.columns.starts.reserve(count);
    }

    /// Appends an entry.
    pub(super) fn push(&mut self, row: &Row) -> Result<()> {
        if row.num(Num::Version) != super::VERSION {
            let found = row.num(Num::Version);
            return Err(Error::corrupt(format!("layout version {found} is not {}", super::VERSION)));
        }
        let partition = self.intern(row.vars[Var::Partition as usize])?;
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
        columns.numbers.iter_mut().zip(row.nums).for_each(|(column, number)| column.push(number));
        columns.partition.push(i64::from(partition));
        columns.has_num.push(i64::from(row.has_num));
        columns.has_var.push(i64::from(row.has_var));
        Ok(())
    }

    fn push_common(&mut self, row: &Row) -> Result<()> {
        self.columns.starts.push(u32::try_from(self.buffer.len()).map_err(|_| too_large())?);
        (self.part, self.begin) = (0, self.buffer.len());
        let kept = common(self.stats);
        for (at, var) in row.vars[..kept].iter().enumerate() {
            if !is_key_bound(row, at)? {
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
            lengths.push((self.buffer.len() - self.begin) as i64);
        }
        (self.part, self.begin) = (self.part + 1, self.buffer.len());
    }

    fn intern(&mut self, partition: &[u8]) -> Result<u32> {
        if let Some((bytes, id)) = &self.last
            && **bytes == *partition
        {
            return Ok(*id);
        }
        let id = match self.interned.get(partition) {
            Some(id) => *id,
            None => {
                BinaryRow::from_serialized(Bytes::copy_from_slice(partition))?;
                let id = u32::try_from(self.interned.len()).map_err(|_| too_large())?;
                self.interned.insert(partition.into(), id);
                id
            }
        };
        self.last = Some((partition.into(), id));
        Ok(id)
    }

    pub(super) fn finish(mut self) -> Result<EntryBatch> {
        let mut partitions: Vec<(Box<[u8]>, u32)> = self.interned.into_iter().collect();
        partitions.sort_unstable_by_key(|(_, id)| *id);
        for (bytes, _) in &partitions {
            let start = u32::try_from(self.buffer.len()).map_err(|_| too_large())?;
            self.buffer.extend_from_slice(bytes);
            let end = u32::try_from(self.buffer.len()).map_err(|_| too_large())?;
            self.columns.partitions.push((start, end));
        }
        self.columns.shrink();
        self.buffer.shrink_to_fit();
        let buffer = Bytes::from(self.buffer);
        Ok(EntryBatch { columns: self.columns, buffer, items: self.items, stats: self.stats })
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
