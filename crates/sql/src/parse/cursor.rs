//! Walking over the tokens of one statement.

use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::tokenizer::{Token, Tokenizer, Whitespace};
use linn::{Error, Result};

use super::set::grouped;

/// The dialect that all of Linn's SQL is read in.
pub(crate) const DIALECT: GenericDialect = GenericDialect {};

/// Splits a text into statements of tokens at top-level `;`; a statement set is one. Comments stay in, since hints are comments.
///
/// # Errors
/// `Invalid` for text that is not made of tokens, such as a string without end, and for a statement set without one.
pub(crate) fn split(sql: &str) -> Result<Vec<Vec<Token>>> {
    grouped(pieces(sql)?)
}

/// What stands between semicolons, where that is something.
pub(super) fn pieces(sql: &str) -> Result<Vec<Vec<Token>>> {
    let tokens = Tokenizer::new(&DIALECT, sql).tokenize().map_err(|e| Error::invalid(format!("SQL: {e}")))?;
    Ok(tokens
        .split(|t| *t == Token::SemiColon)
        .filter(|part| part.iter().any(|t| !matches!(t, Token::Whitespace(_))))
        .map(<[Token]>::to_vec)
        .collect())
}

/// A position in the tokens of one statement, white space skipped.
#[derive(Debug, Clone)]
pub(crate) struct Cursor<'a> {
    tokens: &'a [Token],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// At the start of a statement.
    pub(crate) fn new(tokens: &'a [Token]) -> Self {
        let mut cursor = Self { tokens, at: 0 };
        cursor.skip_space();
        cursor
    }

    fn skip_space(&mut self) {
        while let Some(Token::Whitespace(_)) = self.tokens.get(self.at) {
            self.at += 1;
        }
    }

    /// Index of the current token in the statement.
    pub(crate) fn index(&self) -> usize {
        self.at
    }

    /// The current token.
    pub(crate) fn peek(&self) -> Option<&'a Token> {
        self.tokens.get(self.at)
    }

    /// Takes the current token.
    pub(crate) fn next(&mut self) -> Option<&'a Token> {
        let token = self.tokens.get(self.at)?;
        self.at += 1;
        self.skip_space();
        Some(token)
    }

    /// Whether nothing is left.
    pub(crate) fn done(&self) -> bool {
        self.at >= self.tokens.len()
    }

    /// Takes the words if they come next, in any case.
    pub(crate) fn take(&mut self, words: &str) -> bool {
        let mut ahead = self.clone();
        for word in words.split(' ') {
            match ahead.next() {
                Some(Token::Word(w)) if w.quote_style.is_none() && w.value.eq_ignore_ascii_case(word) => {}
                _ => return false,
            }
        }
        *self = ahead;
        true
    }

    /// Takes a token if it comes next.
    pub(crate) fn take_token(&mut self, token: &Token) -> bool {
        let found = self.peek() == Some(token);
        if found {
            self.next();
        }
        found
    }

    /// Takes the words or fails.
    pub(crate) fn require(&mut self, words: &str) -> Result<()> {
        if self.take(words) { Ok(()) } else { Err(self.expected(&words.to_uppercase())) }
    }

    /// Takes a token or fails.
    pub(crate) fn expect_token(&mut self, token: &Token) -> Result<()> {
        if self.take_token(token) {
            Ok(())
        } else {
            Err(self.expected(&format!("{token:?}", token = token.to_string())))
        }
    }

    /// The error that something else was expected here.
    pub(crate) fn expected(&self, what: &str) -> Error {
        let found = self.peek().map_or_else(|| "the end".to_owned(), |t| format!("{:?}", t.to_string()));
        Error::invalid(format!("SQL: expected {what}, found {found}"))
    }

    /// Fails when something is left.
    pub(crate) fn end(&self) -> Result<()> {
        if self.done() { Ok(()) } else { Err(self.expected("the end of the statement")) }
    }

    /// A name, quoted or not.
    pub(crate) fn name(&mut self) -> Result<String> {
        match self.peek() {
            Some(Token::Word(word)) => {
                let value = word.value.clone();
                self.next();
                Ok(value)
            }
            _ => Err(self.expected("a name")),
        }
    }

    /// A dotted name.
    pub(crate) fn object(&mut self) -> Result<Vec<String>> {
        let mut parts = vec![self.name()?];
        while self.take_token(&Token::Period) {
            parts.push(self.name()?);
        }
        Ok(parts)
    }

    /// A string in single quotes.
    pub(crate) fn string(&mut self) -> Result<String> {
        match self.peek() {
            Some(Token::SingleQuotedString(text)) => {
                self.next();
                Ok(text.clone())
            }
            _ => Err(self.expected("a string in single quotes")),
        }
    }

    /// A literal as text: string, number (signed) or word.
    pub(crate) fn literal(&mut self) -> Result<String> {
        let sign = if self.take_token(&Token::Minus) { "-" } else { "" };
        match self.peek() {
            Some(Token::SingleQuotedString(text)) if sign.is_empty() => {
                self.next();
                Ok(text.clone())
            }
            Some(Token::Number(digits, _)) => {
                self.next();
                Ok(format!("{sign}{digits}"))
            }
            Some(Token::Word(word)) if sign.is_empty() => {
                self.next();
                Ok(word.value.clone())
            }
            _ => Err(self.expected("a literal")),
        }
    }

    /// `(item, item, …)`, not empty.
    pub(crate) fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        self.expect_token(&Token::LParen)?;
        let mut items = vec![item(self)?];
        while self.take_token(&Token::Comma) {
            items.push(item(self)?);
        }
        self.expect_token(&Token::RParen)?;
        Ok(items)
    }

    /// `('key' = 'value', …)`; keys may be dotted names without quotes, values numbers or words.
    pub(crate) fn options(&mut self) -> Result<Vec<(String, String)>> {
        self.list(|c| {
            let key = c.literal_key()?;
            c.expect_token(&Token::Eq)?;
            Ok((key, c.literal()?))
        })
    }

    /// An option key, quoted or dotted.
    pub(crate) fn literal_key(&mut self) -> Result<String> {
        match self.peek() {
            Some(Token::SingleQuotedString(_)) => self.string(),
            _ => self.dotted_key(),
        }
    }

    fn dotted_key(&mut self) -> Result<String> {
        let mut key = self.name()?;
        loop {
            if self.take_token(&Token::Period) {
                key.push('.');
            } else if self.take_token(&Token::Minus) {
                key.push('-');
            } else {
                return Ok(key);
            }
            key.push_str(&self.name()?);
        }
    }

    /// The text of a data type: everything up to a comma, a closing parenthesis or a word that ends a column, outside of
    /// brackets.
    pub(crate) fn type_text(&mut self) -> Result<String> {
        let start = self.at;
        let mut depth = 0i32;
        while let Some(token) = self.peek() {
            match token {
                Token::LParen | Token::Lt => depth += 1,
                Token::Gt => depth -= 1,
                Token::ShiftRight => depth -= 2,
                Token::RParen if depth > 0 => depth -= 1,
                Token::RParen | Token::Comma if depth <= 0 => break,
                Token::Word(w) if depth <= 0 && self.at > start && ends_type(&w.value) => break,
                _ => {}
            }
            self.next();
        }
        let text: String = self.tokens.get(start..self.at).unwrap_or_default().iter().map(Token::to_string).collect();
        let text = text.trim();
        if text.is_empty() { Err(self.expected("a data type")) } else { Ok(text.to_owned()) }
    }
}

/// Words behind a column's type. (`NOT NULL` is part of the type.)
fn ends_type(word: &str) -> bool {
    ["COMMENT", "DEFAULT", "PRIMARY", "FIRST", "AFTER", "BEFORE", "LAST"].iter().any(|w| word.eq_ignore_ascii_case(w))
}

/// The text inside of a comment `/*+ … */`.
pub(crate) fn hint(token: &Token) -> Option<&str> {
    match token {
        Token::Whitespace(Whitespace::MultiLineComment(text)) => text.trim_start().strip_prefix('+'),
        _ => None,
    }
}
