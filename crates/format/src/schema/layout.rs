//! The layout of the key-value files of a schema.

use super::TableSchema;
use crate::file::KeyValueLayout;
use crate::{Error, Result};

impl KeyValueLayout {
    /// The layout for files of `schema`, whose batches hold all its columns in order.
    ///
    /// # Errors
    /// `Invalid` for types without an Arrow type and for key columns that do not exist.
    pub fn of(schema: &TableSchema) -> Result<Self> {
        let position = |name: &str| {
            let found = schema.fields.iter().position(|f| f.name == name);
            found.ok_or_else(|| Error::invalid(format!("primary key column {name:?} does not exist")))
        };
        let keys = schema.trimmed_primary_keys().iter().map(|f| position(&f.name)).collect::<Result<Vec<_>>>()?;
        Self::new(schema.key_value_fields(), schema.fields.len(), keys)
    }
}
