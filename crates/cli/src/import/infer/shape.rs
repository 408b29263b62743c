//! What the JSON values of a column have been so far, nested ones too.

use linn::format::types::{DataField, DataType, Kind};

use super::super::chunk::named;
use super::super::json::outline;
use super::guess::Guess;

/// Fields of an object from which on it is kept as text.
const FIELDS: usize = 1_000;

/// A guess at the type of a column of JSON values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Shape {
    Scalar(Guess),
    List(Box<Shape>),
    Object(Vec<(String, Shape)>),
}

/// What takes every value: its text.
const TEXT: Shape = Shape::Scalar(Guess::Text);

impl Shape {
    /// A column without values.
    pub(super) const NOTHING: Self = Self::Scalar(Guess::Nothing);

    /// The shape of a value.
    fn of(value: &str) -> Self {
        match value.as_bytes().first() {
            Some(b'n') => Self::NOTHING,
            Some(b't' | b'f') => Self::Scalar(Guess::Boolean),
            Some(b'"') => match outline::cell(value) {
                Ok(text) => Self::Scalar(Guess::of_string(text.unwrap_or_default().as_ref())),
                Err(_) => TEXT,
            },
            Some(b'[') => {
                let mut element = Self::NOTHING;
                outline::elements(value).into_iter().flatten().for_each(|value| element.take(value));
                Self::List(Box::new(element))
            }
            Some(b'{') => {
                let mut fields = Vec::new();
                for (key, value) in outline::members(value).into_iter().flatten().flatten() {
                    add(&mut fields, named(&key), Self::of(value));
                }
                Self::Object(fields)
            }
            _ => Self::Scalar(Guess::of_number(value)),
        }
    }

    /// Takes a value.
    pub(super) fn take(&mut self, value: &str) {
        if *self != TEXT {
            self.merge(Self::of(value));
        }
    }

    fn merge(&mut self, other: Self) {
        if other == Self::NOTHING {
            return;
        }
        match (&mut *self, other) {
            (Self::Scalar(Guess::Nothing), other) => *self = other,
            (Self::Scalar(a), Self::Scalar(b)) => *a = a.and(b),
            (Self::List(a), Self::List(b)) => a.merge(*b),
            (Self::Object(fields), Self::Object(others)) => {
                for (name, shape) in others {
                    add(fields, &name, shape);
                }
                if fields.len() > FIELDS {
                    *self = TEXT;
                }
            }
            _ => *self = TEXT,
        }
    }

    /// The type of the column.
    pub(super) fn data_type(&self) -> DataType {
        match self {
            Self::Scalar(guess) => guess.data_type(),
            Self::List(element) => DataType::nullable(Kind::Array(Box::new(element.data_type()))),
            // A ROW has fields.
            Self::Object(fields) if fields.is_empty() => DataType::string(),
            Self::Object(fields) => {
                let field = |(name, shape): &(String, Self)| DataField::new(0, name, shape.data_type());
                DataType::nullable(Kind::Row(fields.iter().map(field).collect()))
            }
        }
    }
}

/// Merges a field into those of an object.
pub(super) fn add(fields: &mut Vec<(String, Shape)>, name: &str, shape: Shape) {
    match fields.iter_mut().find(|(known, _)| known == name) {
        Some((_, known)) => known.merge(shape),
        None => fields.push((name.to_owned(), shape)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(values: &[&str], expected: &str) {
        let mut shape = Shape::NOTHING;
        values.iter().for_each(|value| shape.take(value));
        assert_eq!(shape.data_type().to_string(), expected, "{values:?}");
    }

    #[test]
    fn nested_values_have_nested_types() {
        check(&["[1, 2.5]", "null", "[]"], "ARRAY<DOUBLE>");
        check(&["[]"], "ARRAY<STRING>");
        check(
            &["{\"a\":1,\"\":[{\"x\":true}]}", "{\"b\":\"t\"}"],
            "ROW<`a` BIGINT, `_` ARRAY<ROW<`x` BOOLEAN>>, `b` STRING>",
        );
        check(&["[12345678901234567890]"], "ARRAY<DECIMAL(20, 0)>");
        check(&["[1]", "{}"], "STRING");
        check(&["{}"], "STRING");
        check(&["1.5", "\"NaN\""], "DOUBLE");
        check(&["1", "\"1\""], "STRING");
    }
}
