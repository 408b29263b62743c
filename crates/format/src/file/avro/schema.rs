//! The schema a file was written with, parsed from its header.
//!
//! Names of records are resolved here; a schema that refers to itself, nests deeper than [`MAX_DEPTH`] or unfolds to
//! more than [`MAX_NODES`] is refused, so that decoding can recurse without a further check.

use std::collections::HashMap;

use serde_json::Value;

use crate::{Error, Result};

const MAX_DEPTH: usize = 64;
const MAX_NODES: usize = 100_000;

/// Unit of a `long` by its logical type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Plain,
    Millis,
    Micros,
    Nanos,
}

/// An Avro type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Schema {
    Null,
    Boolean,
    Int,
    Long(Unit),
    Float,
    Double,
    Bytes(Option<i64>),
    String,
    Fixed(usize, Option<i64>),
    Enum,
    Record(Vec<(String, Schema)>),
    Array(Box<Schema>),
    Map(Box<Schema>),
    Union(Vec<Schema>),
}

impl Schema {
    /// Parses the `avro.schema` of a header.
    ///
    /// # Errors
    /// `Corrupt` when it is not a schema.
    pub(super) fn parse(json: &[u8]) -> Result<Self> {
        let value =
            serde_json::from_slice(json).map_err(|e| Error::corrupt("avro schema is not JSON").with_source(e))?;
        Parser { named: HashMap::new(), nodes: 0 }.parse(&value, "", 0)
    }

    fn nodes(&self) -> usize {
        1 + match self {
            Self::Record(fields) => fields.iter().map(|(_, s)| s.nodes()).sum(),
            Self::Array(inner) | Self::Map(inner) => inner.nodes(),
            Self::Union(branches) => branches.iter().map(Self::nodes).sum(),
            _ => 0,
        }
    }

    fn depth(&self) -> usize {
        1 + match self {
            Self::Record(fields) => fields.iter().map(|(_, s)| s.depth()).max().unwrap_or(0),
            Self::Array(inner) | Self::Map(inner) => inner.depth(),
            Self::Union(branches) => branches.iter().map(Self::depth).max().unwrap_or(0),
            _ => 0,
        }
    }
}

struct Parser {
    named: HashMap<String, Schema>,
    nodes: usize,
}

impl Parser {
    fn parse(&mut self, value: &Value, namespace: &str, depth: usize) -> Result<Schema> {
        self.count(1, depth)?;
        match value {
            Value::String(name) => self.named(name, namespace, depth),
            Value::Array(branches) => {
                Ok(Schema::Union(branches.iter().map(|b| self.parse(b, namespace, depth + 1)).collect::<Result<_>>()?))
            }
            Value::Object(_) => self.complex(value, namespace, depth),
            _ => Err(Error::corrupt("avro schema is neither a name, a list nor an object")),
        }
    }

    fn count(&mut self, nodes: usize, depth: usize) -> Result<()> {
        self.nodes += nodes;
        if depth > MAX_DEPTH || self.nodes > MAX_NODES {
            return Err(Error::corrupt("avro schema is too deep or too large"));
        }
        Ok(())
    }

    fn named(&mut self, name: &str, namespace: &str, depth: usize) -> Result<Schema> {
        Ok(match name {
            "null" => Schema::Null,
            "boolean" => Schema::Boolean,
            "int" => Schema::Int,
            "long" => Schema::Long(Unit::Plain),
            "float" => Schema::Float,
            "double" => Schema::Double,
            "bytes" => Schema::Bytes(None),
            "string" => Schema::String,
            other => {
                let known = self.named.get(&full_name(other, namespace)).or_else(|| self.named.get(other));
                let schema =
                    known.cloned().ok_or_else(|| Error::corrupt(format!("avro type {other:?} is not defined")))?;
                self.count(schema.nodes(), depth + schema.depth())?;
                schema
            }
        })
    }

