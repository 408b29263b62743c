//! Which columns of a wide table are shown on a terminal, and how wide: long values are cut first, then columns in the middle
//! are left out, and `…` stands for them.

use super::grid::Column;

/// No column is cut to less than this while others could be left out.
const LEAST: usize = 20;

/// Fits columns into a line of a terminal; says how many are left out.
pub(super) fn fold(columns: Vec<Column>, line: usize) -> (Vec<Column>, usize) {
    if line_of(columns.iter().map(|c| c.width)) <= line {
        return (columns, 0);
    }
    let all = columns.len();
    let mut shown = columns;
    let mut middle = None;
    while line_of(shown.iter().map(|c| c.width.min(LEAST))) + gap(middle) > line && shown.len() > 2 {
        // Those at both ends say most: keys come first, what was computed comes last.
        let at = middle.map_or(shown.len() / 2, |at: usize| if at * 2 > shown.len() { at - 1 } else { at });
        shown.remove(at);
        middle = Some(at);
    }
    let cap = widest(&shown, line.saturating_sub(gap(middle)));
    for column in &mut shown {
        column.width = column.width.min(cap);
    }
    let hidden = all - shown.len();
    if let Some(at) = middle {
        shown.insert(at, Column { place: None, name: "…".to_owned(), right: false, width: 1 });
    }
    (shown, hidden)
}

/// The largest width to which columns are cut so that they fit.
fn widest(columns: &[Column], line: usize) -> usize {
    let longest = columns.iter().map(|c| c.width).max().unwrap_or(1);
    let fits = |cap: usize| line_of(columns.iter().map(|c| c.width.min(cap))) <= line;
    (1..=longest).rev().find(|cap| fits(*cap)).unwrap_or(1)
}

/// What a line of such columns takes.
fn line_of(widths: impl Iterator<Item = usize>) -> usize {
    widths.map(|width| width + 3).sum::<usize>() + 1
}

fn gap(middle: Option<usize>) -> usize {
    if middle.is_some() { 4 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(widths: &[usize], line: usize) -> (String, usize) {
        let columns = widths.iter().enumerate().map(|(place, width)| Column {
            place: Some(place),
            name: place.to_string(),
            right: false,
            width: *width,
        });
        let (shown, hidden) = fold(columns.collect(), line);
        assert!(line_of(shown.iter().map(|c| c.width)) <= line || shown.len() <= 3);
        let texts: Vec<String> = shown.iter().map(|c| format!("{}:{}", c.name, c.width)).collect();
        (texts.join(" "), hidden)
    }

    #[test]
    fn values_are_cut_before_columns_go() {
        assert_eq!(folded(&[5, 5], 80), ("0:5 1:5".into(), 0));
        assert_eq!(folded(&[5, 100], 80), ("0:5 1:68".into(), 0));
        assert_eq!(folded(&[30, 30], 60), ("0:26 1:26".into(), 0));
    }

    #[test]
    fn columns_in_the_middle_go() {
        let (text, hidden) = folded(&[20; 10], 80);
        assert_eq!((text.as_str(), hidden), ("0:20 1:20 …:1 9:20", 7));
        let (text, hidden) = folded(&[2; 40], 80);
        assert_eq!(hidden, 25, "{text}");
        assert!(text.starts_with("0:2 1:2") && text.ends_with("38:2 39:2") && text.contains(" …:1 "), "{text}");
    }
}
