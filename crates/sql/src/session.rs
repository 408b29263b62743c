//! A session: a catalog, a current database, and running statements one after the other.

mod settings;
mod temporary;

use std::collections::BTreeMap;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, PoisonError, RwLock};

use datafusion::arrow::array::AsArray;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::context::SessionContext;
use datafusion::logical_expr::ScalarUDF;
use datafusion::prelude::SessionConfig;
use datafusion::sql::sqlparser::tokenizer::TokenWithSpan;
use futures::{StreamExt, TryStreamExt};
use linn::format::BatchStream;
use linn::{Catalog, Error, Identifier, Result};

use crate::error::ours;
use crate::exact::exact;
use crate::file::Stores;
use crate::function::functions;

pub(crate) use settings::Settings;
pub(crate) use temporary::{TEMPORARY, View, WithTemporary};

/// What a statement gave.
pub enum Output {
    /// Rows.
    Rows {
        /// Their schema.
        schema: SchemaRef,
        /// The rows, computed as they are taken.
        stream: BatchStream,
    },
    /// Something was done.
    Done {
        /// What, in words.
        message: String,
        /// Rows written, for DML.
        rows: Option<u64>,
    },
}

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rows { schema, .. } => f.debug_struct("Rows").field("schema", schema).finish_non_exhaustive(),
            Self::Done { message, rows } => {
                f.debug_struct("Done").field("message", message).field("rows", rows).finish()
            }
        }
    }
}

impl Output {
    /// Rows were written, such as `Inserted 3 rows into t.`: what was done with them, and where.
    pub(crate) fn wrote(verb: &str, rows: u64, place: impl fmt::Display) -> Self {
        Self::Done { message: format!("{verb} {} {place}.", row_count(rows)), rows: Some(rows) }
    }

    /// What tables held was replaced by rows.
    pub(crate) fn overwrote(rows: u64, table: impl fmt::Display) -> Self {
        Self::filled(format!("Overwrote {table}"), rows)
    }

    /// Something was done that brought rows with it.
    pub(crate) fn filled(what: String, rows: u64) -> Self {
        Self::Done { message: format!("{what} with {}.", row_count(rows)), rows: Some(rows) }
    }

    /// Something was done that wrote no rows.
    pub(crate) fn done(message: impl Into<String>) -> Self {
        Self::Done { message: message.into(), rows: None }
    }
}

/// A number of rows in words: `1 row`, `2 rows`.
pub(crate) fn row_count(rows: u64) -> String {
    let noun = if rows == 1 { "row" } else { "rows" };
    format!("{rows} {noun}")
}

/// A session over one catalog. Names are case-sensitive; functions and keywords are not.
pub struct Session {
    catalog: Arc<dyn Catalog>,
    temporary: Arc<WithTemporary>,
    database: RwLock<String>,
    context: SessionContext,
    settings: Settings,
    prepared: RwLock<BTreeMap<String, Arc<Prepared>>>,
    stores: Stores,
}

/// A statement with places for values.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// Types of the values, as far as they are given.
    pub(crate) types: Vec<String>,
    /// The statement.
    pub(crate) statement: Vec<TokenWithSpan>,
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("catalog", &self.catalog)
            .field("database", &self.database)
            .finish_non_exhaustive()
    }
}

/// The name under which the catalog is known to DataFusion.
pub(crate) const CATALOG: &str = "linn";

impl Session {
    /// A session whose unqualified names are in `database`.
    pub fn new(catalog: Arc<dyn Catalog>, database: &str) -> Self {
        let mut config = SessionConfig::new().with_default_catalog_and_schema(CATALOG, database);
        let options = config.options_mut();
        options.sql_parser.enable_ident_normalization = false;
        options.catalog.create_default_catalog_and_schema = false;
        // Strings are Utf8 in Linn's batches; views would only be converted back when written.
        options.sql_parser.map_string_types_to_utf8view = false;
        options.sql_parser.collect_spans = true;
        options.execution.parquet.schema_force_view_types = false;
        let state = exact(SessionStateBuilder::new().with_config(config).with_default_features()).build();
        let context = SessionContext::new_with_state(state);
        for function in functions() {
            context.register_udf(function);
        }
        let temporary = Arc::new(WithTemporary::new(catalog));
        Self {
            catalog: Arc::clone(&temporary) as Arc<dyn Catalog>,
            temporary,
            database: RwLock::new(database.to_owned()),
            context,
            settings: Settings::default(),
            prepared: RwLock::default(),
            stores: Stores::default(),
        }
    }

    /// Makes a function known to the statements that follow. One that is not volatile is computed over partitions where it
    /// is in a filter of partition columns.
    pub fn register_function(&self, function: ScalarUDF) {
        self.context.register_udf(function);
    }

    /// The catalog, with the temporary tables of the session.
    pub fn catalog(&self) -> &Arc<dyn Catalog> {
        &self.catalog
    }

    /// The database of unqualified names.
    pub fn database(&self) -> String {
        self.database.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set_database(&self, name: &str) {
        name.clone_into(&mut self.database.write().unwrap_or_else(PoisonError::into_inner));
    }

    pub(crate) fn context(&self) -> &SessionContext {
        &self.context
    }

    /// Temporary tables and views.
    pub(crate) fn temporary(&self) -> &WithTemporary {
        &self.temporary
    }

    /// What was set by hand.
    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The stores of files outside of the warehouse.
    pub(crate) fn stores(&self) -> &Stores {
        &self.stores
    }

    /// Prepared statements by their names.
    pub(crate) fn prepared(&self) -> &RwLock<BTreeMap<String, Arc<Prepared>>> {
        &self.prepared
    }

    /// Whether a text as a whole is of a regular expression.
    pub(crate) async fn matches(&self, text: &str, pattern: &str) -> Result<bool> {
        let quoted = |text: &str| text.replace('\'', "''");
        let query = format!("SELECT regexp_like('{}', '^(?:{})$')", quoted(text), quoted(pattern));
        let rows = self.context.sql(&query).await.map_err(ours)?.collect().await.map_err(ours)?;
        let found = rows.first().and_then(|batch| batch.column(0).as_boolean_opt().map(|column| column.value(0)));
        found.ok_or_else(|| Error::internal("regexp_like gave no answer"))
    }

    /// The table that the parts of a name mean.
    pub(crate) fn identifier(&self, parts: &[String]) -> Result<Identifier> {
        match parts {
            [table] if self.temporary.has(table) => Identifier::new(TEMPORARY, table),
            [table] => Identifier::new(&self.database(), table),
            [database, table] => Identifier::new(database, table),
            [catalog, database, table] if catalog == CATALOG => Identifier::new(database, table),
            _ => Err(linn::Error::invalid(format!("{:?} is not a table name", parts.join(".")))
                .with_hint("name a table as `table` or `database.table`")),
        }
    }
}

/// A DataFusion stream as one of ours. A panic of the library is an error, and never the end of the rows.
pub(crate) fn stream(rows: datafusion::execution::SendableRecordBatchStream) -> BatchStream {
    let rows = AssertUnwindSafe(rows.map_err(ours)).catch_unwind();
    rows.map(|batch| batch.unwrap_or_else(|_| Err(Error::corrupt("what a query reads is damaged")))).boxed()
}
