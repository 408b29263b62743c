//! Rows of JSON objects.

use std::io::BufRead;
use std::sync::Arc;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::json::ReaderBuilder;
use linn::{Error, Result};

use super::super::aside::Sink;

/// Rows of a batch.
const ROWS: usize = 8_192;

/// Reads a file into batches of these columns; what the objects lack is null, what they have besides is left out.
///
/// # Errors
/// What reading yields; `Invalid` for what is no JSON, and a value of another type.
pub(in crate::file) fn read(input: impl BufRead, path: &str, schema: &SchemaRef, sink: &Sink) -> Result<bool> {
    let mut rows = 0u64;
    let reader = ReaderBuilder::new(Arc::clone(schema)).with_batch_size(ROWS).with_coerce_primitive(true).build(input);
    for batch in reader.map_err(|e| failed(e, path, rows))? {
        let batch = batch.map_err(|e| failed(e, path, rows))?;
        rows += batch.num_rows() as u64;
        if !sink.send(batch) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn failed(error: ArrowError, path: &str, rows: u64) -> Error {
    let error = match error {
        ArrowError::JsonError(text) => {
            let text = text.trim_start_matches("whilst decoding field ").to_owned();
            Error::invalid(format!("the file cannot be read as JSON: {text}"))
                .with_hint("give the types: columns = {'name': 'TYPE', …}, or look at more rows: sample_size = -1")
        }
        ArrowError::IoError(text, inner) => match inner.into_inner().map(|inner| inner.downcast::<Error>()) {
            Some(Ok(ours)) => *ours,
            _ => Error::corrupt(format!("the file cannot be read: {text}")),
        },
        other => other.into(),
    };
    error.with("file", path).with("rows before", rows)
}
