//! JSON as text columns: scalars as their text, nested values as JSON. A row that is no object is broken alone.

use std::collections::HashSet;
use std::io::BufRead;
use std::sync::Arc;

use arrow::array::StringBuilder;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use linn::Result;
use serde_json::{Map, Value};

use super::Unknown;
use super::chunk::{Bad, Chunk, Filling, Wanted, until_end};
use super::texts::Texts;

/// Reads the rows of a JSON file in chunks.
pub(crate) struct Rows<R: BufRead> {
    input: Texts<R>,
    wanted: Vec<Wanted>,
    names: HashSet<String>,
    schema: SchemaRef,
    unknown: Unknown,
    keep: bool,
    row: u64,
}

impl<R: BufRead> Rows<R> {
    /// Reads these columns; `keep` keeps the text of each row.
    pub(crate) fn new(input: R, wanted: Vec<Wanted>, unknown: Unknown, keep: bool) -> Self {
        let names = wanted.iter().map(|column| column.name.clone()).collect();
        let fields: Vec<Field> = wanted.iter().map(|column| Field::new(&column.name, DataType::Utf8, true)).collect();
        Self { input: Texts::new(input), wanted, names, schema: Arc::new(Schema::new(fields)), unknown, keep, row: 0 }
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
        let mut chunk = Filling::new(self.wanted.len());
        let mut line = Vec::new();
        while !chunk.is_full() && self.input.next(&mut line)? {
            self.row += 1;
            let original = || String::from_utf8_lossy(line.trim_ascii()).into_owned();
            match object(&line).and_then(|object| self.check(object)) {
                Ok(object) => {
                    self.append(&mut chunk.columns, &object);
                    chunk.rows.push(self.row);
                    if self.keep {
                        chunk.originals.push(original());
                    }
                }
                Err((column, reason)) => chunk.broken.push(Bad { row: self.row, column, reason, original: original() }),
            }
        }
        chunk.finish(&self.schema)
    }

    fn check(&self, object: Map<String, Value>) -> Result<Map<String, Value>, (Option<String>, String)> {
        if self.unknown == Unknown::Ignored {
            return Ok(object);
        }
        match object.keys().find(|key| !self.names.contains(*key)) {
            Some(key) => {
                Err((Some(key.clone()), "the table has no such column (--ignore-unknown leaves it out)".to_owned()))
            }
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

/// A row as an object.
pub(crate) fn object(line: &[u8]) -> Result<Map<String, Value>, (Option<String>, String)> {
    match serde_json::from_slice(line) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err((None, "the row is not a JSON object".to_owned())),
        Err(e) => Err((None, format!("the row is not JSON: {e}"))),
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
        let read =
            |unknown| Rows::new(text.as_bytes(), wanted.clone(), unknown, false).chunks().next().unwrap().unwrap();
        assert_eq!(read(Unknown::Ignored).rows, [1, 2, 3]);
        let chunk = read(Unknown::Refused);
        assert_eq!(chunk.rows, [1, 2]);
        let text = |i: usize| arrow::util::display::array_value_to_string(chunk.batch.column(i), 0).unwrap();
        assert_eq!((text(0), text(1)), ("[1,2]".into(), "7".into()));
        assert!(chunk.batch.column(1).is_null(1));
        assert_eq!(chunk.broken.iter().map(|b| b.row).collect::<Vec<_>>(), [3, 4, 5]);
        assert_eq!(chunk.broken[0].column.as_deref(), Some("c"));
    }
}
