//! The schemas that a table handle has read.

use std::collections::BTreeMap;
use std::sync::Arc;

use linn_format::SchemaId;
use linn_format::schema::TableSchema;
use parking_lot::Mutex;

/// The schemas that a table object has read.
#[derive(Debug, Default)]
pub(crate) struct SchemaCache(Mutex<BTreeMap<SchemaId, Arc<TableSchema>>>);

impl SchemaCache {
    /// A schema that was read.
    pub(crate) fn get(&self, id: SchemaId) -> Option<Arc<TableSchema>> {
        self.0.lock().get(&id).cloned()
    }

    /// Keeps a schema that was read.
    pub(crate) fn put(&self, schema: Arc<TableSchema>) {
        self.0.lock().insert(schema.id, schema);
    }

    /// Forgets everything, because files were written over.
    pub(crate) fn clear(&self) {
        self.0.lock().clear();
    }
}
