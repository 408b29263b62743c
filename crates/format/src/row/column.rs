//! Arrow columns as sources of binary values: typed once a batch, so that writing a value is one match.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    Time32MillisecondType, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, BinaryArray, StringArray};
use arrow_buffer::{ArrowNativeType, BooleanBuffer, NullBuffer, OffsetBuffer, ScalarBuffer};

use crate::datum::one_nan;
use crate::types::{DataType, Kind, split, split_wide};
use crate::{Error, Result, ResultExt};

use super::encode::{Encoder, reserved_len};
use super::slot::{MAX_COMPACT_TIMESTAMP, element_len};

/// A column of one batch.
pub(crate) struct Column {
    pub(crate) nulls: Option<NullBuffer>,
    pub(crate) data: Data,
    /// Bytes that a null keeps in the variable part of a row.
    reserved: usize,
    /// Bytes of an element in an array.
    width: usize,
}

/// The values, by how they are stored.
pub(crate) enum Data {
    Bit(BooleanBuffer),
    Byte(ScalarBuffer<i8>),
    Short(ScalarBuffer<i16>),
    /// INT, DATE, TIME, and the bits of FLOAT with one NaN for all.
    Word(ScalarBuffer<i32>),
    /// BIGINT, milliseconds, and the bits of DOUBLE with one NaN for all.
    Long(ScalarBuffer<i64>),
    Decimal {
        values: ScalarBuffer<i128>,
        precision: u8,
    },
    /// TIMESTAMP beyond milliseconds.
    Timestamp {
        values: ScalarBuffer<i64>,
        per_milli: i64,
        precision: u8,
    },
    /// The same in 128 bits: nanoseconds.
    WideTimestamp {
        values: ScalarBuffer<i128>,
        precision: u8,
    },
    String(StringArray),
    Binary(BinaryArray),
    Array {
        offsets: OffsetBuffer<i32>,
        element: Box<Column>,
    },
    Map {
        offsets: OffsetBuffer<i32>,
        key: Box<Column>,
        value: Box<Column>,
    },
    Row(Vec<Column>),
    Variant {
        value: BinaryArray,
        metadata: BinaryArray,
    },
    Vector {
        length: usize,
        element: Box<Column>,
    },
}

/// The number of rows that all columns have.
pub(crate) fn rows(columns: &[ArrayRef]) -> Result<usize> {
    let rows = columns.first().map_or(0, |c| c.len());
    match columns.iter().find(|c| c.len() != rows) {
        Some(other) => Err(Error::invalid(format!("columns of {rows} and of {} rows", other.len()))),
        None => Ok(rows),
    }
}

/// Types the columns of a batch.
pub(crate) fn columns(columns: &[ArrayRef], types: &[DataType]) -> Result<Vec<Column>> {
    if columns.len() != types.len() {
        return Err(Error::invalid(format!("{} columns for {} types", columns.len(), types.len())));
    }
    columns.iter().zip(types).map(|(column, data_type)| Column::new(column, data_type)).collect()
}

fn wrong(array: &dyn Array, data_type: &DataType) -> Error {
    Error::invalid(format!("arrow array of {} for a column of kind {:?}", array.data_type(), data_type.kind))
}

fn values<T: ArrowPrimitiveType>(array: &ArrayRef, data_type: &DataType) -> Result<ScalarBuffer<T::Native>> {
    Ok(array.as_primitive_opt::<T>().ok_or_else(|| wrong(array, data_type))?.values().clone())
}

/// The same bits as integers.
fn bits<F: ArrowNativeType, I: ArrowNativeType>(values: &ScalarBuffer<F>) -> ScalarBuffer<I> {
    ScalarBuffer::new(values.inner().clone(), 0, values.len())
}

impl Column {
    /// # Errors
    /// `Invalid` when the array is not in the Arrow type of `data_type`.
    pub(crate) fn new(array: &ArrayRef, data_type: &DataType) -> Result<Self> {
        Ok(Self {
            nulls: array.nulls().cloned(),
            data: Data::new(array, data_type)?,
            reserved: reserved_len(&data_type.kind),
            width: element_len(&data_type.kind),
        })
    }

