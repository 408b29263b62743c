//! The statements that Linn runs itself; the rest is DataFusion's.

use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};
use linn::format::schema::SchemaChange;
use linn::{Error, NewTable, Options, Result};

use super::alter::alter_table;
use super::copy::copy;
use super::create::create_table;
use super::cursor::Cursor;
use super::explain::{PlanFormat, explain, summarize};
use super::set::{SetInsert, set};
use super::setting;
use super::show::show;
use super::star::without_stars;
use super::view::{NewView, create_view, drop_view};

/// One statement.
#[derive(Debug)]
pub(crate) enum Statement {
    /// `CREATE DATABASE [IF NOT EXISTS] name`.
    CreateDatabase { name: String, if_not_exists: bool },
    /// `DROP DATABASE [IF EXISTS] name [CASCADE | RESTRICT]`.
    DropDatabase { name: String, if_exists: bool, cascade: bool },
    /// `USE name`.
    Use(String),
    /// `CREATE TABLE [IF NOT EXISTS] name (…)`.
    CreateTable { table: Vec<String>, definition: Box<NewTable>, if_not_exists: bool },
    /// `CREATE TABLE … AS SELECT …`: the definition has no columns, the tokens are the query's.
    CreateTableAs { table: Vec<String>, definition: Box<NewTable>, if_not_exists: bool, query: Vec<TokenWithSpan> },
    /// `CREATE TABLE … LIKE other [WITH (…)]`.
    CreateTableLike { table: Vec<String>, model: Vec<String>, options: Options, if_not_exists: bool },
    /// `ALTER TABLE name …`.
    AlterTable { table: Vec<String>, changes: Vec<SchemaChange> },
    /// `ALTER TABLE name RENAME TO other`.
    RenameTable { table: Vec<String>, to: Vec<String> },
    /// `ALTER TABLE name DROP PARTITION (k = v, …)[, PARTITION …]`.
    DropPartitions { table: Vec<String>, partitions: Vec<PartitionValues> },
    /// `DROP TABLE [IF EXISTS] name`.
    DropTable { table: Vec<String>, if_exists: bool },
    /// `TRUNCATE TABLE name`.
    Truncate(Vec<String>),
    /// `ANALYZE TABLE name COMPUTE STATISTICS [FOR COLUMNS a, b | FOR ALL COLUMNS]`.
    Analyze { table: Vec<String>, columns: Analyzed },
    /// `SHOW DATABASES`.
    ShowDatabases,
    /// `SHOW TABLES [IN db] [LIKE 'pattern']`.
    ShowTables { database: Option<String>, like: Option<String> },
    /// `SHOW CREATE TABLE name`.
    ShowCreateTable(Vec<String>),
    /// `SHOW PARTITIONS name`.
    ShowPartitions(Vec<String>),
    /// `DESCRIBE name`.
    Describe(Vec<String>),
    /// `INSERT INTO | OVERWRITE …`.
    Insert(Insert),
    /// `BEGIN STATEMENT SET; INSERT …; …; END`, or its plan.
    InsertSet { inserts: Vec<SetInsert>, explain: bool },
    /// `CREATE OR REPLACE TABLE …`: the statement without OR REPLACE.
    Replacing(Box<Statement>),
    /// `CREATE TEMPORARY TABLE …`: the statement without TEMPORARY.
    Temporary(Box<Statement>),
    /// `CREATE [OR REPLACE] [TEMPORARY] VIEW …`.
    CreateView(NewView),
    /// `DROP VIEW [IF EXISTS] name`.
    DropView { name: Vec<String>, if_exists: bool },
    /// `COPY … TO 'path'`: the query is that of the rows.
    CopyTo { query: Vec<TokenWithSpan>, path: String, options: Vec<(String, String)> },
    /// `COPY t [(columns)] FROM 'path'`.
    CopyFrom { table: Vec<String>, columns: Vec<String>, path: String, options: Vec<(String, String)> },
    /// `EXPLAIN …`.
    Explain { analyze: bool, verbose: bool, format: Option<PlanFormat>, query: Vec<TokenWithSpan> },
    /// `DESCRIBE query`.
    DescribeQuery(Vec<TokenWithSpan>),
    /// `SUMMARIZE t | query`: a query.
    Summarize(Vec<TokenWithSpan>),
    /// `SHOW TAGS | BRANCHES | SNAPSHOTS … FROM t`: the table, and the system table that says it.
    ShowOf { table: Vec<String>, system: &'static str },
    /// `SHOW PROCEDURES`, FUNCTIONS or VIEWS.
    ShowNames { what: Listed, like: Option<String> },
    /// `SET key = value`.
    Set { key: String, value: String },
    /// `RESET key`; ALL without one.
    Reset(Option<String>),
    /// `SHOW key`, `SHOW ALL`, or SET alone: what is set by hand.
    ShowSettings(Option<Option<String>>),
    /// `PREPARE name AS statement`.
    Prepare { name: String, types: Vec<String>, statement: Vec<TokenWithSpan> },
    /// `EXECUTE name(…)`.
    Execute { name: String, arguments: Vec<Vec<TokenWithSpan>> },
    /// `DEALLOCATE name`; ALL without one.
    Deallocate(Option<String>),
    /// `CALL sys.procedure(…)`.
    Call { procedure: Vec<String>, arguments: Vec<CallArgument> },
    /// Anything else: queries, UPDATE, DELETE, MERGE.
    Other(Vec<TokenWithSpan>),
}

/// What SHOW lists by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Listed {
    /// Procedures of CALL.
    Procedures,
    /// Functions of expressions.
    Functions,
    /// Views.
    Views,
}

