//! Columns as a Parquet schema: message `paimon_schema`, field ids at every level (spec: format.md C.7).
//!
//! The order of the leaves is that of the Arrow types of the same columns, so that Arrow's column writers fit.

use std::sync::Arc;

use parquet::basic::{ConvertedType, LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::errors::Result;
use parquet::schema::types::{SchemaDescriptor, Type, TypePtr};

use crate::types::{DataField, DataType, Kind, element_id, map_key_id, map_value_id};

/// How a TIMESTAMP with more than six digits is declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Nanos {
    /// As the file declares it: INT96.
    Int96,
    /// As 12 bytes of fixed length, which encode to the same pages and which Arrow can write and read.
    Bytes,
}

/// Length of an INT96.
pub(super) const INT96_LENGTH: i32 = 12;

/// The schema of a file with these columns.
pub(super) fn message(fields: &[DataField], nanos: Nanos) -> Result<SchemaDescriptor> {
    let root = Type::group_type_builder("paimon_schema").with_fields(columns(fields, nanos)?).build()?;
    Ok(SchemaDescriptor::new(Arc::new(root)))
}

fn columns(fields: &[DataField], nanos: Nanos) -> Result<Vec<TypePtr>> {
    let column = |f: &DataField| Shape { id: f.id, depth: 0, nanos }.build(&f.name, &f.data_type, f.id).map(Arc::new);
    fields.iter().map(column).collect()
}

/// Where in the tree of one column a type stands.
#[derive(Clone, Copy)]
struct Shape {
    /// Field id that ids of elements, keys and values are counted from.
    id: i32,
    /// Arrays and maps above.
    depth: i32,
    nanos: Nanos,
}

impl Shape {
    fn build(self, name: &str, data_type: &DataType, id: i32) -> Result<Type> {
        let repetition = if data_type.nullable { Repetition::OPTIONAL } else { Repetition::REQUIRED };
        let inner = Self { depth: self.depth + 1, ..self };
        let group = |fields: Vec<TypePtr>, logical: Option<LogicalType>| {
            Type::group_type_builder(name)
                .with_repetition(repetition)
                .with_logical_type(logical)
                .with_fields(fields)
                .with_id(Some(id))
                .build()
        };
        match &data_type.kind {
            Kind::Array(element) | Kind::Vector { element, .. } => {
                let element = inner.build("element", element, element_id(self.id, inner.depth))?;
                group(vec![repeated("list", ConvertedType::NONE, vec![element])?], Some(LogicalType::List))
            }
            Kind::Map(key, value) => group(vec![inner.entries(key, value)?], Some(LogicalType::Map)),
            Kind::Multiset(element) => {
                group(vec![inner.entries(element, &DataType::required(Kind::Int))?], Some(LogicalType::Map))
            }
            Kind::Row(fields) => group(columns(fields, self.nanos)?, None),
            Kind::Variant => group(vec![variant("value", 0)?, variant("metadata", 1)?], None),
            leaf => self.leaf(name, leaf, repetition, id),
        }
    }

    fn entries(self, key: &DataType, value: &DataType) -> Result<TypePtr> {
        let key = key.clone().with_nullable(false);
        let key = self.build("key", &key, map_key_id(self.id, self.depth))?;
        let value = self.build("value", value, map_value_id(self.id, self.depth))?;
        repeated("key_value", ConvertedType::MAP_KEY_VALUE, vec![key, value])
    }

    fn leaf(self, name: &str, kind: &Kind, repetition: Repetition, id: i32) -> Result<Type> {
        let (physical, logical) = primitive(kind, self.nanos);
        let mut builder = Type::primitive_type_builder(name, physical)
            .with_repetition(repetition)
            .with_logical_type(logical)
            .with_id(Some(id));
        if let Kind::Decimal { precision, scale } = kind {
            builder = builder.with_precision(i32::from(*precision)).with_scale(i32::from(*scale));
        }
        if physical == Physical::FIXED_LEN_BYTE_ARRAY {
            builder = builder.with_length(match kind {
                Kind::Decimal { precision, .. } => decimal_length(*precision),
                _ => INT96_LENGTH,
            });
        }
        builder.build()
    }
}

fn repeated(name: &str, converted: ConvertedType, fields: Vec<Type>) -> Result<TypePtr> {
    Type::group_type_builder(name)
        .with_repetition(Repetition::REPEATED)
        .with_converted_type(converted)
        .with_fields(fields.into_iter().map(Arc::new).collect())
        .build()
        .map(Arc::new)
}

