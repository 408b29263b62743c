//! Leaving out row groups whose statistics rule the filter out.
//!
//! A bound is used only where its order is that of our values; where in doubt there is no bound. It is the value that is read,
//! not the one in the file: that may be finer.

use parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type as Physical};
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use parquet::file::statistics::Statistics;
use parquet::schema::types::{ColumnDescriptor, SchemaDescriptor};

use crate::datum::Datum;
use crate::predicate::Predicate;
use crate::stats::ColumnRange;
use crate::types::{DataField, Kind};

/// The columns of a filter and where they are in the file.
pub(super) struct Columns<'a> {
    fields: &'a [DataField],
    schema: &'a SchemaDescriptor,
}

impl<'a> Columns<'a> {
    pub(super) fn new(fields: &'a [DataField], schema: &'a SchemaDescriptor) -> Self {
        Self { fields, schema }
    }

    /// The column and its leaf. The leaf is none for columns that are nested or not in the file.
    pub(super) fn find(&self, field_id: i32) -> Option<(&'a DataField, Option<usize>)> {
        let field = self.fields.iter().find(|f| f.id == field_id)?;
        let leaf = self.schema.columns().iter().position(|c| matches!(c.path().parts(), [name] if *name == field.name));
        Some((field, leaf))
    }

    fn absent(&self, field: &DataField) -> bool {
        self.schema.root_schema().get_fields().iter().all(|f| f.name() != field.name)
    }
}

/// The row groups that may hold rows for which `filter` is true.
pub(super) fn row_groups(metadata: &ParquetMetaData, columns: &Columns<'_>, filter: &Predicate) -> Vec<usize> {
    let may_match = |group: &RowGroupMetaData| filter.may_match(|id| range(group, columns, id));
    (0..metadata.num_row_groups()).filter(|i| may_match(metadata.row_group(*i))).collect()
}

fn range(group: &RowGroupMetaData, columns: &Columns<'_>, field_id: i32) -> ColumnRange {
    let row_count = group.num_rows();
    let unknown = ColumnRange { min: None, max: None, null_count: None, row_count };
    let Some((field, leaf)) = columns.find(field_id) else { return unknown };
    let Some(leaf) = leaf else {
        return ColumnRange { null_count: columns.absent(field).then_some(row_count), ..unknown };
    };
    let Some(statistics) = group.columns().get(leaf).and_then(|c| c.statistics()) else { return unknown };
    let column = columns.schema.column(leaf);
    let bytes = |bound: Option<&[u8]>| bound.filter(|_| ordered(statistics, &column)).map(<[u8]>::to_vec);
    let null_count = statistics.null_count_opt().and_then(|n| i64::try_from(n).ok());
    let (min, max) =
        bounds(&field.data_type.kind, &column, bytes(statistics.min_bytes_opt()), bytes(statistics.max_bytes_opt()));
    ColumnRange { min, max, null_count, row_count }
}

/// Whether minimum and maximum were computed in the order of the column's values: the old fields compare bytes signed.
fn ordered(statistics: &Statistics, column: &ColumnDescriptor) -> bool {
    let bytes = matches!(column.physical_type(), Physical::BYTE_ARRAY | Physical::FIXED_LEN_BYTE_ARRAY);
    !(bytes && statistics.is_min_max_deprecated())
}

/// Minimum and maximum as values of the column; both or none, since a bound that cannot be read says nothing of the other.
pub(super) fn bounds(
    kind: &Kind,
    column: &ColumnDescriptor,
    min: Option<Vec<u8>>,
    max: Option<Vec<u8>>,
) -> (Option<Datum>, Option<Datum>) {
    let value = |bytes: Option<Vec<u8>>| bytes.and_then(|b| datum(kind, column, &b));
    match (value(min), value(max)) {
        // Zeros of both signs are equal to SQL but not to the order of floats.
        (Some(Datum::Float(min)), Some(Datum::Float(max))) => {
            let (min, max) = (if min == 0.0 { -0.0 } else { min }, if max == 0.0 { 0.0 } else { max });
            (Some(Datum::Float(min)), Some(Datum::Float(max)))
        }
        (Some(Datum::Double(min)), Some(Datum::Double(max))) => {
            let (min, max) = (if min == 0.0 { -0.0 } else { min }, if max == 0.0 { 0.0 } else { max });
            (Some(Datum::Double(min)), Some(Datum::Double(max)))
        }
        bounds => bounds,
    }
}

