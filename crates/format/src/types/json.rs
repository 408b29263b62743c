//! The JSON spelling of types and fields in schema files (spec: format.md C.3).
//!
//! Atomic types are SQL text; nested types are objects whose `type` names the constructor and NOT NULL.

use serde_json::{Map, Value, json};

use super::parse::{MAX_DEPTH, vector};
use super::{DataField, DataType, Kind};
use crate::{Error, ErrorKind, Result, ResultExt};

impl DataType {
    /// The JSON spelling.
    pub fn to_json(&self) -> Value {
        let (name, parts): (&str, Vec<(&str, Value)>) = match &self.kind {
            Kind::Array(element) => ("ARRAY", vec![("element", element.to_json())]),
            Kind::Multiset(element) => ("MULTISET", vec![("element", element.to_json())]),
            Kind::Map(key, value) => ("MAP", vec![("key", key.to_json()), ("value", value.to_json())]),
            Kind::Row(fields) => ("ROW", vec![("fields", fields.iter().map(DataField::to_json).collect())]),
            Kind::Vector { element, length } => {
                ("VECTOR", vec![("element", element.to_json()), ("length", json!(length))])
            }
            _ => return Value::String(self.to_string()),
        };
        let mut object = Map::new();
        object.insert("type".to_owned(), format!("{name}{}", if self.nullable { "" } else { " NOT NULL" }).into());
        for (key, value) in parts {
            object.insert(key.to_owned(), value);
        }
        Value::Object(object)
    }

    /// Reads the JSON spelling.
    ///
    /// # Errors
    /// `Corrupt` for JSON that is no type, `Unsupported` for a type that Linn does not have.
    pub fn from_json(json: &Value) -> Result<Self> {
        read_type(json, 0)
    }
}

impl DataField {
    /// The JSON spelling.
    pub fn to_json(&self) -> Value {
        let mut object = Map::new();
        object.insert("id".to_owned(), self.id.into());
        object.insert("name".to_owned(), self.name.as_str().into());
        object.insert("type".to_owned(), self.data_type.to_json());
        if let Some(text) = &self.description {
            object.insert("description".to_owned(), text.as_str().into());
        }
        if let Some(text) = &self.default_value {
            object.insert("defaultValue".to_owned(), text.as_str().into());
        }
        Value::Object(object)
    }

    /// Reads the JSON spelling.
    ///
    /// # Errors
    /// As [`DataType::from_json`]; `Corrupt` without an id or a name.
    pub fn from_json(json: &Value) -> Result<Self> {
        read_field(json, 0)
    }
}

fn read_field(json: &Value, depth: usize) -> Result<DataField> {
    let name = member(json, "name")?.as_str().ok_or_else(|| Error::corrupt("the name of a field is not a text"))?;
    let id = member(json, "id")?
        .as_i64()
        .and_then(|id| i32::try_from(id).ok())
        .ok_or_else(|| Error::corrupt("the id of a field is not a 32-bit number").with("field", name))?;
    let data_type = member(json, "type").and_then(|t| read_type(t, depth)).context("field", name)?;
    let text = |key: &str| json.get(key).and_then(Value::as_str).map(str::to_owned);
    Ok(DataField {
        id,
        name: name.to_owned(),
        data_type,
        description: text("description"),
        default_value: text("defaultValue"),
    })
}

fn read_type(json: &Value, depth: usize) -> Result<DataType> {
    if depth > MAX_DEPTH {
        return Err(Error::corrupt(format!("types are nested more than {MAX_DEPTH} deep")));
    }
    if let Some(sql) = json.as_str() {
        return DataType::parse(sql).map_err(as_corrupt);
    }
    let name = member(json, "type")?.as_str().ok_or_else(|| Error::corrupt("the type of a type is not a text"))?;
    let inner = |key: &str| member(json, key).and_then(|t| read_type(t, depth + 1)).map(Box::new);
    let (base, nullable) = match name.strip_suffix("NOT NULL") {
        Some(base) => (base.trim_end(), false),
        None => (name.trim_end(), true),
    };
    let kind = match base {
        "ARRAY" => Kind::Array(inner("element")?),
        "MULTISET" => Kind::Multiset(inner("element")?),
        "MAP" => Kind::Map(inner("key")?, inner("value")?),
        "ROW" => {
            let fields = member(json, "fields")?
                .as_array()
                .ok_or_else(|| Error::corrupt("the fields of a ROW are not an array"))?;
            Kind::Row(fields.iter().map(|f| read_field(f, depth + 1)).collect::<Result<_>>()?)
        }
        "VECTOR" => {
            let length = member(json, "length")?.as_u64().and_then(|n| u32::try_from(n).ok()).unwrap_or(0);
            vector(*inner("element")?, length).map_err(as_corrupt)?
        }
        other => return Err(Error::unsupported(format!("type {other} is not known"))),
    };
    Ok(DataType { kind, nullable })
}

fn member<'a>(json: &'a Value, key: &str) -> Result<&'a Value> {
    json.get(key).ok_or_else(|| Error::corrupt(format!("{key:?} is missing in the JSON of a type or field")))
}

/// A file that holds bad text is corrupt, where a user's bad text is invalid.
fn as_corrupt(e: Error) -> Error {
    if e.kind() == ErrorKind::Invalid { Error::corrupt(e.message()) } else { e }
}
