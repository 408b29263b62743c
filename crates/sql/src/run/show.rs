//! SHOW and DESCRIBE.

use std::fmt::Write as _;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, RecordBatch, StringArray};
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use futures::StreamExt;
use linn::core::catalog::{GLOBAL, global_names};
use linn::format::schema::TableSchema;
use linn::{Error, ErrorKind, Identifier, Result, Table};

use super::kind::spelled;
use super::query::schema_of_name;
use super::source::suggested;
use crate::names::quoted;
use crate::parse::Statement;
use crate::provider::open_table;
use crate::session::{Output, Session, TEMPORARY, View};

pub(super) async fn run(session: &Session, statement: Statement) -> Result<Output> {
    let catalog = session.catalog();
    match statement {
        Statement::ShowDatabases => rows(&["database"], [catalog.list_databases().await?]),
        Statement::ShowTables { database, like } => {
            let of_session = database.is_none();
            let database = database.unwrap_or_else(|| session.database());
            let mut tables = match database == GLOBAL {
                true => global_names(&**catalog).into_iter().map(str::to_owned).collect(),
                false => catalog.list_tables(&database).await?,
            };
            if of_session {
                tables.extend(session.temporary().tables());
                tables.extend(session.temporary().views().into_iter().map(|(name, _)| name));
                tables.sort_unstable();
                tables.dedup();
            }
            if let Some(pattern) = like {
                let names = StringArray::from(tables.clone());
                let matches = datafusion::arrow::compute::like(&names, &StringArray::new_scalar(&pattern))?;
                let mut matches = matches.iter();
                tables.retain(|_| matches.next().flatten().unwrap_or(false));
            }
            rows(&["table"], [tables])
        }
        Statement::ShowCreateTable(parts) => {
            let id = session.identifier(&parts)?;
            if let Some(view) = view(session, &id) {
                let query: String = view.query.iter().map(ToString::to_string).collect();
                let sql = format!("CREATE TEMPORARY VIEW {} AS {}", quoted(&id.table), query.trim());
                return rows(&["statement"], [vec![sql]]);
            }
            if let Some(system) = &id.system {
                return Err(Error::invalid(format!("{system} is a system table and has no CREATE statement"))
                    .with("table", &id)
                    .with_hint(format!("DESCRIBE {id} shows its columns")));
            }
            let table = open_named(session, &id).await?;
            rows(&["statement"], [vec![create_statement(&id, table.schema())]])
        }
        Statement::ShowPartitions(parts) => {
            let id = session.identifier(&parts)?;
            let table = open_named(session, &id).await?;
            rows(&["partition"], [table.scan().partition_names().await?])
        }
        Statement::Describe(parts) => describe(session, &parts).await,
        other => Err(linn::Error::internal(format!("{other:?} has no output"))),
    }
}

async fn describe(session: &Session, parts: &[String]) -> Result<Output> {
    let id = session.identifier(parts)?;
    let information = id.database == "information_schema";
    if id.system.is_some() || id.database == GLOBAL || information || view(session, &id).is_some() {
        let schema = schema_of_name(session, parts).await?;
        let names = schema.fields().iter().map(|f| f.name().clone()).collect();
        let types = schema.fields().iter().map(|f| spelled(f.data_type())).collect();
        return rows(&["column", "type"], [names, types]);
    }
    let table = open_named(session, &id).await?;
    let schema = table.schema();
    let key = |name: &String| match (schema.primary_keys.contains(name), schema.partition_keys.contains(name)) {
        (true, true) => "primary, partition",
        (true, false) => "primary",
        (false, true) => "partition",
        (false, false) => "",
    };
    let column = |of: &dyn Fn(&linn::format::types::DataField) -> String| schema.fields.iter().map(of).collect();
    rows(
        &["column", "type", "key", "default", "comment"],
        [
            column(&|f| f.name.clone()),
            column(&|f| f.data_type.to_string()),
            column(&|f| key(&f.name).to_owned()),
            column(&|f| f.default_value.clone().unwrap_or_default()),
            column(&|f| f.description.clone().unwrap_or_default()),
        ],
    )
}

/// The view that a name means.
fn view(session: &Session, id: &Identifier) -> Option<Arc<View>> {
    let plain = id.database == TEMPORARY && id.system.is_none() && id.branch.is_none();
    plain.then(|| session.temporary().view(&id.table)).flatten()
}

/// Opens a table to be shown.
async fn open_named(session: &Session, id: &Identifier) -> Result<Table> {
    match open_table(session.catalog(), id, None).await {
        Err(e) if e.kind() == ErrorKind::NotFound => Err(suggested(session, id, e).await),
        table => table,
    }
}

/// The statement that makes a table like this one.
fn create_statement(id: &Identifier, schema: &TableSchema) -> String {
    let mut sql = format!("CREATE TABLE {}.{} (", quoted(&id.database), quoted(&id.table));
    let text = |s: &str| format!("'{}'", s.replace('\'', "''"));
    let names = |names: &[String]| names.iter().map(|n| quoted(n)).collect::<Vec<_>>().join(", ");
    for (i, field) in schema.fields.iter().enumerate() {
        let _ = write!(sql, "{}\n  {} {}", if i == 0 { "" } else { "," }, quoted(&field.name), field.data_type);
        if let Some(default) = &field.default_value {
            let _ = write!(sql, " DEFAULT {}", text(default));
        }
        if let Some(comment) = &field.description {
            let _ = write!(sql, " COMMENT {}", text(comment));
        }
    }
    if !schema.primary_keys.is_empty() {
        let _ = write!(sql, ",\n  PRIMARY KEY ({}) NOT ENFORCED", names(&schema.primary_keys));
    }
    sql.push_str("\n)");
    if let Some(comment) = schema.comment.as_deref().filter(|c| !c.is_empty()) {
        let _ = write!(sql, " COMMENT {}", text(comment));
    }
    if !schema.partition_keys.is_empty() {
        let _ = write!(sql, " PARTITIONED BY ({})", names(&schema.partition_keys));
    }
    let options: Vec<String> = schema.options.iter().map(|(k, v)| format!("\n  {} = {}", text(k), text(v))).collect();
    if !options.is_empty() {
        let _ = write!(sql, " WITH ({}\n)", options.join(","));
    }
    sql
}

/// Rows of text columns.
pub(super) fn rows<const N: usize>(names: &[&str; N], columns: [Vec<String>; N]) -> Result<Output> {
    let fields: Vec<Field> = names.iter().map(|n| Field::new(*n, DataType::Utf8, false)).collect();
    let schema = Arc::new(Schema::new(fields));
    let columns: Vec<ArrayRef> = columns.into_iter().map(|c| Arc::new(StringArray::from(c)) as ArrayRef).collect();
    let batch = RecordBatch::try_new(Arc::clone(&schema), columns)?;
    Ok(Output::Rows { schema, stream: futures::stream::iter([Ok(batch)]).boxed() })
}
