//! Which part of a record goes into which column: the file's schema matched with the columns asked for, by name.

use arrow_array::{ArrayRef, new_null_array};
use arrow_buffer::{BooleanBufferBuilder, NullBufferBuilder};
use arrow_schema::{DataType as ArrowType, FieldRef};

use super::cursor::Cursor;
use super::define::is_string;
use super::schema::{Schema, Unit};
use super::value::{FloatSource, Rescale, Values};
use crate::types::{DataField, DataType, Kind};
use crate::{Error, Result, ResultExt};

/// Rows before a null buffer grows.
const CAPACITY: usize = 1024;

/// How a value says that it is null.
#[derive(Debug, Clone, Copy)]
enum Nullness {
    Never,
    Always,
    Union {
        null: i64,
        value: i64,
    },
    /// A union of one.
    Single,
}

/// A column being gathered.
pub(super) struct Column {
    arrow: ArrowType,
    nullness: Nullness,
    nulls: NullBufferBuilder,
    values: Values,
}

impl Column {
    /// A column of type `wanted`, which is `arrow` where it stands (field ids in nested types depend on that).
    fn new(schema: &Schema, wanted: &DataType, arrow: &ArrowType) -> Result<Self> {
        let (nullness, schema) = nullness(schema)?;
        let values = match schema {
            Some(schema) => values(schema, wanted, arrow)?,
            None => Values::Nothing,
        };
        Ok(Self { arrow: arrow.clone(), nullness, nulls: NullBufferBuilder::new(CAPACITY), values })
    }

    pub(super) fn len(&self) -> usize {
        self.nulls.len()
    }

    pub(super) fn read(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        match self.nullness {
            Nullness::Never => {}
            Nullness::Always => {
                self.push_null();
                return Ok(());
            }
            Nullness::Single => branch(cursor, 0)?,
            Nullness::Union { null, value } => {
                let index = cursor.long()?;
                if index == null {
                    self.push_null();
                    return Ok(());
                }
                if index != value {
                    return Err(Error::corrupt(format!("avro union has no branch {index}")));
                }
            }
        }
        self.nulls.append_non_null();
        self.values.read(cursor)
    }

    pub(super) fn push_null(&mut self) {
        self.nulls.append_null();
        self.values.push_empty();
    }

    pub(super) fn finish(&mut self) -> Result<ArrayRef> {
        let len = self.nulls.len();
        let nulls = self.nulls.finish();
        self.values.finish(&self.arrow, len, nulls)
    }
}

fn branch(cursor: &mut Cursor<'_>, expected: i64) -> Result<()> {
    let index = cursor.long()?;
    if index == expected { Ok(()) } else { Err(Error::corrupt(format!("avro union has no branch {index}"))) }
}

/// Splits `["null", T]` and its kin into how null is said and `T`.
fn nullness(schema: &Schema) -> Result<(Nullness, Option<&Schema>)> {
    match schema {
        Schema::Null => Ok((Nullness::Always, None)),
        Schema::Union(branches) => match branches.as_slice() {
            [Schema::Null, value] => Ok((Nullness::Union { null: 0, value: 1 }, Some(value))),
            [value, Schema::Null] => Ok((Nullness::Union { null: 1, value: 0 }, Some(value))),
            [value] => Ok((Nullness::Single, Some(value))),
            _ => Err(Error::unsupported("avro union of several types")),
        },
        other => Ok((Nullness::Never, Some(other))),
    }
}

fn offsets() -> Vec<i32> {
    vec![0]
}