/// The columns that ANALYZE looks at.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Analyzed {
    /// None: rows are counted.
    None,
    /// All that can be looked at.
    All,
    /// These.
    Named(Vec<String>),
}

/// `INSERT INTO | OVERWRITE [TABLE] t [PARTITION (k = v, …)] [(columns)] query`.
#[derive(Debug, Clone)]
pub(crate) struct Insert {
    /// The target, with the mark of its options.
    pub(crate) table: Vec<String>,
    /// OVERWRITE.
    pub(crate) overwrite: bool,
    /// Static partition values as text.
    pub(crate) partition: PartitionValues,
    /// Target columns; empty means all.
    pub(crate) columns: Vec<String>,
    /// The query or VALUES.
    pub(crate) query: Vec<TokenWithSpan>,
}

/// Partition columns and their values as text; nothing is NULL.
pub(crate) type PartitionValues = Vec<(String, Option<String>)>;

/// An argument of CALL, by name or by position.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CallArgument {
    /// `name => value`.
    pub(crate) name: Option<String>,
    /// The literal as text.
    pub(crate) value: String,
}

/// Parses the tokens of one statement, marks included.
///
/// # Errors
/// `Invalid` naming what was expected, for the statements that Linn parses itself.
pub(crate) fn parse(tokens: &[TokenWithSpan]) -> Result<Statement> {
    let mut c = Cursor::new(tokens);
    if let Some(set) = set(&c, tokens)? {
        return Ok(set);
    }
    if c.take("CREATE DATABASE") || c.take("CREATE SCHEMA") {
        let if_not_exists = c.take("IF NOT EXISTS");
        let name = c.name()?;
        c.end()?;
        return Ok(Statement::CreateDatabase { name, if_not_exists });
    }
    if c.take("DROP DATABASE") || c.take("DROP SCHEMA") {
        let if_exists = c.take("IF EXISTS");
        let name = c.name()?;
        let cascade = c.take("CASCADE");
        let _ = c.take("RESTRICT");
        c.end()?;
        return Ok(Statement::DropDatabase { name, if_exists, cascade });
    }
    if let Some(statement) = create(&mut c, tokens)? {
        return Ok(statement);
    }
    if c.take("DROP VIEW") || c.take("DROP TEMPORARY VIEW") || c.take("DROP TEMP VIEW") {
        return drop_view(c);
    }
    if c.take("ALTER TABLE") {
        return alter_table(c);
    }
    if c.take("DROP TABLE") {
        let if_exists = c.take("IF EXISTS");
        let table = c.object()?;
        c.end()?;
        return Ok(Statement::DropTable { table, if_exists });
    }
    if c.take("TRUNCATE TABLE") || c.take("TRUNCATE") {
        let table = c.object()?;
        c.end()?;
        return Ok(Statement::Truncate(table));
    }
    if c.take("USE") {
        let name = c.name()?;
        c.end()?;
        return Ok(Statement::Use(name));
    }
    if c.take("INSERT") {
        return insert(c, tokens);
    }
    if c.take("CALL") {
        return call(c);
    }
    if c.take("ANALYZE TABLE") {
        return analyze(c);
    }
    if let Some(statement) = of_session(&c, tokens)? {
        return Ok(statement);
    }
    match show(&mut c, tokens)? {
        Some(statement) => Ok(statement),
        None => Ok(Statement::Other(without_stars(tokens))),
    }
}

