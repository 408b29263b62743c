//! CSV as text columns. A row with too many or too few fields is broken, its neighbours are not.

use std::io::BufRead;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use csv::{ReaderBuilder, StringRecord, Trim, WriterBuilder};
use linn::{Error, Result};

use super::chunk::{Bad, Chunk, Filling, until_end};
use super::source::unreadable;

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
        Ok(Self { reader, dialect, schema, keep, row: 0 })
    }

    /// Names of the columns.
    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The chunks of the file.
    pub(crate) fn chunks(mut self) -> impl Iterator<Item = Result<Chunk>> {
        until_end(move || self.chunk())
    }

    fn chunk(&mut self) -> Result<Option<Chunk>> {
        let width = self.schema.fields().len();
        let mut chunk = Filling::new(width);
        let mut record = StringRecord::new();
        while !chunk.is_full() {
            match self.reader.read_record(&mut record) {
                Ok(false) => break,
                Ok(true) => {
                    self.row += 1;
                    if record.len() != width {
                        let reason = format!("the row has {} fields, the file {width} columns", record.len());
                        chunk.broken.push(Bad { row: self.row, column: None, reason, original: self.text(&record) });
                        continue;
                    }
                    for (column, value) in chunk.columns.iter_mut().zip(&record) {
                        column.append_option((value != self.dialect.null).then_some(value));
                    }
                    chunk.rows.push(self.row);
                    if self.keep {
                        chunk.originals.push(self.text(&record));
                    }
                }
                Err(e) if matches!(e.kind(), csv::ErrorKind::Utf8 { .. }) => {
                    self.row += 1;
                    let reason = "the row is not UTF-8".to_owned();
                    chunk.broken.push(Bad { row: self.row, column: None, reason, original: String::new() });
                }
                Err(e) => return Err(wrong(e)),
            }
        }
        chunk.finish(&self.schema)
    }

    fn text(&self, record: &StringRecord) -> String {
        let mut writer = WriterBuilder::new().delimiter(self.dialect.delimiter).flexible(true).from_writer(Vec::new());
        let written = writer.write_record(record).ok().and_then(|()| writer.into_inner().ok()).unwrap_or_default();
        String::from_utf8_lossy(&written).trim_end_matches(['\r', '\n']).to_owned()
    }
}

fn wrong(e: csv::Error) -> Error {
    if !e.is_io_error() {
        return Error::invalid("the input is not CSV").with_source(e);
    }
    match e.into_kind() {
        csv::ErrorKind::Io(e) => unreadable(e),
        other => Error::internal(format!("reading CSV failed: {other:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Chunk {
        let dialect = Dialect { delimiter: b',', null: String::new(), names: None };
        Rows::new(text.as_bytes(), dialect, true).unwrap().chunks().next().unwrap().unwrap()
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
