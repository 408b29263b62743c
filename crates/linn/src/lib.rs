//! Linn in a program: open a warehouse, read, write, follow and maintain tables.
//!
//! ```
//! use std::sync::Arc;
//!
//! use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
//! use linn::{Options, Warehouse, col};
//!
//! # async fn run() -> linn::Result<()> {
//! let warehouse = Warehouse::open("memory:", Options::new())?;
//! warehouse.create("shop.users").column("id", "BIGINT")?.column("name", "STRING")?.primary_key(["id"]).run().await?;
//! let users = warehouse.table("shop.users").await?;
//!
//! let id: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
//! let name: ArrayRef = Arc::new(StringArray::from(vec!["ada", "grace"]));
//! users.write().batch(RecordBatch::try_from_iter([("id", id), ("name", name)])?).commit().await?;
//!
//! let rows = users.read().columns(["name"]).filter(col("id").gt(1)).collect().await?;
//! assert_eq!(rows.iter().map(RecordBatch::num_rows).sum::<usize>(), 1);
//! # Ok(())
//! # }
//! # tokio::runtime::Runtime::new().unwrap().block_on(run()).unwrap();
//! ```
//!
//! [`Warehouse`] and [`WarehouseTable`] are the short way. Everything below them is open too: [`WarehouseTable::core`] is the table
//! of `linn-core`, with which a program prepares and commits apart, hands splits to other processes, or keeps a commit user over
//! its restarts. [`format`], [`core`] and [`catalog`] are the crates below.

mod create;
mod filter;
mod maintain;
mod once;
mod read;
mod table;
mod tail;
mod warehouse;
mod write;

pub use linn_catalog as catalog;
pub use linn_core as core;
pub use linn_format as format;

pub use create::TableBuilder;
pub use filter::{Column, Filter, Value, col};
pub use maintain::Compaction;
pub use once::{commit_once, committed, overwrite_once};
pub use read::TableRead;
pub use table::WarehouseTable;
pub use tail::TableTail;
pub use warehouse::Warehouse;
pub use write::TableWrite;

pub use linn_catalog::FilesystemCatalog;
pub use linn_core::catalog::{Catalog, Identifier};
pub use linn_core::{CommitMessage, CommitOutcome, Env, Plan, Split, Table};
pub use linn_format::options::Options;
pub use linn_format::schema::NewTable;
pub use linn_format::{Error, ErrorKind, Result, ResultExt, SchemaId, SnapshotId};
