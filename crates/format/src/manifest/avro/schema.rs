//! Writer schemas: the JSON in a container's header as a tree of types.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value as Json;

use crate::{Error, Result};

/// Types in one schema, named ones counted at each use: far more than any manifest has, and small enough to walk.
const MAX_TYPES: usize = 10_000;
const MAX_DEPTH: usize = 32;

/// A type; names of records and logical types do not matter for reading.
#[derive(Debug, Clone)]
pub(in crate::manifest) enum Type {
    Null,
    Boolean,
    /// `int` or `long`: the same encoding.
    Long,
    Float,
    Double,
    /// `bytes` or `string`: the same encoding.
    Bytes,
    Fixed(usize),
    Enum,
    Array(Arc<Type>),
    Map(Arc<Type>),
    Union(Arc<[Type]>),
    Record(Arc<Fields>),
}

/// The fields of a record type.
#[derive(Debug)]
pub(in crate::manifest) struct Fields {
    /// Names in order.
    pub(in crate::manifest) names: Arc<[String]>,
    /// Types, parallel to the names.
    pub(in crate::manifest) types: Vec<Type>,
}

/// What a field is when the union with null around it is taken off.
pub(in crate::manifest) struct Optional<'a> {
    /// The type inside.
    pub(in crate::manifest) inner: &'a Type,
    /// Branch of the union that means null.
    pub(in crate::manifest) null: Option<u8>,
}

impl Type {
    /// Parses a schema.
    pub(super) fn parse(json: &[u8]) -> Result<Self> {
        let json: Json =
            serde_json::from_slice(json).map_err(|e| Error::corrupt("avro schema is not JSON").with_source(e))?;
        Parser { named: HashMap::new() }.parse(&json, 0).map(|(t, _)| t)
    }

    /// Takes off a union with null.
    pub(in crate::manifest) fn optional(&self) -> Optional<'_> {
        match self {
            Self::Union(branches) => match branches.as_ref() {
                [Self::Null, inner] => Optional { inner, null: Some(0) },
                [inner, Self::Null] => Optional { inner, null: Some(1) },
                _ => Optional { inner: self, null: None },
            },
            _ => Optional { inner: self, null: None },
        }
    }

    /// Whether a value takes no bytes, so that a number of them is not bounded by the size of the data.
    fn is_empty(&self) -> bool {
        match self {
            Self::Null | Self::Fixed(0) => true,
            Self::Record(fields) => fields.types.iter().all(Self::is_empty),
            _ => false,
        }
    }

    /// Whether it is `int` or `long`.
    pub(in crate::manifest) fn is_long(&self) -> bool {
        matches!(self, Self::Long)
    }

    /// Whether it is `bytes` or `string`.
    pub(in crate::manifest) fn is_bytes(&self) -> bool {
        matches!(self, Self::Bytes)
    }

    /// The fields of a record.
    pub(in crate::manifest) fn fields(&self) -> Result<&Fields> {
        match self {
            Self::Record(fields) => Ok(fields),
            _ => Err(Error::corrupt("avro schema is not of a record")),
        }
    }
}

struct Parser {
    named: HashMap<String, (Type, usize)>,
}

fn bad() -> Error {
    Error::corrupt("avro schema is malformed")
}

/// `text`, or the attribute's string.
fn string<'a>(json: &'a Json, key: &str) -> Result<&'a str> {
    json.get(key).and_then(Json::as_str).ok_or_else(bad)
}

impl Parser {
    /// A type and how many types it holds, itself included.
    fn parse(&mut self, json: &Json, depth: usize) -> Result<(Type, usize)> {
        if depth > MAX_DEPTH {
            return Err(Error::corrupt("avro schema is nested too deeply"));
        }
        let (parsed, size) = match json {
            Json::String(name) => self.primitive(name)?,
            Json::Array(branches) => {
                let (branches, size) = self.all(branches.iter(), depth)?;
                (Type::Union(branches.into()), size)
            }
            Json::Object(_) => self.complex(json, depth)?,
            _ => return Err(bad()),
        };
        if size > MAX_TYPES {
            return Err(Error::corrupt("avro schema has too many types"));
        }
        Ok((parsed, size))
    }

    fn all<'j>(&mut self, types: impl Iterator<Item = &'j Json>, depth: usize) -> Result<(Vec<Type>, usize)> {
        let mut size = 1usize;
        let mut parsed = Vec::new();
        for json in types {
            let (t, n) = self.parse(json, depth + 1)?;
            size = size.saturating_add(n);
            parsed.push(t);
        }
        Ok((parsed, size))
    }

    fn primitive(&self, name: &str) -> Result<(Type, usize)> {
        let primitive = match name {
            "null" => Type::Null,
            "boolean" => Type::Boolean,
            "int" | "long" => Type::Long,
            "float" => Type::Float,
            "double" => Type::Double,
            "bytes" | "string" => Type::Bytes,
            other => {
                let known = self.named.get(other);
                return known.cloned().ok_or_else(|| Error::corrupt(format!("avro type {other:?} is not defined")));
            }
        };
        Ok((primitive, 1))
    }

    fn complex(&mut self, json: &Json, depth: usize) -> Result<(Type, usize)> {
        let kind = json.get("type").ok_or_else(bad)?;
        let Some(name) = kind.as_str() else {
            return self.parse(kind, depth + 1);
        };
        let (parsed, size) = match name {
            "record" | "error" => {
                let fields = json.get("fields").and_then(Json::as_array).ok_or_else(bad)?;
                let names = fields.iter().map(|f| string(f, "name").map(str::to_owned)).collect::<Result<Vec<_>>>()?;
                let types = fields.iter().map(|f| f.get("type").ok_or_else(bad)).collect::<Result<Vec<_>>>()?;
                let (types, size) = self.all(types.into_iter(), depth)?;
                (Type::Record(Arc::new(Fields { names: names.into(), types })), size)
            }
            "array" => {
                let (item, size) = self.parse(json.get("items").ok_or_else(bad)?, depth + 1)?;
                if item.is_empty() {
                    return Err(Error::corrupt("avro array has items without bytes"));
                }
                return Ok((Type::Array(Arc::new(item)), size + 1));
            }
            "map" => {
                let (item, size) = self.parse(json.get("values").ok_or_else(bad)?, depth + 1)?;
                return Ok((Type::Map(Arc::new(item)), size + 1));
            }
            "fixed" => {
                let size = json.get("size").and_then(Json::as_u64).ok_or_else(bad)?;
                (Type::Fixed(usize::try_from(size).map_err(|_| bad())?), 1)
            }
            "enum" => (Type::Enum, 1),
            _ => return self.primitive(name),
        };
        self.define(json, &parsed, size)?;
        Ok((parsed, size))
    }

    /// Later uses may give the short name or the full one.
    fn define(&mut self, json: &Json, parsed: &Type, size: usize) -> Result<()> {
        let name = string(json, "name")?;
        if let Some(namespace) = json.get("namespace").and_then(Json::as_str) {
            self.named.insert(format!("{namespace}.{name}"), (parsed.clone(), size));
        }
        self.named.insert(name.to_owned(), (parsed.clone(), size));
        Ok(())
    }
}
