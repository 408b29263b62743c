//! Aggregate functions over the values of one column of one key (spec: features.md B3).
//!
//! A function folds a list of steps; most pick one of the source values, so that nothing is copied, the others append
//! what they compute to an array that the gather reads from.

mod algebra;
mod bitmap;
mod collection;
mod decimal;
mod element;
mod fold;
mod identity;
mod lists;
mod nested;
mod number;
mod offset;
mod select;
mod sketch;
mod table;
mod text;
mod union;

#[cfg(test)]
mod tests;

use arrow_array::{Array, ArrayRef};
use arrow_select::interleave::interleave;
use linn_format::types::{DataField, Kind};
use linn_format::{Error, Result, ResultExt};

use super::engine::Settled;
use super::source::{Cell, Pick};
pub(crate) use algebra::{Adding, Algebra, Taking};
pub(crate) use fold::{Fold, Folds};
use lists::Lists;

/// Values that cannot be folded.
#[derive(Debug)]
pub(crate) struct FoldError {
    /// Why not.
    pub(crate) error: Error,
    /// A row of the key that they belong to, where that is known.
    pub(crate) at: Option<Pick>,
}

impl From<Error> for FoldError {
    fn from(error: Error) -> Self {
        Self { error, at: None }
    }
}

/// The values of [`Cell::Computed`] that a function made.
#[derive(Debug)]
pub(crate) enum Computed {
    /// As they are.
    Values(ArrayRef),
    /// As elements of the sources, which are copied once with those of other rows.
    Lists(Lists),
}

impl Computed {
    /// The rows of `index` out of the inputs and these values, which follow the inputs as the last one.
    pub(crate) fn interleave(&self, inputs: &[&dyn Array], index: &[(usize, usize)]) -> Result<ArrayRef> {
        match self {
            Self::Values(values) => {
                let inputs: Vec<&dyn Array> = inputs.iter().copied().chain([values.as_ref()]).collect();
                Ok(interleave(&inputs, index)?)
            }
            Self::Lists(lists) => lists.interleave(inputs, index),
        }
    }
}

/// A running function.
pub(crate) trait Function: Send {
    /// A source was appended.
    fn add_source(&mut self, column: &ArrayRef) -> Result<()>;

    /// Only the sources at `keep` (ascending) remain, renumbered.
    fn retain_sources(&mut self, keep: &[usize]);

    /// Appends the cells of many keys: what their steps come to, of each from nothing.
    fn fold_all(&mut self, folds: &Folds, cells: &mut Vec<Cell>) -> Result<(), FoldError>;

    /// What was computed since the last call, in the order of [`Cell::Computed`].
    fn computed(&mut self) -> Result<Option<Computed>> {
        Ok(None)
    }

    /// The cells of many keys with what was computed for them.
    fn settle(&mut self, folds: &Folds) -> Result<Settled, FoldError> {
        let mut cells = Vec::with_capacity(folds.len());
        self.fold_all(folds, &mut cells)?;
        Ok(Settled { cells, computed: self.computed()? })
    }
}

/// Folds the steps of each key by `fold`; an error is told with a row of its key.
fn key_by_key(
    folds: &Folds,
    cells: &mut Vec<Cell>,
    mut fold: impl FnMut(&[Fold]) -> Result<Cell>,
) -> Result<(), FoldError> {
    folds.iter().try_for_each(|steps| {
        let at = || steps.last().map(|step| step.pick());
        cells.push(fold(steps).map_err(|error| FoldError { error, at: at() })?);
        Ok(())
    })
}

/// What to do about a null in a nested key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum NullKey {
    /// It is a key like others.
    #[default]
    Merge,
    /// The element is left out.
    Ignore,
    /// It is an error.
    Error,
}

/// The options of a column's function (`fields.<f>.*`).
#[derive(Debug, Clone, Default)]
pub(crate) struct FunctionOptions {
    /// `ignore-retract`.
    pub(crate) ignore_retract: bool,
    /// `distinct`.
    pub(crate) distinct: bool,
    /// `list-agg-delimiter`.
    pub(crate) delimiter: Option<String>,
    /// `nested-key`.
    pub(crate) nested_key: Vec<String>,
    /// `nested-sequence-field`.
    pub(crate) nested_sequence: Vec<String>,
    /// `nested-key-null-strategy`.
    pub(crate) null_key: NullKey,
    /// `count-limit`.
    pub(crate) count_limit: Option<usize>,
    /// `ts-field`.
    pub(crate) time_field: Option<String>,
}

