//! Rows as a table with lines around it, as Markdown, or one below the other. A table is written a chunk at a time: the widths
//! of columns are those of the first chunk, and grow where a later one needs more.

use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use linn::Result;
use unicode_width::UnicodeWidthStr;

use super::table::{Cells, Kind, clipped, padded};
use crate::theme::{Role, Theme};

/// No column is padded to more than this; a longer value stands out.
const WIDEST: usize = 500;

/// How rows are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// With lines around it.
    Box,
    /// A Markdown table.
    Markdown,
    /// Each row as a list of its columns.
    Vertical,
}

impl Layout {
    /// How its cells are written.
    pub(super) fn kind(self) -> Kind {
        if self == Self::Markdown { Kind::Markdown } else { Kind::People }
    }
}

/// A column of a grid.
#[derive(Debug, Clone)]
pub(super) struct Column {
    /// Its place in the rows; `None` stands for those that are left out.
    pub(super) place: Option<usize>,
    pub(super) name: String,
    pub(super) right: bool,
    pub(super) width: usize,
}

/// A grid that is being written.
#[derive(Debug)]
pub(super) struct Grid {
    pub(super) layout: Layout,
    pub(super) columns: Vec<Column>,
    /// Longer values are cut to the width of their column.
    pub(super) clip: bool,
    pub(super) theme: Theme,
    /// Rows so far.
    number: usize,
}

impl Grid {
    /// A grid for rows of a schema; columns are as wide as their names.
    pub(super) fn new(layout: Layout, schema: &SchemaRef, theme: Theme) -> Self {
        let column = |(place, field): (usize, &arrow::datatypes::FieldRef)| {
            let name = match layout {
                Layout::Markdown => field.name().replace('|', "\\|").replace('\n', " "),
                _ => field.name().replace('\n', "\\n"),
            };
            // Dashes below a name in Markdown are three at least.
            let least = if layout == Layout::Markdown { 3 } else { 1 };
            let width = name.width().max(least);
            Column { place: Some(place), name, right: field.data_type().is_numeric(), width }
        };
        let columns = schema.fields().iter().enumerate().map(column).collect();
        Self { layout, columns, clip: false, theme, number: 0 }
    }

    /// The cells of all columns.
    pub(super) fn cells(&self, rows: &RecordBatch) -> Result<Vec<Cells>> {
        rows.columns().iter().map(|column| Cells::of(column, self.layout.kind())).collect()
    }

    /// Widens columns to what cells take.
    pub(super) fn fit(&mut self, cells: &[Cells]) {
        for column in &mut self.columns {
            let wide = column.place.and_then(|place| cells.get(place)).map_or(0, |cells| cells.width);
            column.width = column.width.max(wide.min(WIDEST));
        }
    }

    /// What stands above the rows.
    pub(super) fn head(&self, out: &mut String) {
        match self.layout {
            Layout::Vertical => {}
            Layout::Markdown => {
                self.line(out, self.columns.iter().map(|column| (column.name.as_str(), Role::Head, false)));
                for column in &self.columns {
                    let dashes = "-".repeat(column.width + if column.right { 1 } else { 2 });
                    out.push_str(&format!("|{dashes}{}", if column.right { ":" } else { "" }));
                }
                out.push_str("|\n");
            }
            Layout::Box => {
                self.rule(out, ["┌", "┬", "┐"]);
                self.line(out, self.columns.iter().map(|column| (column.name.as_str(), Role::Head, true)));
                self.rule(out, ["├", "┼", "┤"]);
            }
        }
    }

    /// The rows of some cells.
    pub(super) fn rows(&mut self, out: &mut String, cells: &[Cells], count: usize) {
        if self.layout == Layout::Vertical {
            return self.records(out, cells, count);
        }
        for row in 0..count {
            let cell = |column: &Column| match column.place.and_then(|place| cells.get(place)) {
                Some(cells) => (cells.get(row), cells.is_null(row)),
                None => ("…", false),
            };
            let height = match cells.iter().any(|cells| cells.lines) {
                true => self.columns.iter().map(|c| cell(c).0.split('\n').count()).max().unwrap_or(1),
                false => 1,
            };
            for at in 0..height {
                let parts = self.columns.iter().map(|column| {
                    let (text, null) = cell(column);
                    let part = if height == 1 { text } else { text.split('\n').nth(at).unwrap_or_default() };
                    (part, if null { Role::Null } else { Role::Frame }, null)
                });
                self.line(out, parts);
            }
        }
        self.number += count;
    }

