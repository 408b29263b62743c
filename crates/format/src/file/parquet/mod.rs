//! Parquet data files (spec: format.md C.7).
//!
//! Files are decoded and encoded through Arrow; what Arrow's own conversion does differently from the reference (INT96,
//! vectors, names and ids of nested fields) is put right at the edge, in `schema`, `int96` and `conform`.

mod conform;
mod damage;
mod dictionary;
pub(crate) mod fence;
mod int96;
mod open;
mod page;
mod pages;
mod project;
mod property;
mod prune;
mod read;
mod schema;
mod source;
#[cfg(test)]
mod tests;
mod write;

use std::io::Write;
use std::sync::Arc;

use async_trait::async_trait;
use parquet::errors::ParquetError;

pub use schema::int96_as_bytes;

use super::{BatchStream, FileFormat, FileRead, FileWrite, FileWriter};
use crate::{Error, ErrorKind, RangeReader, Result};

/// Parquet.
#[derive(Debug, Clone, Copy)]
pub struct Parquet;

#[async_trait]
impl FileFormat for Parquet {
    fn name(&self) -> &'static str {
        "parquet"
    }

    async fn read(&self, source: Arc<dyn RangeReader>, read: FileRead) -> Result<BatchStream> {
        read::stream(source, read).await
    }

    fn write(&self, write: FileWrite, sink: Box<dyn Write + Send>) -> Result<Box<dyn FileWriter>> {
        Ok(Box::new(write::Writer::start(write, sink)?))
    }
}

/// An error of ours that went through the library, if it is one.
fn ours(e: ParquetError) -> Result<Error, ParquetError> {
    match e {
        ParquetError::External(inner) => match inner.downcast::<Error>() {
            Ok(error) => Ok(*error),
            Err(other) => Err(ParquetError::External(other)),
        },
        other => Err(other),
    }
}

/// What went wrong while reading `path`: our own errors as they are, everything else says that the file is corrupt.
fn reading(e: ParquetError, path: &str) -> Error {
    let error = ours(e).unwrap_or_else(|e| match e {
        ParquetError::NYI(message) => Error::unsupported(format!("a feature of Parquet: {message}")),
        other => Error::corrupt("not a readable parquet file").with_source(other),
    });
    error.with("path", path)
}

/// What went wrong while writing: the sink's error as it is, everything else is a fault of ours.
fn writing(e: ParquetError) -> Error {
    ours(e).unwrap_or_else(|e| match e {
        ParquetError::External(inner) => match inner.downcast::<std::io::Error>() {
            Ok(io) => sink(*io),
            Err(other) => Error::internal("parquet cannot be written").with_source(other),
        },
        other => Error::internal("parquet cannot be written").with_source(other),
    })
}

fn sink(e: std::io::Error) -> Error {
    match e.downcast::<Error>() {
        Ok(error) => error,
        Err(other) => Error::new(ErrorKind::Unavailable, "the file cannot be written").with_source(other),
    }
}
