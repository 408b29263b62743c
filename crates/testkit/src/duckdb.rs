//! DuckDB as one that answers the same questions: statements in, rows as text out. It comes with the Python side.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::service;

/// What DuckDB answers to a query: rows of text and nulls, or its error.
pub type Answer = Result<Vec<Vec<Option<String>>>, String>;

/// Runs the statements of `setup` in a new database, then each query; none when Python is not installed.
///
/// # Panics
/// When a statement of `setup` fails.
pub fn answers(setup: &[String], queries: &[String]) -> Option<Vec<Answer>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/interop/python/duckdb_rows.py");
    let mut child = Command::new(service::variable("LINN_TEST_PYTHON")?)
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("cannot start Python");
    let work = json!({ "setup": setup, "queries": queries }).to_string();
    child.stdin.take().expect("stdin is piped").write_all(work.as_bytes()).expect("DuckDB takes its work");
    let output = child.wait_with_output().expect("DuckDB ends");
    assert!(output.status.success(), "DuckDB failed: {}", output.status);
    let answers: Vec<Value> = serde_json::from_slice(&output.stdout).expect("DuckDB answers in JSON");
    Some(answers.iter().map(answer).collect())
}

fn answer(value: &Value) -> Answer {
    if let Some(error) = value["error"].as_str() {
        return Err(error.to_owned());
    }
    let cell = |cell: &Value| cell.as_str().map(str::to_owned);
    let row = |row: &Value| row.as_array().into_iter().flatten().map(cell).collect();
    Ok(value["rows"].as_array().into_iter().flatten().map(row).collect())
}
