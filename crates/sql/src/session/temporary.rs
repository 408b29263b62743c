//! Temporary tables and views of a session: a warehouse of its own in a folder that goes with the session, whose tables are
//! those of the database `pg_temp`, and are found by their bare names before others.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, PoisonError, RwLock};

use async_trait::async_trait;
use datafusion::sql::sqlparser::tokenizer::TokenWithSpan;
use linn::core::storage::open;
use linn::format::schema::SchemaChange;
use linn::{Catalog, Env, Error, FilesystemCatalog, Identifier, NewTable, Options, Result, Table};
use tempfile::TempDir;
use tokio::sync::OnceCell;

/// The database of temporary tables and views.
pub(crate) const TEMPORARY: &str = "pg_temp";

/// A view: a query that is run wherever the view is named.
#[derive(Debug)]
pub(crate) struct View {
    /// Its query, with the names of its columns.
    pub(crate) query: Vec<TokenWithSpan>,
    /// The database of the unqualified names in it.
    pub(crate) database: String,
}

/// A catalog with the temporary tables of a session beside its own.
#[derive(Debug)]
pub(crate) struct WithTemporary {
    base: Arc<dyn Catalog>,
    own: OnceCell<Own>,
    tables: RwLock<BTreeSet<String>>,
    views: RwLock<BTreeMap<String, Arc<View>>>,
}

#[derive(Debug)]
struct Own {
    catalog: FilesystemCatalog,
    /// Goes with the session.
    _folder: TempDir,
}

impl WithTemporary {
    pub(crate) fn new(base: Arc<dyn Catalog>) -> Self {
        Self { base, own: OnceCell::new(), tables: RwLock::default(), views: RwLock::default() }
    }

    /// Whether a bare name is that of a temporary table or view; suffixes do not count.
    pub(crate) fn has(&self, name: &str) -> bool {
        let name = name.split('$').next().unwrap_or_default();
        self.tables.read().unwrap_or_else(PoisonError::into_inner).contains(name) || self.view(name).is_some()
    }

