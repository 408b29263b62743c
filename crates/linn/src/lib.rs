//! Linn as one library: the table format, tables and their life, and catalogs, re-exported from the crates below.

pub use linn_catalog as catalog;
pub use linn_core as core;
pub use linn_format as format;

pub use linn_catalog::FilesystemCatalog;
pub use linn_core::catalog::{Catalog, Identifier};
pub use linn_core::{CommitMessage, CommitOutcome, Env, Plan, Split, Table};
pub use linn_format::options::Options;
pub use linn_format::schema::NewTable;
pub use linn_format::{Error, ErrorKind, Result, ResultExt, SchemaId, SnapshotId};
