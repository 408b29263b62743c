//! The filesystem catalog: a warehouse folder, `<db>.db` folders in it, table folders in those (spec: features.md B15.1).
//!
//! A table exists exactly when it has a schema file; nothing else is consulted.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use linn_core::branch::Branches;
use linn_core::catalog::{Catalog, Identifier};
use linn_core::manifest::ManifestCache;
use linn_core::schema::Schemas;
use linn_core::table::Commits;
use linn_core::{Env, Storage, Table};
use linn_format::options::Options;
use linn_format::schema::{NewTable, SchemaChange, TableSchema};
use linn_format::{Error, ErrorKind, Result, ResultExt};

/// Catalog options with this prefix are options of every table created through the catalog.
const TABLE_DEFAULT: &str = "table-default.";
/// The database that is there without being created.
pub const DEFAULT_DATABASE: &str = "default";
const SUFFIX: &str = ".db";

/// Databases and tables as folders of one store.
#[derive(Debug)]
pub struct FilesystemCatalog {
    env: Env,
    options: Options,
    /// By path, so that readers of a table hear of commits made through another handle on it.
    commits: Mutex<HashMap<String, Commits>>,
    /// Of all tables, so that every statement on a table finds what earlier ones have read.
    manifests: ManifestCache,
}

impl FilesystemCatalog {
    /// The warehouse at the root of `env.storage`.
    pub fn new(env: Env, options: Options) -> Self {
        Self { env, options, commits: Mutex::default(), manifests: ManifestCache::default() }
    }

    fn storage(&self) -> &Arc<dyn Storage> {
        &self.env.storage
    }

    fn commits(&self, path: &str) -> Commits {
        let mut commits = self.commits.lock().unwrap_or_else(PoisonError::into_inner);
        commits.entry(path.to_owned()).or_default().clone()
    }

    async fn database_exists(&self, name: &str) -> Result<bool> {
        Ok(name == DEFAULT_DATABASE || self.databases().await?.iter().any(|d| d == name))
    }

    /// The databases that are there, and the default one.
    async fn databases(&self) -> Result<Vec<String>> {
        let entries = self.storage().list("").await?;
        let mut names: Vec<String> = entries
            .iter()
            .filter(|e| e.is_dir())
            .filter_map(|e| last_segment(&e.path).strip_suffix(SUFFIX).map(str::to_owned))
            .filter(|name| !name.is_empty())
            .collect();
        if !names.iter().any(|n| n == DEFAULT_DATABASE) {
            names.push(DEFAULT_DATABASE.to_owned());
        }
        names.sort();
        Ok(names)
    }

    /// What is listed must be there; what is created makes the warehouse as well.
    async fn require_warehouse(&self) -> Result<()> {
        self.storage().check_root().await.map_err(|e| {
            let error = match e.kind() {
                ErrorKind::NotFound => Error::not_found("there is no such warehouse"),
                ErrorKind::Invalid => Error::invalid("the warehouse is a file, not a folder"),
                _ => return e,
            };
            error.with("warehouse", self.storage().root()).with_hint(
                "give another one with --warehouse, or create a database or table in it, which creates the folder",
            )
        })
    }

    async fn require_database(&self, name: &str) -> Result<()> {
        if self.database_exists(name).await? {
            return Ok(());
        }
        Err(Error::not_found("there is no such database")
            .with("database", name)
            .with("warehouse", self.storage().root()))
    }

    async fn schema(&self, id: &Identifier) -> Result<Option<Arc<TableSchema>>> {
        Schemas::at(self.storage().clone(), &path(id)).latest().await.context("table", id)
    }

    fn missing(&self, id: &Identifier) -> Error {
        Error::not_found("there is no such table")
            .with("table", id)
            .with("warehouse", self.storage().root())
            .with_hint("`linn table list` lists the tables")
    }

    /// What the user asked for, over the catalog's defaults.
    fn with_defaults(&self, mut definition: NewTable) -> NewTable {
        for (key, value) in self.options.iter() {
            if let Some(key) = key.strip_prefix(TABLE_DEFAULT)
                && !definition.options.contains(key)
            {
                definition.options.set(key, value);
            }
        }
        definition
    }
}

fn database_path(name: &str) -> String {
    format!("{name}{SUFFIX}")
}

fn path(id: &Identifier) -> String {
    format!("{}/{}", database_path(&id.database), id.table)
}

fn no_suffix(id: &Identifier) -> Result<()> {
    if id.system.is_some() || id.branch.is_some() {
        return Err(Error::invalid("this needs a table, not a branch or a system table").with("table", id));
    }
    Ok(())
}

fn last_segment(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or_default()
}

