//! JSON as text columns: scalars as their text, nested values as JSON. A row that is no object is broken alone.

mod collection;
pub(crate) mod outline;
pub(crate) mod texts;

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::BufRead;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use linn::Result;

use super::Unknown;
use super::chunk::{Bad, Chunk, Filling, Wanted, named, until_end};
use texts::Texts;

/// Reads the rows of a JSON file in chunks.
pub(crate) struct Rows<R: BufRead> {
    input: Texts<R>,
    wanted: Vec<Wanted>,
    places: HashMap<String, usize>,
    schema: SchemaRef,
    unknown: Unknown,
    keep: bool,
    row: u64,
}

/// Why a row is broken: the column, where one is to blame, and what is wrong.
type Fault = (Option<String>, String);

/// The value of a column in a row: none when the row does not have it, and what it is otherwise.
type Found<'t> = Option<Option<Cow<'t, str>>>;

impl<R: BufRead> Rows<R> {
    /// Reads these columns; `keep` keeps the text of each row.
    pub(crate) fn new(input: R, wanted: Vec<Wanted>, unknown: Unknown, keep: bool) -> Self {
        let places = wanted.iter().enumerate().map(|(at, column)| (column.name.clone(), at)).collect();
        let fields: Vec<Field> = wanted.iter().map(|column| Field::new(&column.name, DataType::Utf8, true)).collect();
        Self { input: Texts::new(input), wanted, places, schema: Arc::new(Schema::new(fields)), unknown, keep, row: 0 }
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
            match self.values(&line) {
                Ok(values) => {
                    for ((column, value), wanted) in chunk.columns.iter_mut().zip(&values).zip(&self.wanted) {
                        column.append_option(match value {
                            Some(value) => value.as_deref(),
                            None => wanted.default.as_deref(),
                        });
                    }
                    chunk.bytes += line.len();
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

    /// The values of a row by column.
    fn values<'t>(&self, line: &'t [u8]) -> Result<Vec<Found<'t>>, Fault> {
        let mut values: Vec<Found<'t>> = self.wanted.iter().map(|_| None).collect();
        for (key, value) in members(line)? {
            let place = self.places.get(named(&key)).and_then(|at| values.get_mut(*at));
            match place {
                Some(place) => *place = Some(outline::cell(value).map_err(|e| (Some(key.into_owned()), e))?),
                None if self.unknown == Unknown::Ignored => {}
                None => {
                    let reason = "the table has no such column (--ignore-unknown leaves it out)";
                    return Err((Some(key.into_owned()), reason.to_owned()));
                }
            }
        }
        Ok(values)
    }
}

/// The members of a row.
pub(crate) fn members(line: &[u8]) -> Result<Vec<(Cow<'_, str>, &str)>, Fault> {
    let text = std::str::from_utf8(line).map_err(|_| (None, "the row is not UTF-8".to_owned()))?;
    let wrong = |e| (None, format!("the row is not JSON: {e}"));
    outline::check(text).map_err(wrong)?;
    match outline::members(text) {
        Some(members) => members.collect::<Result<_, _>>().map_err(wrong),
        None => Err((None, "the row is not a JSON object".to_owned())),
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

    #[test]
    fn numbers_keep_their_digits() {
        let wanted = vec![Wanted { name: "a".into(), default: None }];
        let text = "{\"a\":12345678901234567890.10}\n{\"a\":1e400}\n{\"a\":[9007199254740993]}";
        let chunk = Rows::new(text.as_bytes(), wanted, Unknown::Refused, false).chunks().next().unwrap().unwrap();
        let text = |row| arrow::util::display::array_value_to_string(chunk.batch.column(0), row).unwrap();
        assert_eq!((text(0), text(1)), ("12345678901234567890.10".into(), "1e400".into()));
        assert_eq!(text(2), "[9007199254740993]");
    }
}
