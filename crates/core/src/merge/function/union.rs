//! Functions over serialised sets (bitmaps and sketches in VARBINARY columns): every step is the union of two of them.
//!
//! A value that stands alone is passed on as it came; only what is united is read and written anew.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryArray};
use linn_format::{Error, Result, ResultExt};

use super::{Fold, Function, FunctionPlan, no_retract};
use crate::merge::source::{Cell, Pick, retain};

/// The union of two serialised sets, the accumulated one first.
pub(super) type Unite = fn(&[u8], &[u8]) -> Result<Vec<u8>>;

/// A function that unites serialised sets.
pub(super) struct Union {
    plan: FunctionPlan,
    unite: Unite,
    sources: Vec<BinaryArray>,
    results: Vec<Vec<u8>>,
}

impl Union {
    pub(super) fn new(plan: &FunctionPlan, unite: Unite) -> Self {
        Self { plan: plan.clone(), unite, sources: Vec::new(), results: Vec::new() }
    }

    fn value(&self, pick: Pick) -> Option<&[u8]> {
        let source = &self.sources[pick.source as usize];
        let row = pick.row as usize;
        source.is_valid(row).then(|| source.value(row))
    }

    fn united(&self, first: &[u8], second: &[u8]) -> Result<Value> {
        let plan = &self.plan;
        let bytes = (self.unite)(first, second);
        bytes.map(Value::Made).context("column", &plan.field.name).context("function", &plan.function)
    }

    fn bytes<'a>(&'a self, value: &'a Value) -> Option<&'a [u8]> {
        match value {
            Value::Null => None,
            Value::Row(pick) => self.value(*pick),
            Value::Made(bytes) => Some(bytes),
        }
    }

    /// `acc` united with the value of a row, which belongs before it when `late`.
    fn add(&self, acc: Value, pick: Pick, late: bool) -> Result<Value> {
        let Some(input) = self.value(pick) else { return Ok(acc) };
        let Some(bytes) = self.bytes(&acc) else { return Ok(Value::Row(pick)) };
        if late { self.united(input, bytes) } else { self.united(bytes, input) }
    }
}

/// What a fold has come to.
enum Value {
    Null,
    Row(Pick),
    Made(Vec<u8>),
}

impl Function for Union {
    fn add_source(&mut self, column: &ArrayRef) -> Result<()> {
        let array = column
            .as_binary_opt::<i32>()
            .ok_or_else(|| Error::internal("a VARBINARY column is not Binary in a merge"))?;
        self.sources.push(array.clone());
        Ok(())
    }

    fn retain_sources(&mut self, keep: &[usize]) {
        retain(&mut self.sources, keep);
    }

    fn fold(&mut self, folds: &[Fold]) -> Result<Cell> {
        let mut acc = Value::Null;
        for &fold in folds {
            acc = match fold {
                Fold::Add(pick) => self.add(acc, pick, false)?,
                Fold::AddLate(pick) => self.add(acc, pick, true)?,
                Fold::Retract(_) if self.plan.options.ignore_retract => acc,
                Fold::Retract(_) => return Err(no_retract(&self.plan)),
            };
        }
        Ok(match acc {
            Value::Null => Cell::Null,
            Value::Row(pick) => Cell::Pick(pick),
            Value::Made(bytes) => {
                self.results.push(bytes);
                Cell::Computed(self.results.len() as u32 - 1)
            }
        })
    }

    fn computed(&mut self) -> Result<Option<ArrayRef>> {
        Ok(Some(Arc::new(BinaryArray::from_iter_values(std::mem::take(&mut self.results)))))
    }
}
