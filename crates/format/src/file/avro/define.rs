//! The Avro schema of a file to be written: the reference's names, order and logical types (spec: format.md C.4).

use serde_json::{Map, Value, json};

use crate::types::{DataField, DataType, Kind};
use crate::{Error, Result, ResultExt};

const NAMESPACE: &str = "org.apache.paimon.avro.generated";

/// The schema of rows with `fields`, as JSON text.
///
/// # Errors
/// `Unsupported` naming the column for a type or a name that Avro files cannot hold.
pub(super) fn define(fields: &[DataField]) -> Result<String> {
    let mut root = record("record", fields)?;
    if let Value::Object(object) = &mut root {
        let parts = object.remove("fields").unwrap_or_default();
        object.insert("namespace".into(), NAMESPACE.into());
        object.insert("fields".into(), parts);
    }
    Ok(root.to_string())
}

fn record(name: &str, fields: &[DataField]) -> Result<Value> {
    let fields = fields.iter().map(|f| {
        check_name(&f.name)?;
        let schema = convert(&f.data_type, &format!("{name}_{}", f.name)).context("column", &f.name)?;
        Ok(field(&f.name, schema, f.data_type.nullable))
    });
    Ok(json!({"type": "record", "name": name, "fields": fields.collect::<Result<Vec<_>>>()?}))
}

fn field(name: &str, schema: Value, with_default: bool) -> Value {
    let mut object = Map::new();
    object.insert("name".into(), name.into());
    object.insert("type".into(), schema);
    if with_default {
        object.insert("default".into(), Value::Null);
    }
    Value::Object(object)
}

fn check_name(name: &str) -> Result<()> {
    let mut chars = name.chars();
    let first = chars.next().is_some_and(|c| c.is_alphabetic() || c == '_');
    if first && chars.all(|c| c.is_alphanumeric() || c == '_') {
        return Ok(());
    }
    Err(Error::unsupported("avro files hold only column names of letters, digits and underscores").with("column", name))
}

fn convert(data_type: &DataType, name: &str) -> Result<Value> {
    let schema = match &data_type.kind {
        Kind::Boolean => json!("boolean"),
        Kind::TinyInt | Kind::SmallInt | Kind::Int => json!("int"),
        Kind::BigInt => json!("long"),
        Kind::Float => json!("float"),
        Kind::Double => json!("double"),
        Kind::Char(_) | Kind::Varchar(_) => json!("string"),
        Kind::Binary(_) | Kind::Varbinary(_) | Kind::Blob => json!("bytes"),
        Kind::Date => json!({"type": "int", "logicalType": "date"}),
        Kind::Time(p) if *p <= 3 => json!({"type": "int", "logicalType": "time-millis"}),
        Kind::Timestamp(p) if *p <= 3 => json!({"type": "long", "logicalType": "timestamp-millis"}),
        Kind::Timestamp(p) if *p <= 6 => json!({"type": "long", "logicalType": "timestamp-micros"}),
        Kind::LocalZonedTimestamp(p) if *p <= 3 => json!({"type": "long", "logicalType": "local-timestamp-millis"}),
        Kind::LocalZonedTimestamp(p) if *p <= 6 => json!({"type": "long", "logicalType": "local-timestamp-micros"}),
        Kind::Decimal { precision, scale } => {
            json!({"type": "bytes", "logicalType": "decimal", "precision": precision, "scale": scale})
        }
        Kind::Row(fields) => record(name, fields)?,
        Kind::Map(key, value) => map(key, value, name)?,
        Kind::Multiset(element) => map(element, &DataType::nullable(Kind::Int), name)?,
        Kind::Array(element) | Kind::Vector { element, .. } => {
            json!({"type": "array", "items": convert(element, name)?})
        }
        _ => return Err(Error::unsupported(format!("avro files cannot hold {}", data_type.kind))),
    };
    Ok(if data_type.nullable { json!(["null", schema]) } else { schema })
}

/// Maps with string keys are Avro maps, all others arrays of entries.
fn map(key: &DataType, value: &DataType, name: &str) -> Result<Value> {
    if is_string(key) {
        return Ok(json!({"type": "map", "values": convert(value, name)?}));
    }
    let key = field("key", convert(key, &format!("{name}_key"))?, false);
    let entry = field("value", convert(value, &format!("{name}_value"))?, value.nullable);
    let entries = json!({"type": "record", "name": name, "fields": [key, entry]});
    Ok(json!({"type": "array", "items": entries, "logicalType": "map"}))
}

/// Whether a map with this key is an Avro map.
pub(super) fn is_string(key: &DataType) -> bool {
    matches!(key.kind, Kind::Char(_) | Kind::Varchar(_))
}
