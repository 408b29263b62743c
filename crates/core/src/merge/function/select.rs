//! Functions that choose one of the values: first, last, greatest, least.

use std::cmp::Ordering;

use arrow_array::ArrayRef;
use linn_format::{Error, Result};

use super::{Fold, Function, FunctionPlan, no_retract};
use crate::merge::key::{KeyEncoder, Keys};
use crate::merge::source::{Cell, Nulls, Pick, retain};

/// Which value stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Choice {
    Last,
    LastNonNull,
    First,
    FirstNonNull,
    Max,
    Min,
}

/// A function that chooses a value.
pub(super) struct Select {
    plan: FunctionPlan,
    choice: Choice,
    nulls: Nulls,
    order: Option<(KeyEncoder, Vec<Keys>)>,
}

impl Select {
    pub(super) fn new(plan: &FunctionPlan, choice: Choice) -> Result<Self> {
        let order = match choice {
            Choice::Max | Choice::Min => {
                let encoder = KeyEncoder::new(vec![0], &[&plan.field], false)
                    .map_err(|_| Error::invalid("the aggregate function does not take this column type"))?;
                Some((encoder, Vec::new()))
            }
            _ => None,
        };
        Ok(Self { plan: plan.clone(), choice, nulls: Nulls::default(), order })
    }

    fn compare(&self, a: Pick, b: Pick) -> Ordering {
        let Some((_, keys)) = &self.order else { return Ordering::Equal };
        keys[a.source as usize].compare(a.row as usize, &keys[b.source as usize], b.row as usize)
    }

    fn add(&self, acc: Option<Pick>, started: bool, input: Pick) -> Option<Pick> {
        let null = self.nulls.is_null(input);
        match (self.choice, acc) {
            (Choice::Last, _) => (!null).then_some(input),
            (Choice::First, acc) => {
                if started {
                    acc
                } else {
                    (!null).then_some(input)
                }
            }
            (_, acc) if null => acc,
            (Choice::LastNonNull, _) | (_, None) => Some(input),
            (Choice::FirstNonNull, acc) => acc,
            (Choice::Max, Some(acc)) => Some(if self.compare(acc, input) == Ordering::Less { input } else { acc }),
            (Choice::Min, Some(acc)) => Some(if self.compare(acc, input) == Ordering::Less { acc } else { input }),
        }
    }

    fn add_late(&self, acc: Option<Pick>, input: Pick) -> Option<Pick> {
        let null = self.nulls.is_null(input);
        match self.choice {
            Choice::Last => acc,
            Choice::First => (!null).then_some(input),
            Choice::FirstNonNull => {
                if null {
                    acc
                } else {
                    Some(input)
                }
            }
            Choice::LastNonNull => acc.or((!null).then_some(input)),
            Choice::Max | Choice::Min => self.add(acc, true, input),
        }
    }
}

impl Function for Select {
    fn add_source(&mut self, column: &ArrayRef) -> Result<()> {
        self.nulls.push(column);
        if let Some((encoder, keys)) = &mut self.order {
            keys.push(encoder.encode(std::slice::from_ref(column), column.len())?);
        }
        Ok(())
    }

    fn retain_sources(&mut self, keep: &[usize]) {
        self.nulls.retain(keep);
        if let Some((_, keys)) = &mut self.order {
            retain(keys, keep);
        }
    }

    fn fold(&mut self, folds: &[Fold]) -> Result<Cell> {
        let mut acc: Option<Pick> = None;
        let mut started = false;
        for &fold in folds {
            match fold {
                Fold::Add(pick) => acc = self.add(acc, started, pick),
                Fold::AddLate(pick) => acc = self.add_late(acc, pick),
                Fold::Retract(_) if self.plan.options.ignore_retract => continue,
                Fold::Retract(pick) => match self.choice {
                    Choice::Last if self.plan.function == "primary-key" => acc = Some(pick),
                    Choice::Last => acc = None,
                    Choice::LastNonNull => acc = acc.filter(|_| self.nulls.is_null(pick)),
                    _ => return Err(no_retract(&self.plan)),
                },
            }
            started = true;
        }
        Ok(acc.map_or(Cell::Null, Cell::Pick))
    }
}
