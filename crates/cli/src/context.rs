//! What every command works with: configuration, the catalog over the warehouse's store, a SQL session, the output.

use std::sync::Arc;

use linn::core::Env;
use linn::core::storage::open;
use linn::format::options::similar_option;
use linn::{Catalog, FilesystemCatalog, Identifier, Options, Result, ResultExt, Table};
use linn_sql::Session;

use crate::args::{Global, OutputFormat};
use crate::config::{Config, key_value};
use crate::output::{Style, set_view};
use crate::post::HttpPost;
use crate::progress::Progress;
use crate::say::caution;

/// Database of names without one.
pub(crate) use linn::catalog::DEFAULT_DATABASE as DATABASE;

/// The context of one command.
#[derive(Clone)]
pub(crate) struct Context {
    /// Settings.
    pub(crate) config: Config,
    /// Format of results.
    pub(crate) output: OutputFormat,
    /// How values are written.
    pub(crate) style: Style,
    /// Progress bars.
    pub(crate) progress: Progress,
}

impl Context {
    /// Reads the configuration.
    ///
    /// # Errors
    /// As [`Config::load`].
    pub(crate) fn new(global: &Global) -> Result<Self> {
        let config = Config::load(global)?;
        set_view(|view| {
            view.max_rows = global.max_rows;
            view.pager = !global.no_pager;
        });
        let style = Style { decimals: global.decimal_as, ..Style::default() };
        let progress = Progress::new(!global.no_progress && !global.quiet);
        Ok(Self { config, output: global.output, style, progress })
    }

    /// The catalog. Must be called from within the runtime.
    ///
    /// # Errors
    /// `Unsupported` for another metastore than the file system, and what opening the store yields.
    pub(crate) fn catalog(&self) -> Result<Arc<dyn Catalog>> {
        self.catalog_of(self.warehouse())
    }

    /// The catalog of another warehouse.
    ///
    /// # Errors
    /// As [`catalog`](Self::catalog).
    pub(crate) fn catalog_of(&self, warehouse: &str) -> Result<Arc<dyn Catalog>> {
        let metastore = self.config.get("metastore").unwrap_or("filesystem");
        if metastore != "filesystem" {
            return Err(
                linn::Error::unsupported(format!("metastore '{metastore}'")).with_hint("set metastore to filesystem")
            );
        }
        let mut options = Options::new();
        for (key, value, _) in self.config.iter() {
            options.set(key, value);
        }
        let storage = open(warehouse, &options).context("warehouse", warehouse)?;
        let env = Env { post: Arc::new(HttpPost::default()), ..Env::system(storage)? };
        Ok(Arc::new(FilesystemCatalog::new(env, options)))
    }

    /// Where tables are.
    pub(crate) fn warehouse(&self) -> &str {
        self.config.get("warehouse").unwrap_or("./warehouse")
    }

    /// A SQL session whose unqualified names are in `database`.
    ///
    /// # Errors
    /// As [`catalog`](Self::catalog).
    pub(crate) fn session(&self, database: &str) -> Result<Session> {
        Ok(Session::new(self.catalog()?, database))
    }

    /// Opens a table by its name.
    ///
    /// # Errors
    /// `NotFound` when there is none, `Invalid` for what is no name.
    pub(crate) async fn table(&self, name: &str) -> Result<Table> {
        self.catalog()?.table(&identifier(name)?).await
    }
}

/// The name of a table.
///
/// # Errors
/// `Invalid` for what is no name.
pub(crate) fn identifier(name: &str) -> Result<Identifier> {
    Identifier::parse(name, DATABASE)
}

/// Says which keys look like slips. They are kept all the same: other engines have options of their own.
pub(crate) fn warn_of_slips<'k>(keys: impl IntoIterator<Item = &'k str>) {
    for key in keys {
        if let Some(similar) = similar_option(key) {
            caution!("unknown option '{key}'; did you mean '{similar}'?");
        }
    }
}

/// Options from `KEY=VALUE` pairs.
///
/// # Errors
/// `Invalid` for a pair without `=`.
pub(crate) fn options(pairs: &[String]) -> Result<Options> {
    let mut options = Options::new();
    for pair in pairs {
        let (key, value) = key_value(pair)?;
        options.set(key, value);
    }
    Ok(options)
}
