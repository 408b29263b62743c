//! Reads a type from SQL text: `DECIMAL(10, 2) NOT NULL`, `ARRAY<INT>`, `ROW<a INT, b STRING>` (spec: format.md C.3).
//!
//! Nesting is limited, so that hostile text cannot overflow the stack.

use super::alias::canonical;
use super::data_type::MAX_LENGTH;
use super::token::{Token, tokenize};
use super::{DataField, DataType, Kind};
use crate::{Error, Result, ResultExt};

/// How deep types may be nested.
pub(super) const MAX_DEPTH: usize = 64;

impl DataType {
    /// Parses SQL type text; keywords in any case. Fields of ROW are numbered from 0 in order of appearance:
    /// give them ids of the table with [`assign_ids`](super::assign_ids).
    ///
    /// # Errors
    /// `Invalid` for text that is no type, `Unsupported` for a type that Linn does not have.
    pub fn parse(sql: &str) -> Result<Self> {
        let mut parser = Parser { tokens: tokenize(sql).context("type", sql)?, at: 0, next_id: 0, suffixes: 0 };
        let parsed = parser.nullable_type(0).and_then(|t| match parser.peek() {
            None => Ok(t),
            Some(token) => Err(Error::invalid(format!("unexpected {token} after a type"))),
        });
        parsed.context("type", sql)
    }
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    next_id: i32,
    /// How many suffixes such as `ARRAY` there were in the whole text.
    suffixes: usize,
}

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn next(&mut self) -> Result<Token> {
        let token = self.peek().cloned().ok_or_else(|| Error::invalid("the type ends too early"))?;
        self.at += 1;
        Ok(token)
    }

    fn take_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Word(w)) if w.eq_ignore_ascii_case(word));
        self.at += usize::from(found);
        found
    }

    fn take_sign(&mut self, sign: char) -> bool {
        let found = self.peek() == Some(&Token::Sign(sign));
        self.at += usize::from(found);
        found
    }

    fn expect_sign(&mut self, sign: char) -> Result<()> {
        if self.take_sign(sign) { Ok(()) } else { Err(Error::invalid(format!("expected {sign} in a type"))) }
    }

    fn expect_words(&mut self, words: &[&str]) -> Result<()> {
        for word in words {
            if !self.take_word(word) {
                return Err(Error::invalid(format!("expected {word} in a type")));
            }
        }
        Ok(())
    }

    fn nullable_type(&mut self, depth: usize) -> Result<DataType> {
        if depth > MAX_DEPTH {
            return Err(Error::invalid(format!("types are nested more than {MAX_DEPTH} deep")));
        }
        let mut parsed = self.kind(depth).map(DataType::nullable)?;
        loop {
            if self.take_word("NOT") {
                self.expect_words(&["NULL"])?;
                parsed.nullable = false;
            } else if self.take_word("NULL") {
                parsed.nullable = true;
            } else if self.take_word("ARRAY") {
                // `INT ARRAY`: the suffix form of SQL.
                self.count_suffix()?;
                parsed = DataType::nullable(Kind::Array(Box::new(parsed)));
            } else if self.take_word("MULTISET") {
                self.count_suffix()?;
                parsed = DataType::nullable(Kind::Multiset(Box::new(parsed)));
            } else {
                return Ok(parsed);
            }
        }
    }

    fn count_suffix(&mut self) -> Result<()> {
        self.suffixes += 1;
        if self.suffixes > MAX_DEPTH {
            return Err(Error::invalid(format!("types are nested more than {MAX_DEPTH} deep")));
        }
        Ok(())
    }

    fn kind(&mut self, depth: usize) -> Result<Kind> {
        let word = match self.next()? {
            Token::Word(word) => word,
            other => return Err(Error::invalid(format!("expected the name of a type, found {other}"))),
        };
        let word = word.to_ascii_uppercase();
        let upper = canonical(&word);
        Ok(match upper {
            "CHAR" if self.take_word("VARYING") => Kind::Varchar(self.length(MAX_LENGTH)?),
            "CHAR" => Kind::Char(self.length(1)?),
            // The reference takes one letter where no length is given, but always writes the length.
            "VARCHAR" => Kind::Varchar(self.length(MAX_LENGTH)?),
            "STRING" => Kind::Varchar(MAX_LENGTH),
            "BOOLEAN" => Kind::Boolean,
            "BINARY" => Kind::Binary(self.length(1)?),
            "VARBINARY" => Kind::Varbinary(self.length(MAX_LENGTH)?),
            "BYTES" => Kind::Varbinary(MAX_LENGTH),
            "DECIMAL" => self.decimal()?,
            "TINYINT" => Kind::TinyInt,
            "SMALLINT" => Kind::SmallInt,
            "INT" | "INTEGER" => Kind::Int,
            "BIGINT" => Kind::BigInt,
            "FLOAT" => Kind::Float,
            "DOUBLE" => {
                self.take_word("PRECISION");
                Kind::Double
            }
            "DATE" => Kind::Date,
            "TIME" => self.time()?,
            "TIMESTAMP" => self.timestamp()?,
            "TIMESTAMP_LTZ" => Kind::LocalZonedTimestamp(self.precision(6)?),
            "VARIANT" => Kind::Variant,
            "BLOB" => Kind::Blob,
            "ARRAY" | "MULTISET" | "MAP" | "ROW" | "VECTOR" => self.nested(upper, depth)?,
            _ => {
                return Err(Error::unsupported(format!("type {upper} is not known")).with_hint(
                    "types are BOOLEAN, TINYINT, SMALLINT, INT, BIGINT, FLOAT, DOUBLE, DECIMAL(p, s), STRING, CHAR(n), \
                     VARCHAR(n), BYTES, BINARY(n), VARBINARY(n), DATE, TIME, TIMESTAMP(p), TIMESTAMP_LTZ(p), ARRAY<t>, \
                     MULTISET<t>, MAP<k, v>, ROW<name t, …>, VECTOR<t, n>, VARIANT, BLOB",
                ));
            }
        })
    }

    fn nested(&mut self, word: &str, depth: usize) -> Result<Kind> {
        if word == "ROW" {
            return self.row(depth);
        }
        self.expect_sign('<')?;
        let first = Box::new(self.nullable_type(depth + 1)?);
        let kind = match word {
            "ARRAY" => Kind::Array(first),
            "MULTISET" => Kind::Multiset(first),
            "MAP" => {
                self.expect_sign(',')?;
                Kind::Map(first, Box::new(self.nullable_type(depth + 1)?))
            }
            _ => {
                self.expect_sign(',')?;
                let length = u32::try_from(self.number()?).unwrap_or(u32::MAX);
                vector(*first, length)?
            }
        };
        self.expect_sign('>')?;
        Ok(kind)
    }

    fn row(&mut self, depth: usize) -> Result<Kind> {
        let close = if self.take_sign('(') { ')' } else { '>' };
        if close == '>' {
            self.expect_sign('<')?;
        }
        let mut fields: Vec<DataField> = Vec::new();
        while !self.take_sign(close) {
            if !fields.is_empty() {
                self.expect_sign(',')?;
            }
            let field = self.row_field(depth)?;
            if fields.iter().any(|f| f.name == field.name) {
                return Err(Error::invalid(format!("field {:?} appears twice in a ROW", field.name)));
            }
            fields.push(field);
        }
        Ok(Kind::Row(fields))
    }

    fn row_field(&mut self, depth: usize) -> Result<DataField> {
        let name = match self.next()? {
            Token::Word(name) | Token::Quoted(name) | Token::Number(name) => name,
            other => return Err(Error::invalid(format!("expected the name of a field, found {other}"))),
        };
        self.take_sign(':');
        let id = self.next_id;
        self.next_id = self.next_id.saturating_add(1);
        let mut field = DataField::new(id, name, self.nullable_type(depth + 1)?);
        self.take_word("COMMENT");
        if let Some(Token::Text(text)) = self.peek() {
            field.description = Some(text.clone());
            self.at += 1;
        }
        Ok(field)
    }

    fn number(&mut self) -> Result<u64> {
        match self.next()? {
            Token::Number(digits) => {
                digits.parse().map_err(|_| Error::invalid(format!("number {digits} in a type is too large")))
            }
            other => Err(Error::invalid(format!("expected a number in a type, found {other}"))),
        }
    }

    fn in_parentheses(&mut self) -> Result<Option<u64>> {
        if !self.take_sign('(') {
            return Ok(None);
        }
        let number = self.number()?;
        self.expect_sign(')')?;
        Ok(Some(number))
    }

    fn length(&mut self, default: u32) -> Result<u32> {
        match self.in_parentheses()? {
            None => Ok(default),
            Some(n) => match u32::try_from(n) {
                Ok(n) if (1..=MAX_LENGTH).contains(&n) => Ok(n),
                _ => Err(Error::invalid(format!("length {n} is not between 1 and {MAX_LENGTH}"))),
            },
        }
    }

    fn precision(&mut self, default: u8) -> Result<u8> {
        match self.in_parentheses()? {
            None => Ok(default),
            Some(n) => match u8::try_from(n) {
                Ok(n) if n <= 9 => Ok(n),
                _ => Err(Error::invalid(format!("precision {n} is not between 0 and 9"))),
            },
        }
    }

    fn decimal(&mut self) -> Result<Kind> {
        let (mut precision, mut scale) = (10, 0);
        if self.take_sign('(') {
            precision = self.number()?;
            if self.take_sign(',') {
                scale = self.number()?;
            }
            self.expect_sign(')')?;
        }
        match (u8::try_from(precision), u8::try_from(scale)) {
            (Ok(p), Ok(s)) if (1..=38).contains(&p) && s <= p => Ok(Kind::Decimal { precision: p, scale: s }),
            _ => Err(Error::invalid(format!(
                "DECIMAL({precision}, {scale}) needs a precision from 1 to 38 and a scale from 0 to the precision"
            ))),
        }
    }

    fn time(&mut self) -> Result<Kind> {
        let precision = self.precision(0)?;
        if self.take_word("WITHOUT") {
            self.expect_words(&["TIME", "ZONE"])?;
        }
        Ok(Kind::Time(precision))
    }

    fn timestamp(&mut self) -> Result<Kind> {
        let precision = self.precision(6)?;
        if self.take_word("WITHOUT") {
            self.expect_words(&["TIME", "ZONE"])?;
        } else if self.take_word("WITH") {
            // As in PostgreSQL: a point in time, without the zone that it was written in.
            self.take_word("LOCAL");
            self.expect_words(&["TIME", "ZONE"])?;
            return Ok(Kind::LocalZonedTimestamp(precision));
        }
        Ok(Kind::Timestamp(precision))
    }
}

/// A VECTOR of a primitive element with a positive length.
pub(super) fn vector(element: DataType, length: u32) -> Result<Kind> {
    let primitive = matches!(
        element.kind,
        Kind::Boolean | Kind::TinyInt | Kind::SmallInt | Kind::Int | Kind::BigInt | Kind::Float | Kind::Double
    );
    if !primitive {
        return Err(Error::invalid(format!("VECTOR cannot hold {element}, only BOOLEAN and numbers")));
    }
    if length == 0 || length > MAX_LENGTH {
        return Err(Error::invalid(format!("VECTOR length {length} is not between 1 and {MAX_LENGTH}")));
    }
    Ok(Kind::Vector { element: Box::new(element), length })
}
