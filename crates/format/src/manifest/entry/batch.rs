//! Entries in columns: numbers in vectors, variable parts one after the other in one buffer, partitions and heads of names
//! interned.

use bytes::Bytes;

use super::ints::Ints;
use super::name::FileName;
use super::program::{Items, NEVER, present};
use super::slots::{COMMON, NUMS, Num, VARS, Var};
use super::{StatsColumns, decode, write_manifest};
use crate::file::{DataFileMeta, FileSource};
use crate::manifest::avro::{Codec, Cursor};
use crate::manifest::{FileKind, ManifestEntry};
use crate::row::BinaryRow;
use crate::stats::SimpleStats;
use crate::{Error, Result, SchemaId};

/// Parts behind the common ones: what belongs to the identity, the rest.
const BEHIND: usize = 2;

/// How many common parts of an entry are kept.
pub(super) fn common(stats: StatsColumns) -> usize {
    match stats {
        StatsColumns::All => COMMON,
        StatsColumns::Keys => Var::ValueMin as usize,
    }
}

/// The rare parts that stand in the last part, in order.
pub(super) const REST_VARS: [Var; 3] = [Var::ValueStatsCols, Var::WriteCols, Var::WriteColsSequences];

/// Decoded entries of one manifest, in its order. Cheap to share, not to clone.
///
/// Methods that take an index panic when it is not below [`EntryBatch::len`].
#[derive(Debug)]
pub struct EntryBatch {
    pub(super) columns: Columns,
    pub(super) buffer: Bytes,
    pub(super) items: [Items; VARS],
    pub(super) stats: StatsColumns,
}

/// What identifies a file among all entries of a table: an entry that deletes cancels the one that added the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileIdentity<'a> {
    /// Serialised partition.
    pub partition: &'a [u8],
    /// Bucket.
    pub bucket: i32,
    /// Level.
    pub level: i32,
    /// Name.
    pub file_name: FileName<'a>,
    /// Extra files, embedded index and external path, in a form in which equal parts have equal bytes.
    pub rest: &'a [u8],
}

#[derive(Debug, Default)]
pub(super) struct Columns {
    /// By their places in a row.
    pub(super) numbers: [Ints; NUMS],
    pub(super) partition: Ints,
    /// Number of the head of each name.
    pub(super) head: Ints,
    pub(super) has_num: Ints,
    pub(super) has_var: Ints,
    /// Where the parts of each entry begin, one after the other.
    pub(super) starts: Vec<u32>,
    /// How long each part of each entry is. Of a name only the tail is a part. A bound of the key statistics that is the same as the smallest or largest key is
    /// empty.
    pub(super) lengths: [Ints; COMMON + BEHIND],
    /// Where each partition lies in the buffer.
    pub(super) partitions: Vec<(u32, u32)>,
    /// Where each head of names lies in the buffer.
    pub(super) heads: Vec<(u32, u32)>,
}

impl Columns {
    /// Bytes in memory.
    fn memory_size(&self) -> usize {
        let columns =
            self.numbers.iter().chain(&self.lengths).chain([&self.partition, &self.head, &self.has_num, &self.has_var]);
        columns.map(Ints::memory_size).sum::<usize>()
            + self.starts.len() * size_of::<u32>()
            + (self.partitions.len() + self.heads.len()) * size_of::<(u32, u32)>()
    }

    /// Makes room for so many entries in all.
    pub(super) fn reserve(&mut self, entries: usize) {
        self.each().for_each(|column| column.reserve(entries));
        self.starts.reserve_exact(entries.saturating_sub(self.starts.len()));
    }

    pub(super) fn shrink(&mut self) {
        self.each().for_each(Ints::shrink);
        self.starts.shrink_to_fit();
    }

    fn each(&mut self) -> impl Iterator<Item = &mut Ints> {
        let own = [&mut self.partition, &mut self.head, &mut self.has_num, &mut self.has_var];
        self.numbers.iter_mut().chain(&mut self.lengths).chain(own)
    }
}

