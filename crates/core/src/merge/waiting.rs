//! Groups of records that wait for the older record of their key, which are looked up many at a time.
//!
//! A group with a record above level 0 needs none: the lowest of them is what the key was before. For the others the
//! older record joins the group where its sequence puts it, and what comes out is compared with it (cases: S3).

use std::cmp::Ordering;

use arrow_array::{Array, ArrayRef};
use linn_format::{Error, Result};

use super::assemble::Change;
use super::key::KeyColumn;
use super::run::{Before, Merger};
use super::source::{Pick, Record};

#[derive(Debug, Clone, Copy)]
enum Item {
    /// Rows of one source, each alone with its key.
    Range { source: usize, start: usize, end: usize },
    /// Records with one key: those up to `end`.
    Group { end: usize },
}

/// Groups in key order.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    items: Vec<Item>,
    records: Vec<Record>,
    rows: usize,
}

impl Waiting {
    /// Keys that wait.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    pub(super) fn range(&mut self, source: usize, start: usize, end: usize) {
        self.items.push(Item::Range { source, start, end });
        self.rows += end - start;
    }

    pub(super) fn group(&mut self, group: &[Record]) {
        self.records.extend_from_slice(group);
        self.items.push(Item::Group { end: self.records.len() });
        self.rows += 1;
    }
}

/// Where the older records of the keys that were looked up are, in order.
struct Answers {
    rows: std::vec::IntoIter<Option<u32>>,
    /// The source that they are rows of; `None` where they were not read.
    source: Option<usize>,
}

impl Answers {
    /// Of the next key: whether there is an older record, and the record where it was read.
    fn next(&mut self) -> Option<Option<Pick>> {
        let row = self.rows.next().flatten()?;
        Some(self.source.map(|source| Pick { source: source as u32, row }))
    }
}

impl<C: KeyColumn> Merger<C> {
    /// Looks up what the waiting groups need and merges them.
    pub(super) async fn look_up(&mut self) -> Result<()> {
        let Before::Older(older) = &self.before else { return Ok(()) };
        if self.waiting.items.is_empty() {
            return Ok(());
        }
        let older = older.clone();
        let waiting = std::mem::take(&mut self.waiting);
        let wanted = self.wanted(&waiting);
        let mut answers = Answers { rows: Vec::new().into_iter(), source: None };
        if !wanted.is_empty() {
            let found = older.lock().await.find(&self.keys(&wanted)?, wanted.len()).await?;
            if found.rows.len() != wanted.len() {
                return Err(Error::internal("a lookup does not answer for every key"));
            }
            answers.source = found.records.as_ref().map(|records| self.add_older(records)).transpose()?;
            answers.rows = found.rows.into_iter();
        }
        let mut start = 0;
        for item in &waiting.items {
            match *item {
                Item::Range { source, start, end } if self.level(source) > 0 => {
                    self.assembler.range(source, start, end, false);
                }
                Item::Range { source, start, end } => self.merge_range(source, start, end, &mut answers)?,
                Item::Group { end } => {
                    self.merge_group(&waiting.records[start..end], &mut answers)?;
                    start = end;
                }
            }
        }
        Ok(())
    }

    fn level(&self, source: usize) -> i32 {
        self.assembler.sources()[source].level
    }

    /// The record above level 0 of a group.
    fn upper(&self, group: &[Record]) -> Option<Record> {
        let upper = group.iter().filter(|r| self.level(r.pick.source as usize) > 0);
        upper.min_by_key(|r| self.level(r.pick.source as usize)).copied()
    }

    /// One row for each key that is to be looked up.
    fn wanted(&self, waiting: &Waiting) -> Vec<(usize, usize)> {
        let mut wanted = Vec::new();
        let mut from = 0;
        for item in &waiting.items {
            match *item {
                Item::Range { source, start, end } if self.level(source) <= 0 => {
                    wanted.extend((start..end).map(|row| (source, row)));
                }
                Item::Range { .. } => {}
                Item::Group { end } => {
                    let group = &waiting.records[from..end];
                    if self.upper(group).is_none()
                        && let Some(first) = group.first()
                    {
                        wanted.push((first.pick.source as usize, first.pick.row as usize));
                    }
                    from = end;
                }
            }
        }
        wanted
    }

    /// The key columns of rows of sources.
    fn keys(&self, rows: &[(usize, usize)]) -> Result<Vec<ArrayRef>> {
        let sources = self.assembler.sources();
        let column = |column: usize| -> Result<ArrayRef> {
            let arrays = sources
                .iter()
                .map(|s| s.columns.get(column).map(|c| c.as_ref() as &dyn Array))
                .collect::<Option<Vec<_>>>()
                .ok_or_else(|| Error::internal("a source lacks a key column"))?;
            Ok(arrow_select::interleave::interleave(&arrays, rows)?)
        };
        self.spec.key_columns().iter().map(|&c| column(c)).collect()
    }

    /// Rows of level 0, each alone with its key among the files being merged.
    fn merge_range(&mut self, source: usize, start: usize, end: usize, answers: &mut Answers) -> Result<()> {
        let mut from = start;
        for row in start..end {
            let Some(old) = answers.next() else { continue };
            if row > from {
                self.assembler.range(source, from, row, true);
            }
            from = row + 1;
            let kind = self.assembler.sources()[source].kinds[row];
            let new = Record { pick: Pick { source: source as u32, row: row as u32 }, kind };
            self.merge_with(&[new], old)?;
        }
        if end > from {
            self.assembler.range(source, from, end, true);
        }
        Ok(())
    }

    fn merge_group(&mut self, group: &[Record], answers: &mut Answers) -> Result<()> {
        if let Some(upper) = self.upper(group) {
            let has_new = group.iter().any(|r| self.level(r.pick.source as usize) <= 0);
            // The first row of a key stays whatever comes later.
            let told = has_new && !self.spec.keeps_first();
            return self.assembler.group(group, if told { Change::From(Some(upper)) } else { Change::Unreported });
        }
        match answers.next() {
            None => self.assembler.group(group, Change::From(None)),
            Some(old) => self.merge_with(group, old),
        }
    }

    /// A group whose key has an older record in a file that stays where it is.
    fn merge_with(&mut self, group: &[Record], old: Option<Pick>) -> Result<()> {
        if self.spec.keeps_first() {
            return Ok(());
        }
        let Some(pick) = old else { return self.assembler.group(group, Change::Unreported) };
        let kind = self.assembler.sources()[pick.source as usize].kinds[pick.row as usize];
        let old = Record { pick, kind };
        let place = |p: Pick| (p.source as usize, p.row as usize);
        let at = group.partition_point(|r| self.sequence_order(place(r.pick), place(pick)) == Ordering::Less);
        self.joined.clear();
        self.joined.extend_from_slice(&group[..at]);
        self.joined.push(old);
        self.joined.extend_from_slice(&group[at..]);
        self.assembler.group(&self.joined, Change::From(Some(old)))
    }
}
