//! A table: its schema, its place, and the builders for everything one does with it.

use std::sync::Arc;

use linn_format::schema::TableSchema;

use crate::seam::Env;

/// A table at one schema with options as seen by this caller (dynamic options applied). Cheap to clone.
#[derive(Debug, Clone)]
pub struct Table {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    name: String,
    path: String,
    schema: TableSchema,
    env: Env,
}

impl Table {
    /// A table called `name` (`db.table`, for messages) at `path`, relative to the store's root.
    pub fn new(name: impl Into<String>, path: impl Into<String>, schema: TableSchema, env: Env) -> Self {
        Self { inner: Arc::new(Inner { name: name.into(), path: path.into(), schema, env }) }
    }

    /// `db.table`.
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// Path relative to the store's root, without a trailing slash.
    pub fn path(&self) -> &str {
        &self.inner.path
    }

    /// The schema.
    pub fn schema(&self) -> &TableSchema {
        &self.inner.schema
    }

    /// The seams.
    pub fn env(&self) -> &Env {
        &self.inner.env
    }
}
