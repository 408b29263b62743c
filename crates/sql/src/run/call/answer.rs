//! What procedures answer: one row, or a word.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use datafusion::arrow::datatypes::{Field, Schema};
use futures::StreamExt;
use linn::Result;

use crate::run::show::rows;
use crate::session::Output;

/// A value of an answer.
pub(super) enum Cell {
    /// STRING.
    Text(String),
    /// BIGINT.
    Number(i64),
}

/// One row of named values.
pub(super) fn row<const N: usize>(cells: [(&str, Cell); N]) -> Result<Output> {
    let columns = cells.into_iter().map(|(name, cell)| {
        let values: ArrayRef = match cell {
            Cell::Text(text) => Arc::new(StringArray::from(vec![text])),
            Cell::Number(number) => Arc::new(Int64Array::from(vec![number])),
        };
        (Field::new(name, values.data_type().clone(), false), values)
    });
    let (fields, values): (Vec<Field>, Vec<ArrayRef>) = columns.unzip();
    let schema = Arc::new(Schema::new(fields));
    let batch = RecordBatch::try_new(Arc::clone(&schema), values)?;
    Ok(Output::Rows { schema, stream: futures::stream::iter([Ok(batch)]).boxed() })
}

/// That it was done.
pub(super) fn success() -> Result<Output> {
    rows(&["result"], [vec!["Success".to_owned()]])
}
