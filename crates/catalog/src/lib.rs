//! Catalogs: how names become tables.

mod filesystem;

pub use filesystem::{DEFAULT_DATABASE, FilesystemCatalog};
