//! What was probably meant by a name of a table or database that does not exist.

use linn::format::suggest::nearest;
use linn::{Error, ErrorKind, Identifier};

use crate::context::{Context, DATABASE};

/// The error with the name that was probably meant, where there is one.
pub(crate) async fn hinted(context: &Context, error: Error) -> Error {
    if error.kind() != ErrorKind::NotFound || error.hint().is_some_and(|hint| hint.contains("did you mean")) {
        return error;
    }
    let named = |key: &str| error.context().iter().find(|(known, _)| *known == key).map(|(_, value)| value.clone());
    let message = error.message();
    let about = |what: &str| message.contains(what) && !message.contains("column") && !message.contains("snapshot");
    let (table, database) = (named("table"), named("database"));
    let meant = match (table, database) {
        (Some(table), _) if about("table") => table_near(context, &table).await,
        (None, Some(database)) if about("database") => database_near(context, &database).await,
        _ => None,
    };
    match meant {
        Some(name) => error.with_hint(format!("did you mean '{name}'?")),
        None => error,
    }
}

async fn table_near(context: &Context, name: &str) -> Option<String> {
    let (catalog, id) = (context.catalog().ok()?, Identifier::parse(name, DATABASE).ok()?);
    let Ok(tables) = catalog.list_tables(&id.database).await else {
        return database_near(context, &id.database).await.map(|database| format!("{database}.{}", id.table));
    };
    let near = nearest(&id.table, tables.iter().map(String::as_str))?;
    Some(format!("{}.{near}", id.database))
}

async fn database_near(context: &Context, name: &str) -> Option<String> {
    let databases = context.catalog().ok()?.list_databases().await.ok()?;
    nearest(name, databases.iter().map(String::as_str)).map(str::to_owned)
}
