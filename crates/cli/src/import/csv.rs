//! CSV as text columns. A row with too many or too few fields is broken, its neighbours are not.

use std::io::BufRead;
use std::sync::Arc;

use arrow::array::{ArrayRef, StringBuilder};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use csv::{ReaderBuilder, StringRecord, Trim, WriterBuilder};
use linn::{Error, Result};

use super::chunk::{Bad, Chunk, ROWS};

/// How a CSV file is written.
#[derive(Debug, Clone)]
pub(crate) struct Dialect {
    /// Delimiter.
    pub(crate) delimiter: u8,
    /// Text of a null.
    pub(crate) null: String,
    /// Names of the columns of a file without a header.
    pub(crate) names: Option<Vec<String>>,
}

/// Reads a CSV file in chunks.
pub(crate) struct Rows<R: BufRead> {
    reader: csv::Reader<R>,
    dialect: Dialect,
    schema: SchemaRef,
    keep: bool,
    row: u64,
    done: bool,
}

impl<R: BufRead> Rows<R> {
    /// Reads the header; `keep` keeps the text of each row.
    ///
    /// # Errors
    /// `Invalid` for an unreadable header or a name that is there twice.
    pub(crate) fn new(input: R, dialect: Dialect, keep: bool) -> Result<Self> {
        let mut reader = ReaderBuilder::new()
            .delimiter(dialect.delimiter)
            .has_headers(dialect.names.is_none())
            .flexible(true)
            .trim(Trim::Headers)
            .from_reader(input);
        let names: Vec<String> = match &dialect.names {
            Some(names) => names.clone(),
            None => {
                let header = reader.headers().map_err(wrong)?;
                header.iter().map(|name| name.trim_start_matches('\u{feff}').to_owned()).collect()
            }
        };
        if let Some((_, name)) = names.iter().enumerate().find(|(i, name)| names.iter().take(*i).any(|n| n == *name)) {
            return Err(Error::invalid(format!("the header names the column {name:?} twice")));
        }
        let fields: Vec<Field> = names.iter().map(|name| Field::new(name, DataType::Utf8, true)).collect();
        let schema = Arc::new(Schema::new(fields));
        Ok(Self { reader, dialect, schema, keep, row: 0, done: false })
    }

    /// Names of the columns.
    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn chunk(&mut self) -> Result<Option<Chunk>> {
        let width = self.schema.fields().len();
        let mut columns: Vec<StringBuilder> = (0..width).map(|_| StringBuilder::new()).collect();
        let (mut rows, mut originals, mut broken) = (Vec::new(), Vec::new(), Vec::new());
        let mut record = StringRecord::new();
        while rows.len() + broken.len() < ROWS {
            match self.reader.read_record(&mut record) {
                Ok(false) => {
                    self.done = true;
                    break;
                }
                Ok(true) => {
                    self.row += 1;
                    if record.len() != width {
                        let reason = format!("the row has {} fields, the file {width} columns", record.len());
                        broken.push(Bad { row: self.row, column: None, reason, original: self.text(&record) });
                        continue;
                    }
                    for (column, value) in columns.iter_mut().zip(&record) {
                        column.append_option((value != self.dialect.null).then_some(value));
                    }
                    rows.push(self.row);
                    if self.keep {
                        originals.push(self.text(&record));
                    }
                }
                Err(e) if matches!(e.kind(), csv::ErrorKind::Utf8 { .. }) => {
                    self.row += 1;
                    let reason = "the row is not UTF-8".to_owned();
                    broken.push(Bad { row: self.row, column: None, reason, original: String::new() });
                }
                Err(e) => return Err(wrong(e)),
            }
        }
        if rows.is_empty() && broken.is_empty() {
            return Ok(None);
        }
        let columns = columns.into_iter().map(|mut column| Arc::new(column.finish()) as ArrayRef).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
        let batch = RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options)?;
        Ok(Some(Chunk { batch, rows, originals, broken }))
    }

    fn text(&self, record: &StringRecord) -> String {
        let mut writer = WriterBuilder::new().delimiter(self.dialect.delimiter).flexible(true).from_writer(Vec::new());
        let written = writer.write_record(record).ok().and_then(|()| writer.into_inner().ok()).unwrap_or_default();
        String::from_utf8_lossy(&written).trim_end_matches(['\r', '\n']).to_owned()
    }
}

impl<R: BufRead> Iterator for Rows<R> {
    type Item = Result<Chunk>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let chunk = self.chunk().transpose();
        self.done |= !matches!(chunk, Some(Ok(_)));
        chunk
    }
}

fn wrong(e: csv::Error) -> Error {
    let error = match e.kind() {
        csv::ErrorKind::Io(_) => Error::unavailable("the input cannot be read"),
        _ => Error::invalid("the input is not CSV"),
    };
    error.with_source(e)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Chunk {
        let dialect = Dialect { delimiter: b',', null: String::new(), names: None };
        Rows::new(text.as_bytes(), dialect, true).unwrap().next().unwrap().unwrap()
    }

    #[test]
    fn rows_of_another_width_are_broken_alone() {
        let chunk = read("a,b\n1,2\n3\n\"x,y\",\n");
        assert_eq!(chunk.rows, [1, 3]);
        assert_eq!(chunk.originals, ["1,2", "\"x,y\","]);
        assert_eq!((chunk.broken[0].row, chunk.broken[0].original.as_str()), (2, "3"));
        assert!(chunk.batch.column(1).is_null(1));
    }

    #[test]
    fn a_column_cannot_be_there_twice() {
        let dialect = Dialect { delimiter: b',', null: String::new(), names: None };
        assert!(Rows::new("a,a\n".as_bytes(), dialect, false).is_err());
    }
}
