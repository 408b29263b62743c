//! `information_schema`: databases, tables, columns and views as SQL programs ask for them, with types as SQL spells them.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::catalog::information_schema::InformationSchemaProvider;
use datafusion::catalog::{MemoryCatalogProviderList, SchemaProvider, TableProvider};
use datafusion::datasource::MemTable;
use linn::core::catalog::GLOBAL;
use linn::format::suggest::did_you_mean;
use linn::format::types::{DataField, Kind};
use linn::{Error, ErrorKind, Identifier, Result};

use super::kind::fields;
use crate::error::ours;
use crate::session::{CATALOG, Session, TEMPORARY};

/// The name of the schema.
const NAME: &str = "information_schema";
/// Its tables.
const TABLES: [&str; 7] = ["schemata", "tables", "columns", "views", "routines", "parameters", "df_settings"];

/// The table of the schema that a name means.
pub(super) fn named(parts: &[String]) -> Option<&str> {
    match parts {
        [schema, table] if schema == NAME => Some(table),
        [catalog, schema, table] if catalog == CATALOG && schema == NAME => Some(table),
        _ => None,
    }
}

/// Opens a table of the schema.
///
/// # Errors
/// `NotFound` for a name that is none.
pub(super) async fn open(session: &Session, name: &str) -> Result<Arc<dyn TableProvider>> {
    let batch = match name {
        "schemata" => schemata(session).await?,
        "tables" => tables(session).await?,
        "columns" => columns(session).await?,
        "views" => views(session)?,
        "routines" | "parameters" | "df_settings" => return library(name).await,
        _ => {
            let error = Error::not_found("there is no such table").with("table", format!("{NAME}.{name}"));
            let hint = did_you_mean(name, TABLES).unwrap_or_else(|| format!("tables are {}", TABLES.join(", ")));
            return Err(error.with_hint(hint));
        }
    };
    Ok(Arc::new(MemTable::try_new(batch.schema(), vec![vec![batch]]).map_err(ours)?))
}

/// What the library says of its functions and settings.
async fn library(name: &str) -> Result<Arc<dyn TableProvider>> {
    let list = MemoryCatalogProviderList::new();
    let provider = InformationSchemaProvider::new(Arc::new(list));
    let table = provider.table(name).await.map_err(ours)?;
    table.ok_or_else(|| Error::internal(format!("{NAME}.{name} does not exist")))
}

fn text(name: &str, nullable: bool) -> Field {
    Field::new(name, DataType::Utf8, nullable)
}

fn batch(fields: Vec<Field>, columns: Vec<ArrayRef>) -> Result<RecordBatch> {
    let schema: SchemaRef = Arc::new(Schema::new(fields));
    Ok(RecordBatch::try_new(schema, columns)?)
}

fn texts(values: Vec<String>) -> ArrayRef {
    Arc::new(StringArray::from(values))
}

async fn schemata(session: &Session) -> Result<RecordBatch> {
    let mut names = session.catalog().list_databases().await?;
    names.extend([GLOBAL.to_owned(), NAME.to_owned()]);
    let catalogs = texts(vec![CATALOG.to_owned(); names.len()]);
    batch(vec![text("catalog_name", false), text("schema_name", false)], vec![catalogs, texts(names)])
}

/// All tables with their kinds, as far as they are there while they are listed.
async fn all(session: &Session) -> Result<Vec<(Identifier, &'static str)>> {
    let mut found = Vec::new();
    for database in session.catalog().list_databases().await? {
        let tables = match session.catalog().list_tables(&database).await {
            Err(e) if e.kind() == ErrorKind::NotFound => continue,
            tables => tables?,
        };
        for table in tables {
            // What cannot be a name is no table.
            found.extend(Identifier::new(&database, &table).ok().map(|id| (id, "BASE TABLE")));
        }
    }
    let temporary = session.temporary();
    let tables = temporary.tables().into_iter().map(|name| (name, "LOCAL TEMPORARY"));
    let views = temporary.views().into_iter().map(|(name, _)| (name, "VIEW"));
    for (name, kind) in tables.chain(views) {
        found.push((Identifier::new(TEMPORARY, &name)?, kind));
    }
    for name in linn::core::catalog::global_names(&**session.catalog()) {
        found.push((Identifier::new(GLOBAL, name)?, "SYSTEM VIEW"));
    }
    Ok(found)
}

async fn tables(session: &Session) -> Result<RecordBatch> {
    let all = all(session).await?;
    let column = |of: &dyn Fn(&(Identifier, &str)) -> String| texts(all.iter().map(of).collect());
    batch(
        ["table_catalog", "table_schema", "table_name", "table_type"].map(|name| text(name, false)).to_vec(),
        vec![
            column(&|_| CATALOG.to_owned()),
            column(&|(id, _)| id.database.clone()),
            column(&|(id, _)| id.table.clone()),
            column(&|(_, kind)| (*kind).to_owned()),
        ],
    )
}