impl EntryBatch {
    /// Entries in memory as a batch.
    ///
    /// # Errors
    /// `Corrupt` when a partition is not a row.
    pub fn from_entries(entries: &[ManifestEntry]) -> Result<Self> {
        decode::read(&write_manifest(entries, Codec::Null)?, StatsColumns::All)
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.columns.has_num.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes in memory.
    pub fn memory_size(&self) -> usize {
        self.buffer.len() + self.columns.memory_size()
    }

    /// Whether an entry adds or deletes.
    pub fn kind(&self, i: usize) -> FileKind {
        match self.number(i, Num::Kind) {
            0 => FileKind::Add,
            _ => FileKind::Delete,
        }
    }

    /// The serialised partition of an entry.
    pub fn partition(&self, i: usize) -> &[u8] {
        self.partition_bytes(self.partition_id(i))
    }

    /// Number of an entry's partition among those of this batch: equal numbers mean equal partitions.
    pub fn partition_id(&self, i: usize) -> u32 {
        self.columns.partition.get(i) as u32
    }

    /// The distinct partitions, by number.
    ///
    /// # Errors
    /// None in practice; they were checked when they were read.
    pub fn partitions(&self) -> Result<Vec<BinaryRow>> {
        (0..self.columns.partitions.len()).map(|id| self.partition_row(id as u32)).collect()
    }

    fn partition_bytes(&self, id: u32) -> &[u8] {
        let (start, end) = self.columns.partitions[id as usize];
        &self.buffer[start as usize..end as usize]
    }

    fn partition_row(&self, id: u32) -> Result<BinaryRow> {
        let (start, end) = self.columns.partitions[id as usize];
        BinaryRow::from_serialized(self.buffer.slice(start as usize..end as usize))
    }

    /// The bucket of an entry.
    pub fn bucket(&self, i: usize) -> i32 {
        self.number(i, Num::Bucket) as i32
    }

    /// The partition's bucket count when the file was written.
    pub fn total_buckets(&self, i: usize) -> i32 {
        self.number(i, Num::TotalBuckets) as i32
    }

    /// The level of a file.
    pub fn level(&self, i: usize) -> i32 {
        self.number(i, Num::Level) as i32
    }

    /// The size of a file in bytes.
    pub fn file_size(&self, i: usize) -> i64 {
        self.number(i, Num::FileSize)
    }

    /// The records of a file.
    pub fn row_count(&self, i: usize) -> i64 {
        self.number(i, Num::RowCount)
    }

    /// How many records of a file take others back.
    pub fn delete_row_count(&self, i: usize) -> Option<i64> {
        self.num(i, Num::DeleteRows)
    }

    /// The smallest sequence number in a file.
    pub fn min_sequence_number(&self, i: usize) -> i64 {
        self.number(i, Num::MinSequence)
    }

    /// When a file was made: milliseconds of its writer's wall clock.
    pub fn creation_time(&self, i: usize) -> Option<i64> {
        self.num(i, Num::CreationTime)
    }

    /// The schema of a file.
    pub fn schema_id(&self, i: usize) -> SchemaId {
        SchemaId(self.number(i, Num::SchemaId))
    }

    /// The first row id of a file.
    pub fn first_row_id(&self, i: usize) -> Option<i64> {
        self.num(i, Num::FirstRowId)
    }

    /// The name of a file.
    pub fn file_name(&self, i: usize) -> FileName<'_> {
        let (start, end) = self.columns.heads[self.columns.head.get(i) as usize];
        let head = &self.buffer[start as usize..end as usize];
        // Checked when it was read.
        let text = |bytes| std::str::from_utf8(bytes).unwrap_or_default();
        FileName::of(text(head), text(self.span(i, Var::FileName as usize)))
    }

    /// The serialised smallest key of a file.
    pub fn min_key(&self, i: usize) -> &[u8] {
        self.span(i, Var::MinKey as usize)
    }

    /// The serialised largest key of a file.
    pub fn max_key(&self, i: usize) -> &[u8] {
        self.span(i, Var::MaxKey as usize)
    }

