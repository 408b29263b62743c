//! Rows that have expired, which a compaction leaves out (`record-level.*`; spec: features.md B5).
//!
//! A row without a time never expires. As in the reference only compactions look at it: until then expired rows are read.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Decimal128Type, Int32Type, Int64Type, TimestampMicrosecondType, TimestampMillisecondType, TimestampSecondType,
};
use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch};
use arrow_schema::{DataType as ArrowType, TimeUnit};
use linn_format::datum::Datum;
use linn_format::file::DataFileMeta;
use linn_format::options::table::key;
use linn_format::schema::TableSchema;
use linn_format::stats::{FileStats, evolve};
use linn_format::types::{DataField, NANOS_OF_SECOND};
use linn_format::{Error, Result, SchemaId};

/// From this number on a BIGINT means milliseconds, below it seconds.
const MILLIS_FROM: i64 = 1_000_000_000_000;

/// When the rows of a table expire.
#[derive(Debug, Clone)]
pub(crate) struct Expiry {
    /// Position of the time among the columns of the table.
    column: usize,
    field: DataField,
    fields: Vec<DataField>,
    schema: SchemaId,
    age_seconds: i64,
}

impl Expiry {
    /// The expiry of a table; `None` when its rows do not expire.
    ///
    /// # Errors
    /// `Invalid` when the column of the time is not set, not there, or has no time.
    pub(crate) fn of(schema: &TableSchema) -> Result<Option<Self>> {
        let Some(age) = schema.options.get(&key::RECORD_LEVEL_EXPIRE_TIME)? else { return Ok(None) };
        let name = schema.options.text(&key::RECORD_LEVEL_TIME_FIELD).ok_or_else(|| {
            Error::invalid("record-level.expire-time needs a column with the age of a row")
                .with_hint("set 'record-level.time-field'")
        })?;
        let column = schema
            .index_of(name)
            .ok_or_else(|| Error::invalid("record-level.time-field names no column").with("column", name))?;
        let field = schema.fields.get(column).cloned();
        let field = field.ok_or_else(|| Error::internal("a column without a field"))?;
        Ok(Some(Self {
            column,
            field,
            fields: schema.fields.clone(),
            schema: schema.id,
            age_seconds: i64::try_from(age.as_secs()).unwrap_or(i64::MAX),
        }))
    }

    /// Whether a file surely has expired rows, from its statistics. Files of older schemas say nothing.
    pub(crate) fn has_expired(&self, file: &DataFileMeta, now_millis: i64) -> bool {
        if file.schema_id != self.schema {
            return false;
        }
        let stats = FileStats {
            stats: &file.value_stats,
            fields: &self.fields,
            columns: file.value_stats_cols.as_deref(),
            row_count: file.row_count,
        };
        let least = match evolve(stats, &self.field).ok().and_then(|range| range.min) {
            Some(Datum::Int(seconds)) => i64::from(seconds),
            Some(Datum::BigInt(time)) => seconds(time),
            Some(Datum::Timestamp { millis, .. }) => millis.div_euclid(1000),
            _ => return false,
        };
        self.is_expired(least, now_millis)
    }

    fn is_expired(&self, seconds: i64, now_millis: i64) -> bool {
        now_millis.div_euclid(1000) > seconds.saturating_add(self.age_seconds)
    }

    /// The rows of a key-value batch of all columns that have not expired.
    ///
    /// # Errors
    /// `Internal` when the column is not of the table's type.
    pub(crate) fn retain(&self, batch: &RecordBatch, now_millis: i64) -> Result<RecordBatch> {
        let Some(column) = batch.columns().get(self.column) else {
            return Err(Error::internal("a batch lacks the column that tells the age of its rows"));
        };
        let times = times(column)?;
        let keep = |row: usize| match times(row) {
            Some(seconds) => !self.is_expired(seconds, now_millis),
            None => true,
        };
        let kept: BooleanArray = (0..batch.num_rows()).map(|row| Some(keep(row))).collect();
        if kept.true_count() == batch.num_rows() {
            return Ok(batch.clone());
        }
        Ok(arrow_select::filter::filter_record_batch(batch, &kept)?)
    }
}

fn seconds(time: i64) -> i64 {
    if time >= MILLIS_FROM { time / 1000 } else { time }
}

/// The time of each row in seconds since the epoch.
fn times(column: &ArrayRef) -> Result<Box<dyn Fn(usize) -> Option<i64> + '_>> {
    macro_rules! per_second {
        ($t:ty, $units:expr) => {{
            let array = column.as_primitive::<$t>();
            Ok(Box::new(move |row| array.is_valid(row).then(|| array.value(row).div_euclid($units))))
        }};
    }
    match column.data_type() {
        ArrowType::Int32 => {
            let array = column.as_primitive::<Int32Type>();
            Ok(Box::new(move |row| array.is_valid(row).then(|| i64::from(array.value(row)))))
        }
        ArrowType::Int64 => {
            let array = column.as_primitive::<Int64Type>();
            Ok(Box::new(move |row| array.is_valid(row).then(|| seconds(array.value(row)))))
        }
        ArrowType::Timestamp(TimeUnit::Second, _) => per_second!(TimestampSecondType, 1),
        ArrowType::Timestamp(TimeUnit::Millisecond, _) => per_second!(TimestampMillisecondType, 1_000),
        ArrowType::Timestamp(TimeUnit::Microsecond, _) => per_second!(TimestampMicrosecondType, 1_000_000),
        // Timestamps of more than six digits (decision 0003): seconds with nanoseconds behind the point.
        ArrowType::Decimal128(_, 9) => {
            let array = column.as_primitive::<Decimal128Type>();
            let seconds = |wide: i128| i64::try_from(wide.div_euclid(NANOS_OF_SECOND)).unwrap_or(i64::MAX);
            Ok(Box::new(move |row| array.is_valid(row).then(|| seconds(array.value(row)))))
        }
        other => Err(Error::internal(format!("rows expire by a column of type {other}"))),
    }
}
