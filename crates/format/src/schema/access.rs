//! What other code asks of a schema.

use super::TableSchema;
use crate::types::{
    DataField, DataType, KEY_FIELD_ID_OFFSET, KEY_PREFIX, Kind, SEQUENCE_NUMBER, SEQUENCE_NUMBER_ID, VALUE_KIND,
    VALUE_KIND_ID,
};
use crate::{Error, Result};

impl TableSchema {
    /// The column with this name.
    pub fn field(&self, name: &str) -> Option<&DataField> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// The column with this id; fields inside of columns are not searched.
    pub fn field_by_id(&self, id: i32) -> Option<&DataField> {
        self.fields.iter().find(|field| field.id == id)
    }

    /// The position of the column with this name.
    pub fn index_of(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|field| field.name == name)
    }

    /// Whether rows have a primary key and are merged by it.
    pub fn is_primary_key_table(&self) -> bool {
        !self.primary_keys.is_empty()
    }

    /// The primary key columns that are no partition columns, in key order.
    pub fn trimmed_primary_keys(&self) -> Vec<&DataField> {
        let trimmed = self.primary_keys.iter().filter(|name| !self.partition_keys.contains(name));
        trimmed.filter_map(|name| self.field(name)).collect()
    }

    /// The primary key columns, in key order.
    pub fn primary_key_fields(&self) -> Vec<&DataField> {
        self.primary_keys.iter().filter_map(|name| self.field(name)).collect()
    }

    /// The partition columns, in partition order.
    pub fn partition_fields(&self) -> Vec<&DataField> {
        self.partition_keys.iter().filter_map(|name| self.field(name)).collect()
    }

    /// The columns that a row's bucket is computed from: `bucket-key`, else the trimmed primary key; may be empty.
    ///
    /// # Errors
    /// `Invalid` when `bucket-key` names a column that does not exist.
    pub fn bucket_keys(&self) -> Result<Vec<&DataField>> {
        let names = self.options.bucket_key();
        if names.is_empty() {
            return Ok(self.trimmed_primary_keys());
        }
        names
            .into_iter()
            .map(|name| {
                self.field(name).ok_or_else(|| {
                    Error::invalid(format!("\"bucket-key\" names column {name:?}, which does not exist"))
                        .with_hint("name columns of the table in \"bucket-key\"")
                })
            })
            .collect()
    }

    /// Whether a key may move from one partition to another: the primary key lacks a partition column.
    pub fn is_cross_partition(&self) -> bool {
        self.is_primary_key_table() && self.partition_keys.iter().any(|name| !self.primary_keys.contains(name))
    }

    /// The columns of a data file of a primary-key table: `_KEY_` columns of the trimmed primary key (not in thin mode),
    /// `_SEQUENCE_NUMBER`, `_VALUE_KIND`, then all columns (spec: format.md C.7).
    pub fn key_value_fields(&self) -> Vec<DataField> {
        let mut fields = Vec::with_capacity(self.fields.len() + self.primary_keys.len() + 2);
        // A table whose thin mode is no switch cannot be made; a file of one has the default layout.
        if !self.options.thin_mode().unwrap_or(false) {
            fields.extend(self.key_fields());
        }
        fields.push(DataField::new(SEQUENCE_NUMBER_ID, SEQUENCE_NUMBER, DataType::required(Kind::BigInt)));
        fields.push(DataField::new(VALUE_KIND_ID, VALUE_KIND, DataType::required(Kind::TinyInt)));
        fields.extend(self.fields.iter().cloned());
        fields
    }

    /// The trimmed primary key as `_KEY_` columns.
    pub fn key_fields(&self) -> Vec<DataField> {
        let as_key = |field: &DataField| DataField {
            id: field.id.wrapping_add(KEY_FIELD_ID_OFFSET),
            name: format!("{KEY_PREFIX}{}", field.name),
            ..field.clone()
        };
        self.trimmed_primary_keys().into_iter().map(as_key).collect()
    }
}
