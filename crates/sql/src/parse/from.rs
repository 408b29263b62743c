//! `FROM t WHERE …` without SELECT is `SELECT * FROM t WHERE …`, and so is `TABLE t WHERE …`. The library's parser knows FROM
//! without SELECT only where nothing follows.

use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan, Whitespace, Word};

/// The tokens of a statement, in which every query that has no SELECT has one.
pub(crate) fn with_select(tokens: &[TokenWithSpan]) -> Vec<TokenWithSpan> {
    let mut out = Vec::with_capacity(tokens.len());
    // For each parenthesis that is open: whether a query may begin here.
    let mut open = vec![Place::Start];
    for (at, token) in tokens.iter().enumerate() {
        let place = open.last().copied().unwrap_or(Place::Other);
        let next = match &token.token {
            Token::Whitespace(_) => place,
            Token::LParen => {
                if let Some(last) = open.last_mut() {
                    // What begins in parentheses goes on as a query, if it is one.
                    *last = if place == Place::Common { Place::Common } else { Place::Other };
                }
                open.push(Place::Start);
                out.push(token.clone());
                continue;
            }
            Token::RParen => {
                open.pop();
                out.push(token.clone());
                continue;
            }
            Token::Word(word) if word.keyword == Keyword::TABLE && matches!(place, Place::Start | Place::Common) => {
                out.extend([
                    bare("SELECT", Keyword::SELECT),
                    space(),
                    wrapped(Token::Mul),
                    space(),
                    bare("FROM", Keyword::FROM),
                ]);
                if let Some(last) = open.last_mut() {
                    *last = Place::Other;
                }
                continue;
            }
            Token::Word(word) if word.quote_style.is_none() => match (word.keyword, place) {
                (Keyword::FROM, Place::Start | Place::Common) => {
                    if !selects(tokens.get(at + 1..).unwrap_or_default()) {
                        out.extend([bare("SELECT", Keyword::SELECT), space(), wrapped(Token::Mul), space()]);
                    }
                    Place::Other
                }
                (Keyword::WITH, Place::Start) => Place::Common,
                (Keyword::EXPLAIN | Keyword::ANALYZE | Keyword::VERBOSE, Place::Start) => Place::Start,
                (Keyword::UNION | Keyword::EXCEPT | Keyword::INTERSECT, _) => Place::Start,
                (Keyword::ALL | Keyword::DISTINCT, Place::Start) => Place::Start,
                (Keyword::SELECT | Keyword::VALUES, _) => Place::Other,
                (_, Place::Common) => Place::Common,
                _ => Place::Other,
            },
            _ if place == Place::Common => Place::Common,
            _ => Place::Other,
        };
        if let Some(last) = open.last_mut() {
            *last = next;
        }
        out.push(token.clone());
    }
    out
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// A query may begin.
    Start,
    /// Behind WITH: among common table expressions, or at the query that follows them.
    Common,
    Other,
}

/// Whether a SELECT follows in the same query.
fn selects(tokens: &[TokenWithSpan]) -> bool {
    let mut depth = 0i32;
    for token in tokens {
        match &token.token {
            Token::LParen => depth += 1,
            Token::RParen if depth == 0 => return false,
            Token::RParen => depth -= 1,
            Token::Word(word) if depth == 0 && word.quote_style.is_none() => match word.keyword {
                Keyword::SELECT => return true,
                Keyword::UNION | Keyword::EXCEPT | Keyword::INTERSECT => return false,
                _ => {}
            },
            _ => {}
        }
    }
    false
}

/// A token that is nowhere in the text.
fn wrapped(token: Token) -> TokenWithSpan {
    TokenWithSpan::wrap(token)
}

fn bare(text: &str, keyword: Keyword) -> TokenWithSpan {
    wrapped(Token::Word(Word { value: text.to_owned(), quote_style: None, keyword }))
}

fn space() -> TokenWithSpan {
    wrapped(Token::Whitespace(Whitespace::Space))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::split;

    #[test]
    fn queries_get_a_select() {
        for (sql, expected) in [
            ("FROM t", "SELECT * FROM t"),
            ("FROM t WHERE a", "SELECT * FROM t WHERE a"),
            ("TABLE t ORDER BY a", "SELECT * FROM t ORDER BY a"),
            ("EXPLAIN FROM t", "EXPLAIN SELECT * FROM t"),
            ("FROM t SELECT a", "FROM t SELECT a"),
            ("FROM (FROM t SELECT a) WHERE b", "SELECT * FROM (FROM t SELECT a) WHERE b"),
            ("FROM (FROM t) SELECT a", "FROM (SELECT * FROM t) SELECT a"),
            ("WITH x AS (FROM t) FROM x LIMIT 1", "WITH x AS (SELECT * FROM t) SELECT * FROM x LIMIT 1"),
            ("FROM t UNION ALL FROM u", "SELECT * FROM t UNION ALL SELECT * FROM u"),
            ("SELECT a FROM t WHERE b IN (FROM u)", "SELECT a FROM t WHERE b IN (SELECT * FROM u)"),
        ] {
            let text: String = with_select(&split(sql).unwrap().remove(0)).iter().map(ToString::to_string).collect();
            assert_eq!(text, expected);
        }
        for sql in [
            "SELECT a FROM t",
            "DELETE FROM t",
            "SELECT extract(year FROM a), substring(b FROM 2), trim(both FROM c) FROM t",
            "SELECT f(a) FROM t WHERE a IS DISTINCT FROM b",
            "SELECT (SELECT 1 FROM t) FROM u",
            "WITH x AS (SELECT 1 FROM t) SELECT a FROM x",
            "UPDATE t SET a = (SELECT b FROM u)",
        ] {
            let text: String = with_select(&split(sql).unwrap().remove(0)).iter().map(ToString::to_string).collect();
            assert_eq!(text, sql);
        }
    }
}
