//! Where in the text of a statement something is, and showing it: the line, with a caret under the place.

use datafusion::sql::sqlparser::parser::ParserError;
use datafusion::sql::sqlparser::tokenizer::{Location, Token, TokenWithSpan};
use linn::Error;

use super::cursor::DEPTH;

/// The key of the context that says where, such as `line 2, column 7`.
const AT: &str = "at";
/// The longest part of a line that is shown.
const WIDTH: u64 = 100;

/// An error that says where in the text it is; a location that is not known is left out, as is a second one.
pub(crate) fn at(error: Error, place: Location) -> Error {
    if place.line == 0 || error.context().iter().any(|(key, _)| *key == AT) {
        return error;
    }
    error.with(AT, format!("line {}, column {}", place.line, place.column))
}

/// The same error with the line of `text` that it is about, and a caret under the place.
pub(crate) fn pointed(error: Error, text: &str) -> Error {
    let place = error.context().iter().find(|(key, _)| *key == AT).and_then(|(_, value)| parsed(value));
    match place.and_then(|(line, column)| excerpt(text, line, column)) {
        Some(excerpt) => error.with("text", excerpt),
        None => error,
    }
}

fn parsed(text: &str) -> Option<(u64, u64)> {
    let (line, column) = text.strip_prefix("line ")?.split_once(", column ")?;
    Some((line.parse().ok()?, column.parse().ok()?))
}

fn excerpt(text: &str, line: u64, column: u64) -> Option<String> {
    let line = text.lines().nth(usize::try_from(line).ok()?.checked_sub(1)?)?;
    let column = column.saturating_sub(1);
    // Of a long line the part around the place.
    let left = if column >= WIDTH { column - WIDTH / 2 } else { 0 };
    let shown = line.chars().skip(usize::try_from(left).ok()?).take(usize::try_from(WIDTH).ok()?);
    let shown: String = shown.map(|c| if c.is_control() { ' ' } else { c }).collect();
    let blanks = " ".repeat(usize::try_from(column - left).ok()?.min(shown.chars().count()));
    Some(format!("\n    {}\n    {blanks}^", shown.trim_end()))
}

/// A token as a message names it.
pub(crate) fn named(token: &Token) -> String {
    match token {
        Token::EOF => "the end of the statement".to_owned(),
        Token::SingleQuotedString(_) => token.to_string(),
        _ => format!("\"{token}\""),
    }
}

/// A message of the library's parser: its place apart, first letter small.
pub(crate) fn spaced(message: &str) -> String {
    let message = message.trim().trim_end_matches('.');
    let mut chars = message.chars();
    match chars.next() {
        // Keywords stay as they are.
        Some(first) if !chars.as_str().starts_with(|c: char| c.is_uppercase()) => {
            first.to_lowercase().chain(chars).collect()
        }
        _ => message.to_owned(),
    }
}

/// What the library's parser refused, in our words; `tokens` are those it was given, whose end it does not place.
pub(crate) fn refused(error: &ParserError, tokens: &[TokenWithSpan]) -> Error {
    let refused = in_words(error);
    let last = tokens.iter().rev().find(|token| !matches!(token.token, Token::Whitespace(_) | Token::EOF));
    match last {
        Some(last) if refused.message().ends_with(AT_THE_END) => at(refused, last.span.end),
        _ => refused,
    }
}

/// How a message ends about a statement that is cut short.
const AT_THE_END: &str = "found the end of the statement";

fn in_words(error: &ParserError) -> Error {
    match error {
        ParserError::RecursionLimitExceeded => {
            Error::invalid(format!("SQL: the statement is nested more than {DEPTH} deep"))
        }
        ParserError::TokenizerError(text) | ParserError::ParserError(text) => {
            let (text, place) = unplaced(text);
            let text = match text.strip_prefix("Expected: ").and_then(|rest| rest.split_once(", found: ")) {
                Some((wanted, "EOF")) => format!("expected {wanted}, {AT_THE_END}"),
                Some((wanted, found)) if found.starts_with('\'') => format!("expected {wanted}, found {found}"),
                Some((wanted, found)) => format!("expected {wanted}, found \"{found}\""),
                None => spaced(text),
            };
            at(Error::invalid(format!("SQL: {text}")), place)
        }
    }
}

/// Splits ` at Line: 1, Column: 7` from the end of a message of the library's parser.
pub(crate) fn unplaced(message: &str) -> (&str, Location) {
    let parse = |(text, place): (&'_ str, &'_ str)| {
        let (line, column) = place.split_once(", Column: ")?;
        let _ = text;
        Some(Location { line: line.trim().parse().ok()?, column: column.trim().parse().ok()? })
    };
    match message.rsplit_once(" at Line: ") {
        Some(parts) => match parse(parts) {
            Some(place) => (parts.0, place),
            None => (message, Location::empty()),
        },
        None => (message, Location::empty()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_is_shown_with_a_caret() {
        let text = "SELECT a,\n  FROM t";
        let error = pointed(at(Error::invalid("x"), Location { line: 2, column: 3 }), text);
        assert_eq!(error.context()[1].1, "\n      FROM t\n      ^");
    }

    #[test]
    fn of_long_lines_a_part_is_shown() {
        let text = format!("SELECT {}, )", "abc, ".repeat(100));
        let column = text.chars().count() as u64;
        let shown = excerpt(&text, 1, column).unwrap();
        let lines: Vec<&str> = shown.lines().collect();
        assert!(lines[1].ends_with(", )") && lines[1].len() < 110, "{shown}");
        assert_eq!(lines[1].chars().count(), lines[2].chars().count(), "{shown}");
        assert!(excerpt(&text, 3, 1).is_none());
        assert!(excerpt("x", 1, 500).is_some());
    }

    #[test]
    fn places_are_taken_from_messages() {
        let (text, place) = unplaced("Expected: identifier, found: ) at Line: 3, Column: 15");
        assert_eq!((text, place.line, place.column), ("Expected: identifier, found: )", 3, 15));
        assert_eq!(unplaced("nothing").1, Location::empty());
        assert_eq!(spaced("Unterminated string literal"), "unterminated string literal");
        assert_eq!(spaced("SQL is no word."), "SQL is no word");
    }
}
