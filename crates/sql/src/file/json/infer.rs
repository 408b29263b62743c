//! The columns of JSON objects: what all values of a name have in common.

use std::io::Read;

use linn::format::types::{DataField, DataType, Kind};
use linn::{Error, Result};
use serde_json::Value;

use super::super::text::Guess;

/// The longest text.
const LONGEST: u32 = i32::MAX.unsigned_abs();
/// Up to here a DOUBLE holds every integer.
const EXACT: f64 = 9_007_199_254_740_992.0;
/// What the values of a name are.
#[derive(Debug, Default)]
struct Shape {
    boolean: bool,
    text: bool,
    /// Numbers, by their digits.
    number: Option<Guess>,
    /// Values of lists.
    list: Option<Box<Shape>>,
    /// Values of objects, in the order of their first appearance.
    object: Option<Vec<(String, Shape)>>,
}

impl Shape {
    fn see(&mut self, value: &Value) {
        match value {
            Value::Null => {}
            Value::Bool(_) => self.boolean = true,
            Value::String(_) => self.text = true,
            Value::Number(number) => {
                let guess = self.number.get_or_insert_with(Guess::default);
                match number.as_f64().filter(|value| number.is_f64() && value.fract() == 0.0 && value.abs() > EXACT) {
                    // Most likely an integer that is longer than a BIGINT; its digits are read as they stand.
                    Some(value) => guess.see(&format!("{value:.0}")),
                    None => guess.see(&number.to_string()),
                }
            }
            Value::Array(values) => {
                let list = self.list.get_or_insert_with(Box::default);
                values.iter().for_each(|value| list.see(value));
            }
            Value::Object(fields) => {
                let object = self.object.get_or_insert_with(Vec::new);
                for (name, value) in fields {
                    let at = object.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
                        object.push((name.clone(), Self::default()));
                        object.len() - 1
                    });
                    if let Some((_, shape)) = object.get_mut(at) {
                        shape.see(value);
                    }
                }
            }
        }
    }

    /// The type of all of them: texts, numbers and booleans are together texts, as they were written.
    fn kind(&self) -> Result<Kind> {
        let single = self.boolean || self.text || self.number.is_some();
        Ok(match self {
            Self { list: Some(list), object: None, .. } if !single => {
                Kind::Array(Box::new(DataType::nullable(list.kind()?)))
            }
            Self { list: None, object: Some(object), .. } if !single => Kind::Row(fields(object)?),
            Self { list: None, object: None, .. } => match (self.boolean, self.text, &self.number) {
                (true, false, None) => Kind::Boolean,
                (false, false, Some(guess)) => guess.kind(),
                _ => Kind::Varchar(LONGEST),
            },
            _ => {
                return Err(Error::unsupported(
                    "values that are lists or objects in some rows and something else in others",
                ));
            }
        })
    }
}

fn fields(object: &[(String, Shape)]) -> Result<Vec<DataField>> {
    let field = |((name, shape), id): (&(String, Shape), i32)| {
        let kind = shape.kind().map_err(|e| e.with("column", name))?;
        Ok(DataField::new(id, name, DataType::nullable(kind)))
    };
    object.iter().zip(0i32..).map(field).collect()
}

/// Names and types of the columns, from the first objects.
///
/// # Errors
/// `Invalid` for what is no object.
pub(in crate::file) fn infer(input: impl Read, path: &str, sample: Option<usize>) -> Result<Vec<DataField>> {
    let mut all = Shape::default();
    let values = serde_json::Deserializer::from_reader(input).into_iter::<Value>();
    for value in values.take(sample.unwrap_or(usize::MAX)) {
        let value = value.map_err(|e| Error::invalid("the file is not JSON").with("file", path).with_source(e))?;
        if !value.is_object() {
            return Err(Error::invalid("a value of the file is not an object").with("file", path));
        }
        all.see(&value);
    }
    match all.object {
        Some(object) if !object.is_empty() => fields(&object).map_err(|e| e.with("file", path)),
        _ => Err(Error::invalid("the file has no columns").with("file", path)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_values_have_in_common() {
        for (text, expected) in [
            ("{\"a\":1,\"b\":\"x\"} {\"b\":null,\"c\":true}", "a BIGINT, b STRING, c BOOLEAN"),
            ("{\"a\":1}\n{\"a\":0.5}", "a DOUBLE"),
            ("{\"a\":[1,null],\"b\":[]}", "a ARRAY<BIGINT>, b ARRAY<STRING>"),
            ("{\"a\":{\"x\":1}}{\"a\":{\"y\":[{\"z\":2}]}}", "a ROW<`x` BIGINT, `y` ARRAY<ROW<`z` BIGINT>>>"),
            ("{\"a\":1}{\"a\":\"x\"}{\"a\":true}", "a STRING"),
            ("{\"a\":null,\"\":1}", "a STRING,  BIGINT"),
            ("{\"a\":18446744073709551617}{\"a\":1}", "a DECIMAL(38, 0)"),
        ] {
            let fields = infer(text.as_bytes(), "f", None).unwrap();
            let shown: Vec<String> = fields.iter().map(|f| format!("{} {}", f.name, f.data_type)).collect();
            assert_eq!(shown.join(", "), expected, "{text}");
        }
        for text in ["{\"a\":1}{\"a\":[1]}", "[1]", "{\"a\":", "", "1"] {
            assert!(infer(text.as_bytes(), "f", None).is_err(), "{text}");
        }
    }
}
