//! What has been entered: whether it is to be run, and which part of it is a command of the session.

use super::words::{Piece, pieces};

/// Whether a statement is at its end: a `;` outside of quotes and comments is its last sign. The statements
/// of a set end so too; the set goes on to its `END`.
pub(super) fn is_complete(text: &str) -> bool {
    let mut last = "";
    for (piece, text) in pieces(text) {
        match piece {
            Piece::Text { open: true } | Piece::Name { open: true } | Piece::Comment { open: true } => return false,
            Piece::Comment { .. } | Piece::Blank => {}
            _ => last = text,
        }
    }
    last.is_empty() || last == ";" && !linn_sql::is_open_set(text)
}

/// The statement before a command such as `\watch` on the same line, and the command.
pub(super) fn split_command(text: &str) -> (&str, Option<&str>) {
    let mut at = 0;
    for (piece, part) in pieces(text) {
        if piece == Piece::Sign && part == "\\" {
            let (before, command) = text.split_at(at);
            return (before.trim(), Some(command.trim()));
        }
        at += part.len();
    }
    (text, None)
}

/// Whether a line is a command of the session, where no statement has been begun.
pub(super) fn is_command(line: &str) -> bool {
    let word = line.split_whitespace().next().unwrap_or_default().trim_end_matches(';');
    let dot = line.strip_prefix('.').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()));
    line.starts_with('\\') || dot || matches!(word.to_ascii_lowercase().as_str(), "quit" | "exit" | "help")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_end_with_a_semicolon_outside_of_quotes() {
        for text in ["", "-- x", "SELECT 1;", "SELECT ';' ; ", "SELECT 1; -- done", "SELECT 1; /* ' */", ";"] {
            assert!(is_complete(text), "{text}");
        }
        for text in ["SELECT 1", "SELECT ';", "SELECT 1 -- ;", "SELECT \"a;\"", "SELECT 1 /* ;", "SELECT 1 /* ; */"] {
            assert!(!is_complete(text), "{text}");
        }
    }

    #[test]
    fn statement_sets_end_with_end() {
        assert!(!is_complete("BEGIN STATEMENT SET; INSERT INTO t SELECT 1;"));
        assert!(is_complete("BEGIN STATEMENT SET; INSERT INTO t SELECT 1; END;"));
    }

    #[test]
    fn commands_are_told_from_statements() {
        assert_eq!(split_command("SELECT '\\' \\watch 2"), ("SELECT '\\'", Some("\\watch 2")));
        assert_eq!(split_command("SELECT 1"), ("SELECT 1", None));
        assert!(is_command("\\d t") && is_command(".help") && is_command("quit;") && is_command("HELP"));
        assert!(!is_command(".5 + 1") && !is_command("helper"));
    }
}
