//! Table functions over changes: `paimon_incremental_query('t', 1, 3)` and its like, which are a table with options.

use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan, Word};
use linn::{Error, Options, Result};

use super::cursor::{Cursor, split};

/// A function, what its arguments after the table are joined to, and how many there are.
const FUNCTIONS: [(&str, &str, usize); 3] = [
    ("paimon_incremental_query", "incremental-between", 2),
    ("paimon_incremental_between_timestamp", "incremental-between-timestamp", 2),
    ("paimon_incremental_to_auto_tag", "incremental-to-auto-tag", 1),
];

/// The function that begins at a token: the table's name as tokens, the options that the call means, and the index behind it.
///
/// # Errors
/// `Invalid` for a call with other arguments.
pub(super) fn function(tokens: &[TokenWithSpan], at: usize) -> Result<Option<(Vec<Token>, Options, usize)>> {
    let Some(Token::Word(Word { value, quote_style: None, .. })) = tokens.get(at).map(|t| &t.token) else {
        return Ok(None);
    };
    let Some((name, key, count)) = FUNCTIONS.iter().find(|(name, ..)| name.eq_ignore_ascii_case(value)) else {
        return Ok(None);
    };
    let mut cursor = Cursor::new(tokens.get(at + 1..).unwrap_or_default());
    if !cursor.take_token(&Token::LParen) {
        return Ok(None);
    }
    let table = cursor.string()?;
    let mut arguments = Vec::new();
    while cursor.take_token(&Token::Comma) {
        arguments.push(cursor.literal()?);
    }
    cursor.expect_token(&Token::RParen)?;
    if arguments.len() != *count {
        return Err(Error::invalid(format!(
            "SQL: {name} takes a table and {count} arguments, not {}",
            arguments.len()
        )));
    }
    let mut statements = split(&table)?;
    let (Some(name), true) = (statements.pop(), statements.is_empty()) else {
        return Err(Error::invalid(format!("SQL: {table:?} is not a table name")));
    };
    let mut inside = Cursor::new(&name);
    let parts = inside.object()?;
    inside.end()?;
    let mut name = Vec::with_capacity(2 * parts.len());
    for part in parts {
        if !name.is_empty() {
            name.push(Token::Period);
        }
        name.push(Token::make_word(&part, Some('"')));
    }
    let options = [(*key, arguments.join(","))].into_iter().collect();
    Ok(Some((name, options, at + 1 + cursor.index())))
}
