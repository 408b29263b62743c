//! The system tables of the fixtures are those that Java shows.

use std::collections::BTreeMap;
use std::sync::Arc;

use linn_core::{Env, Table, storage, system};
use linn_format::options::Options;
use linn_format::types::fields_from_arrow;
use linn_testkit::fixture::{DATABASE, Fixtures, Writer};
use linn_testkit::render;
use serde_json::Value;

/// Columns of text that is not the same twice: paths of the machine, byte arrays by their address, options in hash order.
pub(crate) fn plain(mut row: Value) -> Value {
    // The lists of aggregate functions come out of hash maps.
    for column in ["function", "function_options"] {
        if let Some(Value::String(list)) = row.get_mut(column) {
            let mut items: Vec<&str> = list.trim_matches(['[', ']']).split(", ").collect();
            items.sort_unstable();
            *list = items.join(", ");
        }
    }
    if let Some(path) = row.get_mut("file_path") {
        let text = path.as_str().unwrap_or_default();
        *path = text.split_once("/warehouse/").map_or(text, |(_, rest)| rest).into();
    }
    // Of a branch it is the time of its folder.
    if row.get("branch_name").is_some()
        && let Some(columns) = row.as_object_mut()
    {
        columns.remove("create_time");
    }
    if let Some(Value::String(options)) = row.get_mut("options") {
        let sorted: BTreeMap<String, String> = serde_json::from_str(options).unwrap();
        *options = serde_json::to_string(&sorted).unwrap();
    }
    row
}

fn sorted(rows: Vec<Value>) -> Vec<String> {
    let mut lines: Vec<String> = rows.into_iter().map(|row| plain(row).to_string()).collect();
    lines.sort();
    lines
}

async fn differences(fixtures: &Fixtures, name: &str) -> (usize, Vec<String>) {
    let store = storage::open(&format!("file:{}", fixtures.warehouse().display()), &Options::new()).unwrap();
    let env = Env::system(Arc::clone(&store)).unwrap();
    let (mut compared, mut wrong) = (0, Vec::new());
    for table in fixtures.tables() {
        let schema = fixtures.schema(&table);
        let bytes_in_stats = schema.fields.iter().any(|f| f.data_type.to_string().contains("BINARY"));
        if name == "files"
            && (bytes_in_stats || schema.fields.iter().any(|f| f.data_type.to_string().contains("BYTES")))
        {
            continue;
        }
        let file = fixtures.warehouse().join("../expected").join(&table).join(format!("sys/{name}.jsonl"));
        if !file.exists() {
            continue;
        }
        compared += 1;
        let opened = Table::new(format!("{DATABASE}.{table}"), format!("{DATABASE}.db/{table}"), schema, env.clone());
        let found = match system::read(&opened, name).await {
            Ok(found) => found,
            Err(error) => {
                wrong.push(format!("{table}${name}: {error}"));
                continue;
            }
        };
        let fields = fields_from_arrow(&found.schema).unwrap();
        let actual = sorted(render::rows(&found.batches, &fields));
        let expected = sorted(fixtures.expected(&table, &format!("sys/{name}")));
        if let Some((e, a)) = expected.iter().zip(&actual).find(|(e, a)| e != a) {
            wrong.push(format!("{table}${name}:\n expected {e}\n    found {a}"));
        } else if expected.len() != actual.len() {
            wrong.push(format!("{table}${name}: {} rows, not {}", actual.len(), expected.len()));
        }
    }
    (compared, wrong)
}

#[tokio::test]
async fn system_tables_are_those_of_java() {
    let fixtures = Fixtures::open(Writer::Java21);
    for name in [
        "snapshots",
        "schemas",
        "options",
        "files",
        "partitions",
        "manifests",
        "aggregation_fields",
        "tags",
        "branches",
        "consumers",
        "statistics",
    ] {
        let (compared, wrong) = differences(&fixtures, name).await;
        let few = matches!(name, "tags" | "branches" | "consumers" | "statistics");
        assert!(compared >= if few { 1 } else { 70 }, "only {compared} tables have {name}");
        assert!(wrong.is_empty(), "{} of {compared} differ\n{}", wrong.len(), wrong.join("\n"));
    }
}
