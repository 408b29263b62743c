//! Statements in colours while they are typed.

use super::words::{Piece, is_keyword, pieces};
use crate::theme::{Role, Theme};

/// A line in the colours of a theme; its width stays the same.
pub(super) fn highlight(line: &str, theme: Theme) -> String {
    let mut out = String::with_capacity(line.len() + 32);
    for (piece, text) in pieces(line) {
        let role = match piece {
            Piece::Text { .. } => Some(Role::Text),
            Piece::Comment { .. } => Some(Role::Comment),
            Piece::Word if is_keyword(text) => Some(Role::Keyword),
            Piece::Word if text.starts_with(|c: char| c.is_ascii_digit()) => Some(Role::Number),
            _ => None,
        };
        match role {
            Some(role) => out.push_str(&theme.paint(role, text)),
            None => out.push_str(text),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_texts_and_numbers_have_colours() {
        let shown = highlight("select 'x', 12 FROM t", Theme::Dark);
        assert!(shown.starts_with("\x1b[1;36mselect\x1b[0m \x1b[32m'x'\x1b[0m, \x1b[33m12\x1b[0m "), "{shown:?}");
        assert!(shown.ends_with(" t"), "{shown:?}");
        assert_eq!(highlight("select 1", Theme::None), "select 1");
    }
}
