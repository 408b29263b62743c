//! Types as Arrow types, and back (spec: format.md C.7).
//!
//! Field ids ride in the metadata key `PARQUET:field_id` at every level of nesting, so that readers and writers of files
//! can resolve columns by id.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arrow_schema::{DataType as Arrow, Field, Fields, Schema, SchemaRef, TimeUnit};

use super::ids::{element_id, map_key_id, map_value_id};
use super::wide::WIDE_TIMESTAMP;
use super::{DataField, DataType, Kind, assign_ids};
use crate::{Error, Result, ResultExt};

/// Metadata key under which an Arrow field carries its field id.
pub const FIELD_ID_KEY: &str = "PARQUET:field_id";

/// The Arrow type of a type that stands alone: ids of its parts are counted from field 0.
///
/// # Errors
/// `Invalid` for a type that Arrow cannot hold (DECIMAL beyond 38 digits).
pub fn arrow_type(data_type: &DataType) -> Result<Arrow> {
    nested(data_type, 0, 0)
}

/// The Arrow field of a column, with ids at every level.
///
/// # Errors
/// As [`arrow_type`].
pub fn arrow_field(field: &DataField) -> Result<Field> {
    let arrow = nested(&field.data_type, field.id, 0).context("column", &field.name)?;
    Ok(with_id(Field::new(&field.name, arrow, field.data_type.nullable), field.id))
}

/// The Arrow schema of columns.
///
/// # Errors
/// As [`arrow_type`].
pub fn arrow_schema(fields: &[DataField]) -> Result<SchemaRef> {
    Ok(Arc::new(Schema::new(fields.iter().map(arrow_field).collect::<Result<Vec<_>>>()?)))
}

/// The field id that an Arrow field carries, if it does.
pub fn field_id(field: &Field) -> Option<i32> {
    field.metadata().get(FIELD_ID_KEY)?.parse().ok()
}

fn with_id(field: Field, id: i32) -> Field {
    field.with_metadata(HashMap::from([(FIELD_ID_KEY.to_owned(), id.to_string())]))
}

/// `depth` counts the arrays and maps between the field `id` and this type.
fn nested(data_type: &DataType, id: i32, depth: i32) -> Result<Arrow> {
    Ok(match &data_type.kind {
        Kind::Char(_) | Kind::Varchar(_) => Arrow::Utf8,
        Kind::Boolean => Arrow::Boolean,
        Kind::Binary(_) | Kind::Varbinary(_) | Kind::Blob => Arrow::Binary,
        Kind::Decimal { precision, scale } => {
            let signed = i8::try_from(*scale).ok().filter(|_| *precision <= 38);
            let scale = signed.ok_or_else(|| Error::invalid(format!("type {data_type} has no Arrow type")))?;
            Arrow::Decimal128(*precision, scale)
        }
        Kind::TinyInt => Arrow::Int8,
        Kind::SmallInt => Arrow::Int16,
        Kind::Int => Arrow::Int32,
        Kind::BigInt => Arrow::Int64,
        Kind::Float => Arrow::Float32,
        Kind::Double => Arrow::Float64,
        Kind::Date => Arrow::Date32,
        Kind::Time(_) => Arrow::Time32(TimeUnit::Millisecond),
        Kind::Timestamp(p) => Arrow::Timestamp(time_unit(*p), None),
        Kind::LocalZonedTimestamp(p) => Arrow::Timestamp(time_unit(*p), Some("UTC".into())),
        Kind::WideTimestamp { .. } => WIDE_TIMESTAMP,
        Kind::Array(element) => Arrow::List(Arc::new(element_field(element, id, depth + 1)?)),
        Kind::Vector { element, length } => {
            let length = i32::try_from(*length).map_err(|_| Error::invalid("a VECTOR is too long"))?;
            Arrow::FixedSizeList(Arc::new(element_field(element, id, depth + 1)?), length)
        }
        Kind::Map(key, value) => map(key, value, id, depth + 1)?,
        Kind::Multiset(element) => map(element, &DataType::required(Kind::Int), id, depth + 1)?,
        Kind::Row(fields) => Arrow::Struct(fields.iter().map(arrow_field).collect::<Result<Fields>>()?),
        Kind::Variant => Arrow::Struct(Fields::from(vec![
            Field::new("value", Arrow::Binary, false),
            Field::new("metadata", Arrow::Binary, false),
        ])),
    })
}

fn element_field(element: &DataType, id: i32, depth: i32) -> Result<Field> {
    let arrow = nested(element, id, depth)?;
    Ok(with_id(Field::new("element", arrow, element.nullable), element_id(id, depth)))
}

fn map(key: &DataType, value: &DataType, id: i32, depth: i32) -> Result<Arrow> {
    // Arrow has no null keys; a nullable key type reads and writes as one without nulls.
    let key = with_id(Field::new("key", nested(key, id, depth)?, false), map_key_id(id, depth));
    let value = with_id(Field::new("value", nested(value, id, depth)?, value.nullable), map_value_id(id, depth));
    let entries = Field::new("entries", Arrow::Struct(Fields::from(vec![key, value])), false);
    Ok(Arrow::Map(Arc::new(entries), false))
}