fn views(session: &Session) -> Result<RecordBatch> {
    let views = session.temporary().views();
    let count = views.len();
    let (names, definitions): (Vec<String>, Vec<String>) = views
        .into_iter()
        .map(|(name, view)| (name, view.query.iter().map(ToString::to_string).collect::<String>().trim().to_owned()))
        .unzip();
    batch(
        ["table_catalog", "table_schema", "table_name", "view_definition"].map(|name| text(name, false)).to_vec(),
        vec![
            texts(vec![CATALOG.to_owned(); count]),
            texts(vec![TEMPORARY.to_owned(); count]),
            texts(names),
            texts(definitions),
        ],
    )
}

async fn columns(session: &Session) -> Result<RecordBatch> {
    let mut rows: Vec<(Identifier, i64, DataField)> = Vec::new();
    for (id, kind) in all(session).await? {
        let found = match kind {
            "BASE TABLE" | "LOCAL TEMPORARY" => session.catalog().table(&id).await.map(|t| t.schema().fields.clone()),
            _ => super::query::schema_of_name(session, &[id.database.clone(), id.table.clone()])
                .await
                .map(|schema| fields(&schema)),
        };
        match found {
            Ok(found) => rows.extend(found.into_iter().zip(1i64..).map(|(field, at)| (id.clone(), at, field))),
            // It was dropped while it was listed.
            Err(e) if e.kind() == ErrorKind::NotFound => {}
            // One table or view that cannot be read hides no other.
            Err(e) => tracing::warn!("columns of {id} are not listed: {e}"),
        }
    }
    let column = |of: &dyn Fn(&(Identifier, i64, DataField)) -> Option<String>| -> ArrayRef {
        Arc::new(rows.iter().map(of).collect::<StringArray>())
    };
    let number = |of: &dyn Fn(&Kind) -> Option<i64>| -> ArrayRef {
        Arc::new(rows.iter().map(|(_, _, field)| of(&field.data_type.kind)).collect::<Int64Array>())
    };
    let numbers = ["character_maximum_length", "numeric_precision", "numeric_scale", "datetime_precision"];
    let mut schema: Vec<Field> =
        ["table_catalog", "table_schema", "table_name", "column_name"].map(|n| text(n, false)).to_vec();
    schema.push(Field::new("ordinal_position", DataType::Int64, false));
    schema.extend([text("column_default", true), text("is_nullable", false), text("data_type", false)]);
    schema.extend(numbers.map(|name| Field::new(name, DataType::Int64, true)));
    schema.push(text("column_comment", true));
    batch(
        schema,
        vec![
            column(&|_| Some(CATALOG.to_owned())),
            column(&|(id, ..)| Some(id.database.clone())),
            column(&|(id, ..)| Some(id.table.clone())),
            column(&|(_, _, field)| Some(field.name.clone())),
            Arc::new(rows.iter().map(|(_, at, _)| *at).collect::<Int64Array>()),
            column(&|(_, _, field)| field.default_value.clone()),
            column(&|(_, _, field)| Some(if field.data_type.nullable { "YES" } else { "NO" }.to_owned())),
            column(&|(_, _, field)| Some(field.data_type.clone().with_nullable(true).to_string())),
            number(&|kind| match kind {
                Kind::Char(n) | Kind::Varchar(n) | Kind::Binary(n) | Kind::Varbinary(n) => Some(i64::from(*n)),
                _ => None,
            }),
            number(&|kind| match kind {
                Kind::TinyInt => Some(8),
                Kind::SmallInt => Some(16),
                Kind::Int => Some(32),
                Kind::BigInt => Some(64),
                Kind::Float => Some(24),
                Kind::Double => Some(53),
                Kind::Decimal { precision, .. } => Some(i64::from(*precision)),
                _ => None,
            }),
            number(&|kind| match kind {
                Kind::TinyInt | Kind::SmallInt | Kind::Int | Kind::BigInt => Some(0),
                Kind::Decimal { scale, .. } => Some(i64::from(*scale)),
                _ => None,
            }),
            number(&|kind| match kind {
                Kind::Date => Some(0),
                Kind::Time(p) | Kind::Timestamp(p) | Kind::LocalZonedTimestamp(p) => Some(i64::from(*p)),
                Kind::WideTimestamp { precision, .. } => Some(i64::from(*precision)),
                _ => None,
            }),
            column(&|(_, _, field)| field.description.clone()),
        ],
    )
}
