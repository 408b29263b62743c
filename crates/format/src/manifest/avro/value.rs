//! Values as a tree, for the small files (manifest lists, index manifests) and for manifests in other formats.

use std::sync::Arc;

use bytes::Bytes;

use super::schema::Fields;
use super::{Cursor, Type};
use crate::{Error, Result};

/// One value.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::manifest) enum Value {
    Null,
    Long(i64),
    Bytes(Bytes),
    Array(Vec<Value>),
    Record(Record),
    /// A value of a type that no manifest field has.
    Other,
}

/// Field names and values, in the writer's order.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::manifest) struct Record {
    pub(in crate::manifest) names: Arc<[String]>,
    pub(in crate::manifest) values: Vec<Value>,
}

impl Record {
    /// Reads a record of a writer's schema.
    pub(in crate::manifest) fn read(fields: &Fields, cursor: &mut Cursor) -> Result<Self> {
        let values = fields.types.iter().map(|t| read(t, cursor)).collect::<Result<_>>()?;
        Ok(Self { names: Arc::clone(&fields.names), values })
    }

    /// A field; null when the writer did not have it.
    pub(in crate::manifest) fn get(&self, name: &str) -> &Value {
        self.names.iter().position(|n| n == name).and_then(|i| self.values.get(i)).unwrap_or(&Value::Null)
    }

    fn need<T>(&self, name: &str, value: Result<Option<T>>) -> Result<T> {
        value?.ok_or_else(|| Error::corrupt(format!("manifest field {name} is missing")))
    }

    fn wrong<T>(&self, name: &str) -> Result<T> {
        Err(Error::corrupt(format!("manifest field {name} has a value of a wrong type")))
    }

    pub(in crate::manifest) fn opt_long(&self, name: &str) -> Result<Option<i64>> {
        match self.get(name) {
            Value::Null => Ok(None),
            Value::Long(v) => Ok(Some(*v)),
            _ => self.wrong(name),
        }
    }

    pub(in crate::manifest) fn long(&self, name: &str) -> Result<i64> {
        self.need(name, self.opt_long(name))
    }

    pub(in crate::manifest) fn opt_int(&self, name: &str) -> Result<Option<i32>> {
        self.opt_long(name)?.map(|v| i32::try_from(v).or_else(|_| self.wrong(name))).transpose()
    }

    pub(in crate::manifest) fn int(&self, name: &str) -> Result<i32> {
        self.need(name, self.opt_int(name))
    }

    pub(in crate::manifest) fn opt_bytes(&self, name: &str) -> Result<Option<Bytes>> {
        match self.get(name) {
            Value::Null => Ok(None),
            Value::Bytes(v) => Ok(Some(v.clone())),
            _ => self.wrong(name),
        }
    }

    pub(in crate::manifest) fn bytes(&self, name: &str) -> Result<Bytes> {
        self.need(name, self.opt_bytes(name))
    }

    pub(in crate::manifest) fn opt_string(&self, name: &str) -> Result<Option<String>> {
        self.opt_bytes(name)?.map(|v| text(&v)).transpose()
    }

    pub(in crate::manifest) fn string(&self, name: &str) -> Result<String> {
        self.need(name, self.opt_string(name))
    }

    pub(in crate::manifest) fn opt_array(&self, name: &str) -> Result<Option<&[Value]>> {
        match self.get(name) {
            Value::Null => Ok(None),
            Value::Array(v) => Ok(Some(v)),
            _ => self.wrong(name),
        }
    }

    pub(in crate::manifest) fn opt_longs(&self, name: &str) -> Result<Option<Vec<Option<i64>>>> {
        let Some(items) = self.opt_array(name)? else { return Ok(None) };
        let longs = items.iter().map(|item| match item {
            Value::Null => Ok(None),
            Value::Long(v) => Ok(Some(*v)),
            _ => self.wrong(name),
        });
        longs.collect::<Result<_>>().map(Some)
    }

    pub(in crate::manifest) fn opt_strings(&self, name: &str) -> Result<Option<Vec<String>>> {
        let Some(items) = self.opt_array(name)? else { return Ok(None) };
        let strings = items.iter().map(|item| match item {
            Value::Bytes(v) => text(v),
            _ => self.wrong(name),
        });
        strings.collect::<Result<_>>().map(Some)
    }

    pub(in crate::manifest) fn opt_record(&self, name: &str) -> Result<Option<&Record>> {
        match self.get(name) {
            Value::Null => Ok(None),
            Value::Record(v) => Ok(Some(v)),
            _ => self.wrong(name),
        }
    }

    pub(in crate::manifest) fn record(&self, name: &str) -> Result<&Record> {
        self.need(name, self.opt_record(name))
    }
}

fn text(bytes: &[u8]) -> Result<String> {
    String::from_utf8(bytes.to_vec())
        .map_err(|e| Error::corrupt("manifest holds text that is not UTF-8").with_source(e))
}

/// Reads one value.
pub(in crate::manifest) fn read(t: &Type, cursor: &mut Cursor) -> Result<Value> {
    match t {
        Type::Long => cursor.long().map(Value::Long),
        Type::Bytes => Ok(Value::Bytes(Bytes::copy_from_slice(cursor.bytes()?))),
        Type::Union(branches) => read(branch(branches, cursor)?, cursor),
        Type::Array(item) => {
            let mut items = Vec::new();
            loop {
                let count = cursor.block()?;
                if count == 0 {
                    return Ok(Value::Array(items));
                }
                for _ in 0..count {
                    items.push(read(item, cursor)?);
                }
            }
        }
        Type::Record(fields) => Record::read(fields, cursor).map(Value::Record),
        Type::Null => Ok(Value::Null),
        _ => skip(t, cursor).map(|()| Value::Other),
    }
}

fn branch<'t>(branches: &'t [Type], cursor: &mut Cursor) -> Result<&'t Type> {
    let index = cursor.long()?;
    let branch = usize::try_from(index).ok().and_then(|i| branches.get(i));
    branch.ok_or_else(|| Error::corrupt("avro union has no such branch"))
}

/// Passes over one value.
pub(in crate::manifest) fn skip(t: &Type, cursor: &mut Cursor) -> Result<()> {
    match t {
        Type::Null => Ok(()),
        Type::Boolean => cursor.take(1).map(drop),
        Type::Long | Type::Enum => cursor.long().map(drop),
        Type::Float => cursor.take(4).map(drop),
        Type::Double => cursor.take(8).map(drop),
        Type::Bytes => cursor.bytes().map(drop),
        Type::Fixed(size) => cursor.take(*size).map(drop),
        Type::Union(branches) => skip(branch(branches, cursor)?, cursor),
        Type::Record(fields) => fields.types.iter().try_for_each(|t| skip(t, cursor)),
        Type::Array(item) => skip_blocks(cursor, |cursor| skip(item, cursor)),
        Type::Map(item) => skip_blocks(cursor, |cursor| {
            cursor.bytes()?;
            skip(item, cursor)
        }),
    }
}

fn skip_blocks(cursor: &mut Cursor, mut item: impl FnMut(&mut Cursor) -> Result<()>) -> Result<()> {
    loop {
        let count = cursor.block()?;
        if count == 0 {
            return Ok(());
        }
        for _ in 0..count {
            item(cursor)?;
        }
    }
}