    /// What identifies the file of an entry.
    pub fn identity(&self, i: usize) -> FileIdentity<'_> {
        FileIdentity {
            partition: self.partition(i),
            bucket: self.bucket(i),
            level: self.level(i),
            file_name: self.file_name(i),
            rest: self.span(i, common(self.stats)),
        }
    }

    /// Statistics of a file's key columns.
    ///
    /// # Errors
    /// `Corrupt` when they are not rows.
    pub fn key_stats(&self, i: usize) -> Result<SimpleStats> {
        self.stats_of(i, [Var::KeyMin, Var::KeyMax, Var::KeyNulls])
    }

    /// Statistics of a file's value columns; without any when the batch was read without them.
    ///
    /// # Errors
    /// `Corrupt` when they are not rows.
    pub fn value_stats(&self, i: usize) -> Result<SimpleStats> {
        match self.stats {
            StatsColumns::All => self.stats_of(i, [Var::ValueMin, Var::ValueMax, Var::ValueNulls]),
            StatsColumns::Keys => Ok(no_stats()),
        }
    }

    /// Columns of the value statistics; `None` means all of the file's schema.
    ///
    /// # Errors
    /// None in practice; the list was checked when it was read.
    pub fn value_stats_cols(&self, i: usize) -> Result<Option<Vec<String>>> {
        match self.stats {
            StatsColumns::All => self.rest_texts(i, 0, Var::ValueStatsCols),
            StatsColumns::Keys => Ok(Some(Vec::new())),
        }
    }

    /// The small file index that an entry carries.
    ///
    /// # Errors
    /// None in practice; it was checked when it was read.
    pub fn embedded_index(&self, i: usize) -> Result<Option<Bytes>> {
        Ok(self.identity_parts(i)?.1)
    }

    /// An entry in full.
    ///
    /// # Errors
    /// `Corrupt` when a key or statistics are not rows.
    pub fn entry(&self, i: usize) -> Result<ManifestEntry> {
        Ok(ManifestEntry {
            kind: self.kind(i),
            partition: self.partition_row(self.partition_id(i))?,
            bucket: self.bucket(i),
            total_buckets: self.total_buckets(i),
            file: self.file(i)?,
        })
    }

    /// The file of an entry.
    ///
    /// # Errors
    /// `Corrupt` when a key or statistics are not rows.
    pub fn file(&self, i: usize) -> Result<DataFileMeta> {
        let (extra_files, embedded_index, external_path) = self.identity_parts(i)?;
        Ok(DataFileMeta {
            file_name: self.file_name(i).into(),
            file_size: self.number(i, Num::FileSize),
            row_count: self.number(i, Num::RowCount),
            min_key: self.row(i, Var::MinKey)?,
            max_key: self.row(i, Var::MaxKey)?,
            key_stats: self.key_stats(i)?,
            value_stats: self.value_stats(i)?,
            min_sequence_number: self.number(i, Num::MinSequence),
            max_sequence_number: self.number(i, Num::MaxSequence),
            schema_id: self.schema_id(i),
            level: self.level(i),
            extra_files,
            creation_time: self.num(i, Num::CreationTime),
            delete_row_count: self.num(i, Num::DeleteRows),
            embedded_index,
            file_source: self.num(i, Num::Source).map(FileSource::from_number).transpose()?,
            value_stats_cols: self.value_stats_cols(i)?,
            external_path,
            first_row_id: self.first_row_id(i),
            write_cols: self.rest_texts(i, 1, Var::WriteCols)?,
            write_cols_sequences: self.sequences(i)?,
        })
    }

    /// Checks that the file of an entry can be made, without making it.
    ///
    /// # Errors
    /// As [`EntryBatch::file`].
    pub fn check(&self, i: usize) -> Result<()> {
        let common = common(self.stats);
        if !self.span(i, common).is_empty() || !self.span(i, common + 1).is_empty() {
            return self.file(i).map(drop);
        }
        let rows = [Var::MinKey, Var::MaxKey, Var::KeyMin, Var::KeyMax, Var::ValueMin, Var::ValueMax];
        for var in rows.into_iter().filter(|var| (*var as usize) < common) {
            let row = self.span(i, var as usize);
            // A bound that is empty is that of the key.
            if !row.is_empty() || matches!(var, Var::MinKey | Var::MaxKey) {
                BinaryRow::check_serialized(row)?;
            }
        }
        Ok(())
    }

    fn number(&self, i: usize, num: Num) -> i64 {
        self.columns.numbers[num as usize].get(i)
    }

    fn has_num(&self, i: usize, num: Num) -> bool {
        self.columns.has_num.get(i) & (1 << num as u8) != 0
    }

    fn has_var(&self, i: usize, var: Var) -> bool {
        self.columns.has_var.get(i) & (1 << var as u8) != 0
    }

    fn num(&self, i: usize, num: Num) -> Option<i64> {
        self.has_num(i, num).then(|| self.number(i, num))
    }

    fn bounds(&self, i: usize, span: usize) -> std::ops::Range<usize> {
        let length = |span: usize| self.columns.lengths[span].get(i) as usize;
        let start = (0..span).fold(self.columns.starts[i] as usize, |start, before| start + length(before));
        start..start + length(span)
    }

    fn span(&self, i: usize, span: usize) -> &[u8] {
        &self.buffer[self.bounds(i, span)]
    }

    fn row(&self, i: usize, var: Var) -> Result<BinaryRow> {
        BinaryRow::from_serialized(self.buffer.slice(self.bounds(i, var as usize)))
    }

    fn stats_of(&self, i: usize, [min, max, nulls]: [Var; 3]) -> Result<SimpleStats> {
        let null_counts = match self.has_var(i, nulls) {
            true => longs(self.span(i, nulls as usize), self.items[nulls as usize])?,
            false => Vec::new(),
        };
        let bound = |var: Var, key: Var| self.row(i, if self.bounds(i, var as usize).is_empty() { key } else { var });
        Ok(SimpleStats { min: bound(min, Var::MinKey)?, max: bound(max, Var::MaxKey)?, null_counts })
    }

    fn identity_parts(&self, i: usize) -> Result<(Vec<String>, Option<Bytes>, Option<String>)> {
        let span = self.span(i, common(self.stats));
        if span.is_empty() {
            return Ok((Vec::new(), None, None));
        }
        let mut cursor = Cursor::new(span);
        let extra = texts(cursor.bytes()?, Items { null: NEVER })?;
        let mut part = || -> Result<Option<&[u8]>> {
            let there = cursor.take(1)? == [1];
            let bytes = cursor.bytes()?;
            Ok(there.then_some(bytes))
        };
        let embedded = part()?.map(|bytes| self.buffer.slice_ref(bytes));
        let external = part()?.map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        Ok((extra, embedded, external))
    }

    fn rest(&self, i: usize, at: usize, var: Var) -> Result<Option<&[u8]>> {
        if !self.has_var(i, var) {
            return Ok(None);
        }
        let mut cursor = Cursor::new(self.span(i, common(self.stats) + 1));
        for _ in 0..at {
            cursor.bytes()?;
        }
        cursor.bytes().map(Some)
    }

    fn rest_texts(&self, i: usize, at: usize, var: Var) -> Result<Option<Vec<String>>> {
        self.rest(i, at, var)?.map(|bytes| texts(bytes, self.items[var as usize])).transpose()
    }

    fn sequences(&self, i: usize) -> Result<Option<Vec<i64>>> {
        let var = Var::WriteColsSequences;
        let Some(bytes) = self.rest(i, 2, var)? else { return Ok(None) };
        let all: Option<Vec<i64>> = longs(bytes, self.items[var as usize])?.into_iter().collect();
        all.map(Some).ok_or_else(|| Error::corrupt("a sequence number of _WRITE_COLS_SEQUENCES is null"))
    }
}

