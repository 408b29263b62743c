//! Evaluation over the rows of a batch, with SQL's three answers.

use std::sync::Arc;

use arrow_array::{BooleanArray, RecordBatch};
use arrow_buffer::{BooleanBuffer, NullBuffer};

use super::fold::Node;
use super::{Predicate, leaf};
use crate::types::DataField;
use crate::{Error, Result, ResultExt};

/// Answers by row: true, false, or neither.
pub(super) struct Answers {
    pub(super) yes: BooleanBuffer,
    pub(super) no: BooleanBuffer,
}

impl Answers {
    pub(super) fn constant(value: bool, rows: usize) -> Self {
        let set = BooleanBuffer::new_set(rows);
        let unset = BooleanBuffer::new_unset(rows);
        if value { Self { yes: set, no: unset } } else { Self { yes: unset, no: set } }
    }

    /// `values` where valid.
    pub(super) fn of(values: &BooleanBuffer, nulls: Option<&NullBuffer>) -> Self {
        match nulls {
            None => Self { yes: values.clone(), no: !values },
            Some(nulls) => Self { yes: values & nulls.inner(), no: &!values & nulls.inner() },
        }
    }

    fn join(node: Node, parts: Vec<Self>, rows: usize) -> Self {
        let parts = parts.into_iter();
        match node {
            Node::And => parts.reduce(|a, b| Self { yes: &a.yes & &b.yes, no: &a.no | &b.no }),
            Node::Or => parts.reduce(|a, b| Self { yes: &a.yes | &b.yes, no: &a.no & &b.no }),
            Node::Not => parts.last().map(|a| Self { yes: a.no, no: a.yes }),
        }
        .unwrap_or_else(|| Self::constant(node == Node::And, rows))
    }
}

impl Predicate {
    /// The answer for each row of `batch`, whose columns are `fields` in order (further columns are ignored).
    ///
    /// Null is SQL's unknown. A row is kept only when the answer is true; [`mask`](Self::mask) says so directly.
    ///
    /// # Errors
    /// `Invalid` when a column is missing or not of its field's type, or a literal is not of the column's type.
    pub fn evaluate(&self, batch: &RecordBatch, fields: &[DataField]) -> Result<BooleanArray> {
        let Answers { yes, no } = self.answers(batch, fields)?;
        let known = NullBuffer::new(&yes | &no);
        Ok(BooleanArray::new(yes, Some(known).filter(|n| n.null_count() > 0)))
    }

    /// The rows for which the answer is true.
    ///
    /// # Errors
    /// As [`evaluate`](Self::evaluate).
    pub fn mask(&self, batch: &RecordBatch, fields: &[DataField]) -> Result<BooleanBuffer> {
        Ok(self.answers(batch, fields)?.yes)
    }

    fn answers(&self, batch: &RecordBatch, fields: &[DataField]) -> Result<Answers> {
        let rows = batch.num_rows();
        let leaf = |leaf: &Predicate, _| {
            if let Predicate::Constant(value) = leaf {
                return Ok(Answers::constant(*value, rows));
            }
            let place = |id: i32| {
                let at = fields.iter().position(|f| f.id == id);
                let at = at.filter(|at| *at < batch.num_columns());
                at.ok_or_else(|| Error::invalid(format!("filter on field {id}, which the batch lacks")))
            };
            if let Predicate::Computed(computed) = leaf {
                let column = |field: &DataField| Ok(Arc::clone(batch.column(place(field.id)?)));
                let columns = computed.fields().iter().map(column).collect::<Result<Vec<_>>>()?;
                return computed.answers(&columns, rows);
            }
            let id = leaf.field_id().ok_or_else(|| Error::internal("a leaf without field"))?;
            let at = place(id)?;
            leaf::evaluate(leaf, batch.column(at), &fields[at].data_type).context("column", &fields[at].name)
        };
        self.fold(leaf, |node, parts| Ok(Answers::join(node, parts, rows)))
    }
}
