//! Conditions on columns, by name. They are checked against a table when they are used.

use linn_format::cast::cast;
use linn_format::datum::{Datum, datums_from_array};
use linn_format::predicate::{CompareOp, Predicate};
use linn_format::types::{DataField, DataType, Kind};
use linn_format::{Error, Result};

use arrow_array::{ArrayRef, StringArray};
use bytes::Bytes;
use std::sync::Arc;

/// A column, to be compared with values.
///
/// ```
/// use linn::col;
///
/// let condition = col("amount").gt(5).and(col("city").eq("Paris").or(col("city").is_null()));
/// ```
pub fn col(name: impl Into<String>) -> Column {
    Column { name: name.into() }
}

/// A column by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    name: String,
}

/// A value that a column is compared with. Text stands for dates, times, timestamps and decimals too.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// True or false.
    Boolean(bool),
    /// A whole number.
    Integer(i64),
    /// A number with a fraction.
    Double(f64),
    /// Text, and everything that is written as text: `2026-01-31`, `10:15:00`, `12.50`.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
}

/// A condition on the rows of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Filter(Node);

#[derive(Debug, Clone, PartialEq)]
enum Node {
    Compare(String, CompareOp, Value),
    In(String, Vec<Value>),
    IsNull(String),
    StartsWith(String, String),
    And(Vec<Node>),
    Or(Vec<Node>),
    Not(Box<Node>),
}

macro_rules! values {
    ($($from:ty => $value:expr);* $(;)?) => {
        $(impl From<$from> for Value {
            fn from(value: $from) -> Self {
                $value(value.into())
            }
        })*
    };
}

values! {
    bool => Value::Boolean;
    i8 => Value::Integer;
    i16 => Value::Integer;
    i32 => Value::Integer;
    i64 => Value::Integer;
    u8 => Value::Integer;
    u16 => Value::Integer;
    u32 => Value::Integer;
    f32 => Value::Double;
    f64 => Value::Double;
    &str => Value::Text;
    String => Value::Text;
    &[u8] => Value::Bytes;
    Vec<u8> => Value::Bytes;
}

impl Column {
    fn compare(self, op: CompareOp, value: impl Into<Value>) -> Filter {
        Filter(Node::Compare(self.name, op, value.into()))
    }

    /// `column = value`.
    pub fn eq(self, value: impl Into<Value>) -> Filter {
        self.compare(CompareOp::Eq, value)
    }

    /// `column <> value`.
    pub fn not_eq(self, value: impl Into<Value>) -> Filter {
        self.compare(CompareOp::NotEq, value)
    }

    /// `column < value`.
    pub fn lt(self, value: impl Into<Value>) -> Filter {
        self.compare(CompareOp::Lt, value)
    }

    /// `column <= value`.
    pub fn lt_eq(self, value: impl Into<Value>) -> Filter {
        self.compare(CompareOp::LtEq, value)
    }

    /// `column > value`.
    pub fn gt(self, value: impl Into<Value>) -> Filter {
        self.compare(CompareOp::Gt, value)
    }

    /// `column >= value`.
    pub fn gt_eq(self, value: impl Into<Value>) -> Filter {
        self.compare(CompareOp::GtEq, value)
    }

    /// `column IN (values)`.
    pub fn is_in<V: Into<Value>>(self, values: impl IntoIterator<Item = V>) -> Filter {
        Filter(Node::In(self.name, values.into_iter().map(Into::into).collect()))
    }

    /// `column IS NULL`.
    pub fn is_null(self) -> Filter {
        Filter(Node::IsNull(self.name))
    }

    /// `column IS NOT NULL`.
    pub fn is_not_null(self) -> Filter {
        self.is_null().negate()
    }

    /// `column LIKE 'prefix%'`.
    pub fn starts_with(self, prefix: impl Into<String>) -> Filter {
        Filter(Node::StartsWith(self.name, prefix.into()))
    }
}

impl Filter {
    /// Both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(Node::And(vec![self.0, other.0]))
    }

    /// One of them, or both.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self(Node::Or(vec![self.0, other.0]))
    }

    /// The opposite; as in SQL, a comparison with null is neither true nor false.
    #[must_use]
    pub fn negate(self) -> Self {
        Self(Node::Not(Box::new(self.0)))
    }

    /// The predicate over the columns of a table.
    ///
    /// # Errors
    /// `Invalid` for a column that is not among them, and for a value that the type of a column cannot be compared with.
    pub fn bind(&self, fields: &[DataField]) -> Result<Predicate> {
        bind(&self.0, fields)
    }
}

