//! Which rows of a system table a query wants, as far as that can be told before they are made.

use linn_format::datum::Datum;
use linn_format::predicate::Predicate;
use linn_format::stats::ColumnRange;
use linn_format::types::DataField;

/// A filter over the columns of a system table. Rows that it does not rule out may still not match.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    filter: Predicate,
    fields: Vec<DataField>,
}

impl Wanted {
    pub(super) fn new(filter: Predicate, fields: Vec<DataField>) -> Self {
        Self { filter, fields }
    }

    /// Whether a row may match of which these columns are known.
    pub(super) fn may(&self, known: &[(&str, Datum)]) -> bool {
        if self.filter == Predicate::Constant(true) {
            return true;
        }
        self.filter.may_match(|id| {
            let name = self.fields.iter().find(|field| field.id == id).map(|field| field.name.as_str());
            let value = known.iter().find(|(column, _)| Some(*column) == name);
            value.map_or_else(ColumnRange::unknown, |(_, value)| ColumnRange::constant(Some(value.clone())))
        })
    }

    /// As [`may`](Self::may), of one column of text.
    pub(super) fn may_be(&self, column: &str, text: &str) -> bool {
        self.may(&[(column, Datum::String(text.to_owned()))])
    }
}
