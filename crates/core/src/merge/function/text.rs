//! `listagg`: strings joined by a delimiter; blank ones are left out (cases: M11).

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StringArray};
use arrow_buffer::Buffer;
use linn_format::{Error, Result};

use super::offset::offsets;
use super::{Computed, Fold, FoldError, Folds, Function, FunctionPlan, key_by_key, no_retract};
use crate::merge::source::{Cell, Pick, retain};

/// The function `listagg`.
pub(super) struct ListAgg {
    plan: FunctionPlan,
    delimiter: String,
    sources: Vec<StringArray>,
    /// What was joined, one text after the other, and where each ends.
    joined: String,
    ends: Vec<usize>,
}

impl ListAgg {
    pub(super) fn new(plan: &FunctionPlan) -> Self {
        let delimiter = plan.options.delimiter.clone().unwrap_or_else(|| ",".to_owned());
        Self { plan: plan.clone(), delimiter, sources: Vec::new(), joined: String::new(), ends: Vec::new() }
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

    /// What the steps of one key come to.
    fn fold(&mut self, folds: &[Fold]) -> Result<Cell> {
        let mut acc: Option<String> = None;
        for &fold in folds {
            acc = match fold {
                Fold::Add(pick) => self.join(acc, value(&self.sources, pick)),
                Fold::AddLate(pick) => {
                    let late = value(&self.sources, pick).filter(|text| !is_blank(text));
                    self.join(late.map(str::to_owned), acc.as_deref())
                }
                Fold::Retract(_) if self.plan.options.ignore_retract => acc,
                Fold::Retract(_) => return Err(no_retract(&self.plan)),
            };
        }
        Ok(match acc {
            None => Cell::Null,
            Some(text) => {
                self.joined.push_str(&text);
                self.end()
            }
        })
    }
}

impl ListAgg {
    /// What [`ListAgg::fold`] says of values that all arrive in order, without a text of its own for each key.
    fn append(&mut self, steps: &[Fold]) -> Cell {
        let (mut first, mut joins) = (None, false);
        for step in steps {
            let Some(text) = value(&self.sources, step.pick()).filter(|text| !is_blank(text)) else { continue };
            match first {
                None => {
                    first = Some(step.pick());
                    continue;
                }
                Some(pick) if !joins => self.joined.push_str(value(&self.sources, pick).unwrap_or_default()),
                Some(_) => {}
            }
            joins = true;
            self.joined.push_str(&self.delimiter);
            self.joined.push_str(text);
        }
        if joins { self.end() } else { first.map_or(Cell::Null, Cell::Pick) }
    }

    /// Ends a text.
    fn end(&mut self) -> Cell {
        self.ends.push(self.joined.len());
        Cell::Computed(self.ends.len() as u32 - 1)
    }
}

fn value(sources: &[StringArray], pick: Pick) -> Option<&str> {
    let (source, row) = (&sources[pick.source as usize], pick.row as usize);
    source.is_valid(row).then(|| source.value(row))
}

/// Without a delimiter a space parts the tokens.
fn tokens<'a>(text: &'a str, delimiter: &str) -> Vec<&'a str> {
    text.split(if delimiter.is_empty() { " " } else { delimiter }).collect()
}

fn is_blank(text: &str) -> bool {
    text.chars().all(is_space)
}

/// Spaces of Java: the separators of information are some, and spaces that do not break and NEL are none.
fn is_space(c: char) -> bool {
    match c {
        '\u{1c}'..='\u{1f}' => true,
        '\u{85}' | '\u{a0}' | '\u{2007}' | '\u{202f}' => false,
        _ => c.is_whitespace(),
    }
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

    fn fold_all(&mut self, folds: &Folds, cells: &mut Vec<Cell>) -> Result<(), FoldError> {
        let plain = folds.adds_only() && !self.plan.options.distinct;
        key_by_key(folds, cells, |steps| if plain { Ok(self.append(steps)) } else { self.fold(steps) })
    }

    fn computed(&mut self) -> Result<Option<Computed>> {
        let offsets = offsets(self.ends.drain(..))?;
        let joined = Buffer::from_vec(std::mem::take(&mut self.joined).into_bytes());
        Ok(Some(Computed::Values(Arc::new(StringArray::try_new(offsets, joined, None)?))))
    }
}
