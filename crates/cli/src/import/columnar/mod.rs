//! Parquet, ORC, Avro and Arrow IPC in their own types.

mod arrow;
mod avro;
mod footer;
mod int96;
mod orc;
mod page;
mod parquet;
mod patched;
mod thrift;

use ::arrow::datatypes::SchemaRef;
use ::arrow::error::ArrowError;
use ::arrow::record_batch::RecordBatch;
use linn::format::types::{DataField, fields_from_arrow};
use linn::{Error, Result};

use super::ahead::damaged;
use super::chunk::{Chunk, Chunks};
use super::guard::guarded;
use super::source::Source;
use crate::args::FileKind;
use crate::output;

/// Batches of one file.
type Batches = Box<dyn Iterator<Item = Result<RecordBatch>> + Send>;

/// The columns of a table that holds the rows of a columnar file.
///
/// # Errors
/// As [`open`], and `Unsupported` for types that no table has.
pub(crate) fn fields(source: &Source) -> Result<Vec<DataField>> {
    match source.kind {
        FileKind::Parquet => parquet::fields(source),
        _ => fields_from_arrow(&batches(source)?.0),
    }
}

/// The schema of a columnar file and its chunks.
///
/// # Errors
/// `Invalid` when the file is of another format, `Corrupt` when it is damaged.
pub(crate) fn open(source: &Source, keep: bool) -> Result<(SchemaRef, Chunks)> {
    let (schema, batches) = batches(source)?;
    let mut row = 0u64;
    let chunks = batches.map(move |batch| {
        let batch = batch?;
        let first = row + 1;
        row += batch.num_rows() as u64;
        let originals = if keep { output::json_lines(&batch)? } else { Vec::new() };
        Ok(Chunk { rows: (first..=row).collect(), batch, originals, broken: Vec::new() })
    });
    Ok((schema, Box::new(chunks)))
}

fn batches(source: &Source) -> Result<(SchemaRef, Batches)> {
    let opened = guarded(|| match source.kind {
        FileKind::Parquet => parquet::open(source),
        FileKind::Orc => orc::open(source),
        FileKind::Avro => avro::open(source),
        _ => arrow::open(source),
    });
    opened.unwrap_or_else(|panic| Err(damaged(panic).with("file", source.name())))
}

/// The batches of a reader that fails where the file is damaged.
fn checked(batches: impl Iterator<Item = Result<RecordBatch, ArrowError>> + Send + 'static) -> Batches {
    Box::new(super::chunk::until_error(batches.map(|batch| batch.map_err(broken))))
}

/// The error of a library that reads a file.
fn broken(e: ArrowError) -> Error {
    match e {
        ArrowError::NotYetImplemented(what) => Error::unsupported(format!("a feature of the file's format: {what}")),
        other => damaged(other),
    }
}
