//! CSV as text columns. A row with too many or too few fields is broken, its neighbours are not.

mod record;

use std::io::BufRead;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use linn::{Error, Result};

use super::chunk::{Bad, Chunk, Filling, named, until_end};
use crate::output::quote;
use record::{Record, Records};

/// How a CSV file is written.
#[derive(Debug, Clone)]
pub(crate) struct Dialect {
    /// Delimiter.
    pub(crate) delimiter: u8,
    /// Text of a null; a quoted field is none.
    pub(crate) null: String,
    /// Names of the columns of a file without a header.
    pub(crate) names: Option<Vec<String>>,
    /// Names for such a file instead where its first row has as many fields.
    pub(crate) all: Vec<String>,
}

/// Reads a CSV file in chunks.
pub(crate) struct Rows<R: BufRead> {
    records: Records<R>,
    record: Record,
    dialect: Dialect,
    schema: SchemaRef,
    keep: bool,
    row: u64,
    /// Whether the first row was read already.
    is_ahead: bool,
}

impl<R: BufRead> Rows<R> {
    /// Reads the header; `keep` keeps the text of each row.
    ///
    /// # Errors
    /// `Invalid` for an unreadable header or a name that is there twice.
    pub(crate) fn new(input: R, dialect: Dialect, keep: bool) -> Result<Self> {
        let mut records = Records::new(input, dialect.delimiter);
        let mut record = Record::default();
        let is_ahead = dialect.names.is_some() && records.read(&mut record)?;
        let names: Vec<String> = match &dialect.names {
            Some(_) if is_ahead && record.len() == dialect.all.len() => dialect.all.clone(),
            Some(names) => names.clone(),
            None => header(&mut records, &mut record)?,
        };
        if let Some((_, name)) = names.iter().enumerate().find(|(i, name)| names.iter().take(*i).any(|n| n == *name)) {
            return Err(Error::invalid(format!("the header names the column {name:?} twice")));
        }
        let fields: Vec<Field> = names.iter().map(|name| Field::new(name, DataType::Utf8, true)).collect();
        let schema = Arc::new(Schema::new(fields));
        Ok(Self { records, record, dialect, schema, keep, row: 0, is_ahead })
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
        while !chunk.is_full() && (std::mem::take(&mut self.is_ahead) || self.records.read(&mut self.record)?) {
            // With one column an empty line is a row.
            if self.record.is_blank() && width != 1 {
                continue;
            }
            self.row += 1;
            chunk.bytes += self.record.bytes();
            let Some(fields) = self.record.fields() else {
                let reason = "the row is not UTF-8".to_owned();
                chunk.broken.push(Bad { row: self.row, column: None, reason, original: String::new() });
                continue;
            };
            let count = self.record.len();
            let reason = match self.record.fault {
                Some(fault) => Some(fault.to_owned()),
                None => (count != width).then(|| format!("fields in the row: {count}, columns of the file: {width}")),
            };
            if let Some(reason) = reason {
                let original = self.text();
                chunk.broken.push(Bad { row: self.row, column: None, reason, original });
                continue;
            }
            for (column, (value, quoted)) in chunk.columns.iter_mut().zip(fields) {
                column.append_option((quoted || value != self.dialect.null).then_some(value));
            }
            chunk.rows.push(self.row);
            if self.keep {
                chunk.originals.push(self.text());
            }
        }
        chunk.finish(&self.schema)
    }

    /// The record as it could stand in the file.
    fn text(&self) -> String {
        let mut text = Vec::new();
        for (at, (field, quoted)) in self.record.fields().into_iter().flatten().enumerate() {
            if at > 0 {
                text.push(self.dialect.delimiter);
            }
            quote(field.as_bytes(), self.dialect.delimiter, quoted && field.is_empty(), &mut text);
        }
        String::from_utf8_lossy(&text).into_owned()
    }
}

fn header<R: BufRead>(records: &mut Records<R>, record: &mut Record) -> Result<Vec<String>> {
    loop {
        if !records.read(record)? {
            return Ok(Vec::new());
        }
        if !record.is_blank() {
            break;
        }
    }
    if let Some(fault) = record.fault {
        return Err(Error::invalid(format!("the header is not CSV: {fault}")));
    }
    let fields = record.fields().ok_or_else(|| Error::invalid("the header is not UTF-8"))?;
    Ok(fields.map(|(name, quoted)| named(if quoted { name } else { name.trim() }).to_owned()).collect())
}

#[cfg(test)]
mod tests {
    use arrow::array::Array;

    use super::*;

    fn dialect() -> Dialect {
        Dialect { delimiter: b',', null: String::new(), names: None, all: Vec::new() }
    }

    fn read(text: &str) -> Chunk {
        Rows::new(text.as_bytes(), dialect(), true).unwrap().chunks().next().unwrap().unwrap()
    }

    #[test]
    fn rows_of_another_width_are_broken_alone() {
        let chunk = read("a,b\n1,2\n3\n\n\"x,y\",\n");
        assert_eq!(chunk.rows, [1, 3]);
        assert_eq!(chunk.originals, ["1,2", "\"x,y\","]);
        assert_eq!((chunk.broken[0].row, chunk.broken[0].original.as_str()), (2, "3"));
        assert!(chunk.batch.column(1).is_null(1));
    }

    #[test]
    fn empty_text_is_not_null() {
        let chunk = read("a,b\n\"\",\n");
        assert!(chunk.batch.column(0).is_valid(0) && chunk.batch.column(1).is_null(0));
        let words = Dialect { null: "NULL".to_owned(), ..dialect() };
        let mut rows = Rows::new("a,b,c\nNULL,\"NULL\",\n".as_bytes(), words, false).unwrap().chunks();
        let chunk = rows.next().unwrap().unwrap();
        let nulls: Vec<bool> = chunk.batch.columns().iter().map(|c| c.is_null(0)).collect();
        assert_eq!(nulls, [true, false, false]);
    }

    #[test]
    fn an_empty_line_is_a_row_of_one_column() {
        let chunk = read("a\n1\n\n\"\"\n");
        assert_eq!((chunk.batch.num_rows(), chunk.batch.column(0).null_count()), (3, 1));
    }

    #[test]
    fn a_column_cannot_be_there_twice() {
        assert!(Rows::new("a,a\n".as_bytes(), dialect(), false).is_err());
        let rows = Rows::new("\u{feff} ,\" a\", b \n".as_bytes(), dialect(), false).unwrap();
        let names: Vec<&str> = rows.schema().fields().iter().map(|f| f.name().as_str()).collect();
        assert_eq!(names, ["_", " a", "b"]);
    }
}
