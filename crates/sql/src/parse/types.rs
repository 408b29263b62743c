//! Types in expressions that the library's parser does not read, such as `CAST(x AS ROW<a INT, "b c" STRING>)`: their text
//! becomes one name, which the parser takes for a type of its own, and Linn's parser of types reads it.

use datafusion::sql::sqlparser::ast::{DataType as Written, Ident};
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan, Whitespace, Word};
use linn::Result;
use linn::format::types::{DataType, Kind};

use super::cursor::{Cursor, of_type};

/// How a name that is the text of a type begins; no type of the library can be called so.
const MARK: char = '\u{2}';

/// The tokens of a statement, in which types that only Linn knows are one name.
pub(crate) fn with_types(tokens: &[TokenWithSpan]) -> Vec<TokenWithSpan> {
    let mut out: Vec<TokenWithSpan> = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        out.push(token.clone());
        at += 1;
        let before = matches!(token.token, Token::DoubleColon)
            || matches!(&token.token, Token::Word(word) if word.quote_style.is_none() && word.value.eq_ignore_ascii_case("AS"));
        let rest = tokens.get(at..).unwrap_or_default();
        if let Some(length) = before.then(|| length(rest)).flatten() {
            let text: String = rest.iter().take(length).map(|token| of_type(&token.token)).collect();
            let space = || TokenWithSpan::wrap(Token::Whitespace(Whitespace::Space));
            let name =
                Word { value: format!("{MARK}{}", text.trim()), quote_style: Some('"'), keyword: Keyword::NoKeyword };
            out.extend([space(), TokenWithSpan::new(Token::Word(name), token.span), space()]);
            at += length;
        }
    }
    out
}

/// How many tokens a type of parts has, with the white space before it.
fn length(tokens: &[TokenWithSpan]) -> Option<usize> {
    let mut cursor = Cursor::new(tokens);
    if !["ROW", "MAP", "MULTISET", "ARRAY", "VECTOR"].iter().any(|word| cursor.take(word)) {
        return None;
    }
    if !matches!(cursor.peek(), Some(Token::Lt)) {
        return None;
    }
    let mut depth = 0i32;
    loop {
        match cursor.next()? {
            Token::Lt | Token::LParen => depth += 1,
            Token::Gt | Token::RParen => depth -= 1,
            Token::ShiftRight => depth -= 2,
            _ => {}
        }
        if depth <= 0 {
            return (depth == 0).then(|| cursor.index());
        }
    }
}

/// The type that a cast is to, when it is Linn that casts: the library lacks it, or passes over its length.
///
/// # Errors
/// `Invalid` for a marked text that is no type.
pub(crate) fn own_type(written: &Written) -> Result<Option<DataType>> {
    if let Written::Custom(name, modifiers) = written
        && let [part] = name.0.as_slice()
        && let Some(Ident { value, .. }) = part.as_ident()
        && let Some(text) = value.strip_prefix(MARK)
        && modifiers.is_empty()
    {
        return DataType::parse(text).map(Some);
    }
    let text = written.to_string();
    let Ok(parsed) = DataType::parse(&text) else { return Ok(None) };
    let has_length = text.contains('(');
    let own = match parsed.kind {
        Kind::Char(_) | Kind::Varchar(_) | Kind::Binary(_) | Kind::Varbinary(_) | Kind::Time(_) => has_length,
        // The library knows units, not digits, and cuts toward 1970.
        Kind::Timestamp(digits) => has_length && digits < 9,
        Kind::LocalZonedTimestamp(_) | Kind::Multiset(_) | Kind::Vector { .. } => true,
        _ => false,
    };
    let bytes = text.eq_ignore_ascii_case("BYTES");
    Ok((own || bytes).then_some(parsed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::split;

    #[test]
    fn types_of_parts_become_one_name() {
        let check = |sql: &str, expected: &str| {
            let text: String = with_types(&split(sql).unwrap().remove(0)).iter().map(ToString::to_string).collect();
            let text = text.replace(MARK, "#");
            assert_eq!(text.split_whitespace().collect::<Vec<_>>().join(" "), expected);
        };
        check(
            "SELECT CAST(a AS ROW<b INT, \"c d\" ARRAY<MAP<STRING, INT>>>), x::MAP<INT, INT> AS map, y AS row FROM t",
            "SELECT CAST(a AS \"#ROW<b INT, `c d` ARRAY<MAP<STRING, INT>>>\" ), x:: \"#MAP<INT, INT>\" AS map, y AS row FROM t",
        );
        check("SELECT a AS array, b AS row", "SELECT a AS array, b AS row");
    }
}
