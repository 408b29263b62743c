//! Membership in a list of literals by hashing, so that long lists cost one look-up a row.

use std::collections::HashSet;
use std::hash::Hash;

use arrow_array::{Array, ArrayRef};
use arrow_buffer::{ArrowNativeType, BooleanBuffer};

use crate::Result;
use crate::row::{Column, Data};
use crate::types::DataType;

/// Whether each value of `column` is among `literals` (same type, no nulls); nulls give any answer.
pub(super) fn contains(column: &ArrayRef, literals: &ArrayRef, data_type: &DataType) -> Result<BooleanBuffer> {
    let rows = column.len();
    let column = Column::new(column, data_type)?.data;
    let literals = Column::new(literals, data_type)?.data;
    Ok(match (&column, &literals) {
        (Data::Bit(values), Data::Bit(among)) => {
            let (yes, no) = (among.iter().any(|v| v), among.iter().any(|v| !v));
            BooleanBuffer::collect_bool(rows, |row| if values.value(row) { yes } else { no })
        }
        (Data::Byte(values), Data::Byte(among)) => natives(values, among),
        (Data::Short(values), Data::Short(among)) => natives(values, among),
        (Data::Word(values), Data::Word(among)) => natives(values, among),
        (Data::Long(values), Data::Long(among)) => natives(values, among),
        (Data::Decimal { values, .. }, Data::Decimal { values: among, .. }) => natives(values, among),
        (Data::Timestamp { values, .. }, Data::Timestamp { values: among, .. }) => natives(values, among),
        (Data::WideTimestamp { values, .. }, Data::WideTimestamp { values: among, .. }) => natives(values, among),
        (Data::String(values), Data::String(among)) => {
            let among: HashSet<_> = among.iter().flatten().collect();
            BooleanBuffer::collect_bool(rows, |row| among.contains(values.value(row)))
        }
        (Data::Binary(values), Data::Binary(among)) => {
            let among: HashSet<_> = among.iter().flatten().collect();
            BooleanBuffer::collect_bool(rows, |row| among.contains(values.value(row)))
        }
        _ => return Err(crate::Error::unsupported(format!("IN on a column of kind {:?}", data_type.kind))),
    })
}

fn natives<T: ArrowNativeType + Eq + Hash>(values: &[T], among: &[T]) -> BooleanBuffer {
    if let [one] = among {
        return BooleanBuffer::collect_bool(values.len(), |row| values[row] == *one);
    }
    let among: HashSet<T> = among.iter().copied().collect();
    BooleanBuffer::collect_bool(values.len(), |row| among.contains(&values[row]))
}
