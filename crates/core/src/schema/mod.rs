//! The schemas of a table on disk. A schema file never changes once it is there; a new version is the atomic creation of the
//! next number (spec: format.md C.3).

mod made;

use std::sync::Arc;

use bytes::Bytes;
use linn_format::schema::TableSchema;
use linn_format::{Error, ErrorKind, Result, ResultExt, SchemaId};

use crate::seam::Storage;
use crate::snapshot::numbered;
use crate::table::{SchemaCache, Table};
pub(crate) use made::is_made;

/// Reads and changes the schemas at one place.
#[derive(Debug, Clone)]
pub struct Schemas {
    storage: Arc<dyn Storage>,
    dir: String,
    /// Those of the main branch, where this is another one.
    main: Option<String>,
    cache: Arc<SchemaCache>,
}

impl Schemas {
    /// The schemas of the table's branch.
    pub fn new(table: &Table) -> Self {
        let main = table.branch().map(|_| format!("{}/schema", table.path()));
        let (storage, cache) = (Arc::clone(table.storage()), Arc::clone(table.schema_cache()));
        Self { storage, dir: table.schema_dir(), main, cache }
    }

    /// The schemas of the table (main branch) at a path, for who does not know any of its schemas yet.
    pub fn at(storage: Arc<dyn Storage>, table_path: &str) -> Self {
        Self { storage, dir: format!("{}/schema", table_path.trim_end_matches('/')), main: None, cache: Arc::default() }
    }

    /// Folder of the schemas.
    pub(crate) fn dir(&self) -> &str {
        &self.dir
    }

    pub(crate) fn path(&self, id: SchemaId) -> String {
        format!("{}/schema-{id}", self.dir)
    }

    /// The numbers of all schemas, in order.
    pub async fn list(&self) -> Result<Vec<SchemaId>> {
        numbered(&*self.storage, &self.dir, "schema-").await.map(|ids| ids.into_iter().map(SchemaId).collect())
    }

    /// The newest schema; `None` where there is no table.
    ///
    /// # Errors
    /// `Corrupt` with the path when it cannot be read as one.
    pub async fn latest(&self) -> Result<Option<Arc<TableSchema>>> {
        match self.list().await?.pop() {
            Some(id) => self.get(id).await.map(Some),
            None => Ok(None),
        }
    }

    /// One schema. Older ones than a branch has are those of the table that it was made from: not every writer brings them all.
    ///
    /// # Errors
    /// `NotFound` when there is none of this number, `Corrupt` with the path when it cannot be read as one.
    pub async fn get(&self, id: SchemaId) -> Result<Arc<TableSchema>> {
        if let Some(schema) = self.cache.get(id) {
            return Ok(schema);
        }
        let (path, bytes) = self.bytes(id).await?;
        let schema = TableSchema::from_json(&bytes).context("path", &path)?;
        if schema.id != id {
            return Err(
                Error::corrupt(format!("the file of schema {id} holds schema {}", schema.id)).with("path", path)
            );
        }
        let schema = Arc::new(schema);
        self.cache.put(Arc::clone(&schema));
        Ok(schema)
    }

    async fn bytes(&self, id: SchemaId) -> Result<(String, Bytes)> {
        let path = self.path(id);
        match (self.storage.read(&path, None).await, &self.main) {
            (Err(e), Some(main)) if e.kind() == ErrorKind::NotFound => {
                if self.list().await?.first().is_none_or(|first| *first < id) {
                    return Err(e);
                }
                let path = format!("{main}/schema-{id}");
                self.storage.read(&path, None).await.map(|bytes| (path, bytes))
            }
            (bytes, _) => bytes.map(|bytes| (path, bytes)),
        }
    }

    /// Writes the first schema of a new table.
    ///
    /// # Errors
    /// `AlreadyExists` when the table exists already, `Invalid` when this is not a first schema.
    pub async fn create(&self, schema: &TableSchema) -> Result<()> {
        if schema.id != SchemaId(0) {
            return Err(Error::invalid(format!("a table cannot begin with schema {}", schema.id)));
        }
        if !self.list().await?.is_empty() {
            return Err(Error::already_exists("the table exists already").with("path", &self.dir));
        }
        self.publish(schema).await
    }

    /// Creates a schema file. An uncertain creation is read back: our bytes under the name mean that it is ours.
    pub(crate) async fn publish(&self, schema: &TableSchema) -> Result<()> {
        let (path, bytes) = (self.path(schema.id), Bytes::from(schema.to_json()));
        let result = self.storage.create(&path, bytes.clone()).await;
        match result {
            Err(e) if e.kind() == ErrorKind::UnknownOutcome => match self.storage.read(&path, None).await {
                Ok(there) if there == bytes => Ok(()),
                Ok(_) => Err(Error::already_exists("another schema with this number exists").with("path", path)),
                Err(_) => Err(e),
            },
            result => result,
        }
    }
}