fn values(schema: &Schema, wanted: &DataType, arrow: &ArrowType) -> Result<Values> {
    let kind = &wanted.kind;
    Ok(match (schema, kind) {
        (Schema::Boolean, Kind::Boolean) => Values::Boolean(BooleanBufferBuilder::new(CAPACITY)),
        (Schema::Int | Schema::Long(_), Kind::TinyInt) => Values::Int8(Vec::new()),
        (Schema::Int | Schema::Long(_), Kind::SmallInt) => Values::Int16(Vec::new()),
        (Schema::Int | Schema::Long(_), Kind::Int | Kind::Date | Kind::Time(_)) => Values::Int32(Vec::new()),
        (Schema::Int | Schema::Long(_), Kind::BigInt) => Values::Int64(Vec::new()),
        (Schema::Long(unit), Kind::Timestamp(_) | Kind::LocalZonedTimestamp(_)) => timestamp(*unit, arrow)?,
        (Schema::Float, Kind::Float) => Values::Float(Vec::new()),
        (Schema::Float, Kind::Double) => Values::Double(Vec::new(), FloatSource::Float),
        (Schema::Double, Kind::Double) => Values::Double(Vec::new(), FloatSource::Double),
        (Schema::String | Schema::Bytes(_), Kind::Char(_) | Kind::Varchar(_)) => {
            Values::Bytes(offsets(), Vec::new(), None)
        }
        (Schema::String | Schema::Bytes(_), Kind::Binary(_) | Kind::Varbinary(_) | Kind::Blob) => {
            Values::Bytes(offsets(), Vec::new(), None)
        }
        (Schema::Fixed(size, _), Kind::Binary(_) | Kind::Varbinary(_) | Kind::Blob) => {
            Values::Bytes(offsets(), Vec::new(), Some(*size))
        }
        (Schema::Bytes(from), Kind::Decimal { scale, .. }) => decimal(*from, *scale, None)?,
        (Schema::Fixed(size, from), Kind::Decimal { scale, .. }) => decimal(*from, *scale, Some(*size))?,
        (Schema::Record(fields), Kind::Row(wanted)) => {
            Values::Row(Box::new(Record::new(fields, wanted, parts(arrow))?))
        }
        (Schema::Array(items), Kind::Array(element)) => {
            Values::List(offsets(), Box::new(Column::new(items, element, part(arrow, 0)?)?))
        }
        (Schema::Array(items), Kind::Vector { element, length }) => {
            Values::Vector(*length as usize, Box::new(Column::new(items, element, part(arrow, 0)?)?))
        }
        (_, Kind::Map(key, value)) => map(schema, key, value, arrow)?,
        (_, Kind::Multiset(element)) => map(schema, element, &DataType::required(Kind::Int), arrow)?,
        _ => return Err(mismatch(schema, wanted)),
    })
}

fn mismatch(schema: &Schema, wanted: &DataType) -> Error {
    let schema = match schema {
        Schema::Record(_) => "record".to_owned(),
        Schema::Array(_) => "array".to_owned(),
        Schema::Map(_) => "map".to_owned(),
        other => format!("{other:?}"),
    };
    Error::corrupt(format!("avro {schema} does not hold {:?}", wanted.kind))
}

/// The Arrow types of the parts of a nested type: fields, element, or key and value.
fn parts(arrow: &ArrowType) -> &[FieldRef] {
    match arrow {
        ArrowType::Struct(fields) => fields,
        ArrowType::List(element) | ArrowType::FixedSizeList(element, _) => std::slice::from_ref(element),
        ArrowType::Map(entries, _) => parts(entries.data_type()),
        _ => &[],
    }
}

fn part(arrow: &ArrowType, index: usize) -> Result<&ArrowType> {
    let part = parts(arrow).get(index);
    part.map(|field| field.data_type()).ok_or_else(|| Error::internal("a nested column has an Arrow type that is not"))
}

fn timestamp(unit: Unit, arrow: &ArrowType) -> Result<Values> {
    match arrow {
        ArrowType::Timestamp(to, _) => Ok(Values::Timestamp(Vec::new(), Rescale::between(unit, to))),
        _ => Err(Error::internal("a timestamp column is not an Arrow timestamp")),
    }
}

fn decimal(from: Option<i64>, to: u8, size: Option<usize>) -> Result<Values> {
    if from.is_some_and(|from| from != i64::from(to)) {
        return Err(Error::corrupt(format!("avro decimal has scale {}, its column {to}", from.unwrap_or(0))));
    }
    Ok(Values::Decimal(Vec::new(), size))
}

fn map(schema: &Schema, key: &DataType, value: &DataType, arrow: &ArrowType) -> Result<Values> {
    match schema {
        Schema::Map(values) if is_string(key) => {
            let keys = Column::new(&Schema::String, key, part(arrow, 0)?)?;
            let values = Column::new(values, value, part(arrow, 1)?)?;
            Ok(Values::Map(offsets(), Box::new(keys), Box::new(values)))
        }
        Schema::Array(items) => match &**items {
            Schema::Record(fields) => {
                let wanted = [DataField::new(0, "key", key.clone()), DataField::new(1, "value", value.clone())];
                Ok(Values::Entries(offsets(), Box::new(Record::new(fields, &wanted, parts(arrow))?)))
            }
            _ => Err(Error::corrupt("avro map is not an array of records")),
        },
        _ => Err(Error::corrupt("avro type is neither a map nor an array of entries")),
    }
}

