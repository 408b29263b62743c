//! Results on standard output in the format the user chose.

mod cell;
mod change;
mod columns;
mod csv;
mod encode;
mod flat;
mod json;
mod stream;
mod style;
mod table;
mod time;

use std::io::{IsTerminal, Write};

use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use arrow::record_batch::RecordBatch;
use linn::{Error, Result};

use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use crate::args::OutputFormat;

pub(crate) use change::ChangeSink;
pub(crate) use columns::{Columns, count, size, span, time};
pub(crate) use csv::quote;
pub(crate) use json::texts as json_texts;
pub(crate) use stream::{Out, is_broken};
pub(crate) use style::{Decimals, Style};

/// Rows of a table that are shown on a terminal.
const SCREEN: usize = 500;

/// Writes batches of one result as they come; [`Sink::finish`] completes the document.
pub(crate) struct Sink<W: Write + Send> {
    inner: Inner<W>,
    rows: usize,
}

enum Inner<W: Write + Send> {
    Text { out: W, markdown: bool, schema: SchemaRef, batches: Vec<RecordBatch>, left: usize },
    Json(json::Writer<W>),
    Csv(csv::Writer<W>),
    Arrow(Box<arrow::ipc::writer::StreamWriter<W>>),
    Parquet(Box<ArrowWriter<W>>),
}

impl<W: Write + Send> Sink<W> {
    /// A sink for batches of `schema`.
    ///
    /// # Errors
    /// `Unavailable` when the output is gone.
    pub(crate) fn new(out: W, format: OutputFormat, schema: SchemaRef) -> Result<Self> {
        Self::styled(out, format, schema, &Style::default())
    }

    /// As [`new`](Self::new), with values written in a style.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub(crate) fn styled(out: W, format: OutputFormat, schema: SchemaRef, style: &Style) -> Result<Self> {
        let inner = match format {
            OutputFormat::Table => {
                let left = if std::io::stdout().is_terminal() { SCREEN } else { usize::MAX };
                Inner::Text { out, markdown: false, schema, batches: Vec::new(), left }
            }
            OutputFormat::Markdown => {
                Inner::Text { out, markdown: true, schema, batches: Vec::new(), left: usize::MAX }
            }
            OutputFormat::Json => Inner::Json(json::Writer::new(out, true, style.decimals)),
            OutputFormat::Ndjson => Inner::Json(json::Writer::new(out, false, style.decimals)),
            OutputFormat::Csv | OutputFormat::Tsv => {
                let delimiter = if format == OutputFormat::Tsv { b'\t' } else { b',' };
                Inner::Csv(csv::Writer::new(out, delimiter, &style.null, &schema)?)
            }
            OutputFormat::Debezium => {
                return Err(Error::invalid("Debezium events are of changes").with_hint("`linn table tail` prints them"));
            }
            OutputFormat::Arrow => {
                let writer = arrow::ipc::writer::StreamWriter::try_new(out, &schema).map_err(unwritten)?;
                Inner::Arrow(Box::new(writer))
            }
            OutputFormat::Parquet => {
                let level = ZstdLevel::try_new(1).map_err(parquet)?;
                let properties = WriterProperties::builder().set_compression(Compression::ZSTD(level)).build();
                Inner::Parquet(Box::new(ArrowWriter::try_new(out, schema, Some(properties)).map_err(parquet)?))
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
            Inner::Csv(writer) => writer.write(batch)?,
            Inner::Arrow(writer) => writer.write(batch).map_err(unwritten)?,
            Inner::Parquet(writer) => writer.write(batch).map_err(parquet)?,
        }
        Ok(())
    }

    /// Makes what was written visible as far as the format can.
    pub(crate) fn flush(&mut self) -> Result<()> {
        match &mut self.inner {
            Inner::Text { out, .. } => out.flush().map_err(gone),
            Inner::Json(writer) => writer.flush(),
            Inner::Csv(writer) => writer.flush(),
            Inner::Arrow(writer) => writer.get_mut().flush().map_err(gone),
            // The end of the file says where everything is.
            Inner::Parquet(_) => Ok(()),
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
            Inner::Csv(mut writer) => writer.flush()?,
            Inner::Parquet(writer) => {
                writer.into_inner().map_err(parquet)?.flush().map_err(gone)?;
            }
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
        other => other.into(),
    }
}

/// Each row as a JSON object.
///
/// # Errors
/// Those of Arrow, for types that JSON has no form for.
pub(crate) fn json_lines(batch: &RecordBatch) -> Result<Vec<String>> {
    json::lines(batch, Decimals::Number)
}

fn parquet(e: ParquetError) -> Error {
    match e {
        ParquetError::NYI(what) => Error::unsupported(format!("feature of Parquet: {what}")),
        other => Error::unavailable("the Parquet file cannot be written").with_source(other),
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