fn datum(kind: &Kind, column: &ColumnDescriptor, bytes: &[u8]) -> Option<Datum> {
    match (kind, column.physical_type()) {
        (Kind::Boolean, Physical::BOOLEAN) => Some(Datum::Boolean(*bytes.first()? != 0)),
        (Kind::Float, Physical::FLOAT) => {
            Some(f32::from_le_bytes(bytes.try_into().ok()?)).filter(|v| !v.is_nan()).map(Datum::Float)
        }
        (Kind::Double, Physical::DOUBLE) => {
            Some(f64::from_le_bytes(bytes.try_into().ok()?)).filter(|v| !v.is_nan()).map(Datum::Double)
        }
        (Kind::Char(_) | Kind::Varchar(_), Physical::BYTE_ARRAY) if is_text(column) => {
            Some(Datum::String(std::str::from_utf8(bytes).ok()?.to_owned()))
        }
        (Kind::Binary(_) | Kind::Varbinary(_), Physical::BYTE_ARRAY) if is_text(column) => {
            Some(Datum::Bytes(bytes.to_vec().into()))
        }
        (Kind::Decimal { precision, scale }, _) if column.type_scale() == i32::from(*scale) => {
            Some(Datum::Decimal { unscaled: unscaled(column, bytes)?, precision: *precision, scale: *scale })
        }
        (_, Physical::INT32) if is_of(kind, column) => int(kind, i32::from_le_bytes(bytes.try_into().ok()?)),
        (Kind::BigInt, Physical::INT64) if is_of(kind, column) => {
            Some(Datum::BigInt(i64::from_le_bytes(bytes.try_into().ok()?)))
        }
        (Kind::Timestamp(precision) | Kind::LocalZonedTimestamp(precision), Physical::INT64) => {
            let found = timestamp(i64::from_le_bytes(bytes.try_into().ok()?), unit(column)?)?;
            Some(whole(found, *precision))
        }
        _ => None,
    }
}

fn int(kind: &Kind, value: i32) -> Option<Datum> {
    match kind {
        Kind::TinyInt => i8::try_from(value).ok().map(Datum::TinyInt),
        Kind::SmallInt => i16::try_from(value).ok().map(Datum::SmallInt),
        Kind::Int => Some(Datum::Int(value)),
        Kind::Date => Some(Datum::Date(value)),
        Kind::Time(_) => Some(Datum::Time(value)),
        _ => None,
    }
}

/// Whether the values of a column of INT32 or INT64 are those of the kind: no decimals, and times in milliseconds.
fn is_of(kind: &Kind, column: &ColumnDescriptor) -> bool {
    match (kind, column.logical_type_ref(), column.converted_type()) {
        (Kind::Date, Some(LogicalType::Date), _) | (Kind::Date, None, ConvertedType::DATE) => true,
        (Kind::Time(_), Some(LogicalType::Time(time)), _) => time.unit == TimeUnit::MILLIS,
        (Kind::Time(_), None, ConvertedType::TIME_MILLIS) => true,
        (_, Some(LogicalType::Integer(_)), _) => !unsigned(column),
        (_, None, converted) => {
            let signed = [ConvertedType::INT_8, ConvertedType::INT_16, ConvertedType::INT_32, ConvertedType::INT_64];
            converted == ConvertedType::NONE || signed.contains(&converted)
        }
        _ => false,
    }
}

/// Whether a column of bytes holds texts or bytes, not numbers.
fn is_text(column: &ColumnDescriptor) -> bool {
    let converted = column.converted_type();
    match column.logical_type_ref() {
        Some(logical) => {
            matches!(logical, LogicalType::String | LogicalType::Enum | LogicalType::Json | LogicalType::Bson)
        }
        None => !matches!(converted, ConvertedType::DECIMAL | ConvertedType::INTERVAL),
    }
}

/// The timestamp that a column of this precision reads: digits that it cannot hold are dropped.
fn whole(value: Datum, precision: u8) -> Datum {
    match value {
        Datum::Timestamp { millis, .. } if precision <= 3 => Datum::Timestamp { millis, nanos: 0 },
        Datum::Timestamp { millis, nanos } if precision <= 6 => {
            Datum::Timestamp { millis, nanos: nanos / 1_000 * 1_000 }
        }
        other => other,
    }
}

fn unsigned(column: &ColumnDescriptor) -> bool {
    matches!(column.logical_type_ref(), Some(LogicalType::Integer(int)) if !int.is_signed)
        || matches!(
            column.converted_type(),
            ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64
        )
}

fn unscaled(column: &ColumnDescriptor, bytes: &[u8]) -> Option<i128> {
    match column.physical_type() {
        Physical::INT32 => Some(i128::from(i32::from_le_bytes(bytes.try_into().ok()?))),
        Physical::INT64 => Some(i128::from(i64::from_le_bytes(bytes.try_into().ok()?))),
        Physical::FIXED_LEN_BYTE_ARRAY | Physical::BYTE_ARRAY if (1..=16).contains(&bytes.len()) => {
            let sign = if bytes.first()? & 0x80 == 0 { 0_i128 } else { -1 };
            Some(bytes.iter().fold(sign, |value, byte| value << 8 | i128::from(*byte)))
        }
        _ => None,
    }
}

fn unit(column: &ColumnDescriptor) -> Option<TimeUnit> {
    match (column.logical_type_ref(), column.converted_type()) {
        (Some(LogicalType::Timestamp(t)), _) => Some(t.unit),
        (_, ConvertedType::TIMESTAMP_MILLIS) => Some(TimeUnit::MILLIS),
        (_, ConvertedType::TIMESTAMP_MICROS) => Some(TimeUnit::MICROS),
        _ => None,
    }
}

fn timestamp(value: i64, unit: TimeUnit) -> Option<Datum> {
    let (per_milli, nanos) = match unit {
        TimeUnit::MILLIS => (1, 0),
        TimeUnit::MICROS => (1_000, 1_000),
        TimeUnit::NANOS => (1_000_000, 1),
    };
    let rest = i32::try_from(value.rem_euclid(per_milli) * nanos).ok()?;
    Some(Datum::Timestamp { millis: value.div_euclid(per_milli), nanos: rest })
}
