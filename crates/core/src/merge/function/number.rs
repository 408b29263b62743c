//! `sum` and `product`, exact: an overflow is an error and never wraps (cases: M10).

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
};
use arrow_array::{Array, ArrayRef, PrimitiveArray};
use arrow_schema::DataType as ArrowType;
use linn_format::types::{Kind, arrow_type};
use linn_format::{Error, Result};

use super::decimal::DecimalArithmetic;
use super::{Computed, Fold, FoldError, Folds, Function, FunctionPlan, key_by_key};
use crate::merge::source::{Cell, Pick, retain};

/// Which of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    Sum,
    Product,
}

/// The arithmetic of one type; `None` is an overflow.
pub(super) trait Arithmetic: Send + 'static {
    type Type: ArrowPrimitiveType;

    fn add(&self, a: Native<Self>, b: Native<Self>) -> Option<Native<Self>>;
    fn subtract(&self, a: Native<Self>, b: Native<Self>) -> Option<Native<Self>>;
    fn negate(&self, a: Native<Self>) -> Option<Native<Self>>;
    fn multiply(&self, a: Native<Self>, b: Native<Self>) -> Option<Native<Self>>;
    fn divide(&self, a: Native<Self>, b: Native<Self>) -> Option<Native<Self>>;
}

type Native<A> = <<A as Arithmetic>::Type as ArrowPrimitiveType>::Native;

macro_rules! integers {
    ($($name:ident $t:ty),*) => {$(
        struct $name;

        impl Arithmetic for $name {
            type Type = $t;

            fn add(&self, a: Native<Self>, b: Native<Self>) -> Option<Native<Self>> {
                a.checked_add(b)
            }
            fn subtract(&self, a: Native<Self>, b: Native<Self>) -> Option<Native<Self>> {
                a.checked_sub(b)
            }
            fn negate(&self, a: Native<Self>) -> Option<Native<Self>> {
                a.checked_neg()
            }
            fn multiply(&self, a: Native<Self>, b: Native<Self>) -> Option<Native<Self>> {
                a.checked_mul(b)
            }
            fn divide(&self, a: Native<Self>, b: Native<Self>) -> Option<Native<Self>> {
                a.checked_div(b)
            }
        }
    )*};
}

macro_rules! floats {
    ($($name:ident $t:ty),*) => {$(
        struct $name;

        impl Arithmetic for $name {
            type Type = $t;

            fn add(&self, a: Native<Self>, b: Native<Self>) -> Option<Native<Self>> {
                Some(a + b)
            }
            fn subtract(&self, a: Native<Self>, b: Native<Self>) -> Option<Native<Self>> {
                Some(a - b)
            }
            fn negate(&self, a: Native<Self>) -> Option<Native<Self>> {
                Some(-a)
            }
            fn multiply(&self, a: Native<Self>, b: Native<Self>) -> Option<Native<Self>> {
                Some(a * b)
            }
            fn divide(&self, a: Native<Self>, b: Native<Self>) -> Option<Native<Self>> {
                Some(a / b)
            }
        }
    )*};
}

integers!(Int8 Int8Type, Int16 Int16Type, Int32 Int32Type, Int64 Int64Type);
floats!(Float32 Float32Type, Float64 Float64Type);

impl Arithmetic for DecimalArithmetic {
    type Type = Decimal128Type;

    fn add(&self, a: i128, b: i128) -> Option<i128> {
        self.fits(a.checked_add(b)?)
    }
    fn subtract(&self, a: i128, b: i128) -> Option<i128> {
        self.fits(a.checked_sub(b)?)
    }
    fn negate(&self, a: i128) -> Option<i128> {
        a.checked_neg()
    }
    fn multiply(&self, a: i128, b: i128) -> Option<i128> {
        self.product(a, b)
    }
    fn divide(&self, a: i128, b: i128) -> Option<i128> {
        self.quotient(a, b)
    }
}

