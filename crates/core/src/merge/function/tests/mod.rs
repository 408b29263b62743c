//! Functions one by one.

mod nested;
mod text;
mod unions;

use arrow_array::{Array, ArrayRef};
use linn_format::Result;

use super::{Fold, FoldError, Folds, Function};
use crate::merge::source::Cell;

/// What the steps of one key come to, over a single source: its value, if any.
fn fold_one(function: &mut dyn Function, column: &ArrayRef, steps: &[Fold]) -> Result<Option<ArrayRef>> {
    let mut folds = Folds::default();
    steps.iter().for_each(|&step| folds.push(step));
    folds.close();
    let settled = function.settle(&folds).map_err(|FoldError { error, .. }| error)?;
    assert_eq!(settled.cells.len(), 1);
    Ok(match settled.cells[0] {
        Cell::Null => None,
        Cell::Pick(pick) => Some(column.slice(pick.row as usize, 1)),
        Cell::Computed(at) => {
            let column: &dyn Array = column;
            Some(settled.computed.unwrap().interleave(&[column], &[(1, at as usize)])?)
        }
    })
}
