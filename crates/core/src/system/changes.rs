//! `t$audit_log` and `t$binlog`: a table's rows with what happened to them (spec: features.md B13).
//!
//! The audit log has the row kind as text before the columns, with `table-read.sequence-number.enabled` the sequence number
//! after it. The binlog has the same with every column as a list: of one value, or of the values before and after an
//! update, whose two rows are one there. With `linn.read.snapshot-id` and `linn.read.commit-time` both have the snapshot of each
//! change and the time of its commit; rows of a state, and differences of two, have those of the state that is read.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, Int32Array, Int64Array, ListArray, RecordBatch, StringArray, TimestampMillisecondArray, cast::AsArray,
    types::Int8Type,
};
use arrow_buffer::OffsetBuffer;
use arrow_cast::cast;
use arrow_schema::{Field, Schema, SchemaRef};
use arrow_select::take::take;
use futures::{StreamExt, TryFutureExt};
use linn_format::file::sequence_number_field;
use linn_format::predicate::Predicate;
use linn_format::types::{DataField, DataType, Kind, RowKind, arrow_type};
use linn_format::{BatchStream, Error, Result, SnapshotId};

pub use crate::read::ROW_KIND;
use crate::read::{Read, kinds_of};
use crate::scan::{Scan, Split};
use crate::snapshot::History;
use crate::snapshot::Tags;
use crate::table::Table;

/// The column with the snapshot of a change.
pub const SNAPSHOT_ID: &str = "_SNAPSHOT_ID";
/// The column with the time at which a change was committed.
pub const COMMIT_TIME: &str = "_COMMIT_TIME";

/// The commit that changes came with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommitStamp {
    /// Its snapshot.
    pub snapshot: SnapshotId,
    /// When it was made, milliseconds since the epoch; unknown where the snapshot is not there any more.
    pub time_millis: Option<i64>,
}

/// Which of the two logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Log {
    /// `audit_log`.
    Audit,
    /// `binlog`.
    Binary,
}

impl Log {
    /// The log of this name, if it is one.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Audit, Self::Binary].into_iter().find(|log| log.name() == name)
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Audit => "audit_log",
            Self::Binary => "binlog",
        }
    }

    /// The columns of a table's log.
    ///
    /// # Errors
    /// `Invalid` for types without an Arrow type, and for sequence numbers that are asked of a table without a primary key.
    pub fn schema(self, table: &Table) -> Result<SchemaRef> {
        Ok(Arc::new(Schema::new(Columns::of(self, table)?.fields)))
    }
}

/// What a column shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shown {
    Kind,
    Sequence,
    Snapshot,
    CommitTime,
    /// Of the fields that are read.
    Value(usize),
}

/// A time on the time line, in milliseconds.
fn commit_time_type() -> Result<arrow_schema::DataType> {
    arrow_type(&DataType::nullable(Kind::LocalZonedTimestamp(3)))
}

struct Columns {
    fields: Vec<Field>,
    shown: Vec<Shown>,
    values: Vec<DataField>,
}

impl Columns {
    fn of(log: Log, table: &Table) -> Result<Self> {
        let mut fields = vec![Field::new(ROW_KIND, arrow_schema::DataType::Utf8, false)];
        let mut shown = vec![Shown::Kind];
        if table.options().read_sequence_numbers()? {
            if !table.schema().is_primary_key_table() {
                return Err(Error::invalid("tables without a primary key have no sequence numbers")
                    .with("table", table.name())
                    .with_hint("leave table-read.sequence-number.enabled out"));
            }
            let field = sequence_number_field();
            fields.push(Field::new(&field.name, arrow_type(&field.data_type)?, false));
            shown.push(Shown::Sequence);
        }
        if table.options().read_snapshot_ids()? {
            fields.push(Field::new(SNAPSHOT_ID, arrow_schema::DataType::Int64, false));
            shown.push(Shown::Snapshot);
        }
        if table.options().read_commit_times()? {
            fields.push(Field::new(COMMIT_TIME, commit_time_type()?, true));
            shown.push(Shown::CommitTime);
        }
        let values = table.visible_fields()?;
        for (at, field) in values.iter().enumerate() {
            let data_type = match log {
                Log::Audit => field.data_type.clone(),
                Log::Binary => {
                    let element = DataType { nullable: true, ..field.data_type.clone() };
                    DataType { kind: Kind::Array(Box::new(element)), nullable: true }
                }
            };
            fields.push(Field::new(&field.name, arrow_type(&data_type)?, data_type.nullable));
            shown.push(Shown::Value(at));
        }
        Ok(Self { fields, shown, values })
    }
}

/// Some columns of a log, ready to be read: at what the table's options travel to, or of the changes they ask for.
#[derive(Debug, Clone)]
pub struct ChangeLog {
    log: Log,
    table: Table,
    read: Read,
    schema: SchemaRef,
    shown: Arc<[Shown]>,
    sequence: Option<usize>,
}

