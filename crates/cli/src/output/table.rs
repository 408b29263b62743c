//! The cells of results for people: values as text, one column at a time, without a text of its own for each value.

use std::fmt::Write as _;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::DataType;
use linn::Result;
use unicode_width::UnicodeWidthStr;

use super::cell::{self, Spelling};

/// How cells are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// For people; control characters are escaped, lines are kept.
    People,
    /// For Markdown; a cell is one line, and nulls are empty.
    Markdown,
}

/// Some cells of one column, one text behind the other.
#[derive(Debug, Default)]
pub(super) struct Cells {
    text: String,
    ends: Vec<usize>,
    nulls: Option<NullBuffer>,
    /// Columns of the terminal that the widest cell takes.
    pub(super) width: usize,
    /// Whether a cell has several lines.
    pub(super) lines: bool,
}

impl Cells {
    /// The cells of a column.
    ///
    /// # Errors
    /// `Internal` for values that have no text.
    pub(super) fn of(column: &ArrayRef, kind: Kind) -> Result<Self> {
        let values = cell::Cells::new(column, Spelling::People)?;
        let null = if kind == Kind::Markdown { "" } else { "NULL" };
        let mut cells = Self { nulls: column.logical_nulls(), ..Self::default() };
        cells.ends.reserve(column.len());
        let mut value = String::new();
        for row in 0..column.len() {
            value.clear();
            if !values.write(row, &mut value) {
                value.push_str(null);
            }
            if kind == Kind::People && looks_like_null(column, row) {
                value.insert(0, '\'');
                value.push('\'');
            }
            cells.push(&value, kind);
        }
        Ok(cells)
    }

    fn push(&mut self, value: &str, kind: Kind) {
        let from = self.text.len();
        for c in value.chars() {
            match (c, kind) {
                ('\n', Kind::People) => {
                    self.lines = true;
                    self.text.push('\n');
                }
                ('\n', Kind::Markdown) => self.text.push(' '),
                ('|', Kind::Markdown) => self.text.push_str("\\|"),
                ('\t' | '\r', _) => self.text.extend(c.escape_default()),
                (c, _) if c.is_control() => self.text.extend(c.escape_default()),
                (c, _) => self.text.push(c),
            }
        }
        self.ends.push(self.text.len());
        let width = self.text.get(from..).unwrap_or_default().lines().map(UnicodeWidthStr::width).max();
        self.width = self.width.max(width.unwrap_or(0));
    }

    /// A cell.
    pub(super) fn get(&self, row: usize) -> &str {
        let from = row.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        self.ends.get(row).and_then(|end| self.text.get(from..*end)).unwrap_or_default()
    }

    /// Whether a cell is null.
    pub(super) fn is_null(&self, row: usize) -> bool {
        self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row))
    }
}

/// Whether a text would be taken for a null; it is shown in quotes. A text that is shown so already gets one pair more.
fn looks_like_null(column: &ArrayRef, row: usize) -> bool {
    let null = |text: &str| text.trim_matches('\'') == "NULL";
    if column.is_null(row) {
        return false;
    }
    match column.data_type() {
        DataType::Utf8 => null(column.as_string::<i32>().value(row)),
        DataType::LargeUtf8 => null(column.as_string::<i64>().value(row)),
        DataType::Utf8View => null(column.as_string_view().value(row)),
        _ => false,
    }
}

/// Appends text and blanks up to a width.
pub(super) fn padded(out: &mut String, text: &str, painted: &str, width: usize, right: bool) {
    let blanks = width.saturating_sub(text.width());
    let pad = |out: &mut String| out.extend(std::iter::repeat_n(' ', blanks));
    if right {
        pad(out);
    }
    out.push_str(painted);
    if !right {
        pad(out);
    }
}

/// At most so many columns of the terminal of a text; `…` stands for what is left out.
pub(super) fn clipped(text: &str, width: usize) -> std::borrow::Cow<'_, str> {
    if text.width() <= width {
        return text.into();
    }
    let (mut kept, mut used) = (String::new(), 1);
    for c in text.chars() {
        let wide = unicode_width::UnicodeWidthChar::width(c).unwrap_or(0);
        if used + wide > width {
            break;
        }
        used += wide;
        kept.push(c);
    }
    let _ = kept.write_char('…');
    kept.into()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{StringArray, TimestampMicrosecondArray};

    use super::*;

    #[test]
    fn a_null_is_not_the_word() {
        let column: ArrayRef = Arc::new(StringArray::from(vec![None, Some("NULL"), Some("'NULL'"), Some("null")]));
        let cells = Cells::of(&column, Kind::People).unwrap();
        let texts: Vec<&str> = (0..4).map(|row| cells.get(row)).collect();
        assert_eq!(texts, ["NULL", "'NULL'", "''NULL''", "null"]);
        assert!(cells.is_null(0) && !cells.is_null(1));
        assert_eq!(cells.width, 8);
    }

    #[test]
    fn times_have_a_space_and_control_characters_are_escaped() {
        let column: ArrayRef = Arc::new(TimestampMicrosecondArray::from(vec![Some(1_500_000), None]));
        assert_eq!(Cells::of(&column, Kind::People).unwrap().get(0), "1970-01-01 00:00:01.500");
        let column: ArrayRef = Arc::new(StringArray::from(vec!["a\x1b[1m", "b|c\nd"]));
        assert_eq!(Cells::of(&column, Kind::People).unwrap().get(0), "a\\u{1b}[1m");
        assert_eq!(Cells::of(&column, Kind::Markdown).unwrap().get(1), "b\\|c d");
    }

    #[test]
    fn wide_characters_are_clipped_by_their_width() {
        assert_eq!(clipped("日本語", 5), "日本…");
        assert_eq!(clipped("abc", 3), "abc");
        assert_eq!(clipped("abcd", 3), "ab…");
    }
}
