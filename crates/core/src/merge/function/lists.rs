//! Lists and maps of elements that lie in the sources: noted while keys are folded, copied when the rows of a chunk are gathered.

use arrow_array::{Array, ArrayRef};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use arrow_select::interleave::interleave;
use linn_format::{Error, Result};

use super::element::{ElementSource, Item, list_of};
use crate::merge::source::Cell;

/// Lists since the last chunk.
#[derive(Debug, Default)]
pub(crate) struct Lists {
    /// The elements of one list after the other.
    items: Vec<Item>,
    ends: Vec<usize>,
}

impl Lists {
    /// Where the elements of the open list are appended, behind those of the others.
    pub(super) fn items(&mut self) -> &mut Vec<Item> {
        &mut self.items
    }

    /// Ends the open list.
    pub(super) fn close(&mut self) -> Cell {
        self.ends.push(self.items.len());
        Cell::Computed(self.ends.len() as u32 - 1)
    }

    /// The lists, if there are any; room for as many is kept.
    pub(super) fn take(&mut self) -> Option<Self> {
        let next = Self { items: Vec::with_capacity(self.items.len()), ends: Vec::with_capacity(self.ends.len()) };
        let made = std::mem::replace(self, next);
        (!made.ends.is_empty()).then_some(made)
    }

    fn list(&self, at: usize) -> &[Item] {
        let start = at.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        self.ends.get(at).and_then(|&end| self.items.get(start..end)).unwrap_or_default()
    }

    /// The rows of `index` out of the inputs, which begin with the sources, and of these lists, which follow them.
    pub(super) fn interleave(&self, inputs: &[&dyn Array], index: &[(usize, usize)]) -> Result<ArrayRef> {
        let data_type = inputs.first().ok_or_else(|| Error::internal("a merge without sources"))?.data_type();
        let inputs = inputs.iter().map(|input| ElementSource::new(*input)).collect::<Result<Vec<_>>>()?;
        let mut items = Vec::with_capacity(self.items.len() + index.len());
        let mut ends = Vec::with_capacity(index.len());
        for &(input, row) in index {
            match inputs.get(input) {
                Some(lists) => items.extend(lists.positions(row).unwrap_or_default().map(|at| (input, at))),
                None => items.extend_from_slice(self.list(row)),
            }
            ends.push(items.len());
        }
        let valid = |&(input, row): &(usize, usize)| inputs.get(input).is_none_or(|lists| lists.is_valid(row));
        let nulls = inputs.iter().any(ElementSource::has_nulls).then(|| {
            let valid = BooleanBuffer::collect_bool(index.len(), |at| index.get(at).is_none_or(valid));
            NullBuffer::new(valid)
        });
        let children: Vec<&dyn Array> = inputs.iter().map(|lists| lists.child.as_ref()).collect();
        list_of(data_type, ends, interleave(&children, &items)?, nulls.filter(|nulls| nulls.null_count() > 0))
    }
}
