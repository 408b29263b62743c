//! Results on standard output in the format the user chose.

mod change;
mod columns;
mod flat;
mod json;
mod stream;
mod table;

use std::io::{IsTerminal, Write};

use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use arrow::record_batch::RecordBatch;
use linn::{Error, Result};

use crate::args::OutputFormat;

use flat::flat;

pub(crate) use change::ChangeSink;
pub(crate) use columns::{Columns, count, size, span, time};
pub(crate) use stream::{Out, is_broken};

/// Rows of a table that are shown on a terminal.
const SCREEN: usize = 500;

/// Writes batches of one result as they come; [`Sink::finish`] completes the document.
pub(crate) struct Sink<W: Write> {
    inner: Inner<W>,
    rows: usize,
}

enum Inner<W: Write> {
    Text { out: W, markdown: bool, schema: SchemaRef, batches: Vec<RecordBatch>, left: usize },
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
            OutputFormat::Table => {
                let left = if std::io::stdout().is_terminal() { SCREEN } else { usize::MAX };
                Inner::Text { out, markdown: false, schema, batches: Vec::new(), left }
            }
            OutputFormat::Markdown => {
                Inner::Text { out, markdown: true, schema, batches: Vec::new(), left: usize::MAX }
            }
            OutputFormat::Json => Inner::Json(json::Writer::new(out, true)),
            OutputFormat::Ndjson => Inner::Json(json::Writer::new(out, false)),
            OutputFormat::Csv | OutputFormat::Tsv => {
                let delimiter = if format == OutputFormat::Tsv { b'\t' } else { b',' };
                let mut writer = arrow_csv::WriterBuilder::new().with_header(true).with_delimiter(delimiter).build(out);
                writer.write(&flat(&RecordBatch::new_empty(schema))?).map_err(unwritten)?;
                Inner::Csv(Box::new(writer))
            }
            OutputFormat::Debezium => {
                return Err(Error::invalid("Debezium events are of changes").with_hint("`linn table tail` prints them"));
            }
            OutputFormat::Arrow => {
                let writer = arrow::ipc::writer::StreamWriter::try_new(out, &schema).map_err(unwritten)?;
                Inner::Arrow(Box::new(writer))
            }
        };
        Ok(Self { inner, rows: 0 })
    }

    /// Writes a batch.
    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.rows += batch.num_rows();
        match &mut self.inner {
            Inner::Text { batches, left, .. } => {
                let shown = batch.num_rows().min(*left);
                *left -= shown;
                if shown > 0 {
                    batches.push(batch.slice(0, shown));
                }
            }
            Inner::Json(writer) => writer.write(batch)?,
            Inner::Csv(writer) => writer.write(&flat(batch)?).map_err(unwritten)?,
            Inner::Arrow(writer) => writer.write(batch).map_err(unwritten)?,
        }
        Ok(())
    }

    /// Makes what was written visible as far as the format can.
    pub(crate) fn flush(&mut self) -> Result<()> {
        match &mut self.inner {
            Inner::Text { out, .. } => out.flush().map_err(gone),
            Inner::Json(writer) => writer.flush(),
            Inner::Csv(_) => Ok(()),
            Inner::Arrow(writer) => writer.get_mut().flush().map_err(gone),
        }
    }

    /// Completes the document and returns the number of rows.
    pub(crate) fn finish(self) -> Result<usize> {
        match self.inner {
            Inner::Text { mut out, markdown, schema, batches, .. } => {
                let text = table::render(&schema, &batches, markdown)?;
                writeln!(out, "{text}").and_then(|()| out.flush()).map_err(gone)?;
                let shown: usize = batches.iter().map(RecordBatch::num_rows).sum();
                if shown < self.rows {
                    eprintln!("the first {shown} of {} rows; another format (-o csv) shows all", self.rows);
                }
            }
            Inner::Json(writer) => writer.finish()?,
            Inner::Csv(writer) => writer.into_inner().flush().map_err(gone)?,
            Inner::Arrow(mut writer) => {
                writer.finish().map_err(unwritten)?;
                writer.get_mut().flush().map_err(gone)?;
            }
        }
        Ok(self.rows)
    }
}

/// The error of an output that was closed.
pub(crate) fn gone(e: std::io::Error) -> Error {
    Error::unavailable("the output cannot be written").with_source(e)
}

/// The error of a writer: the output that was closed or is full, or else what was to be written.
pub(crate) fn unwritten(e: ArrowError) -> Error {
    match e {
        ArrowError::IoError(_, e) => gone(e),
        // Of CSV only the text of the error is left.
        ArrowError::CsvError(text) => Error::unavailable("the output cannot be written").with_source(text),
        other => other.into(),
    }
}

/// Writes lines of text.
///
/// # Errors
/// `Unavailable` when the output is gone.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut out = Out::new();
    writeln!(out, "{}", text.trim_end_matches('\n')).and_then(|()| out.flush()).map_err(gone)
}
