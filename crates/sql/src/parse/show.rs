//! `SHOW` and `DESCRIBE`.

use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};
use linn::Result;

use super::cursor::Cursor;
use super::explain::query;
use super::setting;
use super::statement::{Listed, Statement};

/// What a system table says, by the word behind SHOW.
const OF_TABLE: [(&str, &str); 7] = [
    ("TAGS", "tags"),
    ("BRANCHES", "branches"),
    ("SNAPSHOTS", "snapshots"),
    ("OPTIONS", "options"),
    ("CONSUMERS", "consumers"),
    ("FILES", "files"),
    ("MANIFESTS", "manifests"),
];

/// The statement, if it is SHOW or DESCRIBE.
pub(super) fn show(c: &mut Cursor<'_>, tokens: &[TokenWithSpan]) -> Result<Option<Statement>> {
    if c.take("DESCRIBE") || c.take("DESC") {
        if let Some(query) = query(c, tokens) {
            return Ok(Some(Statement::DescribeQuery(query)));
        }
        let _ = c.take("TABLE") || c.take("VIEW");
        let statement = Statement::Describe(c.object()?);
        c.end()?;
        return Ok(Some(statement));
    }
    if !c.take("SHOW") {
        return Ok(None);
    }
    let statement = if c.take("DATABASES") || c.take("SCHEMAS") {
        Statement::ShowDatabases
    } else if c.take("TABLES") {
        let database = if c.take("IN") || c.take("FROM") { Some(c.name()?) } else { None };
        Statement::ShowTables { database, like: like(c)? }
    } else if c.take("COLUMNS FROM") || c.take("COLUMNS IN") {
        Statement::Describe(c.object()?)
    } else if c.take("CREATE TABLE") || c.take("CREATE VIEW") {
        Statement::ShowCreateTable(c.object()?)
    } else if c.take("PARTITIONS") {
        let _ = c.take("FROM") || c.take("IN");
        Statement::ShowPartitions(c.object()?)
    } else if c.take("PROCEDURES") {
        Statement::ShowNames { what: Listed::Procedures, like: like(c)? }
    } else if c.take("FUNCTIONS") {
        Statement::ShowNames { what: Listed::Functions, like: like(c)? }
    } else if c.take("VIEWS") {
        Statement::ShowNames { what: Listed::Views, like: like(c)? }
    } else if let Some(system) = of_table(c) {
        let _ = c.take("FROM") || c.take("IN");
        Statement::ShowOf { table: c.object()?, system }
    } else {
        return setting::show(c.clone()).map(Some);
    };
    c.end()?;
    Ok(Some(statement))
}

/// The system table of `TAGS FROM t`, `TAGS IN t` or `TAGS t`; a word alone may be the key of a setting.
fn of_table(c: &mut Cursor<'_>) -> Option<&'static str> {
    for (word, system) in OF_TABLE {
        let mut ahead = c.clone();
        if ahead.take(word) && matches!(ahead.peek(), Some(Token::Word(_))) {
            *c = ahead;
            return Some(system);
        }
    }
    None
}

fn like(c: &mut Cursor<'_>) -> Result<Option<String>> {
    if c.take("LIKE") { Ok(Some(c.string()?)) } else { Ok(None) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::{parse, split};

    fn one(sql: &str) -> Result<Statement> {
        parse(&split(sql)?.remove(0))
    }

    #[test]
    fn what_is_shown() {
        for sql in ["SHOW TAGS FROM db.t", "SHOW TAGS IN t", "show tags t"] {
            assert!(matches!(one(sql), Ok(Statement::ShowOf { system: "tags", .. })), "{sql}");
        }
        assert!(matches!(one("SHOW FUNCTIONS LIKE 'a%'"), Ok(Statement::ShowNames { what: Listed::Functions, .. })));
        assert!(matches!(one("SHOW timezone"), Ok(Statement::ShowSettings(Some(Some(key)))) if key == "timezone"));
        assert!(matches!(one("DESCRIBE SELECT 1"), Ok(Statement::DescribeQuery(_))));
        assert!(matches!(one("DESC TABLE t"), Ok(Statement::Describe(parts)) if parts == ["t"]));
        assert!(one("SHOW TABLES IN").is_err());
        assert!(one("SHOW").is_err());
    }
}
