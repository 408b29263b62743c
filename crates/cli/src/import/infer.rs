//! The columns of a file whose table does not exist yet. All rows are looked at, so that the import that follows fits.

use arrow::array::AsArray;
use chrono::{NaiveDate, NaiveDateTime};
use indicatif::ProgressBar;
use linn::format::types::{DataField, DataType, Kind, fields_from_arrow};
use linn::{Error, Result, ResultExt};
use serde_json::Value;

use super::chunk::Chunks;
use super::json::object;
use super::source::Source;
use super::texts::Texts;

/// What the values of a column have been so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Guess {
    Nothing,
    Boolean,
    Integer,
    Double,
    Date,
    Timestamp,
    Text,
}

impl Guess {
    fn of(text: &str) -> Self {
        let text = text.trim();
        let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
        let digits = !unsigned.is_empty() && unsigned.bytes().all(|b| b.is_ascii_digit());
        // Numbers with leading zeros are codes: 007 is not 7.
        let code = unsigned.len() > 1 && unsigned.starts_with('0') && digits;
        if text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false") {
            Self::Boolean
        } else if code {
            Self::Text
        } else if digits && text.parse::<i64>().is_ok() {
            Self::Integer
        } else if unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.') && text.parse::<f64>().is_ok() {
            Self::Double
        } else if is_date(text) {
            Self::Date
        } else if is_timestamp(text) {
            Self::Timestamp
        } else {
            Self::Text
        }
    }

    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Nothing, one) | (one, Self::Nothing) => one,
            (a, b) if a == b => a,
            (Self::Integer, Self::Double) | (Self::Double, Self::Integer) => Self::Double,
            (Self::Date, Self::Timestamp) | (Self::Timestamp, Self::Date) => Self::Timestamp,
            _ => Self::Text,
        }
    }

    fn data_type(self) -> DataType {
        match self {
            Self::Boolean => DataType::nullable(Kind::Boolean),
            Self::Integer => DataType::nullable(Kind::BigInt),
            Self::Double => DataType::nullable(Kind::Double),
            Self::Date => DataType::nullable(Kind::Date),
            Self::Timestamp => DataType::nullable(Kind::Timestamp(6)),
            Self::Nothing | Self::Text => DataType::string(),
        }
    }
}

fn is_date(text: &str) -> bool {
    text.len() == 10 && NaiveDate::parse_from_str(text, "%Y-%m-%d").is_ok()
}

fn is_timestamp(text: &str) -> bool {
    text.len() > 10
        && ["%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%dT%H:%M:%S%.fZ"]
            .iter()
            .any(|format| NaiveDateTime::parse_from_str(text, format).is_ok())
}

/// The columns of a CSV file, from its rows as text.
pub(crate) fn of_text(names: &[String], chunks: Chunks) -> Result<Vec<DataField>> {
    let mut guesses = vec![Guess::Nothing; names.len()];
    for chunk in chunks {
        let batch = chunk?.batch;
        for (guess, column) in guesses.iter_mut().zip(batch.columns()) {
            let values = column.as_string::<i32>().iter().flatten();
            *guess = values.fold(*guess, |guess, value| match guess {
                Guess::Text => guess,
                guess => guess.and(Guess::of(value)),
            });
        }
    }
    let field = |(name, guess): (&String, &Guess)| DataField::new(0, name, guess.data_type());
    Ok(names.iter().zip(&guesses).map(field).collect())
}

/// Nested values that are looked at for the type of a column.
const SAMPLE: usize = 1000;

/// A column of JSON objects.
struct Column {
    name: String,
    guess: Guess,
    nested: Vec<Value>,
}

impl Column {
    fn take(&mut self, value: Value) {
        let guess = match &value {
            Value::Null => return,
            Value::Bool(_) => Guess::Boolean,
            Value::Number(n) if n.is_i64() => Guess::Integer,
            Value::Number(_) => Guess::Double,
            Value::String(text) => match Guess::of(text) {
                time @ (Guess::Date | Guess::Timestamp) => time,
                _ => Guess::Text,
            },
            Value::Array(_) | Value::Object(_) => {
                if self.nested.len() < SAMPLE {
                    self.nested.push(value);
                }
                return;
            }
        };
        self.guess = self.guess.and(guess);
    }

    fn field(&self) -> Result<DataField> {
        if self.nested.is_empty() || self.guess != Guess::Nothing {
            return Ok(DataField::new(0, &self.name, self.guess.data_type()));
        }
        let objects = self.nested.iter().map(|value| Ok(serde_json::json!({ "v": value })));
        let schema = arrow_json::reader::infer_json_schema_from_iterator(objects)
            .map_err(|e| Error::invalid("the type of the column cannot be inferred").with_source(e));
        let fields = schema.and_then(|schema| fields_from_arrow(&schema)).map_err(|e| {
            e.with("column", &self.name).with_hint("create the table first, with the type that you want")
        })?;
        let data_type = fields.into_iter().next().map_or_else(DataType::string, |field| field.data_type);
        Ok(DataField::new(0, &self.name, data_type))
    }
}

/// The columns of a JSON file, in the order in which they occur.
pub(crate) fn of_json(source: &Source) -> Result<Vec<DataField>> {
    let mut columns: Vec<Column> = Vec::new();
    let mut rows = Texts::new(source.reader(&ProgressBar::hidden())?);
    let mut row = Vec::new();
    while rows.next(&mut row).context("file", source.name())? {
        // What is no object is reported when the rows are imported.
        let Ok(object) = object(&row) else { continue };
        for (name, value) in object {
            match columns.iter_mut().find(|column| column.name == name) {
                Some(column) => column.take(value),
                None => {
                    let mut column = Column { name, guess: Guess::Nothing, nested: Vec::new() };
                    column.take(value);
                    columns.push(column);
                }
            }
        }
    }
    columns.iter().map(Column::field).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(values: &[&str], expected: &str) {
        let guess = values.iter().fold(Guess::Nothing, |guess, value| guess.and(Guess::of(value)));
        assert_eq!(guess.data_type().to_string(), expected, "{values:?}");
    }

    #[test]
    fn the_narrowest_type_that_takes_all_values() {
        check(&["1", "-20"], "BIGINT");
        check(&["1", "2.5"], "DOUBLE");
        check(&["1", "x"], "STRING");
        check(&["007"], "STRING");
        check(&["99999999999999999999"], "DOUBLE");
        check(&["2013-01-01", "2013-01-02 10:00:00"], "TIMESTAMP(6)");
        check(&["true", "FALSE"], "BOOLEAN");
        check(&["NaN"], "STRING");
        check(&[], "STRING");
    }
}
