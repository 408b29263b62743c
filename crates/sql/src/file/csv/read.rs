//! Rows of text with delimiters, column by column.

use std::io::BufRead;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, StringBuilder};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::{RecordBatch, RecordBatchOptions};
use linn::format::types::DataField;
use linn::{Error, Result};

use super::super::aside::Sink;
use super::super::options::FileOptions;
use super::super::text::typed;
use super::infer::{header, numbered};
use super::record::{Marks, Record, Records};

/// Rows of a batch.
const ROWS: usize = 8_192;
/// Bytes of text of a batch, about.
const BYTES: usize = 16 << 20;

/// The bytes that mean something in a file.
pub(super) fn marks(options: &FileOptions, path: &str) -> Marks {
    let quote = options.quote;
    Marks { delimiter: options.delimiter(path), quote, escape: options.escape.unwrap_or(quote) }
}

/// What is read of a file.
pub(in crate::file) struct Wanted<'a> {
    /// All columns, in the order of lines without a header.
    pub(in crate::file) fields: &'a [DataField],
    /// Those that are read, with their schema.
    pub(in crate::file) columns: &'a [usize],
    /// The schema of those.
    pub(in crate::file) schema: &'a SchemaRef,
}

/// Reads a file into batches.
///
/// # Errors
/// What reading yields; `Invalid` for a row with more or fewer fields than there are columns, and a value of another type,
/// with its line.
pub(in crate::file) fn read<R: BufRead>(
    input: R,
    path: &str,
    options: &FileOptions,
    wanted: &Wanted<'_>,
    sink: &Sink,
    failed: impl Fn(std::io::Error) -> Error,
) -> Result<bool> {
    let mut records = Records::new(input, marks(options, path));
    let mut record = Record::default();
    let first = options.header && records.next(&mut record).map_err(&failed)?;
    let names = if first { header(&record, path)? } else { numbered(wanted.fields.len()) };
    let places = places(&names, wanted, first, path)?;
    let mut batch = Batch::new(wanted, path, names.len());
    loop {
        let line = records.line();
        let more = match records.next(&mut record) {
            Ok(more) => more,
            Err(e) if e.kind() == std::io::ErrorKind::InvalidData && e.get_ref().is_some_and(|e| !e.is::<Error>()) => {
                return Err(Error::invalid(e.to_string()).with("file", path).with("line", line));
            }
            Err(e) => return Err(failed(e)),
        };
        if !more {
            break;
        }
        // An empty line is a row only where a row can be one empty field.
        if record.is_blank() && names.len() != 1 {
            continue;
        }
        batch.push(&record, &places, options.null.as_bytes(), line)?;
        if batch.is_full() && !sink.send(batch.finish()?) {
            return Ok(false);
        }
    }
    Ok(batch.lines.is_empty() || sink.send(batch.finish()?))
}

/// Where in a line each wanted column stands: by its name when the first line has names, and by its place when none of them is
/// among the names, as those may have been given by hand.
fn places(names: &[String], wanted: &Wanted<'_>, header: bool, path: &str) -> Result<Vec<usize>> {
    let found = |name: &str| names.iter().position(|known| known == name);
    let strange = names.len() == wanted.fields.len() && wanted.fields.iter().all(|field| found(&field.name).is_none());
    let place = |&at: &usize| {
        let field = wanted.fields.get(at).ok_or_else(|| Error::internal("a column that the file does not have"))?;
        if !header || strange {
            return Ok(at);
        }
        found(&field.name)
            .ok_or_else(|| Error::invalid("the file has no such column").with("file", path).with("column", &field.name))
    };
    wanted.columns.iter().map(place).collect()
}

/// Text of the rows of one batch.
struct Batch<'a> {
    wanted: &'a Wanted<'a>,
    path: &'a str,
    fields: usize,
    texts: Vec<StringBuilder>,
    lines: Vec<u64>,
    bytes: usize,
}

impl<'a> Batch<'a> {
    fn new(wanted: &'a Wanted<'a>, path: &'a str, fields: usize) -> Self {
        let texts = wanted.columns.iter().map(|_| StringBuilder::new()).collect();
        Self { wanted, path, fields, texts, lines: Vec::with_capacity(ROWS), bytes: 0 }
    }

    fn is_full(&self) -> bool {
        self.lines.len() >= ROWS || self.bytes >= BYTES
    }

    fn push(&mut self, record: &Record, places: &[usize], null: &[u8], line: u64) -> Result<()> {
        let wrong = |what: String| Err(Error::invalid(what).with("file", self.path).with("line", line));
        if record.len() != self.fields {
            return wrong(format!("fields in the row: {}, columns of the file: {}", record.len(), self.fields));
        }
        for (text, place) in self.texts.iter_mut().zip(places) {
            let (bytes, quoted) = record.field(*place).unwrap_or_default();
            if !quoted && bytes == null {
                text.append_null();
                continue;
            }
            let Ok(value) = std::str::from_utf8(bytes) else { return wrong("the text is not UTF-8".to_owned()) };
            text.append_value(value);
            self.bytes += value.len();
        }
        self.lines.push(line);
        Ok(())
    }

    fn finish(&mut self) -> Result<RecordBatch> {
        let mut columns: Vec<ArrayRef> = Vec::with_capacity(self.texts.len());
        for (text, at) in self.texts.iter_mut().zip(self.wanted.columns) {
            let Some(field) = self.wanted.fields.get(*at) else { continue };
            let column = typed(&text.finish(), field).map_err(|(row, error)| {
                let line = self.lines.get(row).copied().unwrap_or_default();
                error.with("file", self.path).with("line", line)
            })?;
            columns.push(column);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(self.lines.len()));
        self.lines.clear();
        self.bytes = 0;
        Ok(RecordBatch::try_new_with_options(Arc::clone(self.wanted.schema), columns, &options)?)
    }
}
