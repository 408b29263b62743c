//! Tables on a terminal: so many rows, folded to its width, through the pager when they are longer than the screen. A line
//! below says what is not shown.

use std::io::Write;

use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use linn::Result;

use super::columns::thousands;
use super::fold::fold;
use super::grid::{Grid, Layout};
use super::view::View;
use super::{Out, gone, pager};
use crate::theme::{self, Role, Theme};

/// Rows that are shown where the user says nothing: with a pager, and without.
const PAGED: usize = 500;
const PLAIN: usize = 100;
/// Rows after which nobody wants to know how many there are.
const COUNTED: usize = 10_000_000;

/// A table that is shown when it is complete.
pub(super) struct Screen {
    schema: SchemaRef,
    rows: Vec<RecordBatch>,
    shown: usize,
    total: usize,
    most: usize,
    pager: Option<String>,
    layout: Layout,
    terminal: (usize, usize),
}

impl Screen {
    /// A table of rows of a schema.
    pub(super) fn new(schema: SchemaRef, layout: Layout, view: &View) -> Self {
        let pager = if view.pager { pager::pager() } else { None };
        let usual = if pager.is_some() { PAGED } else { PLAIN };
        let most = match view.max_rows {
            Some(0) => usize::MAX,
            most => most.unwrap_or(usual),
        };
        let (columns, lines) = crossterm::terminal::size().unwrap_or((80, 24));
        let terminal = (usize::from(columns.max(20)), usize::from(lines.max(4)));
        Self { schema, rows: Vec::new(), shown: 0, total: 0, most, pager, layout, terminal }
    }

    /// Takes rows; only those that are shown are kept.
    pub(super) fn write(&mut self, batch: &RecordBatch) {
        let shown = batch.num_rows().min(self.most.saturating_sub(self.shown));
        if shown > 0 {
            self.rows.push(batch.slice(0, shown));
        }
        self.shown += shown;
        self.total += batch.num_rows();
    }

    /// Whether more rows would change nothing.
    pub(super) fn is_full(&self) -> bool {
        self.shown < self.total && self.total >= COUNTED
    }

    /// Shows the table.
    pub(super) fn finish(self) -> Result<()> {
        let mut text = String::new();
        let hidden = draw(&mut text, &self.schema, &self.rows, self.layout, self.terminal.0, theme::stdout())?;
        for note in notes(self.shown, self.total, hidden, self.schema.fields().len()) {
            text.push_str(&theme::stdout().paint(Role::Comment, &note));
            text.push('\n');
        }
        let long = text.lines().count() >= self.terminal.1;
        if let Some(command) = self.pager.filter(|_| long)
            && pager::page(&command, &text)
        {
            return Ok(());
        }
        let mut out = Out::new();
        out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(gone)
    }
}

/// Draws rows within a width; says how many columns are left out.
fn draw(
    text: &mut String,
    schema: &SchemaRef,
    rows: &[RecordBatch],
    layout: Layout,
    width: usize,
    theme: Theme,
) -> Result<usize> {
    let mut grid = Grid::new(layout, schema, theme);
    let cells = rows.iter().map(|rows| grid.cells(rows)).collect::<Result<Vec<_>>>()?;
    for cells in &cells {
        grid.fit(cells);
    }
    // Plans and other texts of many lines are read, not compared.
    let prose = cells.iter().flatten().any(|cells| cells.lines);
    let mut hidden = 0;
    if layout == Layout::Box && grid.width() > width {
        if prose {
            grid.layout = Layout::Vertical;
        } else {
            (grid.columns, hidden) = fold(grid.columns, width);
            grid.clip = true;
        }
    }
    grid.head(text);
    for (rows, cells) in rows.iter().zip(&cells) {
        grid.rows(text, cells, rows.num_rows());
    }
    grid.foot(text);
    Ok(hidden)
}

/// What is not shown, and how it could be.
fn notes(shown: usize, total: usize, hidden: usize, columns: usize) -> Vec<String> {
    let mut notes = Vec::new();
    if shown < total {
        let count = match total >= COUNTED {
            true => format!("more than {} rows, {} shown", thousands(COUNTED), thousands(shown)),
            false => format!("{} more rows, {} in all", thousands(total - shown), thousands(total)),
        };
        notes.push(format!("… {count}; --max-rows 0 shows all, -o csv writes all"));
    }
    if hidden > 0 {
        notes.push(format!("… {hidden} of {columns} columns are not shown; -o vertical shows all"));
    }
    notes
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int32Array, StringArray};

    use super::*;

    fn drawn(columns: Vec<(String, ArrayRef)>, width: usize) -> (String, usize) {
        let rows = RecordBatch::try_from_iter(columns).unwrap();
        let mut text = String::new();
        let hidden =
            draw(&mut text, &rows.schema(), std::slice::from_ref(&rows), Layout::Box, width, Theme::None).unwrap();
        (text, hidden)
    }

    fn number(value: i32) -> ArrayRef {
        Arc::new(Int32Array::from(vec![value]))
    }

    #[test]
    fn wide_results_fold() {
        let columns = (0..30).map(|at| (format!("column_{at}"), number(at))).collect();
        let (text, hidden) = drawn(columns, 60);
        assert!(text.lines().all(|line| line.chars().count() <= 60), "{text}");
        assert!(text.contains("│ … │") && text.contains("column_0 ") && text.contains("column_29"), "{text}");
        assert_eq!(hidden, 26);
    }

    #[test]
    fn long_values_are_cut_and_texts_of_many_lines_are_not() {
        let text: ArrayRef = Arc::new(StringArray::from(vec!["x".repeat(100)]));
        let (cut, _) = drawn(vec![("id".into(), number(1)), ("v".into(), text)], 40);
        assert!(cut.contains("xxx…") && cut.lines().all(|line| line.chars().count() == 40), "{cut}");
        let text: ArrayRef = Arc::new(StringArray::from(vec![format!("a\n{}", "x".repeat(100))]));
        let (whole, _) = drawn(vec![("id".into(), number(1)), ("v".into(), text)], 40);
        assert!(whole.contains(&"x".repeat(100)), "{whole}");
    }

    #[test]
    fn what_is_not_shown_is_said() {
        assert_eq!(notes(5, 5, 0, 3), Vec::<String>::new());
        let notes_of = notes(500, 3_000_000, 2, 12);
        assert_eq!(
            notes_of,
            [
                "… 2,999,500 more rows, 3,000,000 in all; --max-rows 0 shows all, -o csv writes all",
                "… 2 of 12 columns are not shown; -o vertical shows all"
            ]
        );
    }
}
