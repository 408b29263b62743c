//! What a catalog says of all its tables: the tables of the database `sys` (spec: features.md B13).

use linn_format::{Error, Result};

use super::{Catalog, Identifier};
use crate::system::{Column, SystemRows, partition_sums, rows};
use crate::table::Table;

/// The database of the catalog's own tables.
pub const GLOBAL: &str = "sys";

/// The tables of [`GLOBAL`]. `catalog_options` is only there where the catalog option `catalog-options-table.enabled` is set.
const GLOBAL_NAMES: [&str; 4] = ["tables", "partitions", "all_table_options", "catalog_options"];

/// Catalog options whose values are not for everyone's eyes have such a word in their keys.
const SECRETS: [&str; 6] = ["password", "secret", "token", "credential", "access-key", "accesskey"];

/// The rows of a table of [`GLOBAL`].
///
/// # Errors
/// `NotFound` for another name, and what listing and opening tables can give.
pub async fn read_global(catalog: &dyn Catalog, name: &str) -> Result<SystemRows> {
    match name.to_ascii_lowercase().as_str() {
        "tables" => tables(&opened(catalog).await?),
        "partitions" => partitions(&opened(catalog).await?).await,
        "all_table_options" => table_options(&opened(catalog).await?),
        "catalog_options" if catalog_options_shown(catalog) => catalog_options(catalog),
        _ => Err(Error::not_found(format!("no table of the database {GLOBAL} is called {name:?}"))
            .with_hint(format!("its tables are {}", global_names(catalog).join(", ")))),
    }
}

/// The tables of [`GLOBAL`] that this catalog has.
pub fn global_names(catalog: &dyn Catalog) -> Vec<&'static str> {
    let shown = catalog_options_shown(catalog);
    GLOBAL_NAMES.into_iter().filter(|name| shown || *name != "catalog_options").collect()
}

fn catalog_options_shown(catalog: &dyn Catalog) -> bool {
    catalog.options().raw("catalog-options-table.enabled").is_some_and(|v| v.trim().eq_ignore_ascii_case("true"))
}

/// A table, by database and name.
type Opened = (String, String, Table);

async fn opened(catalog: &dyn Catalog) -> Result<Vec<Opened>> {
    let mut all = Vec::new();
    for database in catalog.list_databases().await? {
        for name in catalog.list_tables(&database).await? {
            match catalog.table(&Identifier::new(&database, &name)?).await {
                Ok(table) => all.push((database.clone(), name, table)),
                // Dropped since it was listed.
                Err(e) if e.kind() == linn_format::ErrorKind::NotFound => {}
                Err(e) => return Err(e),
            }
        }
    }
    Ok(all)
}

/// Who made a table and when, and its sums, are known to catalogs that keep a database of their own; here they are null.
fn tables(all: &[Opened]) -> Result<SystemRows> {
    let option = |key: &'static str| all.iter().map(move |(.., table)| table.options().raw(key));
    let number = |key| option(key).map(|text| text.and_then(|text| text.parse().ok()));
    let unknown = || all.iter().map(|_| None);
    rows([
        Column::text("database_name", all.iter().map(|(database, ..)| Some(database))),
        Column::text("table_name", all.iter().map(|(_, name, _)| Some(name))),
        Column::text("table_type", option("type").map(|text| text.or(Some("table")))),
        Column::maybe("partitioned", all.iter().map(|(.., t)| Some(!t.schema().partition_keys.is_empty()))),
        Column::maybe("primary_key", all.iter().map(|(.., t)| Some(t.schema().is_primary_key_table()))),
        Column::text("owner", option("owner")),
        Column::long("created_at", number("createdAt")),
        Column::text("created_by", option("createdBy")),
        Column::long("updated_at", number("updatedAt")),
        Column::text("updated_by", option("updatedBy")),
        Column::long("record_count", unknown()),
        Column::long("file_size_in_bytes", unknown()),
        Column::long("file_count", unknown()),
        Column::long("last_file_creation_time", unknown()),
    ])
}

async fn partitions(all: &[Opened]) -> Result<SystemRows> {
    let mut found = Vec::new();
    for (database, name, table) in all.iter().filter(|(.., table)| !table.schema().partition_keys.is_empty()) {
        // Files note the wall clock of their writer, which is taken to be ours.
        for (partition, sum, _) in partition_sums(table).await? {
            let newest = sum.newest.map(|newest| table.env().clock.instant_millis(newest));
            found.push((database, name, partition, sum, newest));
        }
    }
    rows([
        Column::text("database_name", found.iter().map(|(database, ..)| Some(database))),
        Column::text("table_name", found.iter().map(|(_, name, ..)| Some(name))),
        Column::text("partition_name", found.iter().map(|(_, _, partition, ..)| Some(partition))),
        Column::long("record_count", found.iter().map(|(.., s, _)| Some(s.records))),
        Column::long("file_size_in_bytes", found.iter().map(|(.., s, _)| Some(s.bytes))),
        Column::long("file_count", found.iter().map(|(.., s, _)| Some(s.files))),
        Column::long("last_file_creation_time", found.iter().map(|(.., newest)| *newest)),
        Column::maybe("done", found.iter().map(|_| Some(false))),
    ])
}

fn table_options(all: &[Opened]) -> Result<SystemRows> {
    let mut pairs = Vec::new();
    for (database, name, table) in all {
        let root = table.storage().root().trim_end_matches('/');
        let place = ("path", format!("{root}/{}", table.path()));
        let given = table.options().iter().map(|(key, value)| (key, value.to_owned()));
        pairs.extend(given.chain([place]).map(|(key, value)| (database, name, key, value)));
    }
    rows([
        Column::text("database_name", pairs.iter().map(|(database, ..)| Some(database))),
        Column::text("table_name", pairs.iter().map(|(_, name, ..)| Some(name))),
        Column::text("key", pairs.iter().map(|(_, _, key, _)| Some(key))),
        Column::text("value", pairs.iter().map(|(.., value)| Some(value))),
    ])
}

fn catalog_options(catalog: &dyn Catalog) -> Result<SystemRows> {
    let secret = |key: &str| SECRETS.iter().any(|word| key.to_ascii_lowercase().contains(word));
    let pairs = || catalog.options().iter().map(|(key, value)| (key, if secret(key) { "******" } else { value }));
    rows([
        Column::text("key", pairs().map(|(key, _)| Some(key))).required(),
        Column::text("value", pairs().map(|(_, value)| Some(value))).required(),
    ])
}
