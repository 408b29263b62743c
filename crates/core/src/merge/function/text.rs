//! `listagg`: strings joined by a delimiter; blank ones are left out (cases: M11).

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StringArray};
use linn_format::{Error, Result};

use super::{Fold, Function, FunctionPlan, no_retract};
use crate::merge::source::{Cell, Pick, retain};

/// The function `listagg`.
pub(super) struct ListAgg {
    plan: FunctionPlan,
    delimiter: String,
    sources: Vec<StringArray>,
    results: Vec<String>,
}

impl ListAgg {
    pub(super) fn new(plan: &FunctionPlan) -> Self {
        let delimiter = plan.options.delimiter.clone().unwrap_or_else(|| ",".to_owned());
        Self { plan: plan.clone(), delimiter, sources: Vec::new(), results: Vec::new() }
    }

    fn value(&self, pick: Pick) -> Option<&str> {
        let source = &self.sources[pick.source as usize];
        let row = pick.row as usize;
        source.is_valid(row).then(|| source.value(row))
    }

    /// `acc` followed by `input`; blank means neutral.
    fn join(&self, acc: Option<String>, input: Option<&str>) -> Option<String> {
        let Some(input) = input.filter(|v| !is_blank(v)) else { return acc };
        let Some(mut joined) = acc.filter(|v| !is_blank(v)) else { return Some(input.to_owned()) };
        if !self.plan.options.distinct {
            joined.push_str(&self.delimiter);
            joined.push_str(input);
            return Some(joined);
        }
        let mut seen: Vec<String> = tokens(&joined, &self.delimiter).into_iter().map(str::to_owned).collect();
        for token in tokens(input, &self.delimiter) {
            if !is_blank(token) && !seen.iter().any(|s| s == token) {
                seen.push(token.to_owned());
                joined.push_str(&self.delimiter);
                joined.push_str(token);
            }
        }
        Some(joined)
    }
}

fn tokens<'a>(text: &'a str, delimiter: &str) -> Vec<&'a str> {
    if delimiter.is_empty() { text.split_ascii_whitespace().collect() } else { text.split(delimiter).collect() }
}

fn is_blank(text: &str) -> bool {
    text.chars().all(char::is_whitespace)
}

impl Function for ListAgg {
    fn add_source(&mut self, column: &ArrayRef) -> Result<()> {
        let array =
            column.as_string_opt::<i32>().ok_or_else(|| Error::internal("a STRING column is not Utf8 in a merge"))?;
        self.sources.push(array.clone());
        Ok(())
    }

    fn retain_sources(&mut self, keep: &[usize]) {
        retain(&mut self.sources, keep);
    }

    fn fold(&mut self, folds: &[Fold]) -> Result<Cell> {
        let mut acc: Option<String> = None;
        for &fold in folds {
            acc = match fold {
                Fold::Add(pick) => self.join(acc, self.value(pick)),
                Fold::AddLate(pick) => self.join(self.value(pick).map(str::to_owned), acc.as_deref()),
                Fold::Retract(_) if self.plan.options.ignore_retract => acc,
                Fold::Retract(_) => return Err(no_retract(&self.plan)),
            };
        }
        Ok(match acc {
            None => Cell::Null,
            Some(text) => {
                self.results.push(text);
                Cell::Computed(self.results.len() as u32 - 1)
            }
        })
    }

    fn computed(&mut self) -> Result<Option<ArrayRef>> {
        Ok(Some(Arc::new(StringArray::from_iter_values(std::mem::take(&mut self.results)))))
    }
}
