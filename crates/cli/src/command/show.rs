//! `linn table show`: columns, keys, options, latest snapshot.

use linn::core::Snapshots;
use linn::format::schema::TableSchema;
use linn::format::snapshot::Snapshot;
use linn::format::types::DataField;
use linn::{Error, Result};
use serde_json::{Value, json};

use crate::args::OutputFormat;
use crate::context::Context;
use crate::output::{Columns, Document, print, time};

pub(super) async fn run(context: &Context, name: &str, json: bool) -> Result<()> {
    let table = context.table(name).await?;
    let schema = table.schema();
    if json {
        return print(&String::from_utf8_lossy(&schema.to_json()));
    }
    let latest = Snapshots::new(&table).latest().await?;
    if matches!(context.output, OutputFormat::Json | OutputFormat::Ndjson) {
        return Document { json: document(table.name(), schema, latest.as_deref()), text: String::new() }
            .show(context.output);
    }
    let columns = columns(schema);
    if !matches!(context.output, OutputFormat::Table | OutputFormat::Markdown | OutputFormat::Vertical) {
        return columns.show(context.output);
    }
    print(&heading(table.name(), schema))?;
    columns.show(context.output)?;
    let mut text = String::new();
    for (key, value) in schema.options.iter() {
        text.push_str(&format!("option    {key} = {value}\n"));
    }
    match latest {
        None => text.push_str("snapshot  none yet"),
        Some(snapshot) => text.push_str(&format!(
            "snapshot  {} of {}, {}, {} records in files",
            snapshot.id,
            time(snapshot.time_millis),
            snapshot.commit_kind.as_str(),
            snapshot.total_record_count.map_or_else(|| "unknown".to_owned(), |n| n.to_string()),
        )),
    }
    print(&text)
}

fn document(name: &str, schema: &TableSchema, latest: Option<&Snapshot>) -> Value {
    let column = |field: &DataField| {
        json!({"id": field.id, "column": field.name, "type": field.data_type.to_string(),
               "default": field.default_value, "comment": field.description})
    };
    json!({
        "table": name,
        "schema": schema.id.0,
        "comment": schema.comment,
        "columns": schema.fields.iter().map(column).collect::<Vec<_>>(),
        "primary_key": schema.primary_keys,
        "partition_by": schema.partition_keys,
        "options": schema.options.iter().collect::<std::collections::BTreeMap<_, _>>(),
        "snapshot": latest.map(|snapshot| json!({
            "id": snapshot.id.0,
            "time": time(snapshot.time_millis),
            "kind": snapshot.commit_kind.as_str(),
            "records": snapshot.total_record_count,
        })),
    })
}

fn heading(name: &str, schema: &TableSchema) -> String {
    let keys = |names: &[String]| if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    let mut text = format!(
        "table     {name}\nschema    {}\nprimary   {}\npartition {}",
        schema.id,
        keys(&schema.primary_keys),
        keys(&schema.partition_keys)
    );
    if let Some(comment) = schema.comment.as_deref().filter(|c| !c.is_empty()) {
        text.push_str(&format!("\ncomment   {comment}"));
    }
    text
}

fn columns(schema: &TableSchema) -> Columns {
    let key = |name: &String| match (schema.primary_keys.contains(name), schema.partition_keys.contains(name)) {
        (true, true) => "primary, partition",
        (true, false) => "primary",
        (false, true) => "partition",
        (false, false) => "",
    };
    Columns::new()
        .number("id", schema.fields.iter().map(|f| i64::from(f.id)))
        .text("column", schema.fields.iter().map(|f| &f.name))
        .text("type", schema.fields.iter().map(|f| f.data_type.to_string()))
        .text("key", schema.fields.iter().map(|f| key(&f.name)))
        .text("default", schema.fields.iter().map(|f| f.default_value.clone().unwrap_or_default()))
        .text("comment", schema.fields.iter().map(|f| f.description.clone().unwrap_or_default()))
}

/// Columns as they are shown before a table is made of them.
pub(super) fn sketch(schema: &TableSchema) -> Result<String> {
    let names = |names: &[String]| names.join(", ");
    let width = schema.fields.iter().map(|f| f.name.chars().count()).max().unwrap_or(0);
    let mut text: String = schema.fields.iter().map(|f| format!("  {:width$}  {}\n", f.name, f.data_type)).collect();
    if !schema.primary_keys.is_empty() {
        text.push_str(&format!("  primary key {}\n", names(&schema.primary_keys)));
    }
    if !schema.partition_keys.is_empty() {
        text.push_str(&format!("  partitioned by {}\n", names(&schema.partition_keys)));
    }
    match schema.fields.is_empty() {
        true => Err(Error::invalid("the input has no columns")),
        false => Ok(text),
    }
}