#[async_trait]
impl Catalog for FilesystemCatalog {
    async fn list_databases(&self) -> Result<Vec<String>> {
        self.require_warehouse().await?;
        self.databases().await
    }

    async fn create_database(&self, name: &str, if_not_exists: bool) -> Result<()> {
        // The checks of a table name are those of a database name.
        Identifier::new(name, "t")?;
        if self.database_exists(name).await? {
            return match if_not_exists || name == DEFAULT_DATABASE {
                true => Ok(()),
                false => Err(Error::already_exists("the database exists already").with("database", name)),
            };
        }
        self.storage().create_dir(&database_path(name)).await
    }

    async fn drop_database(&self, name: &str, if_exists: bool, cascade: bool) -> Result<()> {
        Identifier::new(name, "t")?;
        if !self.database_exists(name).await? {
            return match if_exists {
                true => Ok(()),
                false => Err(Error::not_found("there is no such database").with("database", name)),
            };
        }
        let tables = self.list_tables(name).await?;
        if !tables.is_empty() && !cascade {
            return Err(Error::invalid("the database is not empty")
                .with("database", name)
                .with("tables", tables.join(", "))
                .with_hint("drop its tables first, or drop it with CASCADE"));
        }
        self.storage().delete_dir(&database_path(name)).await
    }

    async fn list_tables(&self, database: &str) -> Result<Vec<String>> {
        Identifier::new(database, "t")?;
        self.require_warehouse().await?;
        self.require_database(database).await?;
        let entries = self.storage().list(&database_path(database)).await?;
        let mut names = Vec::new();
        for entry in entries.iter().filter(|e| e.is_dir()) {
            let name = last_segment(&entry.path);
            if let Ok(id) = Identifier::new(database, name)
                && self.schema(&id).await.is_ok_and(|s| s.is_some())
            {
                names.push(name.to_owned());
            }
        }
        names.sort();
        Ok(names)
    }

    async fn table(&self, id: &Identifier) -> Result<Table> {
        let base = id.base();
        let Some(schema) = self.schema(&base).await? else {
            self.require_warehouse().await?;
            self.require_database(&id.database).await?;
            return Err(self.missing(id));
        };
        let path = path(&base);
        let commits = self.commits(&path);
        let table = Table::new(base.to_string(), path, (*schema).clone(), self.env.clone())
            .with_commits(commits)
            .with_manifest_cache(self.manifests.clone());
        let Some(branch) = &id.branch else { return Ok(table) };
        Branches::new(&table).table(branch).await
    }

    async fn create_table(&self, id: &Identifier, definition: NewTable, if_not_exists: bool) -> Result<()> {
        no_suffix(id)?;
        self.require_database(&id.database).await?;
        let schema =
            TableSchema::create(self.with_defaults(definition), self.env.clock.now_millis()).context("table", id)?;
        let exists = || Error::already_exists("the table exists already").with("table", id);
        if self.schema(id).await?.is_some() {
            return if if_not_exists { Ok(()) } else { Err(exists()) };
        }
        match Schemas::at(self.storage().clone(), &path(id)).create(&schema).await {
            Err(e) if e.kind() == ErrorKind::AlreadyExists => if_not_exists.then_some(()).ok_or_else(exists),
            other => other.context("table", id),
        }
    }

    async fn alter_table(&self, id: &Identifier, changes: Vec<SchemaChange>) -> Result<()> {
        let table = self.table(id).await?;
        Schemas::new(&table).commit(&table, &changes).await.context("table", id)?;
        Ok(())
    }

    async fn drop_table(&self, id: &Identifier, if_exists: bool) -> Result<()> {
        no_suffix(id)?;
        let folder = last_segment(&path(id)).to_owned();
        let siblings = self.storage().list(&database_path(&id.database)).await?;
        let there = siblings.iter().any(|e| e.is_dir() && last_segment(&e.path) == folder);
        if !there {
            return if if_exists { Ok(()) } else { Err(self.missing(id)) };
        }
        // Without its schemas the table is gone for everyone; only then may its data go.
        self.storage().delete_dir(&format!("{}/schema", path(id))).await?;
        self.storage().delete_dir(&path(id)).await
    }

    async fn rename_table(&self, from: &Identifier, to: &Identifier) -> Result<()> {
        no_suffix(from)?;
        no_suffix(to)?;
        if self.schema(from).await?.is_none() {
            return Err(self.missing(from));
        }
        self.require_database(&to.database).await?;
        if self.schema(to).await?.is_some() {
            return Err(Error::already_exists("the table exists already").with("table", to));
        }
        self.storage().rename_dir(&path(from), &path(to)).await.context("table", from)
    }

    fn options(&self) -> &Options {
        &self.options
    }
}