    /// What stands below the rows.
    pub(super) fn foot(&self, out: &mut String) {
        if self.layout == Layout::Box {
            self.rule(out, ["└", "┴", "┘"]);
        }
    }

    /// Columns of the terminal that a line takes.
    pub(super) fn width(&self) -> usize {
        self.columns.iter().map(|column| column.width + 3).sum::<usize>() + 1
    }

    fn rule(&self, out: &mut String, [left, middle, right]: [&str; 3]) {
        let mut line = String::from(left);
        for (at, column) in self.columns.iter().enumerate() {
            if at > 0 {
                line.push_str(middle);
            }
            line.extend(std::iter::repeat_n('─', column.width + 2));
        }
        line.push_str(right);
        out.push_str(&self.theme.paint(Role::Frame, &line));
        out.push('\n');
    }

    /// A line of parts, each with its role and whether it is painted so.
    fn line<'t>(&self, out: &mut String, parts: impl Iterator<Item = (&'t str, Role, bool)>) {
        let bar = match self.layout {
            Layout::Markdown => "|".into(),
            _ => self.theme.paint(Role::Frame, "│"),
        };
        for (column, (text, role, painted)) in self.columns.iter().zip(parts) {
            let text = if self.clip { clipped(text, column.width) } else { text.into() };
            let shown = if painted { self.theme.paint(role, &text) } else { text.as_ref().into() };
            out.push_str(&bar);
            out.push(' ');
            padded(out, &text, &shown, column.width, column.right);
            out.push(' ');
        }
        out.push_str(&bar);
        out.push('\n');
    }

    /// Each row as a list of its columns.
    fn records(&mut self, out: &mut String, cells: &[Cells], count: usize) {
        let width = self.columns.iter().map(|column| column.name.width()).max().unwrap_or(0);
        for row in 0..count {
            self.number += 1;
            out.push_str(&self.theme.paint(Role::Frame, &format!("── {} ──", self.number)));
            out.push('\n');
            for (column, cells) in self.columns.iter().zip(cells) {
                padded(out, &column.name, &self.theme.paint(Role::Head, &column.name), width, false);
                out.push_str("  ");
                let value = cells.get(row);
                match cells.is_null(row) {
                    true => out.push_str(&self.theme.paint(Role::Null, value)),
                    false => out.push_str(&value.replace('\n', &format!("\n{:width$}  ", ""))),
                }
                out.push('\n');
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int32Array, StringArray};

    use super::*;

    fn batch() -> RecordBatch {
        let columns: [(&str, ArrayRef); 2] = [
            ("id", Arc::new(Int32Array::from(vec![1, 22]))),
            ("note", Arc::new(StringArray::from(vec![Some("a\nb"), None]))),
        ];
        RecordBatch::try_from_iter_with_nullable(columns.map(|(name, column)| (name, column, true))).unwrap()
    }

    fn shown(layout: Layout) -> String {
        let mut grid = Grid::new(layout, &batch().schema(), Theme::None);
        let cells = grid.cells(&batch()).unwrap();
        let mut text = String::new();
        grid.fit(&cells);
        grid.head(&mut text);
        grid.rows(&mut text, &cells, 2);
        grid.foot(&mut text);
        text
    }

    #[test]
    fn numbers_stand_right_and_lines_stay_lines() {
        let expected =
            "┌────┬──────┐\n│ id │ note │\n├────┼──────┤\n│  1 │ a    │\n│    │ b    │\n│ 22 │ NULL │\n└────┴──────┘\n";
        assert_eq!(shown(Layout::Box), expected);
    }

    #[test]
    fn markdown_is_one_line_a_row() {
        assert_eq!(shown(Layout::Markdown), "|  id | note |\n|----:|------|\n|   1 | a b  |\n|  22 |      |\n");
    }

    #[test]
    fn records_list_columns() {
        assert_eq!(shown(Layout::Vertical), "── 1 ──\nid    1\nnote  a\n      b\n── 2 ──\nid    22\nnote  NULL\n");
    }
}