/// Makes a file look as if written without value statistics.
pub(super) fn drop_value_stats(file: &mut DataFileMeta) {
    file.value_stats = no_stats();
    file.value_stats_cols = Some(Vec::new());
}

fn no_stats() -> SimpleStats {
    SimpleStats { min: BinaryRow::empty(), max: BinaryRow::empty(), null_counts: Vec::new() }
}

fn each<'a>(bytes: &'a [u8], items: Items, mut item: impl FnMut(Option<&mut Cursor<'a>>) -> Result<()>) -> Result<()> {
    let mut cursor = Cursor::new(bytes);
    loop {
        let count = cursor.block()?;
        if count == 0 {
            return Ok(());
        }
        for _ in 0..count {
            let there = present(items.null, &mut cursor)?;
            item(there.then_some(&mut cursor))?;
        }
    }
}

fn longs(bytes: &[u8], items: Items) -> Result<Vec<Option<i64>>> {
    let mut all = Vec::new();
    each(bytes, items, |item| {
        all.push(item.map(Cursor::long).transpose()?);
        Ok(())
    })?;
    Ok(all)
}

pub(super) fn texts(bytes: &[u8], items: Items) -> Result<Vec<String>> {
    let mut all = Vec::new();
    each(bytes, items, |item| {
        let cursor = item.ok_or_else(|| Error::corrupt("a list of names in a manifest has a null"))?;
        all.push(String::from_utf8_lossy(cursor.bytes()?).into_owned());
        Ok(())
    })?;
    Ok(all)
}
