//! Functions over serialised sets (bitmaps and sketches in VARBINARY columns): every step is the union of two of them.
//!
//! A value that stands alone is passed on as it came; only what is united is read and written anew.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryArray};
use arrow_buffer::Buffer;
use linn_format::{Error, Result, ResultExt};

use super::bitmap::Room;
use super::offset::offsets;
use super::{Computed, Fold, FoldError, Folds, Function, FunctionPlan, key_by_key, no_retract};
use crate::merge::source::{Cell, Pick, retain};

/// Appends the union of two serialised sets, the accumulated one first.
pub(super) type Unite = fn(&[u8], &[u8], &mut Room, &mut Vec<u8>) -> Result<()>;

/// A function that unites serialised sets.
pub(super) struct Union {
    sources: Sources,
    room: Room,
    /// What a key has come to, while that is united with another value.
    before: Vec<u8>,
    /// The unions since the last chunk, one after the other, and where each ends; behind them that of the open key.
    united: Vec<u8>,
    ends: Vec<usize>,
}

struct Sources {
    plan: FunctionPlan,
    unite: Unite,
    arrays: Vec<BinaryArray>,
}

impl Union {
    pub(super) fn new(plan: &FunctionPlan, unite: Unite) -> Self {
        let sources = Sources { plan: plan.clone(), unite, arrays: Vec::new() };
        Self { sources, room: Room::default(), before: Vec::new(), united: Vec::new(), ends: Vec::new() }
    }

    /// `acc` united with the value of a row, which belongs before it when `late`.
    fn add(&mut self, acc: Value, pick: Pick, late: bool) -> Result<Value> {
        let Some(input) = self.sources.value(pick) else { return Ok(acc) };
        let there = match acc {
            Value::Null => return Ok(Value::Row(pick)),
            Value::Row(row) => self.sources.value(row).unwrap_or_default(),
            Value::Made => {
                let start = self.ends.last().copied().unwrap_or(0);
                self.before.clear();
                self.before.extend_from_slice(self.united.get(start..).unwrap_or_default());
                self.united.truncate(start);
                &self.before
            }
        };
        let (first, second) = if late { (input, there) } else { (there, input) };
        self.sources.unite(first, second, &mut self.room, &mut self.united)?;
        Ok(Value::Made)
    }

    /// What the steps of one key come to.
    fn fold(&mut self, folds: &[Fold]) -> Result<Cell> {
        let mut acc = Value::Null;
        for &fold in folds {
            acc = match fold {
                Fold::Add(pick) => self.add(acc, pick, false)?,
                Fold::AddLate(pick) => self.add(acc, pick, true)?,
                Fold::Retract(_) if self.sources.plan.options.ignore_retract => acc,
                Fold::Retract(_) => return Err(no_retract(&self.sources.plan)),
            };
        }
        Ok(match acc {
            Value::Null => Cell::Null,
            Value::Row(pick) => Cell::Pick(pick),
            Value::Made => {
                self.ends.push(self.united.len());
                Cell::Computed(self.ends.len() as u32 - 1)
            }
        })
    }
}

impl Sources {
    fn value(&self, pick: Pick) -> Option<&[u8]> {
        let source = &self.arrays[pick.source as usize];
        let row = pick.row as usize;
        source.is_valid(row).then(|| source.value(row))
    }

    fn unite(&self, first: &[u8], second: &[u8], room: &mut Room, out: &mut Vec<u8>) -> Result<()> {
        let plan = &self.plan;
        (self.unite)(first, second, room, out).context("column", &plan.field.name).context("function", &plan.function)
    }
}

/// What a fold has come to.
#[derive(Clone, Copy)]
enum Value {
    Null,
    Row(Pick),
    /// What was made last.
    Made,
}

impl Function for Union {
    fn add_source(&mut self, column: &ArrayRef) -> Result<()> {
        let array = column
            .as_binary_opt::<i32>()
            .ok_or_else(|| Error::internal("a VARBINARY column is not Binary in a merge"))?;
        self.sources.arrays.push(array.clone());
        Ok(())
    }

    fn retain_sources(&mut self, keep: &[usize]) {
        retain(&mut self.sources.arrays, keep);
    }

    fn fold_all(&mut self, folds: &Folds, cells: &mut Vec<Cell>) -> Result<(), FoldError> {
        key_by_key(folds, cells, |steps| self.fold(steps))
    }

    fn computed(&mut self) -> Result<Option<Computed>> {
        let offsets = offsets(self.ends.drain(..))?;
        let next = Vec::with_capacity(self.united.len());
        let united = Buffer::from_vec(std::mem::replace(&mut self.united, next));
        Ok(Some(Computed::Values(Arc::new(BinaryArray::try_new(offsets, united, None)?))))
    }
}