/// Whether a statement is EXECUTE.
pub(crate) fn executes(tokens: &[TokenWithSpan]) -> bool {
    Cursor::new(tokens).take("EXECUTE")
}

/// Whether a statement is one that keeps another for later.
pub(crate) fn verbatim(tokens: &[TokenWithSpan]) -> bool {
    let mut c = Cursor::new(tokens);
    if c.take("PREPARE") {
        return true;
    }
    let create = c.take("CREATE");
    let _ = c.take("OR REPLACE");
    let _ = c.take("TEMPORARY") || c.take("TEMP");
    create && c.take("VIEW")
}

/// `CREATE [OR REPLACE] [TEMPORARY] TABLE | VIEW`.
fn create(c: &mut Cursor<'_>, tokens: &[TokenWithSpan]) -> Result<Option<Statement>> {
    let mut ahead = c.clone();
    if !ahead.take("CREATE") {
        return Ok(None);
    }
    let replace = ahead.take("OR REPLACE");
    let temporary = ahead.take("TEMPORARY") || ahead.take("TEMP");
    if ahead.take("VIEW") {
        return create_view(ahead, tokens, replace, temporary).map(Some);
    }
    if !ahead.take("TABLE") {
        return if replace || temporary { Err(ahead.expected("TABLE or VIEW")) } else { Ok(None) };
    }
    let mut statement = create_table(ahead, tokens)?;
    if temporary {
        statement = Statement::Temporary(Box::new(statement));
    }
    Ok(Some(if replace { Statement::Replacing(Box::new(statement)) } else { statement }))
}

/// Statements about files, plans and the session.
fn of_session(c: &Cursor<'_>, tokens: &[TokenWithSpan]) -> Result<Option<Statement>> {
    let mut c = c.clone();
    let statement = if c.take("COPY") {
        copy(c, tokens)
    } else if c.take("EXPLAIN") {
        explain(c, tokens)
    } else if c.take("SUMMARIZE") {
        summarize(c, tokens)
    } else if c.take("SET") {
        setting::set(c)
    } else if c.take("RESET") {
        setting::reset(c)
    } else if c.take("PREPARE") {
        setting::prepare(c, tokens)
    } else if c.take("EXECUTE") {
        setting::execute(c, tokens)
    } else if c.take("DEALLOCATE") {
        setting::deallocate(c)
    } else {
        return Ok(None);
    };
    statement.map(Some)
}

fn analyze(mut c: Cursor<'_>) -> Result<Statement> {
    let table = c.object()?;
    if c.take("PARTITION") {
        return Err(Error::unsupported("ANALYZE of partitions").with_hint("analyze the whole table"));
    }
    c.require("COMPUTE STATISTICS")?;
    let columns = if c.take("FOR ALL COLUMNS") {
        Analyzed::All
    } else if c.take("FOR COLUMNS") {
        let mut names = vec![c.name()?];
        while c.take_token(&Token::Comma) {
            names.push(c.name()?);
        }
        Analyzed::Named(names)
    } else {
        Analyzed::None
    };
    c.end()?;
    Ok(Statement::Analyze { table, columns })
}

pub(super) fn insert(mut c: Cursor<'_>, tokens: &[TokenWithSpan]) -> Result<Statement> {
    let overwrite = c.take("OVERWRITE");
    if !overwrite {
        c.require("INTO")?;
    } else {
        let _ = c.take("INTO");
    }
    let _ = c.take("TABLE");
    let table = c.object()?;
    let partition = if c.take("PARTITION") { c.partition()? } else { Vec::new() };
    let mut ahead = c.clone();
    let columns = match ahead.list(Cursor::name) {
        // `(SELECT …)` begins like a column list but is the query.
        Ok(columns) if !ahead.done() => {
            c = ahead;
            columns
        }
        _ => Vec::new(),
    };
    let query = tokens.get(c.index()..).unwrap_or_default().to_vec();
    if c.done() {
        return Err(c.expected("VALUES or a query"));
    }
    Ok(Statement::Insert(Insert { table, overwrite, partition, columns, query }))
}

