//! Statements that tell about a query: EXPLAIN, DESCRIBE of a query, SUMMARIZE.

use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};
use linn::Result;

use super::cursor::Cursor;
use super::statement::Statement;

/// How a plan is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlanFormat {
    /// Indented lines, logical and physical.
    Indent,
    /// Boxes.
    Tree,
    /// JSON as PostgreSQL's.
    Json,
    /// Dot.
    Graphviz,
}

/// `[ANALYZE] [VERBOSE] [FORMAT name] statement`, behind EXPLAIN; the first three in any order.
pub(super) fn explain(mut c: Cursor<'_>, tokens: &[TokenWithSpan]) -> Result<Statement> {
    let (mut analyze, mut verbose, mut format) = (false, false, None);
    loop {
        if c.take("ANALYZE") {
            analyze = true;
        } else if c.take("VERBOSE") {
            verbose = true;
        } else if c.take("FORMAT") {
            let _ = c.take_token(&Token::Eq);
            format = Some(plan_format(&mut c)?);
        } else {
            break;
        }
    }
    if c.done() {
        return Err(c.expected("a query"));
    }
    let query = tokens.get(c.index()..).unwrap_or_default().to_vec();
    Ok(Statement::Explain { analyze, verbose, format, query })
}

fn plan_format(c: &mut Cursor<'_>) -> Result<PlanFormat> {
    let unknown = c.expected("TREE, INDENT, JSON or GRAPHVIZ");
    let name = c.setting().map_err(|_| c.expected("TREE, INDENT, JSON or GRAPHVIZ"))?;
    match name.to_ascii_uppercase().as_str() {
        "TREE" => Ok(PlanFormat::Tree),
        "INDENT" | "TEXT" => Ok(PlanFormat::Indent),
        "JSON" | "PGJSON" => Ok(PlanFormat::Json),
        "GRAPHVIZ" => Ok(PlanFormat::Graphviz),
        _ => Err(unknown),
    }
}

/// The query that comes next, if it is one: it begins as a query, or is a file, which then is `FROM 'file'`.
pub(super) fn query(c: &Cursor<'_>, tokens: &[TokenWithSpan]) -> Option<Vec<TokenWithSpan>> {
    let rest = tokens.get(c.index()..).unwrap_or_default();
    let mut ahead = c.clone();
    if ["SELECT", "WITH", "VALUES", "FROM"].iter().any(|word| ahead.take(word)) || ahead.take_token(&Token::LParen) {
        return Some(rest.to_vec());
    }
    let call = matches!((ahead.next(), ahead.peek()), (Some(Token::Word(_)), Some(Token::LParen)));
    match c.peek() {
        Some(Token::SingleQuotedString(_)) => Some(all_of(rest)),
        _ if call => Some(all_of(rest)),
        _ => None,
    }
}

/// `SELECT * FROM` before a table.
pub(super) fn all_of(table: &[TokenWithSpan]) -> Vec<TokenWithSpan> {
    let before = ["SELECT", " ", "*", " ", "FROM", " "].into_iter().map(|text| {
        TokenWithSpan::wrap(match text {
            " " => Token::Whitespace(datafusion::sql::sqlparser::tokenizer::Whitespace::Space),
            "*" => Token::Mul,
            word => Token::make_keyword(word),
        })
    });
    before.chain(table.iter().cloned()).collect()
}

/// What follows SUMMARIZE: a table or a query.
pub(super) fn summarize(mut c: Cursor<'_>, tokens: &[TokenWithSpan]) -> Result<Statement> {
    if let Some(query) = query(&c, tokens) {
        return Ok(Statement::Summarize(query));
    }
    let _ = c.take("TABLE");
    let table = tokens.get(c.index()..).unwrap_or_default();
    c.object()?;
    c.end()?;
    Ok(Statement::Summarize(all_of(table)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::{parse, split};

    fn one(sql: &str) -> Result<Statement> {
        parse(&split(sql)?.remove(0))
    }

    #[test]
    fn formats_are_read_in_any_order() {
        for (sql, expected) in [
            ("EXPLAIN SELECT 1", (false, false, None)),
            ("EXPLAIN ANALYZE VERBOSE SELECT 1", (true, true, None)),
            ("EXPLAIN FORMAT TREE SELECT 1", (false, false, Some(PlanFormat::Tree))),
            ("EXPLAIN FORMAT 'json' ANALYZE SELECT 1", (true, false, Some(PlanFormat::Json))),
            ("explain format = graphviz SELECT 1", (false, false, Some(PlanFormat::Graphviz))),
        ] {
            let Statement::Explain { analyze, verbose, format, query } = one(sql).unwrap() else { panic!("{sql}") };
            assert_eq!((analyze, verbose, format), expected, "{sql}");
            let text: String = query.iter().map(ToString::to_string).collect();
            assert_eq!(text, "SELECT 1");
        }
        assert!(one("EXPLAIN FORMAT nothing SELECT 1").is_err());
        assert!(one("EXPLAIN").is_err());
    }

    #[test]
    fn tables_and_files_become_queries() {
        for (sql, expected) in [
            ("SUMMARIZE db.t", "SELECT * FROM db.t"),
            ("SUMMARIZE SELECT 1", "SELECT 1"),
            ("SUMMARIZE 'a.csv'", "SELECT * FROM 'a.csv'"),
            ("SUMMARIZE read_csv('a.csv')", "SELECT * FROM read_csv('a.csv')"),
        ] {
            let Statement::Summarize(query) = one(sql).unwrap() else { panic!("{sql}") };
            let text: String = query.iter().map(ToString::to_string).collect();
            assert_eq!(text, expected);
        }
        assert!(one("SUMMARIZE").is_err());
    }
}
