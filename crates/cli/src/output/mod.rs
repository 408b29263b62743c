//! Results on standard output in the format the user chose.

mod cell;
mod change;
mod columns;
mod csv;
mod document;
mod encode;
mod flat;
mod fold;
mod format;
mod grid;
mod json;
mod pager;
mod rolling;
mod screen;
mod stream;
mod style;
mod table;
mod time;
mod view;

use std::io::{IsTerminal, Write};

use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use arrow::record_batch::RecordBatch;
use linn::{Error, Result};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use grid::Layout;
use rolling::Rolling;
use screen::Screen;

pub(crate) use change::ChangeSink;
pub(crate) use columns::{Columns, count, size, span, thousands, time};
pub(crate) use csv::quote;
pub(crate) use document::Document;
pub(crate) use format::OutputFormat;
pub(crate) use json::texts as json_texts;
pub(crate) use stream::{Out, is_broken};
pub(crate) use style::{Decimals, Style};
pub(crate) use view::{set_view, view};

/// Writes batches of one result as they come; [`Sink::finish`] completes the document.
pub(crate) struct Sink<W: Write + Send> {
    inner: Inner<W>,
    rows: usize,
}

enum Inner<W: Write + Send> {
    Text(Box<Rolling<W>>),
    Screen(Box<Screen>),
    Json(json::Writer<W>),
    Csv(csv::Writer<W>),
    Arrow(Box<arrow::ipc::writer::StreamWriter<W>>),
    Parquet(Box<ArrowWriter<W>>),
}

/// How a format lays rows out, if it is for people.
fn layout(format: OutputFormat, expanded: bool) -> Option<Layout> {
    match format {
        OutputFormat::Table if !expanded => Some(Layout::Box),
        OutputFormat::Table | OutputFormat::Vertical => Some(Layout::Vertical),
        OutputFormat::Markdown => Some(Layout::Markdown),
        _ => None,
    }
}

/// A sink for batches of `schema` where the user looks: standard output, or the file that a session writes to.
///
/// # Errors
/// `Unavailable` when the output is gone.
pub(crate) fn sink(format: OutputFormat, schema: SchemaRef, style: &Style) -> Result<Sink<Box<dyn Write + Send>>> {
    let view = view();
    if let (Some(layout @ (Layout::Box | Layout::Vertical)), None) = (layout(format, view.expanded), &view.file)
        && std::io::stdout().is_terminal()
    {
        return Ok(Sink { inner: Inner::Screen(Box::new(Screen::new(schema, layout, &view))), rows: 0 });
    }
    let out: Box<dyn Write + Send> = match &view.file {
        Some(file) => Box::new(std::io::BufWriter::new(std::sync::Arc::clone(file))),
        None => Box::new(Out::new()),
    };
    match layout(format, view.expanded) {
        Some(layout) => Ok(Sink { inner: Inner::Text(Box::new(Rolling::new(out, layout, &schema))), rows: 0 }),
        None => Sink::styled(out, format, schema, style),
    }
}

impl<W: Write + Send> Sink<W> {
    /// A sink for batches of `schema`, with values written in a style.
    ///
    /// # Errors
    /// `Unavailable` when the output is gone.
    pub(crate) fn styled(out: W, format: OutputFormat, schema: SchemaRef, style: &Style) -> Result<Self> {
        let inner = match format {
            OutputFormat::Table => Inner::Text(Box::new(Rolling::new(out, Layout::Box, &schema))),
            OutputFormat::Vertical => Inner::Text(Box::new(Rolling::new(out, Layout::Vertical, &schema))),
            OutputFormat::Markdown => Inner::Text(Box::new(Rolling::new(out, Layout::Markdown, &schema))),
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
            Inner::Text(table) => table.write(batch)?,
            Inner::Screen(screen) => screen.write(batch),
            Inner::Json(writer) => writer.write(batch)?,
            Inner::Csv(writer) => writer.write(batch)?,
            Inner::Arrow(writer) => writer.write(batch).map_err(unwritten)?,
            Inner::Parquet(writer) => writer.write(batch).map_err(parquet)?,
        }
        Ok(())
    }

    /// Whether more rows would change nothing.
    pub(crate) fn is_full(&self) -> bool {
        matches!(&self.inner, Inner::Screen(screen) if screen.is_full())
    }

    /// Makes what was written visible as far as the format can.
    pub(crate) fn flush(&mut self) -> Result<()> {
        match &mut self.inner {
            Inner::Text(table) => table.flush(),
            Inner::Screen(_) => Ok(()),
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
            Inner::Text(table) => table.finish()?,
            Inner::Screen(screen) => screen.finish()?,
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
        ParquetError::NYI(what) => Error::unsupported(format!("a feature of Parquet: {what}")),
        other => Error::unavailable("the Parquet file cannot be written").with_source(other),
    }
}

/// Writes lines of text.
///
/// # Errors
/// `Unavailable` when the output is gone.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut out: Box<dyn Write> = match view().file {
        Some(file) => Box::new(file),
        None => Box::new(Out::new()),
    };
    writeln!(out, "{}", text.trim_end_matches('\n')).and_then(|()| out.flush()).map_err(gone)
}
