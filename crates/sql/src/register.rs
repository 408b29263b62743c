//! A warehouse in anybody's session of DataFusion.

mod sink;
mod table;

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::catalog::{CatalogProvider, SchemaProvider, TableProvider};
use datafusion::error::Result as DfResult;
use datafusion::execution::context::SessionContext;
use linn::{Catalog, ErrorKind, Identifier, Result, Warehouse};

use self::table::WritableTable;
use crate::error::theirs;
use crate::provider::open;

/// Registers a warehouse as the catalog `name` of a session: `SELECT … FROM name.db.table`, `INSERT INTO name.db.table …`. Each query
/// reads the table as it is when the query is planned. Databases are listed once; those made later appear when the warehouse is
/// registered again. System tables are found by their names, such as `"orders$snapshots"`.
///
/// ```
/// # use datafusion::prelude::SessionContext;
/// # use linn::{Options, Warehouse};
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// # let warehouse = Warehouse::open("memory:", Options::new())?;
/// # warehouse.create("shop.orders").column("id", "BIGINT")?.run().await?;
/// let context = SessionContext::new();
/// linn_sql::register_linn(&context, "lake", &warehouse).await?;
/// context.sql("INSERT INTO lake.shop.orders VALUES (1), (2)").await?.collect().await?;
/// assert_eq!(context.sql("SELECT * FROM lake.shop.orders WHERE id > 1").await?.count().await?, 1);
/// # Ok(())
/// # }
/// # tokio::runtime::Runtime::new().unwrap().block_on(run()).unwrap();
/// ```
///
/// # Errors
/// What listing the warehouse yields.
pub async fn register_linn(context: &SessionContext, name: &str, warehouse: &Warehouse) -> Result<()> {
    let catalog = Arc::clone(warehouse.catalog());
    let mut databases = Vec::new();
    for database in catalog.list_databases().await? {
        let tables = catalog.list_tables(&database).await?;
        databases.push(Arc::new(Database { catalog: Arc::clone(&catalog), name: database, tables }));
    }
    context.register_catalog(name, Arc::new(Databases(databases)));
    Ok(())
}

#[derive(Debug)]
struct Databases(Vec<Arc<Database>>);

impl CatalogProvider for Databases {
    fn schema_names(&self) -> Vec<String> {
        self.0.iter().map(|database| database.name.clone()).collect()
    }

    fn schema(&self, name: &str) -> Option<Arc<dyn SchemaProvider>> {
        let found = self.0.iter().find(|database| database.name == name)?;
        Some(Arc::clone(found) as Arc<dyn SchemaProvider>)
    }
}

#[derive(Debug)]
struct Database {
    catalog: Arc<dyn Catalog>,
    name: String,
    /// Tables when the warehouse was registered, for listings.
    tables: Vec<String>,
}

impl Database {
    async fn writable(&self, id: &Identifier) -> Result<Arc<dyn TableProvider>> {
        Ok(Arc::new(WritableTable::open(self.catalog.table(id).await?).await?))
    }
}

#[async_trait]
impl SchemaProvider for Database {
    fn table_names(&self) -> Vec<String> {
        self.tables.clone()
    }

    async fn table(&self, name: &str) -> DfResult<Option<Arc<dyn TableProvider>>> {
        let id = Identifier::parse(name, &self.name).map_err(theirs)?;
        let opened = match id.system {
            Some(_) => open(&self.catalog, &id, None, None).await,
            None => self.writable(&id).await,
        };
        match opened {
            Ok(table) => Ok(Some(table)),
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
            Err(e) => Err(theirs(e)),
        }
    }

    fn table_exist(&self, name: &str) -> bool {
        self.tables.iter().any(|table| table == name)
    }
}