/// Starts the function for the column's type.
pub(super) fn build(plan: &FunctionPlan, operation: Operation) -> Result<Box<dyn Function>> {
    fn boxed<A: Arithmetic>(plan: &FunctionPlan, operation: Operation, arithmetic: A) -> Result<Box<dyn Function>> {
        Ok(Box::new(Number {
            plan: plan.clone(),
            operation,
            arithmetic,
            data_type: arrow_type(&plan.field.data_type)?,
            sources: Vec::new(),
            results: Vec::new(),
        }))
    }
    match plan.field.data_type.kind {
        Kind::TinyInt => boxed(plan, operation, Int8),
        Kind::SmallInt => boxed(plan, operation, Int16),
        Kind::Int => boxed(plan, operation, Int32),
        Kind::BigInt => boxed(plan, operation, Int64),
        Kind::Float => boxed(plan, operation, Float32),
        Kind::Double => boxed(plan, operation, Float64),
        Kind::Decimal { precision, scale } => boxed(plan, operation, DecimalArithmetic::new(precision, scale)),
        _ => Err(Error::invalid("the aggregate function does not take this column type")),
    }
}

struct Number<A: Arithmetic> {
    plan: FunctionPlan,
    operation: Operation,
    arithmetic: A,
    data_type: ArrowType,
    sources: Vec<PrimitiveArray<A::Type>>,
    results: Vec<Native<A>>,
}

impl<A: Arithmetic> Number<A> {
    fn value(&self, pick: Pick) -> Option<Native<A>> {
        let source = &self.sources[pick.source as usize];
        let row = pick.row as usize;
        source.is_valid(row).then(|| source.value(row))
    }

    fn step(&self, acc: Option<Native<A>>, fold: Fold) -> Result<Option<Native<A>>> {
        let arithmetic = &self.arithmetic;
        let result = match fold {
            Fold::Add(pick) | Fold::AddLate(pick) => match (acc, self.value(pick)) {
                (None, value) | (value, None) => return Ok(value),
                (Some(a), Some(b)) if self.operation == Operation::Sum => arithmetic.add(a, b),
                (Some(a), Some(b)) => arithmetic.multiply(a, b),
            },
            Fold::Retract(_) if self.plan.options.ignore_retract => return Ok(acc),
            Fold::Retract(pick) => match (acc, self.value(pick), self.operation) {
                (acc, None, _) | (acc @ None, _, Operation::Product) => return Ok(acc),
                (None, Some(b), Operation::Sum) => arithmetic.negate(b),
                (Some(a), Some(b), Operation::Sum) => arithmetic.subtract(a, b),
                (Some(a), Some(b), Operation::Product) => arithmetic.divide(a, b),
            },
        };
        match result {
            Some(value) => Ok(Some(value)),
            None => Err(self.failure(matches!(fold, Fold::Retract(_)))),
        }
    }

    /// Why there is no result.
    fn failure(&self, retract: bool) -> Error {
        let FunctionPlan { field, function, .. } = &self.plan;
        let data_type = field.data_type.clone().with_nullable(true);
        let ignore = format!("set 'fields.{}.ignore-retract' to 'true' to leave retractions out", field.name);
        let (what, hint) = match (self.operation, retract) {
            (Operation::Product, true) => ("a retracted value does not divide the product".to_owned(), ignore),
            _ => (
                format!("arithmetic overflow: the {function} does not fit into {data_type}"),
                "alter the column to a wider type, or overwrite the rows".to_owned(),
            ),
        };
        Error::invalid(what).with("column", &field.name).with("function", function).with_hint(hint)
    }

    /// What the steps of one key come to.
    fn fold(&mut self, folds: &[Fold]) -> Result<Cell> {
        let mut acc = None;
        for &fold in folds {
            acc = self.step(acc, fold)?;
        }
        Ok(match acc {
            None => Cell::Null,
            Some(value) => {
                self.results.push(value);
                Cell::Computed(self.results.len() as u32 - 1)
            }
        })
    }
}

impl<A: Arithmetic> Function for Number<A> {
    fn add_source(&mut self, column: &ArrayRef) -> Result<()> {
        let array = column
            .as_primitive_opt::<A::Type>()
            .ok_or_else(|| Error::internal(format!("an aggregated column has the type {}", column.data_type())))?;
        self.sources.push(array.clone());
        Ok(())
    }

    fn retain_sources(&mut self, keep: &[usize]) {
        retain(&mut self.sources, keep);
    }

    fn fold_all(&mut self, folds: &Folds, cells: &mut Vec<Cell>) -> Result<(), FoldError> {
        key_by_key(folds, cells, |steps| self.fold(steps))
    }

    fn computed(&mut self) -> Result<Option<Computed>> {
        let next = Vec::with_capacity(self.results.len());
        let values = std::mem::replace(&mut self.results, next);
        let array = PrimitiveArray::<A::Type>::new(values.into(), None).with_data_type(self.data_type.clone());
        Ok(Some(Computed::Values(Arc::new(array))))
    }
}
