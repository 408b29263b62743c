//! Options and time travel on a table: `t FOR VERSION AS OF 3`, `t OPTIONS('k'='v')`, `t /*+ OPTIONS('k'='v') */`, and the
//! functions that mean a table with options.
//!
//! DataFusion knows none of them, so the clause is cut out of the tokens and the table's name gets a mark that names the
//! clause's options; when tables are resolved the mark leads back to them.

use datafusion::sql::sqlparser::ast::{DataType, Expr, TimezoneInfo, Value};
use datafusion::sql::sqlparser::parser::Parser;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan, Word};
use linn::core::commit::Reads;
use linn::{Options, Result};

use super::cursor::{Cursor, DEPTH, DIALECT, hint, tokenize};
use super::function::function;
use super::position::refused;

/// Separates a table's name from the number of its options; no table can have it in its name.
const MARK: char = '\u{1}';

/// The options given to the tables of one statement, and where its reads are noted if it writes.
#[derive(Debug, Clone, Default)]
pub(crate) struct TableOptions(Vec<Options>, Option<Reads>);

impl TableOptions {
    /// Splits a name into the table's name and the options that were given to it.
    pub(crate) fn unmark<'n>(&self, name: &'n str) -> (&'n str, Option<&Options>) {
        match name.split_once(MARK) {
            Some((table, number)) => (table, number.parse::<usize>().ok().and_then(|n| self.0.get(n))),
            None => (name, None),
        }
    }

    /// The options of each table, those that are still to be computed among them.
    pub(crate) fn each(&mut self) -> impl Iterator<Item = &mut Options> {
        self.0.iter_mut()
    }

    /// The same for a statement whose reads are noted there.
    pub(crate) fn noting(&self, reads: &Reads) -> Self {
        Self(self.0.clone(), Some(reads.clone()))
    }

    /// Where reads are noted.
    pub(crate) fn reads(&self) -> Option<&Reads> {
        self.1.as_ref()
    }
}

/// Key of a point in time that is an expression in SQL, which has to be computed before the table can be opened.
pub(crate) const COMPUTED: &str = "\u{1}timestamp";

/// Cuts the clauses out of a statement's tokens.
///
/// # Errors
/// `Invalid` for a clause that is begun but not well-formed.
pub(crate) fn mark(tokens: &[TokenWithSpan]) -> Result<(Vec<TokenWithSpan>, TableOptions)> {
    let mut out: Vec<TokenWithSpan> = Vec::with_capacity(tokens.len());
    let mut found = TableOptions::default();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        if let Some((name, options, next)) = function(tokens, at)? {
            out.extend(name.into_iter().map(|part| TokenWithSpan::new(part, token.span)));
            attach(&mut out, &mut found, options);
            at = next;
            continue;
        }
        let after_name = matches!(last_solid(&out), Some(Token::Word(_)));
        let clause = if after_name { clause(tokens, at)? } else { None };
        match clause {
            Some((options, next)) => {
                attach(&mut out, &mut found, options);
                at = next;
            }
            None => {
                out.push(token.clone());
                at += 1;
            }
        }
    }
    Ok((out, found))
}

fn last_solid(tokens: &[TokenWithSpan]) -> Option<&Token> {
    tokens.iter().map(|t| &t.token).rev().find(|t| !matches!(t, Token::Whitespace(_)))
}

