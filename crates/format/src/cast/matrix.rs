//! Which casts exist, and which of them need to be asked for.

use crate::types::{DataType, Kind};

/// Kinds that share rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    String,
    Binary,
    Boolean,
    Integer,
    Float,
    Decimal,
    Date,
    Time,
    Timestamp,
    /// ARRAY, MAP and ROW.
    Nested,
    Other,
}

impl Family {
    pub(super) fn of(kind: &Kind) -> Self {
        match kind {
            Kind::Char(_) | Kind::Varchar(_) => Self::String,
            Kind::Binary(_) | Kind::Varbinary(_) => Self::Binary,
            Kind::Boolean => Self::Boolean,
            Kind::TinyInt | Kind::SmallInt | Kind::Int | Kind::BigInt => Self::Integer,
            Kind::Float | Kind::Double => Self::Float,
            Kind::Decimal { .. } => Self::Decimal,
            Kind::Date => Self::Date,
            Kind::Time(_) => Self::Time,
            Kind::Timestamp(_) | Kind::LocalZonedTimestamp(_) | Kind::WideTimestamp { .. } => Self::Timestamp,
            Kind::Array(_) | Kind::Map(..) | Kind::Row(_) => Self::Nested,
            _ => Self::Other,
        }
    }

    fn is_numeric(self) -> bool {
        matches!(self, Self::Integer | Self::Float | Self::Decimal)
    }
}

/// Whether a column of type `from` may become one of type `to`; `explicit` allows casts that can lose something.
///
/// A nullable type becomes NOT NULL only explicitly.
pub fn can_cast(from: &DataType, to: &DataType, explicit: bool) -> bool {
    if from.nullable && !to.nullable && !explicit {
        return false;
    }
    if from.kind == to.kind {
        return true;
    }
    (is_implicit(&from.kind, &to.kind) || explicit && is_explicit(&from.kind, &to.kind))
        && has_rule(&from.kind, &to.kind)
}

/// Kinds without their parameters.
fn same_root(a: &Kind, b: &Kind) -> bool {
    std::mem::discriminant(a) == std::mem::discriminant(b)
}

fn is_implicit(from: &Kind, to: &Kind) -> bool {
    let rank = |kind: &Kind| match kind {
        Kind::TinyInt => 1,
        Kind::SmallInt => 2,
        Kind::Int => 3,
        Kind::BigInt => 4,
        _ => 0,
    };
    let family = Family::of(from);
    match to {
        Kind::Varchar(_) => family == Family::String,
        Kind::Varbinary(_) => family == Family::Binary,
        Kind::Decimal { .. } | Kind::Double => family.is_numeric(),
        Kind::SmallInt | Kind::Int | Kind::BigInt => family == Family::Integer && rank(from) <= rank(to),
        Kind::Float => matches!(family, Family::Integer | Family::Decimal) || same_root(from, to),
        Kind::Date | Kind::Time(_) => same_root(from, to) || matches!(from, Kind::Timestamp(_)),
        Kind::Timestamp(_) | Kind::LocalZonedTimestamp(_) | Kind::WideTimestamp { .. } => family == Family::Timestamp,
        _ => same_root(from, to),
    }
}

fn is_explicit(from: &Kind, to: &Kind) -> bool {
    let family = Family::of(from);
    match Family::of(to) {
        Family::String => true,
        Family::Boolean => matches!(family, Family::String | Family::Integer),
        Family::Binary => matches!(family, Family::String | Family::Binary),
        Family::Integer | Family::Float | Family::Decimal => {
            family.is_numeric() || matches!(family, Family::String | Family::Boolean | Family::Timestamp)
        }
        Family::Date => matches!(family, Family::Timestamp | Family::String),
        Family::Time => matches!(family, Family::Time | Family::Timestamp | Family::String),
        Family::Timestamp => {
            family.is_numeric() || matches!(family, Family::Date | Family::Time | Family::Timestamp | Family::String)
        }
        Family::Nested | Family::Other => false,
    }
}

/// Whether values can be converted: a cast that is allowed by the matrix alone has no meaning.
pub(super) fn has_rule(from: &Kind, to: &Kind) -> bool {
    use Family::{Binary, Boolean, Date, Decimal, Float, Integer, Nested, Time, Timestamp};
    match (Family::of(from), Family::of(to)) {
        (Date | Time | Timestamp, Family::String) => *to == DataType::string().kind,
        (Nested, Family::String) => nested_has_rule(from),
        (Family::String | Binary | Boolean | Integer | Float | Decimal, Family::String) => true,
        (Family::String, Boolean | Integer | Float | Decimal | Date | Time | Timestamp | Binary) => true,
        (Binary, Binary) | (Integer, Boolean) | (Boolean, Integer | Float | Decimal) => true,
        (Integer | Float | Decimal, Integer | Float | Decimal) => true,
        (Timestamp, Timestamp | Date | Time) | (Date | Time, Timestamp) => true,
        (Timestamp, Integer) => matches!(to, Kind::Int | Kind::BigInt),
        (Integer, Timestamp) => matches!(from, Kind::Int | Kind::BigInt),
        // The precision of a TIME is not kept in its values.
        (Time, Time) => true,
        _ => false,
    }
}

fn nested_has_rule(from: &Kind) -> bool {
    let string = DataType::string().kind;
    let has = |t: &DataType| has_rule(&t.kind, &string);
    match from {
        Kind::Array(element) => has(element),
        Kind::Map(key, value) => has(key) && has(value),
        Kind::Row(fields) => fields.iter().all(|f| has(&f.data_type)),
        _ => false,
    }
}
