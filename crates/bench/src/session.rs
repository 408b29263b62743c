//! Statements: planning queries of many partitions, and statement sets that fill a wide table.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use linn::core::{Commit, CommitMessage};
use linn::format::datum::Datum;
use linn::format::row::BinaryRow;
use linn::{Catalog, Env, FilesystemCatalog, Identifier, Options, Table};
use linn_sql::Session;
use serde_json::{Value, json};

use crate::measure::{record, size_of, start};
use crate::metadata::file;

/// Times that a query is planned in one process.
const TIMES: usize = 5;

fn session(dir: &Path) -> Result<Session> {
    let storage = linn::core::storage::open(&dir.to_string_lossy(), &Options::new())?;
    let catalog: Arc<dyn Catalog> = Arc::new(FilesystemCatalog::new(Env::system(storage)?, Options::new()));
    Ok(Session::new(catalog, "default"))
}

async fn run(session: &Session, sql: &str) -> Result<()> {
    Ok(session.run(sql, async |_| Ok(())).await?)
}

async fn table(session: &Session, name: &str) -> Result<Table> {
    Ok(session.catalog().table(&Identifier::new("default", name)?).await?)
}

/// A table of so many partitions, a day each, with one file in each that exists in manifests only.
pub(crate) async fn lay_partitions(dir: &Path, count: usize) -> Result<Value> {
    let session = session(dir)?;
    let create = "CREATE TABLE days (k BIGINT, v BIGINT, dt DATE, PRIMARY KEY (k, dt) NOT ENFORCED) \
                  PARTITIONED BY (dt) WITH ('bucket' = '1')";
    run(&session, create).await?;
    let table = table(&session, "days").await?;
    let schema = table.schema();
    let day = schema.field("dt").context("no partition column")?.data_type.clone();
    let message = |number: usize| -> Result<CommitMessage> {
        let number = i64::try_from(number)?;
        let partition = BinaryRow::from_datums(&[(Some(Datum::Date(i32::try_from(number)?)), &day)])?;
        let mut message = CommitMessage::new(partition, 0, 1);
        message.new_files.push(Arc::new(file(schema, number, number)?));
        Ok(message)
    };
    let messages = (0..count).map(message).collect::<Result<Vec<_>>>()?;
    let clock = start();
    table.committer("bench").commit(Commit::streaming(1, messages)).await?;
    Ok(record(count, size_of(dir)?, clock.elapsed()))
}

/// Plans a query with a condition: the first time with nothing cached, then the quickest of some more.
pub(crate) async fn plan(dir: &Path, condition: &str) -> Result<Value> {
    let session = session(dir)?;
    let query = format!("SELECT k, v FROM days WHERE {condition}");
    let clock = start();
    let readings = session.readings(&query).await?;
    let cold = clock.elapsed();
    let files = readings.iter().map(|reading| reading.files).sum();
    let mut warm = cold;
    for _ in 0..TIMES {
        let clock = start();
        session.readings(&query).await?;
        let spent = clock.elapsed();
        if spent.time < warm.time {
            warm = spent;
        }
    }
    let mut measured = record(files, size_of(dir)?, cold);
    measured["warm_seconds"] = json!(warm.time.as_secs_f64());
    Ok(measured)
}

/// Sources of so many columns each, and a table of all of them; the tables `set` and `plain` to be filled.
pub(crate) async fn lay_sources(dir: &Path, sources: usize, columns: usize, rows: usize) -> Result<Value> {
    let session = session(dir)?;
    let name = |source: usize, column: usize| format!("s{source}c{column}");
    let (mut wide, mut options) = (String::new(), String::new());
    let clock = start();
    let mut all = String::new();
    for source in 0..sources {
        let (mut names, mut values) = (String::new(), String::new());
        for column in 0..columns {
            let name = name(source, column);
            write!(names, ", {name} BIGINT")?;
            write!(values, ", value * {} % 1000003 AS {name}", 7919 + source * columns + column)?;
        }
        run(&session, &format!("CREATE TABLE source{source} (k BIGINT{names})")).await?;
        run(&session, &format!("INSERT INTO source{source} SELECT value{values} FROM generate_series(1, {rows})"))
            .await?;
        let protected = (1..columns).map(|column| name(source, column)).collect::<Vec<_>>().join(",");
        write!(options, ", 'fields.{}.sequence-group' = '{protected}'", name(source, 0))?;
        wide.push_str(&names);
        all.push_str(&values);
    }
    run(&session, &format!("CREATE TABLE everything (k BIGINT{wide})")).await?;
    run(&session, &format!("INSERT INTO everything SELECT value{all} FROM generate_series(1, {rows})")).await?;
    for table in ["set", "plain"] {
        let options = format!("'bucket' = '1', 'write-only' = 'true', 'merge-engine' = 'partial-update'{options}");
        run(
            &session,
            &format!("CREATE TABLE {table}_ (k BIGINT{wide}, PRIMARY KEY (k) NOT ENFORCED) WITH ({options})"),
        )
        .await?;
    }
    Ok(record(rows, size_of(dir)?, clock.elapsed()))
}

/// Fills a table from all sources by one statement set, or by one INSERT from the table that has everything.
pub(crate) async fn fill(dir: &Path, sources: usize, columns: usize, as_set: bool) -> Result<Value> {
    let session = session(dir)?;
    let mut sql = String::from("INSERT INTO plain_ SELECT * FROM everything");
    if as_set {
        sql = "BEGIN STATEMENT SET;".to_owned();
        for source in 0..sources {
            let names = (0..columns).map(|column| format!("s{source}c{column}")).collect::<Vec<_>>().join(", ");
            write!(sql, "INSERT INTO set_ (k, {names}) SELECT k, {names} FROM source{source};")?;
        }
        sql.push_str("END");
    }
    let clock = start();
    run(&session, &sql).await?;
    let spent = clock.elapsed();
    let filled = table(&session, if as_set { "set_" } else { "plain_" }).await?.scan().plan().await?;
    let rows: i64 = filled.splits.iter().map(linn::Split::row_count).sum();
    Ok(record(usize::try_from(rows)?, size_of(dir)?, spent))
}