/// What to do with the next field of a record.
enum Step {
    Read(usize),
    Skip(Schema),
}

/// Where a column of a record comes from.
enum Source {
    File(Column),
    /// Not in the file: nulls of this type.
    Missing(ArrowType),
}

/// The columns of a record.
pub(super) struct Record {
    steps: Vec<Step>,
    columns: Vec<Source>,
    len: usize,
}

impl Record {
    /// Matches the fields of a record with the columns `wanted`, which are `arrow` in Arrow, by name.
    ///
    /// # Errors
    /// `Corrupt` when a field's type cannot hold its column's, naming it.
    pub(super) fn new(fields: &[(String, Schema)], wanted: &[DataField], arrow: &[FieldRef]) -> Result<Self> {
        let mut steps: Vec<Step> = fields.iter().map(|(_, schema)| Step::Skip(schema.clone())).collect();
        let mut columns = Vec::with_capacity(wanted.len());
        for (index, (field, arrow)) in wanted.iter().zip(arrow).enumerate() {
            let found = fields.iter().zip(&mut steps).find(|((name, _), _)| *name == field.name);
            columns.push(match found {
                Some(((_, schema), step)) => {
                    *step = Step::Read(index);
                    let column = Column::new(schema, &field.data_type, arrow.data_type());
                    Source::File(column.context("column", &field.name)?)
                }
                None => Source::Missing(arrow.data_type().clone()),
            });
        }
        Ok(Self { steps, columns, len: 0 })
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn read(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        self.len += 1;
        for step in &self.steps {
            match step {
                Step::Skip(schema) => skip(schema, cursor)?,
                Step::Read(index) => {
                    if let Some(Source::File(column)) = self.columns.get_mut(*index) {
                        column.read(cursor)?;
                    }
                }
            }
        }
        Ok(())
    }

    pub(super) fn push_null(&mut self) {
        self.len += 1;
        for column in &mut self.columns {
            if let Source::File(column) = column {
                column.push_null();
            }
        }
    }

    pub(super) fn finish(&mut self) -> Result<Vec<ArrayRef>> {
        let len = std::mem::take(&mut self.len);
        let finish = |source: &mut Source| match source {
            Source::File(column) => column.finish(),
            Source::Missing(arrow) => Ok(new_null_array(arrow, len)),
        };
        self.columns.iter_mut().map(finish).collect()
    }
}

/// Passes over a value.
fn skip(schema: &Schema, cursor: &mut Cursor<'_>) -> Result<()> {
    match schema {
        Schema::Null => {}
        Schema::Boolean => _ = cursor.byte()?,
        Schema::Int | Schema::Long(_) | Schema::Enum => _ = cursor.long()?,
        Schema::Float => _ = cursor.take(4)?,
        Schema::Double => _ = cursor.take(8)?,
        Schema::Bytes(_) | Schema::String => _ = cursor.bytes()?,
        Schema::Fixed(size, _) => _ = cursor.take(*size)?,
        Schema::Record(fields) => fields.iter().try_for_each(|(_, schema)| skip(schema, cursor))?,
        Schema::Array(items) => skip_items(cursor, |cursor| skip(items, cursor))?,
        Schema::Map(values) => skip_items(cursor, |cursor| {
            cursor.bytes()?;
            skip(values, cursor)
        })?,
        Schema::Union(branches) => {
            let index = cursor.long()?;
            let schema = usize::try_from(index).ok().and_then(|i| branches.get(i));
            skip(schema.ok_or_else(|| Error::corrupt(format!("avro union has no branch {index}")))?, cursor)?;
        }
    }
    Ok(())
}

fn skip_items(cursor: &mut Cursor<'_>, mut item: impl FnMut(&mut Cursor<'_>) -> Result<()>) -> Result<()> {
    loop {
        let count = cursor.block()?;
        if count == 0 {
            return Ok(());
        }
        (0..count).try_for_each(|_| item(cursor))?;
    }
}
