//! Statement sets: `BEGIN STATEMENT SET; INSERT …; INSERT …; END`, and the same behind `EXECUTE STATEMENT SET`, are one
//! statement although semicolons are in them.

use datafusion::sql::sqlparser::tokenizer::Token;
use linn::{Error, Result};

use super::cursor::Cursor;
use super::statement::{Insert, Statement, insert};

/// An INSERT of a set.
#[derive(Debug)]
pub(crate) struct SetInsert {
    /// What it does.
    pub(crate) insert: Insert,
    /// Its text, without the marks of options.
    pub(crate) text: String,
}

/// Puts the statements of each set together again, with the semicolons between them.
///
/// # Errors
/// `Invalid` for a set without an end.
pub(super) fn grouped(statements: Vec<Vec<Token>>) -> Result<Vec<Vec<Token>>> {
    let (mut all, mut open): (Vec<Vec<Token>>, Option<Vec<Token>>) = (Vec::new(), None);
    for tokens in statements {
        match &mut open {
            None if begins(&mut Cursor::new(&tokens)) => open = Some(tokens),
            None => all.push(tokens),
            Some(_) if is_end(&tokens) => all.extend(open.take()),
            Some(set) => {
                set.push(Token::SemiColon);
                set.extend(tokens);
            }
        }
    }
    match open {
        None => Ok(all),
        Some(_) => Err(Error::invalid("SQL: the statement set has no END")
            .with_hint("write BEGIN STATEMENT SET; INSERT …; INSERT …; END")),
    }
}

/// Whether a text begins a statement set and does not end it.
pub fn is_open_set(sql: &str) -> bool {
    super::cursor::pieces(sql).is_ok_and(|pieces| grouped(pieces).is_err())
}

fn begins(c: &mut Cursor<'_>) -> bool {
    let _ = c.take("EXPLAIN");
    c.take("BEGIN STATEMENT SET") || c.take("EXECUTE STATEMENT SET") || c.take("STATEMENT SET")
}

fn is_end(tokens: &[Token]) -> bool {
    let mut c = Cursor::new(tokens);
    c.take("END") && c.done()
}

/// The set that begins at a cursor, if one does.
///
/// # Errors
/// `Invalid` naming what was expected.
pub(super) fn set(c: &Cursor<'_>, tokens: &[Token]) -> Result<Option<Statement>> {
    let mut c = c.clone();
    let explain = c.clone().take("EXPLAIN");
    if !begins(&mut c) {
        return Ok(None);
    }
    let _ = c.take("AS");
    let _ = c.take("BEGIN");
    let rest = tokens.get(c.index()..).unwrap_or_default();
    let mut inserts = Vec::new();
    for part in rest.split(|token| *token == Token::SemiColon) {
        let mut inside = Cursor::new(part);
        if inside.done() {
            continue;
        }
        inside.require("INSERT")?;
        let text: String = part.iter().map(plain).collect();
        let Statement::Insert(insert) = insert(inside, part)? else {
            return Err(Error::internal("an INSERT became another statement"));
        };
        inserts.push(SetInsert { insert, text: text.split_whitespace().collect::<Vec<_>>().join(" ") });
    }
    if inserts.is_empty() {
        return Err(Error::invalid("SQL: the statement set has no INSERT"));
    }
    Ok(Some(Statement::Set { inserts, explain }))
}

/// A token as it was written, without the mark that options leave on a name.
fn plain(token: &Token) -> String {
    match token {
        Token::Word(word) => match word.value.split_once('\u{1}') {
            Some((name, _)) => name.to_owned(),
            None => token.to_string(),
        },
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::{check_syntax, parse, split};

    fn inserts(sql: &str) -> usize {
        match parse(&split(sql).unwrap().remove(0)).unwrap() {
            Statement::Set { inserts, .. } => inserts.len(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_set_is_one_statement() {
        let body = "INSERT INTO t (a) SELECT ';' FROM s; INSERT INTO t (b) SELECT CASE WHEN x THEN 1 END FROM s;";
        for sql in [
            format!("BEGIN STATEMENT SET; {body} END"),
            format!("begin statement set {body} end;"),
            format!("EXECUTE STATEMENT SET BEGIN {body} END;"),
            format!("EXPLAIN STATEMENT SET BEGIN {body} END;"),
        ] {
            assert_eq!(inserts(&sql), 2, "{sql}");
            assert_eq!(check_syntax(&format!("SELECT 1; {sql}")).unwrap(), 2);
            assert!(!is_open_set(&sql), "{sql}");
        }
        assert!(is_open_set(&format!("BEGIN STATEMENT SET; {body}")));
        assert!(!is_open_set("SELECT 1; SELECT 2"));
    }

    #[test]
    fn broken_sets_are_refused() {
        for sql in [
            "BEGIN STATEMENT SET; INSERT INTO t SELECT 1",
            "BEGIN STATEMENT SET; END",
            "BEGIN STATEMENT SET; SELECT 1; END",
            "BEGIN STATEMENT SET; INSERT INTO t; END",
        ] {
            assert!(check_syntax(sql).is_err(), "{sql}");
        }
    }
}
