//! Linn reads every fixture as Java did: the newest content, each snapshot, each tag, each branch.

use std::sync::Arc;

use linn_core::file::row_id_field;
use linn_core::read::collect;
use linn_core::schema::Schemas;
use linn_core::{Env, Table, storage};
use linn_format::options::Options;
use linn_format::types::{DataField, DataType, Kind, SEQUENCE_NUMBER, SEQUENCE_NUMBER_ID, has_nanos};
use linn_format::{ErrorKind, Result};
use linn_testkit::fixture::{DATABASE, Fixtures, Reading, Writer};
use linn_testkit::{compare, render};
use serde_json::Value;

/// A table of which readings differ from those of an old Java: how many, a word of the message, and why.
type Known = &'static [(&'static str, usize, &'static str, &'static str)];

fn environment(fixtures: &Fixtures) -> Env {
    let root = format!("file:{}", fixtures.warehouse().display());
    Env::system(storage::open(&root, &Options::new()).unwrap()).unwrap()
}

/// A branch has its own schemas.
async fn on_branch(table: Table) -> Result<Table> {
    let Some(branch) = table.branch() else { return Ok(table) };
    let mut schema = (*Schemas::new(&table).latest().await?.unwrap()).clone();
    schema.options.set("branch", branch);
    Ok(table.with_schema(schema))
}

async fn rows(env: &Env, reading: &Reading) -> Result<Vec<Value>> {
    let path = format!("{DATABASE}.db/{}", reading.table);
    let schema = Schemas::at(Arc::clone(&env.storage), &path).latest().await?.unwrap();
    let mut options = Options::new();
    if let Some((key, value)) = &reading.option {
        options.set(*key, value.as_str());
    }
    if has_nanos(&schema.fields) {
        // Arrow's nanoseconds do not reach all of them.
        options.set("linn.read.wide-timestamps", "text");
    }
    let table = Table::new(format!("{DATABASE}.{}", reading.table), path, (*schema).clone(), env.clone());
    let table = on_branch(table.with_options(&options)?).await?.pinned().await?;
    let read = table.read().build()?;
    let mut batches = Vec::new();
    for split in table.scan().plan().await?.splits {
        batches.extend(collect(read.stream(&split).await?).await?);
    }
    Ok(render::rows(&batches, &table.schema().fields))
}

/// Java's rows have vectors as the text of their list.
fn vectors_as_lists(rows: &mut [Value], fields: &[DataField]) {
    for field in fields.iter().filter(|f| matches!(f.data_type.kind, Kind::Vector { .. })) {
        for value in rows.iter_mut().filter_map(|row| row.get_mut(&field.name)) {
            if let Value::String(text) = value {
                *value = text.parse().unwrap();
            }
        }
    }
}

/// What is wrong with a reading: an error, or rows that differ.
async fn failure(env: &Env, fixtures: &Fixtures, reading: &Reading) -> Option<(Option<ErrorKind>, String)> {
    match rows(env, reading).await {
        Err(error) => Some((Some(error.kind()), error.to_string())),
        Ok(found) => {
            let mut expected = fixtures.expected(&reading.table, &reading.name);
            vectors_as_lists(&mut expected, &fixtures.schema(&reading.table).fields);
            Some((None, compare::difference(&expected, &found, &fixtures.rules(reading))?))
        }
    }
}

/// `differing` readings are read otherwise on purpose; all others are equal.
async fn check(writer: Writer, differing: Known) {
    let fixtures = Fixtures::open(writer);
    let env = environment(&fixtures);
    let (mut equal, mut failures) = (0, Vec::new());
    for table in fixtures.tables() {
        let differs = differing.iter().find(|(name, ..)| *name == table);
        let mut known = 0;
        for reading in fixtures.readings(&table).into_iter().chain(fixtures.branches(&table)) {
            match (failure(&env, &fixtures, &reading).await, differs) {
                (None, _) => equal += 1,
                (Some((None, text)), Some((_, _, word, _))) if text.contains(word) => known += 1,
                (Some((_, text)), _) => failures.push(format!("{table}/{}: {text}", reading.name)),
            }
        }
        let expected = differs.map_or(0, |(_, count, ..)| *count);
        if known != expected {
            failures.push(format!("{table}: {known} readings differ as listed, not {expected}"));
        }
    }
    assert!(failures.is_empty(), "{} failures, {equal} equal\n{}", failures.len(), failures.join("\n"));
    assert!(equal >= 407, "only {equal} readings");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_fixture_reads_as_java_says() {
    check(Writer::Java21, &[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_old_fixture_reads_as_java_says() {
    check(
        Writer::Java09,
        &[
            ("default_values", 2, "", "only 0.9 fills defaults on read"),
            ("types_append_parquet", 3, "c_arr_row: ", "an all-null row in an array is null to 0.9 only"),
            ("types_pk_parquet", 3, "c_arr_row: ", "as above"),
        ],
    )
    .await;
}

/// The rows of `t$row_tracking`.
#[tokio::test]
async fn tracked_rows_are_those_of_java() {
    let fixtures = Fixtures::open(Writer::Java21);
    let env = environment(&fixtures);
    for name in ["x21_row_tracking", "x21_data_evolution"] {
        let schema = fixtures.schema(name);
        let mut fields = schema.fields.clone();
        fields.push(row_id_field());
        fields.push(DataField::new(SEQUENCE_NUMBER_ID, SEQUENCE_NUMBER, DataType::nullable(Kind::BigInt)));
        let table = Table::new(name, format!("{DATABASE}.db/{name}"), schema, env.clone());
        let read = table.read().fields(fields.clone()).build().unwrap();
        let mut batches = Vec::new();
        for split in table.scan().plan().await.unwrap().splits {
            batches.extend(collect(read.stream(&split).await.unwrap()).await.unwrap());
        }
        let rules = compare::Rules::of(table.schema());
        let expected = fixtures.expected(name, "row_tracking");
        assert!(!expected.is_empty());
        let wrong = compare::difference(&expected, &render::rows(&batches, &fields), &rules);
        assert!(wrong.is_none(), "{name}: {}", wrong.unwrap_or_default());
    }
}
