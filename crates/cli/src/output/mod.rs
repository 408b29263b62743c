//! Results on standard output in the format the user chose.

mod columns;
mod json;
mod stream;
mod table;

use std::io::Write;

use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use linn::{Error, Result};

use crate::args::OutputFormat;

pub(crate) use columns::{Columns, size, time};
pub(crate) use stream::{Out, is_broken};

/// Writes batches of one result as they come; [`Sink::finish`] completes the document.
pub(crate) struct Sink<W: Write> {
    inner: Inner<W>,
    rows: usize,
}

enum Inner<W: Write> {
    Text { out: W, markdown: bool, schema: SchemaRef, batches: Vec<RecordBatch> },
    Json(json::Writer<W>),
    Csv(Box<arrow_csv::Writer<W>>),
    Arrow(Box<arrow::ipc::writer::StreamWriter<W>>),
}

impl<W: Write> Sink<W> {
    /// A sink for batches of `schema`.
    ///
    /// # Errors
    /// `Unavailable` when the output is gone.
    pub(crate) fn new(out: W, format: OutputFormat, schema: SchemaRef) -> Result<Self> {
        let inner = match format {
            OutputFormat::Table => Inner::Text { out, markdown: false, schema, batches: Vec::new() },
            OutputFormat::Markdown => Inner::Text { out, markdown: true, schema, batches: Vec::new() },
            OutputFormat::Json => Inner::Json(json::Writer::new(out, true)),
            OutputFormat::Ndjson => Inner::Json(json::Writer::new(out, false)),
            OutputFormat::Csv => {
                let mut writer = arrow_csv::WriterBuilder::new().with_header(true).build(out);
                writer.write(&RecordBatch::new_empty(schema))?;
                Inner::Csv(Box::new(writer))
            }
            OutputFormat::Arrow => Inner::Arrow(Box::new(arrow::ipc::writer::StreamWriter::try_new(out, &schema)?)),
        };
        Ok(Self { inner, rows: 0 })
    }

    /// Writes a batch.
    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.rows += batch.num_rows();
        match &mut self.inner {
            Inner::Text { batches, .. } => batches.push(batch.clone()),
            Inner::Json(writer) => writer.write(batch)?,
            Inner::Csv(writer) => writer.write(batch)?,
            Inner::Arrow(writer) => writer.write(batch)?,
        }
        Ok(())
    }

    /// Completes the document and returns the number of rows.
    pub(crate) fn finish(self) -> Result<usize> {
        match self.inner {
            Inner::Text { mut out, markdown, schema, batches } => {
                let text = table::render(&schema, &batches, markdown)?;
                writeln!(out, "{text}").and_then(|()| out.flush()).map_err(gone)?;
            }
            Inner::Json(writer) => writer.finish()?,
            Inner::Csv(writer) => writer.into_inner().flush().map_err(gone)?,
            Inner::Arrow(mut writer) => writer.finish()?,
        }
        Ok(self.rows)
    }
}

/// The error of an output that was closed.
pub(crate) fn gone(e: std::io::Error) -> Error {
    Error::unavailable("the output cannot be written").with_source(e)
}

/// Writes lines of text.
///
/// # Errors
/// `Unavailable` when the output is gone.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut out = Out::new();
    writeln!(out, "{}", text.trim_end_matches('\n')).and_then(|()| out.flush()).map_err(gone)
}
