//! Random expressions over random rows: Linn and DuckDB give the same values. What differs on purpose is in the book
//! (SQL, "Beside DuckDB") and not made here.
//!
//! `LINN_DIFFERENTIAL_TABLES` says how many tables are tried, `LINN_DIFFERENTIAL_SEED` with which number the first one is made.

mod expressions;

use linn_sql::Session;
use linn_testkit::duckdb;

use crate::{run, session};
use expressions::{Chance, Kind, Made};

/// Queries on each table.
const QUERIES: usize = 150;

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(otherwise)
}

#[tokio::test(flavor = "multi_thread")]
async fn in_random_expressions() {
    let first = number("LINN_DIFFERENTIAL_SEED", 1);
    for seed in first..first + number("LINN_DIFFERENTIAL_TABLES", 3) {
        let mut chance = Chance(seed);
        let rows: Vec<String> = (0..12).map(|key| chance.row(key)).collect();
        let insert = format!("INSERT INTO t VALUES {}", rows.join(", "));
        let queries: Vec<String> = (0..QUERIES).map(|_| query(&mut chance)).collect();
        let setup = [expressions::DUCKDB.to_owned(), insert.clone()];
        let Some(expected) = duckdb::answers(&setup, &queries) else { return };
        let s = session();
        run(&s, expressions::LINN).await;
        run(&s, &insert).await;
        for (sql, expected) in queries.iter().zip(expected) {
            let found = answer(&s, sql).await;
            if let Some(difference) = difference(&found, &expected) {
                panic!("{difference}\nseed {seed}: {sql}\nLinn: {found:?}\nDuckDB: {expected:?}\n{insert}");
            }
        }
    }
}

fn query(chance: &mut Chance) -> String {
    let kind = chance.kind();
    let Made(value) = chance.expression(kind, 3);
    let Made(condition) = chance.expression(Kind::Boolean, 3);
    match chance.below(5) {
        0 => format!("SELECT k FROM t WHERE {condition} ORDER BY k"),
        1 => {
            let Made(number) = chance.expression(Kind::Integer, 1);
            format!(
                "SELECT count(*), count({value}), min({value}), max({value}), sum({number}) FROM t WHERE {condition}"
            )
        }
        2 => format!("SELECT {value} AS v, count(*) FROM t GROUP BY {value} ORDER BY 1 NULLS LAST, 2"),
        _ => format!("SELECT k, {value} FROM t ORDER BY k"),
    }
}

async fn answer(session: &Session, sql: &str) -> duckdb::Answer {
    use arrow::array::{Array, AsArray};
    use futures::TryStreamExt;
    let output = session.execute(sql).await.map_err(|e| e.to_string())?;
    let linn_sql::Output::Rows { stream, .. } = output else { return Err("no rows".to_owned()) };
    let batches: Vec<_> = stream.try_collect().await.map_err(|e: linn::Error| e.to_string())?;
    let mut rows = Vec::new();
    for batch in &batches {
        for row in 0..batch.num_rows() {
            let cell = |column: &arrow::array::ArrayRef| {
                let text = || match column.data_type() {
                    arrow::datatypes::DataType::Float64 => {
                        format!("{:?}", column.as_primitive::<arrow::datatypes::Float64Type>().value(row))
                    }
                    _ => arrow::util::display::array_value_to_string(column, row).unwrap(),
                };
                column.is_valid(row).then(text)
            };
            rows.push(batch.columns().iter().map(cell).collect());
        }
    }
    Ok(rows)
}

/// What differs, if anything does.
fn difference(found: &duckdb::Answer, expected: &duckdb::Answer) -> Option<String> {
    // Numbers that leave their type do so at other places: the types in between are not the same.
    let ranged = |error: &str| {
        ["overflow", "range", "does not fit", "too large"].iter().any(|word| error.to_lowercase().contains(word))
    };
    match (found, expected) {
        (Ok(found), Ok(expected)) => {
            let same = found.len() == expected.len()
                && found
                    .iter()
                    .zip(expected)
                    .all(|(a, b)| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)));
            (!same).then(|| "other rows".to_owned())
        }
        (Err(_), Err(_)) => None,
        (Err(error), Ok(_)) | (Ok(_), Err(error)) if ranged(error) => None,
        (Err(error), Ok(_)) => Some(format!("Linn refuses: {error}")),
        (Ok(_), Err(error)) => Some(format!("DuckDB refuses: {error}")),
    }
}

/// The same value, however it is written: 1.50 is 1.5, and doubles are the same to twelve digits.
fn same(a: &Option<String>, b: &Option<String>) -> bool {
    let (Some(a), Some(b)) = (a, b) else { return a == b };
    if a == b {
        return true;
    }
    let trimmed = |text: &str| match text.contains('.') && !text.contains(['e', 'E']) {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if trimmed(a) == trimmed(b) {
        return true;
    }
    let float = |text: &str| text.contains(['.', 'e', 'E', 'n', 'N']).then(|| text.parse::<f64>().ok()).flatten();
    match (float(a), float(b)) {
        (Some(a), Some(b)) => a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= 1e-12 * a.abs().max(b.abs()),
        _ => false,
    }
}