/// A column and the function that aggregates it.
#[derive(Debug, Clone)]
pub(crate) struct FunctionPlan {
    /// Position among the read columns.
    pub(crate) column: usize,
    /// The column.
    pub(crate) field: DataField,
    /// Name of the function.
    pub(crate) function: String,
    /// Its options.
    pub(crate) options: FunctionOptions,
}

impl FunctionPlan {
    /// Starts the function.
    ///
    /// # Errors
    /// `Invalid` for an unknown function or a type that it does not take, naming both.
    pub(crate) fn build(&self) -> Result<Box<dyn Function>> {
        self.build_named().context("column", &self.field.name).context("function", &self.function)
    }

    fn build_named(&self) -> Result<Box<dyn Function>> {
        use select::Choice;
        let kind = &self.field.data_type.kind;
        let choice = match self.function.as_str() {
            "last_value" | "primary-key" => Some(Choice::Last),
            "last_non_null_value" => Some(Choice::LastNonNull),
            "first_value" => Some(Choice::First),
            "first_non_null_value" | "first_not_null_value" => Some(Choice::FirstNonNull),
            "max" => Some(Choice::Max),
            "min" => Some(Choice::Min),
            "bool_and" if *kind == Kind::Boolean => Some(Choice::Min),
            "bool_or" if *kind == Kind::Boolean => Some(Choice::Max),
            _ => None,
        };
        if let Some(choice) = choice {
            return Ok(Box::new(select::Select::new(self, choice)?));
        }
        match (self.function.as_str(), kind) {
            ("sum", _) => number::build(self, number::Operation::Sum),
            ("product", _) => number::build(self, number::Operation::Product),
            ("listagg", Kind::Char(_) | Kind::Varchar(_)) => Ok(Box::new(text::ListAgg::new(self))),
            ("collect", Kind::Array(_))
            | ("merge_map" | "merge_map_with_keytime", Kind::Map(_, _))
            | ("nested_update", Kind::Array(_)) => Ok(Box::new(collection::Elements::new(self)?)),
            ("nested_partial_update", Kind::Array(_)) => Ok(Box::new(nested::NestedPartial::new(self)?)),
            ("rbm32", Kind::Varbinary(_)) => Ok(Box::new(union::Union::new(self, bitmap::unite))),
            ("rbm64", Kind::Varbinary(_)) => Ok(Box::new(union::Union::new(self, bitmap::unite_wide))),
            ("hll_sketch", Kind::Varbinary(_)) => Ok(Box::new(union::Union::new(self, sketch::unite_hll))),
            ("theta_sketch", Kind::Varbinary(_)) => Ok(Box::new(union::Union::new(self, sketch::unite_theta))),
            _ if NAMES.contains(&self.function.as_str()) => {
                Err(Error::invalid("the aggregate function does not take this column type"))
            }
            _ => Err(Error::invalid("there is no such aggregate function")),
        }
    }
}

impl FunctionPlan {
    /// What the function does.
    pub(crate) fn algebra(&self) -> Algebra {
        Algebra::of(self)
    }

    /// The error of a retraction, when the function can take nothing back.
    pub(crate) fn refusal(&self) -> Option<Error> {
        const TAKING_BACK: [&str; 8] = [
            "sum",
            "product",
            "last_value",
            "last_non_null_value",
            "collect",
            "merge_map",
            "nested_update",
            "primary-key",
        ];
        let takes_back = self.options.ignore_retract || TAKING_BACK.contains(&self.function.as_str());
        (!takes_back).then(|| no_retract(self))
    }
}

/// All functions by name.
const NAMES: [&str; 21] = [
    "sum",
    "product",
    "max",
    "min",
    "last_value",
    "last_non_null_value",
    "first_value",
    "first_non_null_value",
    "first_not_null_value",
    "listagg",
    "bool_and",
    "bool_or",
    "collect",
    "merge_map",
    "merge_map_with_keytime",
    "nested_update",
    "nested_partial_update",
    "theta_sketch",
    "hll_sketch",
    "rbm32",
    "rbm64",
];

/// The error of a function that cannot take a value back.
fn no_retract(plan: &FunctionPlan) -> Error {
    Error::invalid(format!("aggregate function {} does not support retraction", plan.function))
        .with("column", &plan.field.name)
        .with_hint(format!("set 'fields.{}.ignore-retract' to 'true' to leave retractions out", plan.field.name))
}
