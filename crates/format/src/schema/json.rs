//! Schema files (spec: format.md C.3).
//!
//! Options are written in key order; the reference's order is that of its hash maps and means nothing.

use serde_json::{Map, Value};

use super::{SCHEMA_VERSION, TableSchema};
use crate::options::Options;
use crate::types::DataField;
use crate::{Error, Result, ResultExt, SchemaId};

impl TableSchema {
    /// Reads a schema file. Files older than version 3 get the options that were defaults then.
    ///
    /// # Errors
    /// `Corrupt` for bytes that are no schema or name key columns that do not exist, `Unsupported` for types that Linn
    /// does not have.
    pub fn from_json(bytes: &[u8]) -> Result<Self> {
        let json: Value =
            serde_json::from_slice(bytes).map_err(|e| Error::corrupt("a schema is not JSON").with_source(e))?;
        let fields: Vec<DataField> = array(&json, "fields")?.iter().map(DataField::from_json).collect::<Result<_>>()?;
        let version = optional(&json, "version").map_or(Ok(1), |v| number(v, "version"))?;
        let mut options = read_options(&json)?;
        if version <= 1 && !options.contains("bucket") {
            options.set("bucket", "1");
        }
        if version <= 2 && !options.contains("file.format") {
            options.set("file.format", "orc");
        }
        let schema = Self {
            version,
            id: SchemaId(number(required(&json, "id")?, "id")?),
            fields,
            highest_field_id: number(required(&json, "highestFieldId")?, "highestFieldId")?,
            partition_keys: texts(&json, "partitionKeys")?,
            primary_keys: texts(&json, "primaryKeys")?,
            options,
            comment: optional(&json, "comment").and_then(Value::as_str).map(str::to_owned),
            time_millis: optional(&json, "timeMillis").map_or(Ok(0), |v| number(v, "timeMillis"))?,
        };
        for name in schema.partition_keys.iter().chain(&schema.primary_keys) {
            if schema.field(name).is_none() {
                return Err(Error::corrupt(format!("key column {name:?} of a schema is not among its columns")))
                    .context("schema", schema.id);
            }
        }
        Ok(schema)
    }

    /// The schema file, in the reference's layout.
    pub fn to_json(&self) -> Vec<u8> {
        let names = |keys: &[String]| keys.iter().map(String::as_str).collect::<Value>();
        let options: Map<String, Value> =
            self.options.iter().map(|(key, value)| (key.to_owned(), value.into())).collect();
        let mut object = Map::new();
        let mut put = |key: &str, value: Value| object.insert(key.to_owned(), value);
        put("version", SCHEMA_VERSION.into());
        put("id", self.id.0.into());
        put("fields", self.fields.iter().map(DataField::to_json).collect());
        put("highestFieldId", self.highest_field_id.into());
        put("partitionKeys", names(&self.partition_keys));
        put("primaryKeys", names(&self.primary_keys));
        put("options", options.into());
        if let Some(comment) = &self.comment {
            put("comment", comment.as_str().into());
        }
        put("timeMillis", self.time_millis.into());
        let json = Value::Object(object);
        // A tree of values always prints; the fallback is the same JSON on one line.
        crate::json::to_vec(&json).unwrap_or_else(|_| json.to_string().into_bytes())
    }
}

fn optional<'a>(json: &'a Value, key: &str) -> Option<&'a Value> {
    json.get(key).filter(|value| !value.is_null())
}

fn required<'a>(json: &'a Value, key: &str) -> Result<&'a Value> {
    optional(json, key).ok_or_else(|| Error::corrupt(format!("a schema has no {key:?}")))
}

fn number<T: TryFrom<i64>>(value: &Value, key: &str) -> Result<T> {
    let number = value.as_i64().and_then(|n| T::try_from(n).ok());
    number.ok_or_else(|| Error::corrupt(format!("{key:?} of a schema is {value}, not a number in range")))
}

fn array<'a>(json: &'a Value, key: &str) -> Result<&'a [Value]> {
    let array = required(json, key)?.as_array();
    array.map(Vec::as_slice).ok_or_else(|| Error::corrupt(format!("{key:?} of a schema is not an array")))
}

fn text(value: &Value, key: &str) -> Result<String> {
    let text = value.as_str().map(str::to_owned);
    text.ok_or_else(|| Error::corrupt(format!("{key:?} of a schema holds {value}, not a text")))
}

fn texts(json: &Value, key: &str) -> Result<Vec<String>> {
    array(json, key)?.iter().map(|value| text(value, key)).collect()
}

fn read_options(json: &Value) -> Result<Options> {
    let object = required(json, "options")?.as_object();
    let object = object.ok_or_else(|| Error::corrupt("the options of a schema are not an object"))?;
    object
        .iter()
        .map(|(key, value)| Ok((key.clone(), text(value, key)?)))
        .collect::<Result<Vec<_>>>()
        .map(Options::from_iter)
}
