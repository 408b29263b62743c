//! The types of a file: a tree, numbered from the root in the order in which it is written down.

use super::wire::Message;
use crate::types::{DataField, DataType, Kind, element_id, map_key_id, map_value_id};
use crate::{Error, Result};

/// What the format calls a type's kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Boolean,
    Byte,
    Short,
    Int,
    Long,
    Float,
    Double,
    String,
    Binary,
    /// Wall clock.
    Timestamp,
    List,
    Map,
    Struct,
    Decimal {
        precision: u8,
        scale: u8,
    },
    Date,
    /// Instants.
    Instant,
}

impl Form {
    fn number(self) -> u64 {
        match self {
            Self::Boolean => 0,
            Self::Byte => 1,
            Self::Short => 2,
            Self::Int => 3,
            Self::Long => 4,
            Self::Float => 5,
            Self::Double => 6,
            Self::String => 7,
            Self::Binary => 8,
            Self::Timestamp => 9,
            Self::List => 10,
            Self::Map => 11,
            Self::Struct => 12,
            Self::Decimal { .. } => 14,
            Self::Date => 15,
            Self::Instant => 18,
        }
    }

    /// Whether integers of such a column are in runs of version 2, which the file says.
    pub(super) fn has_runs(self) -> bool {
        !matches!(self, Self::Boolean | Self::Byte | Self::Float | Self::Double | Self::Struct)
    }
}

/// A type and those inside it.
#[derive(Debug)]
pub(super) struct Shape {
    pub(super) form: Form,
    /// The field id; the root has none.
    id: Option<i32>,
    /// Names of the fields of a struct.
    names: Vec<String>,
    pub(super) parts: Vec<Shape>,
}

impl Shape {
    /// The shape of rows; `legacy_ltz` writes local-zoned timestamps as the wall clock of UTC.
    ///
    /// # Errors
    /// `Unsupported` naming the column for a type that the reference does not write either.
    pub(super) fn of(fields: &[DataField], legacy_ltz: bool) -> Result<Self> {
        let plan = Plan { legacy_ltz };
        let parts = fields.iter().map(|field| plan.field(field)).collect::<Result<_>>()?;
        Ok(Self { form: Form::Struct, id: None, names: names(fields), parts })
    }

    /// The shapes from this one on, each before its parts.
    pub(super) fn walk(&self, visit: &mut impl FnMut(&Shape)) {
        visit(self);
        self.parts.iter().for_each(|part| part.walk(visit));
    }

    fn count(&self) -> u64 {
        let mut count = 0;
        self.walk(&mut |_| count += 1);
        count
    }

    /// The description of this type as the one with number `own`.
    pub(super) fn describe(&self, own: u64) -> Message {
        let parts = self.parts.iter().scan(own + 1, |next, part| {
            let own = *next;
            *next += part.count();
            Some(own)
        });
        let mut message = Message::default().number(1, self.form.number()).packed(2, parts);
        for name in &self.names {
            message = message.bytes(3, name.as_bytes());
        }
        if let Form::Decimal { precision, scale } = self.form {
            message = message.number(5, precision.into()).number(6, scale.into());
        }
        match self.id {
            Some(id) => {
                let id = Message::default().bytes(1, b"paimon.id").bytes(2, id.to_string().as_bytes());
                message.message(7, &id)
            }
            None => message,
        }
    }
}

fn names(fields: &[DataField]) -> Vec<String> {
    fields.iter().map(|field| field.name.clone()).collect()
}

struct Plan {
    legacy_ltz: bool,
}

impl Plan {
    fn field(&self, field: &DataField) -> Result<Shape> {
        self.shape(&field.data_type, field.id, 0, field.id).map_err(|e| e.with("column", &field.name))
    }

    /// `depth` counts the arrays and maps between the field `id` and this type, which has the id `own`.
    fn shape(&self, data_type: &DataType, id: i32, depth: i32, own: i32) -> Result<Shape> {
        let below = depth + 1;
        let map = |key: &DataType, value: &DataType| -> Result<_> {
            let key = self.shape(key, id, below, map_key_id(id, below))?;
            Ok(vec![key, self.shape(value, id, below, map_value_id(id, below))?])
        };
        let (form, parts) = match &data_type.kind {
            Kind::Array(element) => (Form::List, vec![self.shape(element, id, below, element_id(id, below))?]),
            Kind::Map(key, value) => (Form::Map, map(key, value)?),
            Kind::Multiset(element) => (Form::Map, map(element, &DataType::required(Kind::Int))?),
            Kind::Row(fields) => {
                let parts = fields.iter().map(|field| self.field(field)).collect::<Result<_>>()?;
                return Ok(Shape { form: Form::Struct, id: Some(own), names: names(fields), parts });
            }
            flat => (self.flat(flat)?, Vec::new()),
        };
        Ok(Shape { form, id: Some(own), names: Vec::new(), parts })
    }

    fn flat(&self, kind: &Kind) -> Result<Form> {
        Ok(match kind {
            Kind::Boolean => Form::Boolean,
            Kind::TinyInt => Form::Byte,
            Kind::SmallInt => Form::Short,
            Kind::Int | Kind::Time(_) => Form::Int,
            Kind::BigInt => Form::Long,
            Kind::Float => Form::Float,
            Kind::Double => Form::Double,
            Kind::Char(_) | Kind::Varchar(_) => Form::String,
            Kind::Binary(_) | Kind::Varbinary(_) => Form::Binary,
            Kind::Decimal { precision, scale } => Form::Decimal { precision: *precision, scale: *scale },
            Kind::Date => Form::Date,
            Kind::LocalZonedTimestamp(_) | Kind::WideTimestamp { zoned: true, .. } if !self.legacy_ltz => Form::Instant,
            Kind::Timestamp(_) | Kind::LocalZonedTimestamp(_) | Kind::WideTimestamp { .. } => Form::Timestamp,
            other => {
                let message = format!("writing {} to orc files", DataType::nullable(other.clone()));
                return Err(Error::unsupported(message).with_hint("use parquet or avro as file.format"));
            }
        })
    }
}
