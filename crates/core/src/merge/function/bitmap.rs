//! `rbm32`: the union of 32-bit Roaring bitmaps in Roaring's portable format.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryArray};
use linn_format::{Error, Result};
use roaring::RoaringBitmap;

use super::{Fold, Function, FunctionPlan, no_retract};
use crate::merge::source::{Cell, Pick, retain};

/// The function `rbm32`.
pub(super) struct Bitmaps {
    plan: FunctionPlan,
    sources: Vec<BinaryArray>,
    results: Vec<Vec<u8>>,
}

impl Bitmaps {
    pub(super) fn new(plan: &FunctionPlan) -> Self {
        Self { plan: plan.clone(), sources: Vec::new(), results: Vec::new() }
    }

    fn value(&self, pick: Pick) -> Option<&[u8]> {
        let source = &self.sources[pick.source as usize];
        let row = pick.row as usize;
        source.is_valid(row).then(|| source.value(row))
    }

    fn union(&self, acc: Option<Vec<u8>>, input: Option<&[u8]>) -> Result<Option<Vec<u8>>> {
        let (Some(a), Some(b)) = (&acc, input) else { return Ok(acc.or_else(|| input.map(<[u8]>::to_vec))) };
        let mut bytes = Vec::new();
        let corrupt = |e: std::io::Error| {
            Error::corrupt("not a serialised Roaring bitmap").with("column", &self.plan.field.name).with_source(e)
        };
        let mut union = RoaringBitmap::deserialize_from(a.as_slice()).map_err(corrupt)?;
        union |= RoaringBitmap::deserialize_from(b).map_err(corrupt)?;
        union.optimize();
        union.serialize_into(&mut bytes).map_err(corrupt)?;
        Ok(Some(bytes))
    }
}

impl Function for Bitmaps {
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
        let mut acc: Option<Vec<u8>> = None;
        for &fold in folds {
            acc = match fold {
                Fold::Set(pick) => self.value(pick).map(<[u8]>::to_vec),
                Fold::Add(pick) | Fold::AddLate(pick) => self.union(acc, self.value(pick))?,
                Fold::Retract(_) if self.plan.options.ignore_retract => acc,
                Fold::Retract(_) => return Err(no_retract(&self.plan)),
            };
        }
        Ok(match acc {
            None => Cell::Null,
            Some(bytes) => {
                self.results.push(bytes);
                Cell::Computed(self.results.len() as u32 - 1)
            }
        })
    }

    fn computed(&mut self) -> Result<Option<ArrayRef>> {
        Ok(Some(Arc::new(BinaryArray::from_iter_values(std::mem::take(&mut self.results)))))
    }
}
