//! `COPY`: rows of a table or a query to files, and rows of files to a table.

use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};
use linn::Result;

use super::cursor::Cursor;
use super::explain::all_of;
use super::statement::Statement;

/// What follows COPY: `t [(columns)] TO 'f'`, `(query) TO 'f'` or `t [(columns)] FROM 'f'`, each with
/// `[WITH] (FORMAT name, key value, …)`.
pub(super) fn copy(mut c: Cursor<'_>, tokens: &[TokenWithSpan]) -> Result<Statement> {
    let start = c.index();
    if c.peek() == Some(&Token::LParen) {
        parentheses(&mut c)?;
        let query = tokens.get(start..c.index()).unwrap_or_default().to_vec();
        c.require("TO")?;
        let path = c.string()?;
        let options = options(&mut c)?;
        return Ok(Statement::CopyTo { query, path, options });
    }
    let table = c.object()?;
    let named = c.index();
    let columns = if c.peek() == Some(&Token::LParen) { c.list(Cursor::name)? } else { Vec::new() };
    if c.take("FROM") {
        let path = c.string()?;
        let options = options(&mut c)?;
        return Ok(Statement::CopyFrom { table, columns, path, options });
    }
    if !c.take("TO") {
        return Err(c.expected("TO or FROM"));
    }
    let mut query = all_of(tokens.get(start..named).unwrap_or_default());
    if !columns.is_empty() {
        let list: Vec<Token> = columns
            .iter()
            .enumerate()
            .flat_map(|(i, name)| [(i > 0).then_some(Token::Comma), Some(Token::make_word(name, Some('"')))])
            .flatten()
            .collect();
        if let Some(star) = query.iter().position(|t| t.token == Token::Mul) {
            query.splice(star..=star, list.into_iter().map(TokenWithSpan::wrap));
        }
    }
    let path = c.string()?;
    let options = options(&mut c)?;
    Ok(Statement::CopyTo { query, path, options })
}

/// Walks behind the closing parenthesis of the one that comes next.
fn parentheses(c: &mut Cursor<'_>) -> Result<()> {
    let mut depth = 0usize;
    loop {
        match c.peek() {
            Some(Token::LParen) => depth += 1,
            Some(Token::RParen) => depth = depth.saturating_sub(1),
            Some(_) => {}
            None => return Err(c.expected("\")\"")),
        }
        c.next();
        if depth == 0 {
            return Ok(());
        }
    }
}

/// `[WITH] (FORMAT csv, HEADER, DELIMITER '|', key = value, …)` up to the end of the statement; keys in small letters.
fn options(c: &mut Cursor<'_>) -> Result<Vec<(String, String)>> {
    let _ = c.take("WITH") || c.take("OPTIONS");
    if c.done() {
        return Ok(Vec::new());
    }
    let found = c.list(|c| {
        let key = c.literal_key()?.to_ascii_lowercase();
        let _ = c.take_token(&Token::Eq);
        let value = match c.peek() {
            // A key alone is switched on.
            Some(Token::Comma | Token::RParen) => "true".to_owned(),
            _ => c.setting()?,
        };
        Ok((key, value))
    })?;
    c.end()?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::{parse, split};

    #[test]
    fn both_directions_are_taken_apart() {
        for (sql, expected) in [
            ("COPY t TO 'f.csv' (FORMAT csv, HEADER, DELIMITER '|')", "SELECT * FROM t"),
            ("COPY db.t (a, b) TO 'f.csv' (FORMAT csv, HEADER true, DELIMITER = '|')", "SELECT \"a\",\"b\" FROM db.t"),
            ("COPY (SELECT (1)) TO 'f.csv' WITH (FORMAT csv, HEADER, DELIMITER '|')", "(SELECT (1)) "),
        ] {
            let Statement::CopyTo { query, path, options } = parse(&split(sql).unwrap().remove(0)).unwrap() else {
                panic!("{sql}")
            };
            let text: String = query.iter().map(ToString::to_string).collect();
            assert_eq!(text.trim(), expected.trim());
            assert_eq!(path, "f.csv");
            let pair = |k: &str, v: &str| (k.to_owned(), v.to_owned());
            assert_eq!(options, [pair("format", "csv"), pair("header", "true"), pair("delimiter", "|")]);
        }
        let parsed = parse(&split("COPY t (a) FROM 'f.parquet'").unwrap().remove(0)).unwrap();
        assert!(matches!(parsed, Statement::CopyFrom { columns, path, .. } if columns == ["a"] && path == "f.parquet"));
        for sql in ["COPY t", "COPY (SELECT 1 TO 'f'", "COPY t TO f", "COPY t TO 'f' (FORMAT"] {
            assert!(parse(&split(sql).unwrap().remove(0)).is_err(), "{sql}");
        }
    }
}
