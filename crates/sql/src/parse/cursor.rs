//! Walking over the tokens of one statement.

use datafusion::sql::sqlparser::tokenizer::{Location, Token, TokenWithSpan, Tokenizer, Whitespace};
use linn::format::types::DataType;
use linn::{Error, Result};

use super::dialect::LinnDialect;
use super::position::{self, spaced};
use super::set::grouped;

/// The dialect that all of Linn's SQL is read in.
pub(crate) const DIALECT: LinnDialect = LinnDialect;

/// How deep expressions may be nested before the parser refuses.
pub(crate) const DEPTH: usize = 300;

/// Splits a text into statements of tokens at top-level `;`; a statement set is one. Comments stay in, since hints are comments.
///
/// # Errors
/// `Invalid` for text that is not made of tokens, such as a string without end, and for a statement set without one.
pub(crate) fn split(sql: &str) -> Result<Vec<Vec<TokenWithSpan>>> {
    grouped(pieces(sql)?)
}

/// What stands between semicolons, where that is something.
pub(super) fn pieces(sql: &str) -> Result<Vec<Vec<TokenWithSpan>>> {
    let tokens = tokenize(sql)?;
    Ok(tokens
        .split(|t| *t == Token::SemiColon)
        .filter(|part| part.iter().any(|t| !matches!(t.token, Token::Whitespace(_))))
        .map(<[TokenWithSpan]>::to_vec)
        .collect())
}

/// The tokens of a text, each with its place in it.
pub(super) fn tokenize(sql: &str) -> Result<Vec<TokenWithSpan>> {
    let tokens = Tokenizer::new(&DIALECT, sql).tokenize_with_location();
    tokens.map_err(|e| position::at(Error::invalid(format!("SQL: {}", spaced(&e.message))), e.location))
}

/// A position in the tokens of one statement, white space skipped.
#[derive(Debug, Clone)]
pub(crate) struct Cursor<'a> {
    tokens: &'a [TokenWithSpan],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// At the start of a statement.
    pub(crate) fn new(tokens: &'a [TokenWithSpan]) -> Self {
        let mut cursor = Self { tokens, at: 0 };
        cursor.skip_space();
        cursor
    }

    fn skip_space(&mut self) {
        while let Some(Token::Whitespace(_)) = self.peek() {
            self.at += 1;
        }
    }

    /// Index of the current token in the statement.
    pub(crate) fn index(&self) -> usize {
        self.at
    }

    /// The current token.
    pub(crate) fn peek(&self) -> Option<&'a Token> {
        self.tokens.get(self.at).map(|t| &t.token)
    }

    /// Where the current token begins, or the last one ends.
    pub(crate) fn location(&self) -> Location {
        match self.tokens.get(self.at) {
            Some(token) => token.span.start,
            None => self
                .tokens
                .iter()
                .rev()
                .find(|t| !matches!(t.token, Token::Whitespace(_)))
                .map_or_else(Location::empty, |t| t.span.end),
        }
    }

    /// Takes the current token.
    pub(crate) fn next(&mut self) -> Option<&'a Token> {
        let token = &self.tokens.get(self.at)?.token;
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
        if self.take_token(token) { Ok(()) } else { Err(self.expected(&position::named(token))) }
    }

    /// The error that something else was expected here.
    pub(crate) fn expected(&self, what: &str) -> Error {
        let found = self.peek().map_or_else(|| "the end of the statement".to_owned(), position::named);
        position::at(Error::invalid(format!("SQL: expected {what}, found {found}")), self.location())
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

    /// A value as text: string, number (signed), TRUE, FALSE, or DATE, TIME or TIMESTAMP with a string; nothing for NULL. Any
    /// other word is no value: whoever means its text puts it in quotes.
    pub(crate) fn value(&mut self) -> Result<Option<String>> {
        if self.take_token(&Token::Minus) {
            return self.number().map(|digits| Some(format!("-{digits}")));
        }
        match self.peek() {
            Some(Token::SingleQuotedString(_)) => self.string().map(Some),
            Some(Token::Number(..)) => self.number().map(Some),
            Some(Token::Word(word)) if word.quote_style.is_none() => {
                if self.take("NULL") {
                    return Ok(None);
                }
                if self.take("TRUE") || self.take("FALSE") {
                    return Ok(Some(word.value.to_ascii_lowercase()));
                }
                let mut ahead = self.clone();
                if (ahead.take("DATE") || ahead.take("TIMESTAMP") || ahead.take("TIME"))
                    && let Ok(text) = ahead.string()
                {
                    *self = ahead;
                    return Ok(Some(text));
                }
                Err(self.expected("a value").with_hint(format!("write '{word}' for a text")))
            }
            _ => Err(self.expected("a value")),
        }
    }

    fn number(&mut self) -> Result<String> {
        match self.peek() {
            Some(Token::Number(digits, _)) => {
                self.next();
                Ok(digits.clone())
            }
            _ => Err(self.expected("a number")),
        }
    }

    /// A value that is not NULL, as text.
    pub(crate) fn literal(&mut self) -> Result<String> {
        let at = self.clone();
        self.value()?.ok_or_else(|| at.expected("a value other than NULL"))
    }

    /// The default value of a column as a schema keeps it: text, of which one pair of quotes is no part.
    pub(crate) fn default_value(&mut self) -> Result<Option<String>> {
        let is_quoted = |text: &str| text.len() > 1 && text.starts_with('\'') && text.ends_with('\'');
        Ok(self.value()?.map(|text| if is_quoted(&text) { format!("'{text}'") } else { text }))
    }

    /// The value of an option as text: a value, or a word.
    pub(super) fn setting(&mut self) -> Result<String> {
        match self.peek() {
            Some(Token::Word(word)) if !word.value.eq_ignore_ascii_case("NULL") || word.quote_style.is_some() => {
                self.next();
                Ok(word.value.clone())
            }
            _ => self.literal(),
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
            Ok((key, c.setting()?))
        })
    }

    /// `(column = value, …)`: the values of a partition, of which some may be NULL.
    pub(crate) fn partition(&mut self) -> Result<Vec<(String, Option<String>)>> {
        self.list(|c| {
            let name = c.literal_key()?;
            c.expect_token(&Token::Eq)?;
            Ok((name, c.value()?))
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

    /// A data type.
    pub(crate) fn data_type(&mut self) -> Result<DataType> {
        let place = self.location();
        let text = self.type_text()?;
        DataType::parse(&text).map_err(|e| position::at(e, place))
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
                Token::Word(w) if depth <= 0 && self.at > start && w.quote_style.is_none() && ends_type(&w.value) => {
                    break;
                }
                _ => {}
            }
            self.next();
        }
        let text: String =
            self.tokens.get(start..self.at).unwrap_or_default().iter().map(|token| of_type(&token.token)).collect();
        let text = text.trim();
        if text.is_empty() { Err(self.expected("a data type")) } else { Ok(text.to_owned()) }
    }
}

/// A token as the parser of types reads it: with quotes that stand in a name or a text doubled, and without comments.
pub(crate) fn of_type(token: &Token) -> String {
    match token {
        Token::Word(word) if word.quote_style.is_some() => format!("`{}`", word.value.replace('`', "``")),
        Token::SingleQuotedString(text) => format!("'{}'", text.replace('\'', "''")),
        Token::Whitespace(_) => " ".to_owned(),
        other => other.to_string(),
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
