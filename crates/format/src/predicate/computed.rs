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