impl ChangeLog {
    /// The columns at these positions of [`Log::schema`], all of them when not given.
    ///
    /// # Errors
    /// As [`Log::schema`], and those of reading the table.
    pub fn open(log: Log, table: &Table, columns: Option<&[usize]>) -> Result<Self> {
        let all = Columns::of(log, table)?;
        let columns = columns.map_or_else(|| (0..all.fields.len()).collect(), <[usize]>::to_vec);
        let (mut fields, mut shown, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for column in columns {
            let (Some(field), Some(show)) = (all.fields.get(column), all.shown.get(column)) else {
                return Err(Error::internal(format!("a log has no column {column}")));
            };
            fields.push(field.clone());
            shown.push(match show {
                Shown::Value(at) => {
                    values.extend(all.values.get(*at).cloned());
                    Shown::Value(values.len() - 1)
                }
                other => *other,
            });
        }
        let sequence = shown.contains(&Shown::Sequence).then_some(values.len());
        let mut read = table.read().fields(values);
        if sequence.is_some() {
            read = read.sequence_numbers();
        }
        if log == Log::Binary {
            read = read.pairs();
        }
        let (table, read, schema) = (table.clone(), read.build()?, Arc::new(Schema::new(fields)));
        Ok(Self { log, table, read, schema, shown: shown.into(), sequence })
    }

    /// The columns.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The scan whose splits are to be read; files are left out by the filter, rows are not.
    pub fn scan(&self, filter: Option<Predicate>) -> Scan {
        let mut scan = self.table.scan();
        if self.stamps() {
            scan = scan.by_snapshot();
        }
        match filter {
            Some(filter) => scan.filter(filter),
            None => scan,
        }
    }

    /// The rows of the log that a split has.
    ///
    /// # Errors
    /// As [`Read::changes`].
    pub fn stream(&self, split: &Split) -> Result<BatchStream> {
        let (this, changes, snapshot) = (self.clone(), self.read.changes(split)?, split.snapshot_id);
        let shown = async move {
            let stamp = CommitStamp { snapshot, time_millis: this.commit_time(snapshot).await? };
            Ok::<_, Error>(changes.map(move |batch| this.show(&batch?, stamp)))
        };
        Ok(shown.try_flatten_stream().boxed())
    }

    /// Whether rows show their commit.
    fn stamps(&self) -> bool {
        self.shown.iter().any(|shown| matches!(shown, Shown::Snapshot | Shown::CommitTime))
    }

    async fn commit_time(&self, id: SnapshotId) -> Result<Option<i64>> {
        if !self.shown.contains(&Shown::CommitTime) {
            return Ok(None);
        }
        let found = History::new(&self.table)?.find(id).await?;
        match found {
            Some(snapshot) => Ok(Some(snapshot.time_millis)),
            // A tag may hold what has expired.
            None => {
                let tagged = Tags::new(&self.table).snapshots().await?;
                Ok(tagged.get(&id).map(|tagged| tagged.snapshot.time_millis))
            }
        }
    }

    /// A batch of changes of one commit, of exactly the table's columns that this log shows, as rows of the log.
    ///
    /// # Errors
    /// `Internal` for other batches.
    pub fn show(&self, changes: &RecordBatch, stamp: CommitStamp) -> Result<RecordBatch> {
        let kinds = kinds_of(changes)?;
        // Where each row of the log begins among the changes.
        let mut starts: Vec<i32> = Vec::with_capacity(changes.num_rows() + 1);
        let mut at = 0;
        while at < kinds.len() {
            starts.push(i32::try_from(at).map_err(|_| Error::internal("a batch is too long"))?);
            let pair = self.log == Log::Binary
                && kinds.value(at) == RowKind::UpdateBefore as i8
                && kinds.values().get(at + 1) == Some(&(RowKind::UpdateAfter as i8));
            at += 1 + usize::from(pair);
        }
        let rows = starts.len();
        starts.push(i32::try_from(at).map_err(|_| Error::internal("a batch is too long"))?);
        let whole = rows == changes.num_rows();
        let lasts = Int32Array::from_iter_values(starts.iter().skip(1).map(|next| next - 1));
        let firsts = Int32Array::from_iter_values(starts.iter().take(rows).copied());
        let columns = self.shown.iter().zip(self.schema.fields()).map(|(shown, field)| -> Result<ArrayRef> {
            let column = |at: usize| changes.columns().get(at).ok_or_else(|| Error::internal("changes lack a column"));
            Ok(match shown {
                Shown::Kind => {
                    let kinds = take(kinds, &lasts, None)?;
                    let texts = kinds.as_primitive::<Int8Type>().values().iter();
                    let short = |kind: &i8| RowKind::from_byte(kind.cast_unsigned()).map(RowKind::short);
                    Arc::new(StringArray::from(texts.map(short).collect::<Result<Vec<_>>>()?))
                }
                Shown::Sequence => {
                    let numbers = column(self.sequence.unwrap_or_default())?;
                    if whole { Arc::clone(numbers) } else { take(numbers, &firsts, None)? }
                }
                Shown::Snapshot => Arc::new(Int64Array::from_value(stamp.snapshot.0, rows)),
                Shown::CommitTime => {
                    let times = TimestampMillisecondArray::from(vec![stamp.time_millis; rows]);
                    cast(&times, field.data_type())?
                }
                // Nested fields have other ids here, which their Arrow types carry.
                Shown::Value(at) if self.log == Log::Audit => cast(column(*at)?, field.data_type())?,
                Shown::Value(at) => {
                    let arrow_schema::DataType::List(element) = field.data_type() else {
                        return Err(Error::internal("a column of the binlog is not a list"));
                    };
                    let offsets = OffsetBuffer::new(starts.clone().into());
                    let values = cast(column(*at)?, element.data_type())?;
                    Arc::new(ListArray::try_new(Arc::clone(element), offsets, values, None)?)
                }
            })
        });
        let options = arrow_array::RecordBatchOptions::new().with_row_count(Some(rows));
        let columns = columns.collect::<Result<Vec<_>>>()?;
        Ok(RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options)?)
    }
}
