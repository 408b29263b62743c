//! The tokens of SQL type text (spec: format.md C.3).

use std::fmt;

use crate::{Error, Result};

/// One token; words keep their spelling, quoted names are told apart so that they are never keywords.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// An unquoted word: a keyword or a name.
    Word(String),
    /// A name in backticks or double quotes.
    Quoted(String),
    /// A text in single quotes.
    Text(String),
    /// Decimal digits.
    Number(String),
    /// One of `< > ( ) , : .`.
    Sign(char),
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word(text) | Self::Number(text) => f.write_str(text),
            Self::Quoted(name) => write!(f, "`{}`", name.replace('`', "``")),
            Self::Text(text) => write!(f, "'{}'", text.replace('\'', "''")),
            Self::Sign(sign) => write!(f, "{sign}"),
        }
    }
}

/// Splits `text` into tokens.
///
/// # Errors
/// `Invalid` for a quote that is not closed.
pub(super) fn tokenize(text: &str) -> Result<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(&c) = chars.peek() {
        if c.is_whitespace() {
            chars.next();
        } else if is_sign(c) {
            chars.next();
            tokens.push(Token::Sign(c));
        } else if matches!(c, '`' | '"' | '\'') {
            chars.next();
            let inner = quoted(&mut chars, c)?;
            tokens.push(if c == '\'' { Token::Text(inner) } else { Token::Quoted(inner) });
        } else {
            let mut word = String::new();
            while let Some(&c) = chars.peek() {
                if c.is_whitespace() || is_sign(c) || matches!(c, '`' | '"' | '\'') {
                    break;
                }
                word.push(c);
                chars.next();
            }
            let digits = word.bytes().all(|b| b.is_ascii_digit());
            tokens.push(if digits { Token::Number(word) } else { Token::Word(word) });
        }
    }
    Ok(tokens)
}

fn is_sign(c: char) -> bool {
    matches!(c, '<' | '>' | '(' | ')' | ',' | ':' | '.')
}

/// Reads to the closing `quote`; a doubled quote stands for itself.
fn quoted(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, quote: char) -> Result<String> {
    let mut out = String::new();
    while let Some(c) = chars.next() {
        if c != quote {
            out.push(c);
        } else if chars.peek() == Some(&quote) {
            out.push(quote);
            chars.next();
        } else {
            return Ok(out);
        }
    }
    Err(Error::invalid(format!("missing closing {quote} in a type")))
}
