//! Tables into pipes and files, in bounded memory: some rows are held until the widths of their columns are known, and then
//! written; the next ones follow a chunk at a time.

use std::io::Write;

use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use linn::Result;

use super::gone;
use super::grid::{Grid, Layout};
use crate::theme::Theme;

/// Rows that are laid out together, and the bytes of rows that are held for that at the most.
const CHUNK: usize = 1000;
const HELD: usize = 16 << 20;

/// A table that is written as its rows come.
pub(super) struct Rolling<W: Write> {
    out: W,
    grid: Grid,
    held: Vec<RecordBatch>,
    rows: usize,
    bytes: usize,
    begun: bool,
    text: String,
}

impl<W: Write> Rolling<W> {
    /// A table of rows of a schema.
    pub(super) fn new(out: W, layout: Layout, schema: &SchemaRef) -> Self {
        let grid = Grid::new(layout, schema, Theme::None);
        Self { out, grid, held: Vec::new(), rows: 0, bytes: 0, begun: false, text: String::new() }
    }

    /// Takes rows, and writes them once there are enough.
    pub(super) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let mut from = 0;
        while from < batch.num_rows() {
            let most = CHUNK.saturating_sub(self.rows).max(1).min(batch.num_rows() - from);
            self.held.push(batch.slice(from, most));
            self.rows += most;
            from += most;
            // A slice keeps its whole batch.
            self.bytes = self.bytes.saturating_add(batch.get_array_memory_size());
            if self.rows >= CHUNK || self.bytes >= HELD {
                self.emit()?;
            }
        }
        Ok(())
    }

    fn emit(&mut self) -> Result<()> {
        self.text.clear();
        let held = std::mem::take(&mut self.held);
        (self.rows, self.bytes) = (0, 0);
        let cells = held.iter().map(|rows| self.grid.cells(rows)).collect::<Result<Vec<_>>>()?;
        for cells in &cells {
            self.grid.fit(cells);
        }
        if !std::mem::replace(&mut self.begun, true) {
            self.grid.head(&mut self.text);
        }
        for (rows, cells) in held.iter().zip(&cells) {
            self.grid.rows(&mut self.text, cells, rows.num_rows());
        }
        self.out.write_all(self.text.as_bytes()).map_err(gone)
    }

    /// Writes what is held.
    pub(super) fn flush(&mut self) -> Result<()> {
        if !self.held.is_empty() {
            self.emit()?;
        }
        self.out.flush().map_err(gone)
    }

    /// Writes what is held, and the end of the table.
    pub(super) fn finish(mut self) -> Result<()> {
        if !self.held.is_empty() || !self.begun {
            self.emit()?;
        }
        self.text.clear();
        self.grid.foot(&mut self.text);
        self.out.write_all(self.text.as_bytes()).and_then(|()| self.out.flush()).map_err(gone)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, StringArray};

    use super::*;

    #[test]
    fn later_rows_widen_the_table_and_none_is_lost() {
        let rows = |text: &str, count: usize| {
            let column: ArrayRef = Arc::new(StringArray::from(vec![text; count]));
            RecordBatch::try_from_iter([("v", column)]).unwrap()
        };
        let mut bytes = Vec::new();
        let mut table = Rolling::new(&mut bytes, Layout::Box, &rows("a", 1).schema());
        table.write(&rows("a", 1500)).unwrap();
        table.write(&rows("wide", 600)).unwrap();
        table.finish().unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3 + 2100 + 1);
        assert_eq!((lines[0], lines[3], lines[3 + 999]), ("┌───┐", "│ a │", "│ a │"));
        assert_eq!((lines[3 + 1000], lines[3 + 2099], lines[2103]), ("│ a    │", "│ wide │", "└──────┘"));
    }

    #[test]
    fn no_rows_are_a_head() {
        let column: ArrayRef = Arc::new(StringArray::from(Vec::<&str>::new()));
        let rows = RecordBatch::try_from_iter([("v", column)]).unwrap();
        let mut bytes = Vec::new();
        Rolling::new(&mut bytes, Layout::Box, &rows.schema()).finish().unwrap();
        assert_eq!(String::from_utf8(bytes).unwrap(), "┌───┐\n│ v │\n├───┤\n└───┘\n");
    }
}
