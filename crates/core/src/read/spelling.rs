//! Timestamps of more than six digits as text, where `linn.read.wide-timestamps` asks for it (decision 0003).
//!
//! They are wide until the rows are merged and filtered, so that they order as instants, and become text at the end.

use linn_format::Result;
use linn_format::file::resolve::Resolution;
use linn_format::types::{DataField, has_nanos, spelled, widened};

use crate::table::Table;

/// The table and the columns to read, and how what is read becomes what is returned; nothing for what needs no text.
pub(super) fn of(table: Table, fields: Vec<DataField>) -> Result<(Table, Vec<DataField>, Option<Resolution>)> {
    if !table.options().wide_timestamps_as_text()? {
        return Ok((table, fields, None));
    }
    // Columns may be asked for as they are shown.
    let stored = |field: DataField| match table.schema().field_by_id(field.id) {
        Some(known) if spelled(std::slice::from_ref(known))[0].data_type == field.data_type => known.clone(),
        _ => field,
    };
    let fields: Vec<DataField> = fields.into_iter().map(stored).collect();
    if !has_nanos(&fields) {
        return Ok((table.widened(), fields, None));
    }
    let (wide, text) = (widened(&fields), spelled(&fields));
    let resolution = Resolution::new(&text, &wide)?;
    Ok((table.widened(), wide, Some(resolution)))
}