fn variant(name: &str, id: i32) -> Result<TypePtr> {
    let bytes = Type::primitive_type_builder(name, Physical::BYTE_ARRAY).with_repetition(Repetition::REQUIRED);
    bytes.with_id(Some(id)).build().map(Arc::new)
}

fn primitive(kind: &Kind, nanos: Nanos) -> (Physical, Option<LogicalType>) {
    match kind {
        Kind::Char(_) | Kind::Varchar(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        Kind::Boolean => (Physical::BOOLEAN, None),
        Kind::TinyInt => (Physical::INT32, Some(LogicalType::integer(8, true))),
        Kind::SmallInt => (Physical::INT32, Some(LogicalType::integer(16, true))),
        Kind::Int => (Physical::INT32, None),
        Kind::BigInt => (Physical::INT64, None),
        Kind::Float => (Physical::FLOAT, None),
        Kind::Double => (Physical::DOUBLE, None),
        Kind::Date => (Physical::INT32, Some(LogicalType::Date)),
        Kind::Time(_) => (Physical::INT32, Some(LogicalType::time(true, TimeUnit::MILLIS))),
        Kind::Timestamp(p) => timestamp(*p, false, nanos),
        Kind::LocalZonedTimestamp(p) => timestamp(*p, true, nanos),
        Kind::WideTimestamp { precision, zoned } => timestamp(*precision, *zoned, nanos),
        Kind::Decimal { precision, scale } => {
            let physical = match precision {
                0..=9 => Physical::INT32,
                10..=18 => Physical::INT64,
                _ => Physical::FIXED_LEN_BYTE_ARRAY,
            };
            (physical, Some(LogicalType::decimal(i32::from(*scale), i32::from(*precision))))
        }
        _ => (Physical::BYTE_ARRAY, None),
    }
}

fn timestamp(precision: u8, adjusted: bool, nanos: Nanos) -> (Physical, Option<LogicalType>) {
    match (precision, nanos) {
        (0..=3, _) => (Physical::INT64, Some(LogicalType::timestamp(adjusted, TimeUnit::MILLIS))),
        (4..=6, _) => (Physical::INT64, Some(LogicalType::timestamp(adjusted, TimeUnit::MICROS))),
        (_, Nanos::Int96) => (Physical::INT96, None),
        (_, Nanos::Bytes) => (Physical::FIXED_LEN_BYTE_ARRAY, None),
    }
}

/// Bytes that hold every unscaled value of a precision.
fn decimal_length(precision: u8) -> i32 {
    let largest = 10_i128.pow(u32::from(precision.min(38))) - 1;
    let bits = 128 - largest.leading_zeros() + 1;
    bits.div_ceil(8).cast_signed()
}

/// The same schema with every INT96 declared as bytes; none when there is no INT96.
///
/// # Errors
/// Those of Parquet, for a schema that contradicts itself.
pub fn int96_as_bytes(schema: &SchemaDescriptor) -> Result<Option<SchemaDescriptor>> {
    if schema.columns().iter().all(|c| c.physical_type() != Physical::INT96) {
        return Ok(None);
    }
    let root = schema.root_schema();
    let fields = root.get_fields().iter().map(rewrite).collect::<Result<_>>()?;
    let root = Type::group_type_builder(root.name()).with_fields(fields).build()?;
    Ok(Some(SchemaDescriptor::new(Arc::new(root))))
}

fn rewrite(column: &TypePtr) -> Result<TypePtr> {
    let info = column.get_basic_info();
    let id = info.has_id().then(|| info.id());
    if column.is_group() {
        let fields = column.get_fields().iter().map(rewrite).collect::<Result<_>>()?;
        let group = Type::group_type_builder(info.name())
            .with_repetition(info.repetition())
            .with_converted_type(info.converted_type())
            .with_logical_type(info.logical_type_ref().cloned())
            .with_fields(fields)
            .with_id(id);
        return group.build().map(Arc::new);
    }
    if column.get_physical_type() != Physical::INT96 {
        return Ok(Arc::clone(column));
    }
    let leaf = Type::primitive_type_builder(info.name(), Physical::FIXED_LEN_BYTE_ARRAY)
        .with_repetition(info.repetition())
        .with_length(INT96_LENGTH)
        .with_id(id);
    leaf.build().map(Arc::new)
}