fn bind(node: &Node, fields: &[DataField]) -> Result<Predicate> {
    let all = |nodes: &[Node]| nodes.iter().map(|node| bind(node, fields)).collect::<Result<Vec<_>>>();
    Ok(match node {
        Node::Compare(name, op, value) => {
            let field = field(name, fields)?;
            Predicate::Compare { field_id: field.id, op: *op, literal: literal(value, field)? }
        }
        Node::In(name, values) => {
            let field = field(name, fields)?;
            let literals = values.iter().map(|value| literal(value, field)).collect::<Result<Vec<_>>>()?;
            Predicate::In { field_id: field.id, literals, negated: false }
        }
        Node::IsNull(name) => Predicate::IsNull { field_id: field(name, fields)?.id, negated: false },
        Node::StartsWith(name, prefix) => {
            let field = field(name, fields)?;
            match field.data_type.kind {
                Kind::Char(_) | Kind::Varchar(_) => {
                    Predicate::StartsWith { field_id: field.id, prefix: prefix.clone() }
                }
                _ => return Err(misfit(&Value::Text(prefix.clone()), field)),
            }
        }
        Node::And(nodes) => Predicate::and(all(nodes)?),
        Node::Or(nodes) => Predicate::or(all(nodes)?),
        Node::Not(node) => Predicate::Not(Box::new(bind(node, fields)?)),
    })
}

/// The column of a name.
///
/// # Errors
/// `Invalid` naming the columns that there are.
pub(crate) fn field<'f>(name: &str, fields: &'f [DataField]) -> Result<&'f DataField> {
    fields.iter().find(|field| field.name == name).ok_or_else(|| {
        let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
        Error::invalid(format!("there is no column {name}")).with_hint(format!("columns are {}", names.join(", ")))
    })
}

fn misfit(value: &Value, field: &DataField) -> Error {
    let value = match value {
        Value::Boolean(value) => value.to_string(),
        Value::Integer(value) => value.to_string(),
        Value::Double(value) => value.to_string(),
        Value::Text(value) => format!("'{value}'"),
        Value::Bytes(value) => format!("{} bytes", value.len()),
    };
    Error::invalid(format!("{value} cannot be compared with a column of type {}", field.data_type))
        .with("column", &field.name)
}

/// The value as one of the column's type.
fn literal(value: &Value, field: &DataField) -> Result<Datum> {
    let found = match (value, &field.data_type.kind) {
        (Value::Boolean(value), Kind::Boolean) => Some(Datum::Boolean(*value)),
        (Value::Integer(value), Kind::TinyInt) => i8::try_from(*value).ok().map(Datum::TinyInt),
        (Value::Integer(value), Kind::SmallInt) => i16::try_from(*value).ok().map(Datum::SmallInt),
        (Value::Integer(value), Kind::Int) => i32::try_from(*value).ok().map(Datum::Int),
        (Value::Integer(value), Kind::BigInt) => Some(Datum::BigInt(*value)),
        (Value::Integer(value), Kind::Float) => Some(*value as f32).filter(|v| *v as i64 == *value).map(Datum::Float),
        (Value::Integer(value), Kind::Double) => Some(*value as f64).filter(|v| *v as i64 == *value).map(Datum::Double),
        (Value::Double(value), Kind::Float) => {
            let nearest = *value as f32;
            (nearest.is_finite() || !value.is_finite()).then_some(Datum::Float(nearest))
        }
        (Value::Double(value), Kind::Double) => Some(Datum::Double(*value)),
        (Value::Integer(value), Kind::Decimal { .. }) => from_text(&value.to_string(), field)?,
        (Value::Double(value), Kind::Decimal { .. }) => from_text(&value.to_string(), field)?,
        (Value::Text(value), Kind::Char(_) | Kind::Varchar(_)) => Some(Datum::String(value.clone())),
        (
            Value::Text(value),
            Kind::Decimal { .. } | Kind::Date | Kind::Time(_) | Kind::Timestamp(_) | Kind::LocalZonedTimestamp(_),
        ) => from_text(value, field)?,
        (Value::Bytes(value), Kind::Binary(_) | Kind::Varbinary(_)) => Some(Datum::Bytes(Bytes::from(value.clone()))),
        _ => None,
    };
    found.ok_or_else(|| misfit(value, field))
}

