//! Which rows of a data file are deleted, and where that is written.

use std::collections::BTreeMap;
use std::sync::Arc;

use linn_format::manifest::DeletionVectorMeta;
use roaring::RoaringTreemap;

/// Deleted positions by data file.
pub(crate) type Positions = BTreeMap<String, Arc<RoaringTreemap>>;

/// A deletion vector and the index file it lies in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeletionFile {
    /// Path of the index file, relative to the store's root.
    pub path: String,
    /// Where in it.
    pub meta: DeletionVectorMeta,
}
