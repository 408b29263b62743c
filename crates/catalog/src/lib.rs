//! Catalogs: how names become tables.

mod filesystem;

pub use filesystem::FilesystemCatalog;