/// The value that a text stands for; none where it has more digits, or a time of day, than the type: a cast would round or cut it,
/// and other rows would be found.
fn from_text(text: &str, field: &DataField) -> Result<Option<Datum>> {
    let digits = text.split_once('.').map_or(0, |(_, fraction)| {
        let digits: String = fraction.chars().take_while(char::is_ascii_digit).collect();
        digits.trim_end_matches('0').len()
    });
    let fits = match field.data_type.kind {
        Kind::Decimal { scale, .. } => digits <= usize::from(scale) && !text.contains(['e', 'E']),
        Kind::Time(most) | Kind::Timestamp(most) | Kind::LocalZonedTimestamp(most) => digits <= usize::from(most),
        Kind::Date => !text.contains(':'),
        _ => true,
    };
    if !fits {
        return Ok(None);
    }
    let array: ArrayRef = Arc::new(StringArray::from(vec![text]));
    let bare = field.data_type.clone().with_nullable(true);
    let Ok(array) = cast(&array, &DataType::string(), &bare) else { return Ok(None) };
    Ok(datums_from_array(&array, &bare)?.into_iter().next().flatten())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields() -> Vec<DataField> {
        let columns = [
            ("i", "INT"),
            ("d", "DATE"),
            ("n", "DECIMAL(6, 2)"),
            ("s", "STRING"),
            ("f", "DOUBLE"),
            ("t", "TIMESTAMP(3)"),
        ];
        let field = |(id, (name, sql)): (i32, (&str, &str))| DataField::new(id, name, DataType::parse(sql).unwrap());
        (0..).zip(columns).map(field).collect()
    }

    #[test]
    fn values_are_of_the_type_of_their_column() {
        let bound = |filter: Filter| filter.bind(&fields()).unwrap();
        let equals = |field_id, literal| Predicate::Compare { field_id, op: CompareOp::Eq, literal };
        assert_eq!(bound(col("i").eq(5)), equals(0, Datum::Int(5)));
        assert_eq!(bound(col("d").eq("1970-01-02")), equals(1, Datum::Date(1)));
        assert_eq!(bound(col("n").eq("1.50")), equals(2, Datum::Decimal { unscaled: 150, precision: 6, scale: 2 }));
        assert_eq!(bound(col("n").eq(2)), equals(2, Datum::Decimal { unscaled: 200, precision: 6, scale: 2 }));
        assert_eq!(bound(col("n").eq("1.5000")), equals(2, Datum::Decimal { unscaled: 150, precision: 6, scale: 2 }));
        assert_eq!(bound(col("f").eq(2)), equals(4, Datum::Double(2.0)));
        let time = Datum::Timestamp { millis: 1_500, nanos: 0 };
        assert_eq!(bound(col("t").eq("1970-01-01 00:00:01.5000")), equals(5, time));
        let both = bound(col("i").gt(1).and(col("s").starts_with("a")));
        assert!(matches!(both, Predicate::And(parts) if parts.len() == 2));
    }

    #[test]
    fn what_does_not_fit_names_the_column() {
        let fails = |filter: Filter| filter.bind(&fields()).unwrap_err().to_string();
        assert!(fails(col("x").eq(5)).contains("there is no column x"));
        for filter in [
            col("i").eq("five"),
            col("i").eq(5.5),
            col("i").eq(i64::MAX),
            col("d").eq("tomorrow"),
            col("s").eq(1),
            col("i").starts_with("1"),
            col("f").eq("x").negate(),
            col("n").gt("1.555"),
            col("n").eq(0.001),
            col("n").eq("1e3"),
            col("n").eq("123456.00"),
            col("d").eq("2026-01-01 10:00:00"),
            col("t").gt("2026-01-01 10:00:00.1234"),
            col("f").eq(9_007_199_254_740_993_i64),
        ] {
            assert!(fails(filter.clone()).contains("cannot be compared with a column of type"), "{filter:?}");
        }
    }
}
