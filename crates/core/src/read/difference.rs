//! How two states differ: their rows, both sorted by key, walked side by side.
//!
//! A key of the earlier state alone is a deletion; one of the later alone, or with another row, is what it is there. Rows are
//! compared in all columns; what is the same on both sides does not come out. Neither side has rows that are deleted, so that
//! no key comes out that neither state has.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::{Array, Int8Array, RecordBatch, UInt32Array};
use arrow_buffer::BooleanBuffer;
use arrow_select::interleave::interleave;
use arrow_select::take::take;
use futures::StreamExt;
use linn_format::types::RowKind;
use linn_format::{BatchStream, Result};

use super::rows::kinds;
use crate::merge::{KeyEncoder, Keys, MergeSpec, equal_rows};

/// What is told of the differences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    /// Rows that the later state has and the earlier one has not.
    Additions,
    /// These, and the keys that are gone.
    Changes,
    /// These, and the earlier row before the later one of its key.
    Pairs,
}

/// The differences of two merged streams of all columns and of no deleted rows, in key order.
pub(super) fn difference(before: BatchStream, after: BatchStream, spec: &MergeSpec, told: Told) -> Result<BatchStream> {
    let walk = Walk {
        encoder: spec.key_encoder()?,
        sides: [Side::new(before), Side::new(after)],
        values: spec.wanted(),
        told,
        failed: false,
    };
    let batches = futures::stream::unfold(walk, |mut walk| async move {
        if walk.failed {
            return None;
        }
        let step = walk.step().await;
        walk.failed = step.is_err();
        step.transpose().map(|batch| (batch, walk))
    });
    Ok(batches.boxed())
}

struct Walk {
    encoder: KeyEncoder,
    sides: [Side; 2],
    /// Columns that are compared.
    values: usize,
    told: Told,
    failed: bool,
}

struct Side {
    rows: BatchStream,
    done: bool,
    loaded: Option<(RecordBatch, Keys)>,
    at: usize,
}

/// What comes out of the batches that are loaded.
#[derive(Default)]
struct Picks {
    /// Side and row.
    rows: Vec<(usize, usize)>,
    kinds: Vec<i8>,
    /// Picks of keys that both sides have, with the row of the earlier one.
    pairs: Vec<(usize, usize)>,
}

impl Picks {
    fn push(&mut self, side: usize, row: usize, kind: i8) {
        self.rows.push((side, row));
        self.kinds.push(kind);
    }
}

impl Side {
    fn new(rows: BatchStream) -> Self {
        Self { rows, done: false, loaded: None, at: 0 }
    }

    async fn fill(&mut self, encoder: &KeyEncoder) -> Result<()> {
        while !self.done && self.loaded.as_ref().is_none_or(|(batch, _)| self.at >= batch.num_rows()) {
            self.loaded = None;
            self.at = 0;
            match self.rows.next().await.transpose()? {
                Some(batch) => {
                    let keys = encoder.encode(batch.columns(), batch.num_rows())?;
                    self.loaded = Some((batch, keys));
                }
                None => self.done = true,
            }
        }
        Ok(())
    }

    fn head(&self) -> Option<(&RecordBatch, &Keys)> {
        let (batch, keys) = self.loaded.as_ref()?;
        (self.at < batch.num_rows()).then_some((batch, keys))
    }
}

