//! Odd files of public suites: each is read as its line in `expected.tsv` says, with its rows and the values of each column
//! that are not null, or fails with the kind of error that stands there; and its rows are those that other readers see, which
//! stand in `rows.tsv` as far as they read the file too.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use arrow::array::Array;
use indicatif::ProgressBar;
use linn::format::schema::TableSchema;
use linn::{Error, NewTable, Result};

use super::ahead::Ahead;
use super::aside::OnReject;
use super::source::Source;
use super::target::Target;
use super::{Dialect, Unknown, infer, open};
use crate::args::FileKind;
use crate::output::json_lines;

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data")
}

/// What is counted, and the rows as JSON.
async fn read(path: &Path, kind: FileKind) -> Result<(String, Vec<String>)> {
    let dialect =
        Dialect { delimiter: None, null: String::new(), header: true, unknown: Unknown::Refused, all: Vec::new() };
    let source = Source::new(path, Some(kind), true)?;
    let mut fields = infer(&source, &dialect, &indicatif::ProgressBar::hidden())?;
    if fields.is_empty() {
        return Err(Error::invalid("no columns"));
    }
    fields.iter_mut().for_each(|field| field.data_type.nullable = true);
    let columns = NewTable { columns: fields, ..NewTable::default() };
    let fields = TableSchema::create(columns, 0)?.fields;
    let mut counts = vec![0; fields.len()];
    let target = Target::new(fields, Unknown::Refused)?;
    let (schema, chunks) = open(&source, &dialect, target.wanted(), false, &ProgressBar::hidden())?;
    let binding = target.bind(&schema)?;
    let (mut chunks, mut rows) = (Ahead::new(chunks), Vec::new());
    while let Some(chunk) = chunks.next().await? {
        let (batch, bad) = binding.rows(chunk)?;
        OnReject::Fail.take("f", &bad)?;
        rows.extend(json_lines(&batch)?);
        for (count, column) in counts.iter_mut().zip(batch.columns()) {
            *count += column.len() - column.null_count();
        }
    }
    let counts: Vec<String> = counts.iter().map(ToString::to_string).collect();
    Ok((format!("{} rows: {}", rows.len(), counts.join(",")), rows))
}

fn kind_of(path: &str) -> FileKind {
    match path {
        path if path.starts_with("json-test-suite/") => FileKind::Ndjson,
        path if path.contains("/parquet") || path.starts_with("parquet-testing/") => FileKind::Parquet,
        path if path.contains("/csv") => FileKind::Csv,
        path if path.contains("/avro/") => FileKind::Avro,
        _ => FileKind::Arrow,
    }
}

fn files(folder: &Path, name: &str, all: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap().map(std::result::Result::unwrap) {
        let child = format!("{name}/{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            files(&entry.path(), &child, all);
        } else if !child.contains("/LICENSE") {
            all.push(child);
        }
    }
}

#[tokio::test]
async fn odd_files_are_read_right_or_refused() {
    let mut found = Vec::new();
    for suite in ["parquet-testing", "arrow-testing", "json-test-suite"] {
        files(&data().join(suite), suite, &mut found);
    }
    let expected = std::fs::read_to_string(data().join("expected.tsv")).unwrap();
    let expected: BTreeMap<&str, &str> = expected.lines().filter_map(|line| line.split_once('\t')).collect();
    assert_eq!(expected.len(), found.len(), "files without an expectation, or expectations without a file");
    let seen = std::fs::read_to_string(data().join("rows.tsv")).unwrap();
    let mut others: BTreeMap<&str, Vec<(usize, &str)>> = BTreeMap::new();
    for line in seen.lines() {
        let (file, rest) = line.split_once('\t').unwrap();
        let (number, row) = rest.split_once('\t').unwrap();
        others.entry(file).or_default().push((number.parse().unwrap(), row));
    }
    let mut wrong = Vec::new();
    for file in &found {
        let read = read(&data().join(file), kind_of(file)).await;
        let (outcome, rows) = read.unwrap_or_else(|e| (e.kind().as_str().to_owned(), Vec::new()));
        if expected.get(file.as_str()) != Some(&outcome.as_str()) {
            wrong.push(format!("{file}\t{outcome}"));
        }
        for (number, row) in others.remove(file.as_str()).unwrap_or_default() {
            let ours = rows.get(number).map_or("", String::as_str);
            if ours != row {
                wrong.push(format!("{file} row {number}\n  ours   {ours}\n  theirs {row}"));
            }
        }
    }
    assert!(others.is_empty(), "rows of files that are not there: {:?}", others.keys());
    assert!(wrong.is_empty(), "{} differences\n{}", wrong.len(), wrong.join("\n"));
}
