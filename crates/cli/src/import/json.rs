//! JSON lines as text columns: scalars as their text, nested values as JSON. A line that is no object is broken alone.

use std::collections::HashMap;
use std::io::BufRead;
use std::sync::Arc;

use arrow::array::{ArrayRef, StringBuilder};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use linn::{Error, Result};
use serde_json::{Map, Value};

use super::chunk::{Bad, Chunk, ROWS, Wanted};

/// Reads JSON lines in chunks.
pub(crate) struct Rows<R: BufRead> {
    input: R,
    wanted: Vec<Wanted>,
    places: HashMap<String, usize>,
    schema: SchemaRef,
    keep: bool,
    row: u64,
    done: bool,
}

impl<R: BufRead> Rows<R> {
    /// Reads these columns; `keep` keeps the text of each row.
    pub(crate) fn new(input: R, wanted: Vec<Wanted>, keep: bool) -> Self {
        let places = wanted.iter().enumerate().map(|(i, column)| (column.name.clone(), i)).collect();
        let fields: Vec<Field> = wanted.iter().map(|column| Field::new(&column.name, DataType::Utf8, true)).collect();
        Self { input, wanted, places, schema: Arc::new(Schema::new(fields)), keep, row: 0, done: false }
    }

    /// Names of the columns.
    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn chunk(&mut self) -> Result<Option<Chunk>> {
        let mut columns: Vec<StringBuilder> = self.wanted.iter().map(|_| StringBuilder::new()).collect();
        let (mut rows, mut originals, mut broken) = (Vec::new(), Vec::new(), Vec::new());
        let mut line = Vec::new();
        while rows.len() + broken.len() < ROWS {
            line.clear();
            let read = self.input.read_until(b'\n', &mut line);
            if read.map_err(|e| Error::unavailable("the input cannot be read").with_source(e))? == 0 {
                self.done = true;
                break;
            }
            if line.trim_ascii().is_empty() {
                continue;
            }
            self.row += 1;
            let original = || String::from_utf8_lossy(line.trim_ascii()).into_owned();
            match object(&line).and_then(|object| self.check(object)) {
                Ok(object) => {
                    self.append(&mut columns, &object);
                    rows.push(self.row);
                    if self.keep {
                        originals.push(original());
                    }
                }
                Err((column, reason)) => broken.push(Bad { row: self.row, column, reason, original: original() }),
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

    fn check(&self, object: Map<String, Value>) -> Result<Map<String, Value>, (Option<String>, String)> {
        match object.keys().find(|key| !self.places.contains_key(*key)) {
            Some(key) => Err((Some(key.clone()), "the table has no such column".to_owned())),
            None => Ok(object),
        }
    }

    fn append(&self, columns: &mut [StringBuilder], object: &Map<String, Value>) {
        for (column, wanted) in columns.iter_mut().zip(&self.wanted) {
            match object.get(&wanted.name) {
                None => column.append_option(wanted.default.as_deref()),
                Some(Value::Null) => column.append_null(),
                Some(Value::String(text)) => column.append_value(text),
                Some(other) => column.append_value(other.to_string()),
            }
        }
    }
}

/// A line as an object.
pub(crate) fn object(line: &[u8]) -> Result<Map<String, Value>, (Option<String>, String)> {
    match serde_json::from_slice(line) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err((None, "the line is not a JSON object".to_owned())),
        Err(e) => Err((None, format!("the line is not JSON: {e}"))),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_is_default_and_unknown_is_broken() {
        let wanted =
            vec![Wanted { name: "a".into(), default: None }, Wanted { name: "b".into(), default: Some("7".into()) }];
        let text = "{\"a\":[1,2]}\n\n{\"b\":null}\n{\"c\":1}\n[1]\nx";
        let chunk = Rows::new(text.as_bytes(), wanted, false).next().unwrap().unwrap();
        assert_eq!(chunk.rows, [1, 2]);
        let text = |i: usize| arrow::util::display::array_value_to_string(chunk.batch.column(i), 0).unwrap();
        assert_eq!((text(0), text(1)), ("[1,2]".into(), "7".into()));
        assert!(chunk.batch.column(1).is_null(1));
        assert_eq!(chunk.broken.iter().map(|b| b.row).collect::<Vec<_>>(), [3, 4, 5]);
        assert_eq!(chunk.broken[0].column.as_deref(), Some("c"));
    }
}