    fn complex(&mut self, value: &Value, namespace: &str, depth: usize) -> Result<Schema> {
        let kind = value.get("type").ok_or_else(|| Error::corrupt("avro schema object has no type"))?;
        let Value::String(kind) = kind else {
            return self.parse(kind, namespace, depth + 1);
        };
        let part = |key: &str| value.get(key).ok_or_else(|| Error::corrupt(format!("avro {kind} has no {key}")));
        match kind.as_str() {
            "record" | "error" => self.record(value, namespace, depth),
            "array" => Ok(Schema::Array(Box::new(self.parse(part("items")?, namespace, depth + 1)?))),
            "map" => Ok(Schema::Map(Box::new(self.parse(part("values")?, namespace, depth + 1)?))),
            "enum" => self.define(value, namespace, Schema::Enum),
            "fixed" => {
                let size = part("size")?.as_u64().and_then(|n| usize::try_from(n).ok());
                let size = size.ok_or_else(|| Error::corrupt("avro fixed has no valid size"))?;
                self.define(value, namespace, Schema::Fixed(size, decimal_scale(value)))
            }
            name => Ok(annotate(self.named(name, namespace, depth)?, value)),
        }
    }

    fn record(&mut self, value: &Value, namespace: &str, depth: usize) -> Result<Schema> {
        let (name, inner) = definition(value, namespace)?;
        let fields = value.get("fields").and_then(Value::as_array);
        let fields = fields.ok_or_else(|| Error::corrupt("avro record has no fields"))?;
        let mut parsed = Vec::with_capacity(fields.len());
        for field in fields {
            let field_name = field.get("name").and_then(Value::as_str);
            let field_name = field_name.ok_or_else(|| Error::corrupt("avro field has no name"))?;
            let kind = field.get("type").ok_or_else(|| Error::corrupt("avro field has no type"))?;
            parsed.push((field_name.to_owned(), self.parse(kind, &inner, depth + 1)?));
        }
        let schema = Schema::Record(parsed);
        self.named.insert(name, schema.clone());
        Ok(schema)
    }

    fn define(&mut self, value: &Value, namespace: &str, schema: Schema) -> Result<Schema> {
        let (name, _) = definition(value, namespace)?;
        self.named.insert(name, schema.clone());
        Ok(schema)
    }
}

/// Full name of a definition and the namespace inside it.
fn definition(value: &Value, namespace: &str) -> Result<(String, String)> {
    let name = value.get("name").and_then(Value::as_str);
    let name = name.ok_or_else(|| Error::corrupt("avro named type has no name"))?;
    let namespace = value.get("namespace").and_then(Value::as_str).unwrap_or(namespace);
    let full = full_name(name, namespace);
    let inner = full.rsplit_once('.').map_or("", |(space, _)| space).to_owned();
    Ok((full, inner))
}

fn full_name(name: &str, namespace: &str) -> String {
    if name.contains('.') || namespace.is_empty() { name.to_owned() } else { format!("{namespace}.{name}") }
}

fn decimal_scale(value: &Value) -> Option<i64> {
    let is_decimal = value.get("logicalType").and_then(Value::as_str) == Some("decimal");
    is_decimal.then(|| value.get("scale").and_then(Value::as_i64).unwrap_or(0))
}

/// Adds the meaning of a logical type; unknown ones mean nothing, as Avro says.
fn annotate(schema: Schema, value: &Value) -> Schema {
    let logical = value.get("logicalType").and_then(Value::as_str).unwrap_or("");
    match (schema, logical) {
        (Schema::Long(_), "timestamp-millis" | "local-timestamp-millis") => Schema::Long(Unit::Millis),
        (Schema::Long(_), "timestamp-micros" | "local-timestamp-micros") => Schema::Long(Unit::Micros),
        (Schema::Long(_), "timestamp-nanos" | "local-timestamp-nanos") => Schema::Long(Unit::Nanos),
        (Schema::Bytes(_), "decimal") => Schema::Bytes(decimal_scale(value)),
        (other, _) => other,
    }
}
