//! `linn get`: rows by their primary keys. Each is a lookup: partition, bucket and key ranges rule out all other files.

use arrow::record_batch::RecordBatch;
use futures::StreamExt;
use linn::format::schema::TableSchema;
use linn::{Error, Result};
use linn_sql::{Output, quoted};

use super::read::{name, text};
use crate::args::GetArgs;
use crate::context::{Context, DATABASE, identifier};
use crate::output::sink;

pub(super) async fn run(context: &Context, args: &GetArgs) -> Result<()> {
    let id = identifier(&args.table)?;
    let session = context.session(DATABASE)?;
    let table = session.catalog().table(&id).await?;
    let schema = table.schema();
    if !schema.is_primary_key_table() {
        return Err(Error::invalid("table has no primary key")
            .with("table", &id)
            .with_hint("`linn table read --where CONDITION` finds rows of any table"));
    }
    let columns = match args.select.as_slice() {
        [] => "*".to_owned(),
        names => names.iter().map(|name| quoted(name.trim())).collect::<Vec<_>>().join(", "),
    };
    let from = format!("SELECT {columns} FROM {}{}", name(&id), travel(args));
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    for key in &args.keys {
        let condition = condition(schema, key).map_err(|e| e.with("key", key).with("table", &id))?;
        let Output::Rows { mut stream, .. } = session.execute(&format!("{from} WHERE {condition}")).await? else {
            return Err(Error::internal("a query gave no rows"));
        };
        let before = found.len();
        while let Some(batch) = stream.next().await {
            found.push(batch?);
            found.retain(|batch: &RecordBatch| batch.num_rows() > 0);
        }
        if found.len() == before {
            missing.push(key.as_str());
        }
    }
    if let Some(first) = found.first() {
        let mut sink = sink(context.output, first.schema(), &context.style)?;
        found.iter().try_for_each(|batch| sink.write(batch))?;
        sink.finish()?;
    }
    match missing.as_slice() {
        [] => Ok(()),
        [one] => Err(Error::not_found(format!("no row with key {one}")).with("table", &id)),
        several => Err(Error::not_found(format!("no row with keys {}", several.join(" and "))).with("table", &id)),
    }
}

fn travel(args: &GetArgs) -> String {
    args.at.option().map_or_else(String::new, |(key, value)| format!(" OPTIONS({} = {})", text(key), text(&value)))
}

/// The condition that a key means: each column of the key equals its value, which is read by the column's type.
fn condition(schema: &TableSchema, key: &str) -> Result<String> {
    let names = &schema.primary_keys;
    let values = match names.as_slice() {
        [_] => vec![unquoted(key)],
        _ => split(key),
    };
    let named: Vec<(&str, &str)> = values.iter().filter_map(|value| value.split_once('=')).collect();
    let by_name = named.len() == values.len() && named.iter().all(|(name, _)| names.iter().any(|n| n == name.trim()));
    let wrong = || {
        Error::invalid(format!("the key needs {} values", names.len()))
            .with_hint(format!("give the values of {} separated by commas, in this order", names.join(", ")))
    };
    let mut parts = Vec::with_capacity(names.len());
    for (at, name) in names.iter().enumerate() {
        let value = match by_name {
            true => named.iter().find(|(n, _)| n.trim() == name).map(|(_, value)| *value),
            false => values.get(at).map(String::as_str),
        };
        let field = schema.field(name).ok_or_else(|| Error::internal(format!("no column {name}")))?;
        let mut data_type = field.data_type.clone();
        data_type.nullable = true;
        parts.push(format!("{} = CAST({} AS {data_type})", quoted(name), text(value.ok_or_else(wrong)?)));
    }
    if values.len() != names.len() {
        return Err(wrong());
    }
    Ok(parts.join(" AND "))
}

/// Parts between commas; those in double quotes may contain commas.
fn split(text: &str) -> Vec<String> {
    let (mut parts, mut part, mut inside) = (Vec::new(), String::new(), false);
    for c in text.chars() {
        match c {
            '"' => inside = !inside,
            ',' if !inside => parts.push(std::mem::take(&mut part)),
            c => part.push(c),
        }
    }
    parts.push(part);
    parts
}

fn unquoted(text: &str) -> String {
    text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_cut_at_commas_outside_of_quotes() {
        assert_eq!(split("2024-01-01,7"), ["2024-01-01", "7"]);
        assert_eq!(split("\"a,b\",,c"), ["a,b", "", "c"]);
        assert_eq!((unquoted("\"7\""), unquoted("a,b")), ("7".into(), "a,b".into()));
    }
}