    #[inline]
    pub(crate) fn is_null(&self, row: usize) -> bool {
        self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row))
    }

    /// Writes the value of `row` as field `i`.
    pub(crate) fn put(&self, row: usize, i: usize, out: &mut Encoder) -> Result<()> {
        if self.is_null(row) {
            out.set_null_bit(i);
            if out.is_row() {
                out.reserve_null(i, self.reserved);
            }
            return Ok(());
        }
        match &self.data {
            Data::Bit(v) => out.put_fixed(i, [u8::from(v.value(row))]),
            Data::Byte(v) => out.put_fixed(i, v[row].to_le_bytes()),
            Data::Short(v) => out.put_fixed(i, v[row].to_le_bytes()),
            Data::Word(v) => out.put_fixed(i, v[row].to_le_bytes()),
            Data::Long(v) => out.put_fixed(i, v[row].to_le_bytes()),
            Data::Decimal { values, precision } => out.put_decimal(i, values[row], *precision)?,
            Data::Timestamp { values, per_milli, precision } => {
                let (millis, nanos) = split(values[row], *per_milli);
                out.put_timestamp(i, millis, nanos, *precision);
            }
            Data::WideTimestamp { values, precision } => {
                let (millis, nanos) = split_wide(values[row])?;
                out.put_timestamp(i, millis, nanos, *precision);
            }
            Data::String(v) => out.put_bytes(i, v.value(row).as_bytes())?,
            Data::Binary(v) => out.put_bytes(i, v.value(row))?,
            nested => nested.put_nested(row, i, out)?,
        }
        Ok(())
    }

    /// The elements `range` of this column as a binary array.
    fn array(&self, range: std::ops::Range<usize>) -> Result<Encoder> {
        let mut out = Encoder::array(range.len(), self.width)?;
        for (i, row) in range.enumerate() {
            self.put(row, i, &mut out)?;
        }
        Ok(out)
    }
}

impl Data {
    fn new(array: &ArrayRef, data_type: &DataType) -> Result<Self> {
        Ok(match &data_type.kind {
            Kind::Boolean => Self::Bit(array.as_boolean_opt().ok_or_else(|| wrong(array, data_type))?.values().clone()),
            Kind::TinyInt => Self::Byte(values::<Int8Type>(array, data_type)?),
            Kind::SmallInt => Self::Short(values::<Int16Type>(array, data_type)?),
            Kind::Int => Self::Word(values::<Int32Type>(array, data_type)?),
            Kind::Date => Self::Word(values::<Date32Type>(array, data_type)?),
            Kind::Time(_) => Self::Word(values::<Time32MillisecondType>(array, data_type)?),
            Kind::Float => Self::Word(bits(&values::<Float32Type>(&one_nan(array)?, data_type)?)),
            Kind::BigInt => Self::Long(values::<Int64Type>(array, data_type)?),
            Kind::Double => Self::Long(bits(&values::<Float64Type>(&one_nan(array)?, data_type)?)),
            Kind::Timestamp(p) | Kind::LocalZonedTimestamp(p) => Self::timestamp(array, data_type, *p)?,
            Kind::WideTimestamp { precision, .. } => {
                Self::WideTimestamp { values: values::<Decimal128Type>(array, data_type)?, precision: *precision }
            }
            Kind::Decimal { precision, .. } => {
                Self::Decimal { values: values::<Decimal128Type>(array, data_type)?, precision: *precision }
            }
            Kind::Char(_) | Kind::Varchar(_) => {
                Self::String(array.as_string_opt::<i32>().ok_or_else(|| wrong(array, data_type))?.clone())
            }
            Kind::Binary(_) | Kind::Varbinary(_) | Kind::Blob => {
                Self::Binary(array.as_binary_opt::<i32>().ok_or_else(|| wrong(array, data_type))?.clone())
            }
            _ => Self::nested(array, data_type)?,
        })
    }

    fn timestamp(array: &ArrayRef, data_type: &DataType, precision: u8) -> Result<Self> {
        if precision <= MAX_COMPACT_TIMESTAMP {
            return Ok(Self::Long(values::<TimestampMillisecondType>(array, data_type)?));
        }
        let (values, per_milli) = if precision <= 6 {
            (values::<TimestampMicrosecondType>(array, data_type)?, 1_000)
        } else {
            (values::<TimestampNanosecondType>(array, data_type)?, 1_000_000)
        };
        Ok(Self::Timestamp { values, per_milli, precision })
    }

