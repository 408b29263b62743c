//! Tables for people, and the same as Markdown.

use arrow::array::Array;
use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use comfy_table::presets::{ASCII_MARKDOWN, UTF8_FULL_CONDENSED};
use comfy_table::{Cell, CellAlignment, ContentArrangement, Table};
use linn::Result;

/// Renders all batches as one table; numbers are aligned to the right.
pub(crate) fn render(schema: &SchemaRef, batches: &[RecordBatch], markdown: bool) -> Result<String> {
    let mut table = Table::new();
    table.load_preset(if markdown { ASCII_MARKDOWN } else { UTF8_FULL_CONDENSED });
    table.set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(schema.fields().iter().map(|f| Cell::new(f.name())));
    let options = FormatOptions::default().with_null(if markdown { "" } else { "NULL" });
    for batch in batches {
        let formatters = batch
            .columns()
            .iter()
            .map(|column| ArrayFormatter::try_new(column.as_ref(), &options))
            .collect::<Result<Vec<_>, _>>()?;
        for row in 0..batch.num_rows() {
            let cells = formatters.iter().zip(batch.columns()).map(|(formatter, column)| {
                let cell = Cell::new(escape(&formatter.value(row).to_string(), markdown));
                if column.data_type().is_numeric() { cell.set_alignment(CellAlignment::Right) } else { cell }
            });
            table.add_row(cells);
        }
    }
    Ok(table.to_string())
}

fn escape(text: &str, markdown: bool) -> String {
    if markdown { text.replace('|', "\\|").replace('\n', " ") } else { text.to_owned() }
}
