//! Results on standard output in the format the user chose.

mod change;
mod columns;
mod document;
mod flat;
mod fold;
mod grid;
mod json;
mod pager;
mod rolling;
mod screen;
mod stream;
mod table;
mod view;

use std::io::{IsTerminal, Write};

use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use arrow::record_batch::RecordBatch;
use linn::{Error, Result};

use crate::args::OutputFormat;

use flat::flat;
use grid::Layout;
use rolling::Rolling;
use screen::Screen;

pub(crate) use change::ChangeSink;
pub(crate) use columns::{Columns, count, size, span, thousands, time};
pub(crate) use document::Document;
pub(crate) use stream::{Out, is_broken};
pub(crate) use view::{set_view, view};

/// Writes batches of one result as they come; [`Sink::finish`] completes the document.
pub(crate) struct Sink<W: Write> {
    inner: Inner<W>,
    rows: usize,
}

enum Inner<W: Write> {
    Text(Box<Rolling<W>>),
    Screen(Box<Screen>),
    Json(json::Writer<W>),
    Csv(Box<arrow_csv::Writer<W>>),
    Arrow(Box<arrow::ipc::writer::StreamWriter<W>>),
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
pub(crate) fn sink(format: OutputFormat, schema: SchemaRef) -> Result<Sink<Box<dyn Write + Send>>> {
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
        None => Sink::new(out, format, schema),
    }
}

impl<W: Write> Sink<W> {
    /// A sink for batches of `schema`.
    ///
    /// # Errors
    /// `Unavailable` when the output is gone.
    pub(crate) fn new(out: W, format: OutputFormat, schema: SchemaRef) -> Result<Self> {
        let inner = match format {
            OutputFormat::Table => Inner::Text(Box::new(Rolling::new(out, Layout::Box, &schema))),
            OutputFormat::Vertical => Inner::Text(Box::new(Rolling::new(out, Layout::Vertical, &schema))),
            OutputFormat::Markdown => Inner::Text(Box::new(Rolling::new(out, Layout::Markdown, &schema))),
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
            Inner::Text(table) => table.write(batch)?,
            Inner::Screen(screen) => screen.write(batch),
            Inner::Json(writer) => writer.write(batch)?,
            Inner::Csv(writer) => writer.write(&flat(batch)?).map_err(unwritten)?,
            Inner::Arrow(writer) => writer.write(batch).map_err(unwritten)?,
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
            Inner::Csv(_) => Ok(()),
            Inner::Arrow(writer) => writer.get_mut().flush().map_err(gone),
        }
    }

    /// Completes the document and returns the number of rows.
    pub(crate) fn finish(self) -> Result<usize> {
        match self.inner {
            Inner::Text(table) => table.finish()?,
            Inner::Screen(screen) => screen.finish()?,
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
    let mut out: Box<dyn Write> = match view().file {
        Some(file) => Box::new(file),
        None => Box::new(Out::new()),
    };
    writeln!(out, "{}", text.trim_end_matches('\n')).and_then(|()| out.flush()).map_err(gone)
}