/// The clause that begins at a token, with the index behind it.
fn clause(tokens: &[TokenWithSpan], at: usize) -> Result<Option<(Options, usize)>> {
    let Some(TokenWithSpan { token, span }) = tokens.get(at) else { return Ok(None) };
    let mut options = Options::new();
    if let Some(text) = hint(token) {
        // What is wrong in a hint is shown at its begin.
        let inner = tokenize(text).map_err(|e| linn::Error::invalid(format!("{} in a hint", e.message())))?;
        let inner: Vec<_> = inner.into_iter().map(|part| TokenWithSpan::new(part.token, *span)).collect();
        let mut cursor = Cursor::new(&inner);
        if !cursor.take("OPTIONS") {
            return Ok(None);
        }
        for (key, value) in cursor.options()? {
            options.set(key, value);
        }
        cursor.end()?;
        return Ok(Some((options, at + 1)));
    }
    if matches!(token, Token::Whitespace(_)) {
        return Ok(None);
    }
    let rest = tokens.get(at..).unwrap_or_default();
    let mut cursor = Cursor::new(rest);
    if cursor.take("OPTIONS") && cursor.peek() == Some(&Token::LParen) {
        for (key, value) in cursor.options()? {
            options.set(key, value);
        }
        return Ok(Some((options, at + cursor.index())));
    }
    let mut cursor = Cursor::new(rest);
    let with_for = cursor.take("FOR");
    let key = if cursor.take("VERSION AS OF") || (with_for && cursor.take("SYSTEM_VERSION AS OF")) {
        "scan.version"
    } else if cursor.take("TIMESTAMP AS OF") || (with_for && cursor.take("SYSTEM_TIME AS OF")) {
        let (key, value, taken) = time(rest.get(cursor.index()..).unwrap_or_default(), &cursor)?;
        options.set(key, value);
        return Ok(Some((options, at + cursor.index() + taken)));
    } else if with_for && (cursor.take("TAG AS OF") || cursor.take("TAG")) {
        "scan.tag-name"
    } else {
        return Ok(None);
    };
    let value = cursor.literal()?;
    options.set(key, value);
    Ok(Some((options, at + cursor.index())))
}

/// The point in time at the beginning of these tokens, as an option, and how many tokens it takes: a text, a number of
/// milliseconds, or any other expression.
fn time(tokens: &[TokenWithSpan], cursor: &Cursor<'_>) -> Result<(&'static str, String, usize)> {
    if cursor.done() {
        return Err(cursor.expected("a point in time"));
    }
    let mut parser = Parser::new(&DIALECT).with_recursion_limit(DEPTH).with_tokens_with_locations(tokens.to_vec());
    let expression = parser.parse_expr().map_err(|e| refused(&e, tokens))?;
    // Words behind it, such as an alias, are not part of it.
    let taken = parser.index();
    let key_value = match &expression {
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(text) => ("scan.timestamp", text.clone()),
            Value::Number(digits, _) => ("scan.timestamp-millis", digits.clone()),
            _ => (COMPUTED, expression.to_string()),
        },
        Expr::TypedString(typed) => match (&typed.data_type, &typed.value.value) {
            (DataType::Timestamp(None, TimezoneInfo::None), Value::SingleQuotedString(text)) => {
                ("scan.timestamp", text.clone())
            }
            _ => (COMPUTED, expression.to_string()),
        },
        Expr::Identifier(name) if name.quote_style.is_none() => return Err(cursor.expected("a point in time")),
        _ => (COMPUTED, expression.to_string()),
    };
    Ok((key_value.0, key_value.1, taken))
}

