//! A condition that somebody else computes: an expression of a query engine, over the columns of a batch at once.

use std::fmt;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray};

use super::evaluate::Answers;
use crate::types::DataField;
use crate::{Error, Result};

/// Computes the answers of a condition.
///
/// The answer of a row depends on its values alone: the same values have the same answer whenever they are asked for.
pub trait Compute: fmt::Debug + Send + Sync {
    /// One answer for each row; null is SQL's unknown. The columns are those that the condition was made with, in that order,
    /// and all of the same length.
    ///
    /// # Errors
    /// Those of the expression, such as a value that cannot be cast.
    fn compute(&self, columns: &[ArrayRef]) -> Result<BooleanArray>;
}

/// A condition over some columns that is known by its answers only.
#[derive(Clone)]
pub struct Computed {
    fields: Vec<DataField>,
    text: String,
    compute: Arc<dyn Compute>,
}

impl Computed {
    /// A condition over `fields`; `text` is what it is called in messages.
    pub fn new(fields: Vec<DataField>, text: impl Into<String>, compute: Arc<dyn Compute>) -> Self {
        Self { fields, text: text.into(), compute }
    }

    /// The columns that the answers depend on.
    pub fn fields(&self) -> &[DataField] {
        &self.fields
    }

    pub(super) fn answers(&self, columns: &[ArrayRef], rows: usize) -> Result<Answers> {
        let found = self.compute.compute(columns).map_err(|e| e.with("condition", &self.text))?;
        if found.values().len() != rows {
            return Err(Error::internal("a condition has another number of answers than rows"));
        }
        Ok(Answers::of(found.values(), found.nulls()))
    }
}

impl fmt::Debug for Computed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Computed").field(&self.text).finish()
    }
}

/// What somebody else computes is the same only when it is the very same.
impl PartialEq for Computed {
    fn eq(&self, other: &Self) -> bool {
        self.fields == other.fields && Arc::ptr_eq(&self.compute, &other.compute)
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::{Int32Array, RecordBatch, cast::AsArray, types::Int32Type};

    use super::super::{CompareOp, Predicate};
    use super::*;
    use crate::datum::Datum;
    use crate::stats::ColumnRange;
    use crate::types::{DataType, Kind};

    /// Whether a number is even.
    #[derive(Debug)]
    struct Even;

    impl Compute for Even {
        fn compute(&self, columns: &[ArrayRef]) -> Result<BooleanArray> {
            let numbers = columns.first().and_then(|column| column.as_primitive_opt::<Int32Type>());
            let numbers = numbers.ok_or_else(|| Error::invalid("no numbers"))?;
            Ok(numbers.iter().map(|number| number.map(|number| number % 2 == 0)).collect())
        }
    }

    fn field(id: i32) -> DataField {
        DataField::new(id, format!("f{id}"), DataType::nullable(Kind::Int))
    }

    fn even(id: i32) -> Predicate {
        Predicate::Computed(Computed::new(vec![field(id)], "even", Arc::new(Even)))
    }

    fn above(id: i32, value: i32) -> Predicate {
        Predicate::Compare { field_id: id, op: CompareOp::Gt, literal: Datum::Int(value) }
    }

    fn mask(predicate: &Predicate) -> Vec<bool> {
        let column = |values: Vec<Option<i32>>| -> ArrayRef { Arc::new(Int32Array::from(values)) };
        let a = column(vec![Some(1), Some(2), None, Some(4)]);
        let b = column(vec![Some(9), Some(0), Some(9), None]);
        let batch = RecordBatch::try_from_iter_with_nullable([("f1", a, true), ("f2", b, true)]).unwrap();
        predicate.mask(&batch, &[field(1), field(2)]).unwrap().iter().collect()
    }

    #[test]
    fn it_joins_with_others() {
        assert_eq!(mask(&even(1)), [false, true, false, true]);
        assert_eq!(mask(&Predicate::Not(Box::new(even(1)))), [true, false, false, false]);
        assert_eq!(mask(&Predicate::or([even(1), above(2, 5)])), [true, true, true, true]);
        assert_eq!(mask(&Predicate::and([even(1), above(2, 5)])), [false; 4]);
    }

    #[test]
    fn it_is_found_by_its_columns() {
        let both = Predicate::and([even(1), above(2, 5)]);
        assert_eq!(both.field_ids().into_iter().collect::<Vec<_>>(), [1, 2]);
        let (within, rest) = both.clone().split(|id| id == 1);
        assert!(matches!(within, Predicate::Computed(_)) && rest == above(2, 5));
        assert_eq!(both.project(|id| id == 2), above(2, 5));
        assert!(matches!(both.project(|id| id == 1), Predicate::Computed(_)));
        assert_eq!(Predicate::or([even(1), above(2, 5)]).project(|id| id == 2), Predicate::Constant(true));
        assert_eq!(even(1).for_file(&[field(1)], &[]), Predicate::Constant(true));
        assert!(matches!(even(1).for_file(&[field(1)], &[field(1)]), Predicate::Computed(_)));
        let odd = || ColumnRange::constant(Some(Datum::Int(3)));
        assert!(even(1).may_match(|_| odd()), "statistics say nothing of it");
    }
}