    fn nested(array: &ArrayRef, data_type: &DataType) -> Result<Self> {
        let wrong = || wrong(array, data_type);
        let count = DataType::required(Kind::Int);
        match &data_type.kind {
            Kind::Array(element) => {
                let list = array.as_list_opt::<i32>().ok_or_else(wrong)?;
                let element = Box::new(Column::new(list.values(), element)?);
                Ok(Self::Array { offsets: list.offsets().clone(), element })
            }
            Kind::Multiset(key) => Self::map(array, key, &count).ok_or_else(wrong)?,
            Kind::Map(key, value) => Self::map(array, key, value).ok_or_else(wrong)?,
            Kind::Row(fields) => {
                let row = array.as_struct_opt().filter(|r| r.num_columns() == fields.len()).ok_or_else(wrong)?;
                let fields = row.columns().iter().zip(fields);
                let columns = fields.map(|(c, f)| Column::new(c, &f.data_type).context("field", &f.name));
                Ok(Self::Row(columns.collect::<Result<_>>()?))
            }
            Kind::Variant => {
                let row = array.as_struct_opt().ok_or_else(wrong)?;
                let part = |name| row.column_by_name(name).and_then(|c| c.as_binary_opt::<i32>()).cloned();
                let value = part("value").ok_or_else(wrong)?;
                Ok(Self::Variant { value, metadata: part("metadata").ok_or_else(wrong)? })
            }
            Kind::Vector { element, length } => {
                let list = array.as_fixed_size_list_opt().ok_or_else(wrong)?;
                let length = *length as usize;
                if usize::try_from(list.value_length()) != Ok(length) {
                    return Err(wrong());
                }
                Ok(Self::Vector { length, element: Box::new(Column::new(list.values(), element)?) })
            }
            _ => Err(wrong()),
        }
    }

    fn map(array: &ArrayRef, key: &DataType, value: &DataType) -> Option<Result<Self>> {
        let map = array.as_map_opt()?;
        let offsets = map.offsets().clone();
        let columns = Column::new(map.keys(), key).and_then(|k| Ok((k, Column::new(map.values(), value)?)));
        Some(columns.map(|(k, v)| Self::Map { offsets, key: Box::new(k), value: Box::new(v) }))
    }

    fn put_nested(&self, row: usize, i: usize, out: &mut Encoder) -> Result<()> {
        match self {
            Self::Row(columns) => {
                let mut nested = Encoder::new(columns.len());
                for (field, column) in columns.iter().enumerate() {
                    column.put(row, field, &mut nested)?;
                }
                out.put_part(i, &[nested.bytes()])
            }
            Self::Variant { value, metadata } => {
                let (value, metadata) = (value.value(row), metadata.value(row));
                let len = i32::try_from(value.len()).map_err(|_| Error::invalid("variant longer than 2 GiB"))?;
                out.put_part(i, &[&len.to_le_bytes(), value, metadata])
            }
            _ => self.parts(row, |pieces| out.put_part(i, pieces))?,
        }
    }

    /// Gives an array, map or vector as the pieces that follow each other in the binary layout.
    pub(super) fn parts<T>(&self, row: usize, take: impl FnOnce(&[&[u8]]) -> T) -> Result<T> {
        match self {
            Self::Array { offsets, element } => Ok(take(&[element.array(range(offsets, row))?.bytes()])),
            Self::Map { offsets, key, value } => {
                let (keys, values) = (key.array(range(offsets, row))?, value.array(range(offsets, row))?);
                let len = i32::try_from(keys.bytes().len()).map_err(|_| Error::invalid("map longer than 2 GiB"))?;
                Ok(take(&[&len.to_le_bytes(), keys.bytes(), values.bytes()]))
            }
            Self::Vector { length, element } => {
                let rows = row * length..(row + 1) * length;
                if rows.clone().any(|r| element.is_null(r)) {
                    return Err(Error::invalid("a vector has a null element"));
                }
                let array = element.array(rows)?;
                let packed = array.elements(element.width * length);
                Ok(take(&[&array.bytes()[..4], packed]))
            }
            _ => Err(Error::internal("a scalar column was written as a nested one")),
        }
    }
}

fn range(offsets: &OffsetBuffer<i32>, row: usize) -> std::ops::Range<usize> {
    offsets[row].as_usize()..offsets[row + 1].as_usize()
}