fn call(mut c: Cursor<'_>) -> Result<Statement> {
    let procedure = c.object()?;
    let mut arguments = Vec::new();
    c.expect_token(&Token::LParen)?;
    if !c.take_token(&Token::RParen) {
        loop {
            let mut ahead = c.clone();
            let name = match (ahead.name(), ahead.take_token(&Token::RArrow)) {
                (Ok(name), true) => {
                    c = ahead;
                    Some(name)
                }
                _ => None,
            };
            // NULL is an argument that is not given; it keeps its place.
            arguments.push(CallArgument { name, value: c.value()?.unwrap_or_default() });
            if !c.take_token(&Token::Comma) {
                break;
            }
        }
        c.expect_token(&Token::RParen)?;
    }
    c.end()?;
    if procedure.len() != 2 || !procedure.first().is_some_and(|s| s.eq_ignore_ascii_case("sys")) {
        return Err(Error::invalid("procedures are called as sys.name(…)").with("procedure", procedure.join(".")));
    }
    Ok(Statement::Call { procedure, arguments })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::split;

    fn one(sql: &str) -> Result<Statement> {
        parse(&split(sql)?.remove(0))
    }

    #[test]
    fn inserts_are_taken_apart() {
        let Statement::Insert(insert) =
            one("INSERT OVERWRITE db.t PARTITION (dt = '2026-01-01', h = 3) (a, b) SELECT 1, 2").unwrap()
        else {
            panic!("not an insert")
        };
        assert!(insert.overwrite);
        assert_eq!(insert.table, ["db", "t"]);
        assert_eq!(insert.partition, [("dt".into(), Some("2026-01-01".into())), ("h".into(), Some("3".into()))]);
        assert_eq!(insert.columns, ["a", "b"]);
        let text: String = insert.query.iter().map(ToString::to_string).collect();
        assert_eq!(text, "SELECT 1, 2");
    }

    #[test]
    fn a_query_in_parentheses_is_no_column_list() {
        let Statement::Insert(insert) = one("INSERT INTO t (SELECT 1)").unwrap() else { panic!("not an insert") };
        assert!(insert.columns.is_empty());
        assert!(!insert.overwrite);
    }

    #[test]
    fn calls_take_names_and_positions() {
        let Statement::Call { arguments, .. } = one("CALL sys.compact(`table` => 'a.b', 'x', -3)").unwrap() else {
            panic!("not a call")
        };
        assert_eq!(arguments[0], CallArgument { name: Some("table".into()), value: "a.b".into() });
        assert_eq!(arguments[2], CallArgument { name: None, value: "-3".into() });
        assert!(one("CALL other.compact()").is_err());
    }

    #[test]
    fn analyze_says_which_columns() {
        for (sql, expected) in [
            ("ANALYZE TABLE db.t COMPUTE STATISTICS", Analyzed::None),
            ("ANALYZE TABLE db.t COMPUTE STATISTICS FOR ALL COLUMNS", Analyzed::All),
            ("analyze table db.t compute statistics for columns a, b", Analyzed::Named(vec!["a".into(), "b".into()])),
        ] {
            let Statement::Analyze { table, columns } = one(sql).unwrap() else { panic!("{sql}") };
            assert_eq!((table, columns), (vec!["db".to_owned(), "t".to_owned()], expected));
        }
        assert!(one("ANALYZE TABLE t PARTITION (a = 1) COMPUTE STATISTICS").is_err());
    }

    #[test]
    fn queries_are_left_alone() {
        for sql in
            ["SELECT 1", "WITH a AS (SELECT 1) SELECT * FROM a", "UPDATE t SET a = 1", "DELETE FROM t WHERE a = 1"]
        {
            assert!(matches!(one(sql), Ok(Statement::Other(_))), "{sql}");
        }
    }
}
