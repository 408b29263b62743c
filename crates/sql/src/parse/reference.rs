//! Options and time travel on a table: `t FOR VERSION AS OF 3`, `t OPTIONS('k'='v')`, `t /*+ OPTIONS('k'='v') */`, and the
//! functions that mean a table with options.
//!
//! DataFusion knows none of them, so the clause is cut out of the tokens and the table's name gets a mark that names the
//! clause's options; when tables are resolved the mark leads back to them.

use datafusion::sql::sqlparser::tokenizer::{Token, Tokenizer, Word};
use linn::core::commit::Reads;
use linn::{Options, Result};

use super::cursor::{Cursor, DIALECT, hint};
use super::function::function;

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

    /// The same for a statement whose reads are noted there.
    pub(crate) fn noting(&self, reads: &Reads) -> Self {
        Self(self.0.clone(), Some(reads.clone()))
    }

    /// Where reads are noted.
    pub(crate) fn reads(&self) -> Option<&Reads> {
        self.1.as_ref()
    }
}

/// Cuts the clauses out of a statement's tokens.
///
/// # Errors
/// `Invalid` for a clause that is begun but not well-formed.
pub(crate) fn mark(tokens: &[Token]) -> Result<(Vec<Token>, TableOptions)> {
    let mut out: Vec<Token> = Vec::with_capacity(tokens.len());
    let mut found = TableOptions::default();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        if let Some((name, options, next)) = function(tokens, at)? {
            out.extend(name);
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

fn last_solid(tokens: &[Token]) -> Option<&Token> {
    tokens.iter().rev().find(|t| !matches!(t, Token::Whitespace(_)))
}

/// The clause that begins at a token, with the index behind it.
fn clause(tokens: &[Token], at: usize) -> Result<Option<(Options, usize)>> {
    let token = &tokens[at];
    let mut options = Options::new();
    if let Some(text) = hint(token) {
        let inner =
            Tokenizer::new(&DIALECT, text).tokenize().map_err(|e| linn::Error::invalid(format!("SQL: hint: {e}")))?;
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
    let rest = &tokens[at..];
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
        cursor.take("TIMESTAMP");
        "scan.timestamp"
    } else if with_for && (cursor.take("TAG AS OF") || cursor.take("TAG")) {
        "scan.tag-name"
    } else {
        return Ok(None);
    };
    let quoted = matches!(cursor.peek(), Some(Token::SingleQuotedString(_)));
    let value = cursor.literal()?;
    let key = if key == "scan.timestamp" && !quoted { "scan.timestamp-millis" } else { key };
    options.set(key, value);
    Ok(Some((options, at + cursor.index())))
}

/// Gives the options to the table whose name was the last token.
fn attach(out: &mut [Token], found: &mut TableOptions, options: Options) {
    let Some(Token::Word(word)) = out.iter_mut().rev().find(|t| !matches!(t, Token::Whitespace(_))) else { return };
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
        let name = out.iter().find_map(|t| match t {
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
