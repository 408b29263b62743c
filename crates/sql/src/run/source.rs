//! What stands for a table in a statement: tables and system tables of the catalog, views, files, and the information schema.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use datafusion::catalog::TableProvider;
use futures::future::BoxFuture;
use linn::core::commit::Reads;
use linn::format::suggest::did_you_mean;
use linn::{Error, ErrorKind, Identifier, Options, Result};

use super::information;
use super::number::TargetColumns;
use super::query::{parse, planned};
use crate::parse::mark;
use crate::provider;
use crate::session::{Session, TEMPORARY, View};

/// How deep views may be nested.
const DEPTH: usize = 32;

/// A table of a statement with the options given to it.
type Key = (Identifier, Vec<(String, String)>);

/// The tables that a statement has opened: through whatever view it names a table again, it reads the same snapshot.
#[derive(Default)]
pub(super) struct Opened(Mutex<HashMap<Key, Arc<dyn TableProvider>>>);

/// Where a name is resolved.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) session: &'a Session,
    /// The database of unqualified names.
    pub(super) database: &'a str,
    pub(super) opened: &'a Opened,
    /// Where reads are noted, of a statement that writes.
    pub(super) reads: Option<&'a Reads>,
    /// How many views this is inside of.
    pub(super) depth: usize,
}

impl Place<'_> {
    /// The table of the parts of a name.
    pub(super) fn identifier(&self, parts: &[String]) -> Result<Identifier> {
        match parts {
            [table] if self.session.temporary().has(table) => Identifier::new(TEMPORARY, table),
            [table] => Identifier::new(self.database, table),
            parts => self.session.identifier(parts),
        }
    }

    /// Opens what a name means.
    ///
    /// # Errors
    /// `NotFound` with what may have been meant, and what opening yields.
    pub(super) async fn open(&self, parts: &[String], given: Option<&Options>) -> Result<Arc<dyn TableProvider>> {
        if let Some(name) = information::named(parts) {
            return Box::pin(information::open(self.session, name)).await;
        }
        let id = self.identifier(parts)?;
        if id.database == TEMPORARY
            && id.system.is_none()
            && id.branch.is_none()
            && let Some(view) = self.session.temporary().view(&id.table)
        {
            if given.is_some() {
                return Err(Error::unsupported("options and time travel on a view").with("view", &id.table));
            }
            return self.view(&id.table, view).await;
        }
        let options = self.session.settings().of(&id, given);
        let pairs = options.iter().flat_map(Options::iter).map(|(k, v)| (k.to_owned(), v.to_owned())).collect();
        let key = (id, pairs);
        if let Some(table) = self.opened.0.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Ok(Arc::clone(table));
        }
        let table = match provider::open(self.session.catalog(), &key.0, options.as_ref(), self.reads).await {
            Ok(table) => table,
            Err(e) if e.kind() == ErrorKind::NotFound => return Err(suggested(self.session, &key.0, e).await),
            Err(e) => return Err(e),
        };
        self.opened.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key, Arc::clone(&table));
        Ok(table)
    }

    fn view(&self, name: &str, view: Arc<View>) -> BoxFuture<'_, Result<Arc<dyn TableProvider>>> {
        let name = name.to_owned();
        Box::pin(async move {
            if self.depth >= DEPTH {
                let error = Error::invalid(format!("views are nested more than {DEPTH} deep")).with("view", &name);
                return Err(error.with_hint("check whether the view refers to itself"));
            }
            let within: Result<_> = async {
                let (tokens, mut options) = mark(&view.query)?;
                super::compute::compute(self.session, &mut options).await?;
                let place = Place { database: &view.database, depth: self.depth + 1, ..*self };
                Box::pin(planned(place, parse(tokens)?, &options, None, &TargetColumns::None)).await
            }
            .await;
            Ok(within.map_err(|e| e.with("view", &name))?.into_view())
        })
    }
}

/// An error about a table that there is not, with what may have been meant.
pub(super) async fn suggested(session: &Session, id: &Identifier, error: Error) -> Error {
    let catalog = session.catalog();
    let hint = match catalog.list_tables(&id.database).await {
        Ok(mut tables) => {
            tables.extend(session.temporary().tables());
            tables.extend(session.temporary().views().into_iter().map(|(name, _)| name));
            // Then it is something of the table that is not there.
            if tables.contains(&id.table) {
                return error;
            }
            did_you_mean(&id.table, tables.iter().map(String::as_str))
        }
        Err(_) => {
            let databases = catalog.list_databases().await.unwrap_or_default();
            did_you_mean(&id.database, databases.iter().map(String::as_str))
        }
    };
    match hint {
        Some(hint) => error.with_hint(hint),
        None => error,
    }
}
