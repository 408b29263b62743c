//! Settings of the session and prepared statements.

use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};
use linn::Result;

use super::cursor::Cursor;
use super::statement::Statement;

/// What follows SET: `key = value` or `key TO value`; nothing means to show what is set.
pub(super) fn set(mut c: Cursor<'_>) -> Result<Statement> {
    if c.done() {
        return Ok(Statement::ShowSettings(None));
    }
    let _ = c.take("SESSION") || c.take("LOCAL");
    let key = if c.take("TIME ZONE") { "timezone".to_owned() } else { key(&mut c)? };
    if !c.take_token(&Token::Eq) && !c.take("TO") && key != "timezone" {
        return Err(c.expected("= or TO"));
    }
    let value = c.literal()?;
    c.end()?;
    Ok(Statement::Set { key, value })
}

/// What follows RESET: a key or ALL.
pub(super) fn reset(mut c: Cursor<'_>) -> Result<Statement> {
    let key = if c.take("ALL") { None } else { Some(key(&mut c)?) };
    c.end()?;
    Ok(Statement::Reset(key))
}

/// What follows SHOW when it is nothing else: a key or ALL.
pub(super) fn show(mut c: Cursor<'_>) -> Result<Statement> {
    if c.take("ALL") {
        c.end()?;
        return Ok(Statement::ShowSettings(Some(None)));
    }
    let key = if c.take("TIME ZONE") { "timezone".to_owned() } else { key(&mut c)? };
    c.end()?;
    Ok(Statement::ShowSettings(Some(Some(key))))
}

/// A key, in quotes or dotted, with `*` for any name.
fn key(c: &mut Cursor<'_>) -> Result<String> {
    if let Some(Token::SingleQuotedString(_)) = c.peek() {
        return c.string();
    }
    let mut text = String::new();
    loop {
        if c.take_token(&Token::Mul) {
            text.push('*');
        } else {
            text.push_str(&c.name()?);
        }
        if c.take_token(&Token::Period) {
            text.push('.');
        } else if c.take_token(&Token::Minus) {
            text.push('-');
        } else {
            return Ok(text);
        }
    }
}

/// What follows PREPARE: `name [(types)] AS statement`.
pub(super) fn prepare(mut c: Cursor<'_>, tokens: &[TokenWithSpan]) -> Result<Statement> {
    let name = c.name()?;
    let types = if c.peek() == Some(&Token::LParen) { c.list(Cursor::type_text)? } else { Vec::new() };
    if !c.take("AS") && !c.take("FROM") {
        return Err(c.expected("AS"));
    }
    if c.done() {
        return Err(c.expected("a statement"));
    }
    let statement = tokens.get(c.index()..).unwrap_or_default().to_vec();
    Ok(Statement::Prepare { name, types, statement })
}

/// What follows EXECUTE: `name[(value, …)]` or `name USING value, …`.
pub(super) fn execute(mut c: Cursor<'_>, tokens: &[TokenWithSpan]) -> Result<Statement> {
    let name = c.name()?;
    let closing = if c.take("USING") {
        None
    } else if c.take_token(&Token::LParen) {
        if c.take_token(&Token::RParen) {
            c.end()?;
            return Ok(Statement::Execute { name, arguments: Vec::new() });
        }
        Some(Token::RParen)
    } else {
        c.end()?;
        return Ok(Statement::Execute { name, arguments: Vec::new() });
    };
    let mut arguments = Vec::new();
    loop {
        arguments.push(argument(&mut c, tokens)?);
        if !c.take_token(&Token::Comma) {
            break;
        }
    }
    if let Some(token) = closing {
        c.expect_token(&token)?;
    }
    c.end()?;
    Ok(Statement::Execute { name, arguments })
}

/// The tokens of an expression, up to a comma or a closing parenthesis outside of it.
fn argument(c: &mut Cursor<'_>, tokens: &[TokenWithSpan]) -> Result<Vec<TokenWithSpan>> {
    let (start, mut depth) = (c.index(), 0usize);
    while let Some(token) = c.peek() {
        match token {
            Token::LParen | Token::LBracket | Token::LBrace => depth += 1,
            Token::RParen | Token::Comma if depth == 0 => break,
            Token::RParen | Token::RBracket | Token::RBrace => depth = depth.saturating_sub(1),
            _ => {}
        }
        c.next();
    }
    if c.index() == start {
        return Err(c.expected("a value"));
    }
    Ok(tokens.get(start..c.index()).unwrap_or_default().to_vec())
}

/// What follows DEALLOCATE: `[PREPARE] name` or ALL.
pub(super) fn deallocate(mut c: Cursor<'_>) -> Result<Statement> {
    let _ = c.take("PREPARE");
    let name = if c.take("ALL") { None } else { Some(c.name()?) };
    c.end()?;
    Ok(Statement::Deallocate(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::{parse, split};

    fn one(sql: &str) -> Result<Statement> {
        parse(&split(sql)?.remove(0))
    }

    #[test]
    fn keys_are_quoted_or_dotted() {
        for (sql, expected) in [
            ("SET 'a.b' = 'x'", ("a.b", "x")),
            ("SET linn.*.*.t.scan.snapshot-id = 3", ("linn.*.*.t.scan.snapshot-id", "3")),
            ("SET datafusion.execution.batch_size TO 100", ("datafusion.execution.batch_size", "100")),
            ("SET TIME ZONE '+02:00'", ("timezone", "+02:00")),
        ] {
            let Statement::Set { key, value } = one(sql).unwrap() else { panic!("{sql}") };
            assert_eq!((key.as_str(), value.as_str()), expected);
        }
        assert!(one("SET a 1").is_err());
        assert!(matches!(one("RESET ALL").unwrap(), Statement::Reset(None)));
        assert!(matches!(one("SHOW ALL").unwrap(), Statement::ShowSettings(Some(None))));
    }

    #[test]
    fn arguments_are_expressions() {
        let Statement::Execute { name, arguments } = one("EXECUTE p(1, f(2, 3), 'x')").unwrap() else { panic!() };
        let texts: Vec<String> = arguments.iter().map(|a| a.iter().map(ToString::to_string).collect()).collect();
        assert_eq!((name.as_str(), texts), ("p", vec!["1".to_owned(), "f(2, 3)".to_owned(), "'x'".to_owned()]));
        assert!(one("EXECUTE p(1,)").is_err());
        assert!(one("EXECUTE p(1").is_err());
        let Statement::Prepare { types, .. } = one("PREPARE p (INT, DECIMAL(3, 1)) AS SELECT $1").unwrap() else {
            panic!()
        };
        assert_eq!(types, ["INT", "DECIMAL(3, 1)"]);
    }
}