fn time_unit(precision: u8) -> TimeUnit {
    match precision {
        0..=3 => TimeUnit::Millisecond,
        4..=6 => TimeUnit::Microsecond,
        _ => TimeUnit::Nanosecond,
    }
}

/// Columns of a table that can hold batches of this Arrow schema (after a widening cast, where Paimon has no such type:
/// unsigned numbers, large and view types, dictionaries). Fresh ids are assigned, nested ones too.
///
/// # Errors
/// `Invalid` for duplicate names, `Unsupported` for Arrow types without a counterpart.
pub fn fields_from_arrow(schema: &Schema) -> Result<Vec<DataField>> {
    assign_ids(columns(schema.fields())?, &mut -1)
}

fn columns(fields: &Fields) -> Result<Vec<DataField>> {
    let mut names = HashSet::new();
    fields
        .iter()
        .map(|field| {
            if !names.insert(field.name()) {
                return Err(Error::invalid(format!("column {:?} appears twice", field.name()))
                    .with_hint("give every column a name of its own"));
            }
            Ok(DataField::new(0, field.name(), from_field(field)?))
        })
        .collect()
}

fn from_field(field: &Field) -> Result<DataType> {
    let kind = from_arrow(field.data_type()).context("column", field.name())?;
    Ok(DataType { kind, nullable: field.is_nullable() })
}

fn from_arrow(arrow: &Arrow) -> Result<Kind> {
    let boxed = |f: &Field| from_field(f).map(Box::new);
    Ok(match arrow {
        Arrow::Boolean => Kind::Boolean,
        Arrow::Int8 => Kind::TinyInt,
        Arrow::Int16 | Arrow::UInt8 => Kind::SmallInt,
        Arrow::Int32 | Arrow::UInt16 => Kind::Int,
        Arrow::Int64 | Arrow::UInt32 => Kind::BigInt,
        Arrow::UInt64 => Kind::Decimal { precision: 20, scale: 0 },
        Arrow::Float16 | Arrow::Float32 => Kind::Float,
        Arrow::Float64 => Kind::Double,
        // A column of nulls alone may hold anything.
        Arrow::Utf8 | Arrow::LargeUtf8 | Arrow::Utf8View | Arrow::Null => DataType::string().kind,
        Arrow::Binary | Arrow::LargeBinary | Arrow::BinaryView => DataType::bytes().kind,
        Arrow::FixedSizeBinary(n) => match u32::try_from(*n) {
            Ok(n) if n > 0 => Kind::Binary(n),
            _ => DataType::bytes().kind,
        },
        Arrow::Decimal32(p, s) | Arrow::Decimal64(p, s) | Arrow::Decimal128(p, s) => match u8::try_from(*s) {
            Ok(scale) if scale <= *p && (1..=38).contains(p) => Kind::Decimal { precision: *p, scale },
            _ => return Err(Error::unsupported(format!("arrow type {arrow} has no Paimon type"))),
        },
        Arrow::Date32 => Kind::Date,
        Arrow::Date64 => Kind::Timestamp(3),
        Arrow::Time32(TimeUnit::Second) => Kind::Time(0),
        Arrow::Time32(_) | Arrow::Time64(_) => Kind::Time(3),
        Arrow::Timestamp(unit, None) => Kind::Timestamp(precision(*unit)),
        Arrow::Timestamp(unit, Some(_)) => Kind::LocalZonedTimestamp(precision(*unit)),
        Arrow::List(f) | Arrow::LargeList(f) | Arrow::ListView(f) | Arrow::LargeListView(f) => Kind::Array(boxed(f)?),
        Arrow::FixedSizeList(f, n) => fixed_size_list(f, *n)?,
        Arrow::Map(entries, _) => match entries.data_type() {
            Arrow::Struct(parts) if parts.len() == 2 => Kind::Map(boxed(&parts[0])?, boxed(&parts[1])?),
            _ => return Err(Error::invalid("an arrow map without a key and a value")),
        },
        Arrow::Struct(fields) => Kind::Row(columns(fields)?),
        Arrow::Dictionary(_, value) => from_arrow(value)?,
        other => return Err(Error::unsupported(format!("arrow type {other} has no Paimon type"))),
    })
}

fn fixed_size_list(element: &Field, length: i32) -> Result<Kind> {
    let element = from_field(element)?;
    match u32::try_from(length) {
        Ok(n) => super::parse::vector(element.clone(), n).or(Ok(Kind::Array(Box::new(element)))),
        Err(_) => Ok(Kind::Array(Box::new(element))),
    }
}

fn precision(unit: TimeUnit) -> u8 {
    match unit {
        TimeUnit::Second => 0,
        TimeUnit::Millisecond => 3,
        TimeUnit::Microsecond => 6,
        TimeUnit::Nanosecond => 9,
    }
}
