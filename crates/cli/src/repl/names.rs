//! Names that can be completed. They are read beside the session, so that a slow store holds nobody up.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use linn::core::system;
use linn::{Catalog, Identifier};
use linn_sql::Session;

/// Tables whose columns are known; of more only the names are.
const OPENED: usize = 200;

/// What there is.
#[derive(Debug, Default, Clone)]
pub(super) struct Names {
    /// The database of unqualified names.
    pub(super) database: String,
    /// Tables by database.
    pub(super) tables: BTreeMap<String, Vec<String>>,
    /// Columns of the tables of the current database.
    pub(super) columns: BTreeMap<String, Vec<String>>,
    /// Functions.
    pub(super) functions: Vec<String>,
    /// Procedures without `sys.`.
    pub(super) procedures: Vec<String>,
}

/// Names that are being read, or have been.
pub(super) type Shared = Arc<RwLock<Names>>;

/// The names now.
pub(super) fn current(names: &Shared) -> Names {
    names.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Reads all names anew, beside the session.
pub(super) fn refresh(session: &Session, names: &Shared) {
    let (catalog, names) = (Arc::clone(session.catalog()), Arc::clone(names));
    let fresh = Names {
        database: session.database(),
        functions: session.functions(),
        procedures: session.procedures(),
        ..Names::default()
    };
    tokio::spawn(async move {
        let read = read(&*catalog, fresh).await;
        *names.write().unwrap_or_else(PoisonError::into_inner) = read;
    });
}

/// What cannot be read is only not offered.
async fn read(catalog: &dyn Catalog, mut names: Names) -> Names {
    for database in catalog.list_databases().await.unwrap_or_default() {
        let tables = catalog.list_tables(&database).await.unwrap_or_default();
        names.tables.insert(database, tables);
    }
    let current = names.tables.get(&names.database).cloned().unwrap_or_default();
    for table in current.into_iter().take(OPENED) {
        if let Ok(id) = Identifier::new(&names.database, &table)
            && let Ok(opened) = catalog.table(&id).await
        {
            let columns = opened.schema().fields.iter().map(|field| field.name.clone()).collect();
            names.columns.insert(table, columns);
        }
    }
    names
}

impl Names {
    /// The tables of the current database.
    pub(super) fn here(&self) -> &[String] {
        self.tables.get(&self.database).map_or(&[], Vec::as_slice)
    }

    /// Names of system tables.
    pub(super) fn system(&self) -> impl Iterator<Item = &'static str> {
        system::NAMES.iter().copied()
    }
}