/// Gives the options to the table whose name was the last token.
fn attach(out: &mut [TokenWithSpan], found: &mut TableOptions, options: Options) {
    let last = out.iter_mut().map(|t| &mut t.token).rev().find(|t| !matches!(t, Token::Whitespace(_)));
    let Some(Token::Word(word)) = last else { return };
    let number = match word.value.split_once(MARK).and_then(|(_, n)| n.parse::<usize>().ok()) {
        Some(number) => {
            if let Some(before) = found.0.get_mut(number) {
                *before = before.merged(&options);
            }
            return;
        }
        None => found.0.len(),
    };
    found.0.push(options);
    // The quotes keep the mark in one token; names are case-sensitive with and without them.
    *word = Word {
        value: format!("{}{MARK}{number}", word.value),
        quote_style: Some('"'),
        keyword: datafusion::sql::sqlparser::keywords::Keyword::NoKeyword,
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::split;

    fn check(sql: &str, table: &str, expected: &[(&str, &str)]) {
        let tokens = split(sql).unwrap().remove(0);
        let (out, found) = mark(&tokens).unwrap();
        let name = out.iter().find_map(|t| match &t.token {
            Token::Word(w) if w.value.contains(MARK) => Some(w.value.clone()),
            _ => None,
        });
        let name = name.unwrap();
        let (plain, options) = found.unmark(&name);
        assert_eq!(plain, table);
        let options: Vec<(String, String)> =
            options.unwrap().iter().map(|(k, v)| (k.to_owned(), v.to_owned())).collect();
        let expected: Vec<(String, String)> =
            expected.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        assert_eq!(options, expected, "{sql}");
    }

    #[test]
    fn clauses_become_options() {
        check("SELECT * FROM db.t FOR VERSION AS OF 3", "t", &[("scan.version", "3")]);
        check("SELECT * FROM t VERSION AS OF 'tag1' AS x", "t", &[("scan.version", "tag1")]);
        check(
            "SELECT * FROM T FOR TIMESTAMP AS OF '2026-01-01 00:00:00' WHERE a",
            "T",
            &[("scan.timestamp", "2026-01-01 00:00:00")],
        );
        check(
            "SELECT * FROM t FOR TIMESTAMP AS OF TIMESTAMP '2026-01-01 00:00:00'",
            "t",
            &[("scan.timestamp", "2026-01-01 00:00:00")],
        );
        check("SELECT * FROM t TIMESTAMP AS OF 1700000000000", "t", &[("scan.timestamp-millis", "1700000000000")]);
        check("SELECT * FROM t FOR TAG 'x'", "t", &[("scan.tag-name", "x")]);
        check("SELECT * FROM \"T\" /*+ OPTIONS('a.b'='1', 'c' = 'd') */ JOIN u", "T", &[("a.b", "1"), ("c", "d")]);
        let between = &[("incremental-between", "1,3")];
        check("SELECT * FROM paimon_incremental_query('db.t', 1, '3') AS x", "t", between);
        check("SELECT * FROM PAIMON_INCREMENTAL_QUERY('`t$audit_log`', 1, 3)", "t$audit_log", between);
        let times = &[("incremental-between-timestamp", "5,2020-01-01 00:00:00")];
        check("SELECT * FROM paimon_incremental_between_timestamp('t', 5, '2020-01-01 00:00:00')", "t", times);
        let tag = &[("incremental-to-auto-tag", "2024-12-04")];
        check("SELECT * FROM paimon_incremental_to_auto_tag('t', '2024-12-04')", "t", tag);
        check("SELECT * FROM t OPTIONS('a'='1') FOR TAG 'x'", "t", &[("a", "1"), ("scan.tag-name", "x")]);
    }

    #[test]
    fn other_words_stay() {
        let sql = "SELECT version, options FROM t /* a comment */ WHERE version = 1 FOR UPDATE";
        let tokens = split(sql).unwrap().remove(0);
        let (out, found) = mark(&tokens).unwrap();
        assert_eq!(out, tokens);
        assert!(found.0.is_empty());
    }

    #[test]
    fn broken_clauses_are_refused() {
        for sql in [
            "SELECT * FROM paimon_incremental_query('t', 1)",
            "SELECT * FROM paimon_incremental_query(t, 1, 2)",
            "SELECT * FROM paimon_incremental_to_auto_tag('t; DROP TABLE t', 'x')",
        ] {
            assert!(mark(&split(sql).unwrap().remove(0)).is_err(), "{sql}");
        }
        for sql in ["SELECT * FROM t OPTIONS('a')", "SELECT * FROM t FOR TAG", "SELECT * FROM t /*+ OPTIONS(a=) */"] {
            assert!(mark(&split(sql).unwrap().remove(0)).is_err(), "{sql}");
        }
    }
}