impl Walk {
    /// The next batch of differences.
    async fn step(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            for side in &mut self.sides {
                side.fill(&self.encoder).await?;
            }
            if self.sides.iter().all(|side| side.head().is_none()) {
                return Ok(None);
            }
            let mut picks = Picks::default();
            self.walk(&mut picks)?;
            if let Some(batch) = self.gather(&picks)? {
                return Ok(Some(batch));
            }
        }
    }

    /// Walks until one side's batch is at its end.
    fn walk(&mut self, picks: &mut Picks) -> Result<()> {
        let [before, after] = &mut self.sides;
        loop {
            let order = match (before.head(), after.head()) {
                (None, None) => return Ok(()),
                (None, Some(_)) if !before.done => return Ok(()),
                (Some(_), None) if !after.done => return Ok(()),
                (None, Some(_)) => Ordering::Greater,
                (Some(_), None) => Ordering::Less,
                (Some((_, old)), Some((_, new))) => old.compare(before.at, new, after.at),
            };
            match order {
                Ordering::Less if self.told == Told::Additions => {}
                Ordering::Less => picks.push(0, before.at, RowKind::Delete as i8),
                Ordering::Greater if self.told == Told::Pairs => picks.push(1, after.at, RowKind::Insert as i8),
                Ordering::Equal if self.told == Told::Pairs => {
                    picks.push(0, before.at, RowKind::UpdateBefore as i8);
                    picks.pairs.push((picks.rows.len(), before.at));
                    picks.push(1, after.at, RowKind::UpdateAfter as i8);
                }
                Ordering::Equal | Ordering::Greater => {
                    let Some((batch, _)) = after.head() else { return Ok(()) };
                    let kind = kinds(batch)?.value(after.at);
                    if order.is_eq() {
                        picks.pairs.push((picks.rows.len(), before.at));
                    }
                    picks.push(1, after.at, kind);
                }
            }
            before.at += usize::from(order.is_le());
            after.at += usize::from(order.is_ge());
        }
    }

    fn gather(&self, picks: &Picks) -> Result<Option<RecordBatch>> {
        let same = self.same(picks)?;
        let keep: Vec<usize> = (0..picks.rows.len()).filter(|pick| !same.contains(pick)).collect();
        let batches: Vec<Option<&RecordBatch>> =
            self.sides.iter().map(|side| side.loaded.as_ref().map(|(batch, _)| batch)).collect();
        let Some(schema) = batches.iter().flatten().next().map(|batch| batch.schema()) else { return Ok(None) };
        if keep.is_empty() {
            return Ok(None);
        }
        let empty = RecordBatch::new_empty(schema.clone());
        let batches: Vec<&RecordBatch> = batches.into_iter().map(|batch| batch.unwrap_or(&empty)).collect();
        let rows: Vec<(usize, usize)> = keep.iter().filter_map(|&pick| picks.rows.get(pick).copied()).collect();
        let last = schema.fields().len().saturating_sub(1);
        let mut columns = Vec::with_capacity(last + 1);
        for column in 0..last {
            let arrays: Vec<&dyn Array> =
                batches.iter().filter_map(|batch| batch.columns().get(column)).map(AsRef::as_ref).collect();
            columns.push(interleave(&arrays, &rows)?);
        }
        let kinds = keep.iter().filter_map(|&pick| picks.kinds.get(pick).copied());
        columns.push(Arc::new(Int8Array::from_iter_values(kinds)));
        Ok(Some(RecordBatch::try_new(schema, columns)?))
    }

    /// Picks of keys that have the same row on both sides.
    fn same(&self, picks: &Picks) -> Result<HashSet<usize>> {
        let [Some((before, _)), Some((after, _))] = [&self.sides[0].loaded, &self.sides[1].loaded] else {
            return Ok(HashSet::new());
        };
        if picks.pairs.is_empty() {
            return Ok(HashSet::new());
        }
        let index = |row: usize| u32::try_from(row).unwrap_or(u32::MAX);
        let old: UInt32Array = picks.pairs.iter().map(|&(_, row)| Some(index(row))).collect();
        let new: UInt32Array = picks.pairs.iter().map(|&(pick, _)| picks.rows.get(pick).map(|r| index(r.1))).collect();
        let mut equal = BooleanBuffer::new_set(picks.pairs.len());
        for column in 0..self.values {
            let (Some(a), Some(b)) = (before.columns().get(column), after.columns().get(column)) else { break };
            equal = &equal & &equal_rows(&take(a, &old, None)?, &take(b, &new, None)?)?;
        }
        let width = if self.told == Told::Pairs { 2 } else { 1 };
        let pairs = picks.pairs.iter().enumerate().filter(|(pair, _)| equal.value(*pair));
        Ok(pairs.flat_map(|(_, &(pick, _))| (pick + 1).saturating_sub(width)..=pick).collect())
    }
}
