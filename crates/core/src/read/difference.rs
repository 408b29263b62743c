//! How two states differ: their rows, both sorted by key, walked side by side.
//!
//! A key of the earlier state alone is a deletion; one of the later alone, or with another row, is what it is there. Rows are
//! compared in all columns; what is the same on both sides does not come out.

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

/// The differences of two merged streams of all columns, in key order, with or without what is deleted.
pub(super) fn difference(
    before: BatchStream,
    after: BatchStream,
    spec: &MergeSpec,
    keep_deletes: bool,
) -> Result<BatchStream> {
    let walk = Walk {
        encoder: spec.key_encoder()?,
        sides: [Side::new(before), Side::new(after)],
        values: spec.wanted(),
        keep_deletes,
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
    keep_deletes: bool,
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

fn is_add(kind: i8) -> bool {
    kind == RowKind::Insert as i8 || kind == RowKind::UpdateAfter as i8
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
            if order.is_le()
                && let Some((batch, _)) = before.head()
            {
                let kind = kinds(batch)?.value(before.at);
                if order.is_lt() && self.keep_deletes && is_add(kind) {
                    picks.rows.push((0, before.at));
                    picks.kinds.push(RowKind::Delete as i8);
                }
            }
            if order.is_ge()
                && let Some((batch, _)) = after.head()
            {
                let kind = kinds(batch)?.value(after.at);
                if self.keep_deletes || is_add(kind) {
                    if order.is_eq() {
                        picks.pairs.push((picks.rows.len(), before.at));
                    }
                    picks.rows.push((1, after.at));
                    picks.kinds.push(kind);
                }
                after.at += 1;
            }
            before.at += usize::from(order.is_le());
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

    /// Picks whose key has the same row on both sides.
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
        let (old_kinds, new_kinds) = (kinds(before)?, kinds(after)?);
        let alike = |pair: usize| {
            is_add(old_kinds.value(old.value(pair) as usize)) == is_add(new_kinds.value(new.value(pair) as usize))
        };
        let pairs = picks.pairs.iter().enumerate();
        Ok(pairs.filter(|(pair, _)| equal.value(*pair) && alike(*pair)).map(|(_, &(pick, _))| pick).collect())
    }
}
