//! Tables for people, and the same as Markdown. On a terminal that is too narrow for the table its rows are shown one below
//! the other, each as a list of its columns.

use std::fmt::Write as _;

use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use comfy_table::presets::{ASCII_MARKDOWN, UTF8_FULL_CONDENSED};
use comfy_table::{Cell, CellAlignment, ContentArrangement, Table};
use linn::Result;

use super::cell::{Cells, Spelling};

/// Renders all batches as one table; numbers are aligned to the right.
pub(crate) fn render(schema: &SchemaRef, batches: &[RecordBatch], markdown: bool) -> Result<String> {
    let mut table = Table::new();
    table.load_preset(if markdown { ASCII_MARKDOWN } else { UTF8_FULL_CONDENSED });
    table.set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(schema.fields().iter().map(|f| Cell::new(f.name())));
    let right: Vec<bool> = schema.fields().iter().map(|f| f.data_type().is_numeric()).collect();
    let rows = texts(batches, if markdown { "" } else { "NULL" })?;
    for row in &rows {
        table.add_row(row.iter().zip(&right).map(|(text, right)| {
            let cell = Cell::new(escape(text, markdown));
            if *right { cell.set_alignment(CellAlignment::Right) } else { cell }
        }));
    }
    let wide = |terminal: u16| table.lines().next().is_some_and(|line| line.chars().count() > usize::from(terminal));
    if !markdown && !rows.is_empty() && table.width().is_some_and(wide) {
        return Ok(records(schema, &rows));
    }
    Ok(table.to_string())
}

/// The cells of all rows.
fn texts(batches: &[RecordBatch], null: &str) -> Result<Vec<Vec<String>>> {
    let mut rows = Vec::new();
    for batch in batches {
        let cells = batch.columns().iter().map(|column| Cells::new(column, Spelling::People));
        let cells = cells.collect::<Result<Vec<_>>>()?;
        rows.extend((0..batch.num_rows()).map(|row| cells.iter().map(|cell| cell.text(row, null)).collect()));
    }
    Ok(rows)
}

/// Each row as a list of its columns.
fn records(schema: &SchemaRef, rows: &[Vec<String>]) -> String {
    let width = schema.fields().iter().map(|f| f.name().chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for (number, row) in rows.iter().enumerate() {
        // Writing to a text cannot fail.
        let _ = writeln!(text, "── {} ──", number + 1);
        for (field, value) in schema.fields().iter().zip(row) {
            let value = value.replace('\n', &format!("\n{:width$}  ", ""));
            let _ = writeln!(text, "{:width$}  {value}", field.name());
        }
    }
    text.truncate(text.trim_end().len());
    text
}

fn escape(text: &str, markdown: bool) -> String {
    if markdown { text.replace('|', "\\|").replace('\n', " ") } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int32Array, StringArray, TimestampMicrosecondArray};

    use super::*;

    fn batch() -> RecordBatch {
        let time = TimestampMicrosecondArray::from(vec![Some(1_500_000), None]);
        let columns: [(&str, ArrayRef); 3] = [
            ("id", Arc::new(Int32Array::from(vec![1, 22]))),
            ("note", Arc::new(StringArray::from(vec![Some("a\nb"), None]))),
            ("at", Arc::new(time)),
        ];
        RecordBatch::try_from_iter_with_nullable(columns.map(|(name, column)| (name, column, true))).unwrap()
    }

    #[test]
    fn times_have_a_space_and_nulls_a_name() {
        let text = render(&batch().schema(), &[batch()], false).unwrap();
        assert!(text.contains("1970-01-01 00:00:01.500") && text.contains("NULL"), "{text}");
        let text = render(&batch().schema(), &[batch()], true).unwrap();
        assert!(text.contains("| a b  |") && text.contains("|      |"), "{text}");
    }

    #[test]
    fn records_list_columns() {
        let rows = texts(&[batch()], "NULL").unwrap();
        let text = records(&batch().schema(), &rows);
        assert!(
            text.starts_with("── 1 ──\nid    1\nnote  a\n      b\nat    1970-01-01 00:00:01.500\n── 2 ──\n"),
            "{text}"
        );
        assert!(text.ends_with("at    NULL"));
    }
}