    /// The view of a name.
    pub(crate) fn view(&self, name: &str) -> Option<Arc<View>> {
        self.views.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    /// All views with their names.
    pub(crate) fn views(&self) -> Vec<(String, Arc<View>)> {
        let views = self.views.read().unwrap_or_else(PoisonError::into_inner);
        views.iter().map(|(name, view)| (name.clone(), Arc::clone(view))).collect()
    }

    /// Names of the temporary tables.
    pub(crate) fn tables(&self) -> Vec<String> {
        self.tables.read().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    /// Makes a view, in place of one of that name if `replace`.
    ///
    /// # Errors
    /// `AlreadyExists` when a table or view of that name exists.
    pub(crate) fn put_view(&self, name: &str, view: View, replace: bool) -> Result<()> {
        if self.tables.read().unwrap_or_else(PoisonError::into_inner).contains(name) {
            return Err(Error::already_exists("a temporary table of this name exists already").with("view", name));
        }
        let mut views = self.views.write().unwrap_or_else(PoisonError::into_inner);
        if !replace && views.contains_key(name) {
            return Err(Error::already_exists("the view exists already")
                .with("view", name)
                .with_hint("CREATE OR REPLACE VIEW replaces it"));
        }
        views.insert(name.to_owned(), Arc::new(view));
        Ok(())
    }

    /// Drops a view; whether there was one.
    pub(crate) fn drop_view(&self, name: &str) -> bool {
        self.views.write().unwrap_or_else(PoisonError::into_inner).remove(name).is_some()
    }

    /// The catalog of a database; `create` makes that of temporary tables when there is none.
    async fn of(&self, database: &str, create: bool) -> Result<&dyn Catalog> {
        if database != TEMPORARY {
            return Ok(&*self.base);
        }
        if !create {
            let own = self.own.get().ok_or_else(|| Error::not_found("the session has no temporary tables"))?;
            return Ok(&own.catalog);
        }
        let own = self.own.get_or_try_init(|| async {
            let folder = tempfile::Builder::new()
                .prefix("linn-temporary-")
                .tempdir()
                .map_err(|e| Error::unavailable("the folder for temporary tables cannot be created").with_source(e))?;
            let place = folder.path().to_str().ok_or_else(|| Error::invalid("the temporary folder is not UTF-8"))?;
            let env = Env::system(open(&format!("file:{place}"), &Options::new())?)?;
            let catalog = FilesystemCatalog::new(env, Options::new());
            catalog.create_database(TEMPORARY, true).await?;
            Ok::<_, Error>(Own { catalog, _folder: folder })
        });
        Ok(&own.await?.catalog)
    }

    /// Fails when a name is that of a view, where a table is needed.
    fn no_view(&self, id: &Identifier) -> Result<()> {
        if id.database == TEMPORARY && self.view(&id.table).is_some() {
            return Err(Error::invalid("this is a view, not a table").with("view", &id.table));
        }
        Ok(())
    }

    fn note(&self, id: &Identifier, there: bool) {
        if id.database == TEMPORARY {
            let mut tables = self.tables.write().unwrap_or_else(PoisonError::into_inner);
            if there {
                tables.insert(id.table.clone());
            } else {
                tables.remove(&id.table);
            }
        }
    }
}

#[async_trait]
impl Catalog for WithTemporary {
    async fn list_databases(&self) -> Result<Vec<String>> {
        self.base.list_databases().await
    }

    async fn create_database(&self, name: &str, if_not_exists: bool) -> Result<()> {
        if name == TEMPORARY {
            return Err(Error::invalid("this is the database of temporary tables").with("database", name));
        }
        self.base.create_database(name, if_not_exists).await
    }

    async fn drop_database(&self, name: &str, if_exists: bool, cascade: bool) -> Result<()> {
        if name == TEMPORARY {
            return Err(Error::invalid("this is the database of temporary tables").with("database", name));
        }
        self.base.drop_database(name, if_exists, cascade).await
    }

    async fn list_tables(&self, database: &str) -> Result<Vec<String>> {
        if database == TEMPORARY {
            return Ok(self.tables());
        }
        self.base.list_tables(database).await
    }

    async fn table(&self, id: &Identifier) -> Result<Table> {
        self.no_view(id)?;
        self.of(&id.database, false).await?.table(id).await
    }

    async fn create_table(&self, id: &Identifier, definition: NewTable, if_not_exists: bool) -> Result<()> {
        if id.database == TEMPORARY && self.view(&id.table).is_some() {
            return Err(Error::already_exists("a temporary view of this name exists already").with("table", &id.table));
        }
        self.of(&id.database, true).await?.create_table(id, definition, if_not_exists).await?;
        self.note(id, true);
        Ok(())
    }

    async fn alter_table(&self, id: &Identifier, changes: Vec<SchemaChange>) -> Result<()> {
        self.no_view(id)?;
        self.of(&id.database, false).await?.alter_table(id, changes).await
    }

    async fn drop_table(&self, id: &Identifier, if_exists: bool) -> Result<()> {
        self.no_view(id)?;
        if id.database == TEMPORARY && self.own.get().is_none() && if_exists {
            return Ok(());
        }
        self.of(&id.database, false).await?.drop_table(id, if_exists).await?;
        self.note(id, false);
        Ok(())
    }

    async fn rename_table(&self, from: &Identifier, to: &Identifier) -> Result<()> {
        self.no_view(from)?;
        if (from.database == TEMPORARY) != (to.database == TEMPORARY) {
            return Err(Error::unsupported("renaming a table to or from the database of temporary tables"));
        }
        self.of(&from.database, false).await?.rename_table(from, to).await?;
        self.note(from, false);
        self.note(to, true);
        Ok(())
    }

    fn options(&self) -> &Options {
        self.base.options()
    }
}
