//! The partitions of a table: what their files come to, and which are past their time, by their values or by their newest file
//! (spec: features.md B14).

mod time;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, NaiveDateTime};
use linn_format::datum::{Datum, compare_rows};
use linn_format::manifest::{EntryBatch, FileKind, StatsColumns};
use linn_format::partition::partition_value;
use linn_format::row::BinaryRow;
use linn_format::types::{DataField, Kind};
use linn_format::{Error, Result};
use parking_lot::Mutex;

use crate::manifest::{Manifests, Selection};
use crate::seam::Clock;
use crate::snapshot::Snapshots;
use crate::table::Table;
use time::TimeFormat;

const MILLIS_OF_DAY: i64 = 86_400_000;

/// The strategy by which the values of a partition are its time.
const VALUES_TIME: &str = "values-time";

/// A partition with what its files come to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartitionSummary {
    /// Its values.
    pub partition: BinaryRow,
    /// Its name, such as `dt=2024-01-31/hr=7`; see [`Table::partition_name`].
    pub name: String,
    /// Data files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Records in them, those that others hide included.
    pub rows: i64,
    /// When the newest file was made: milliseconds since the epoch, if its writer's wall clock showed what ours does.
    pub newest: Option<i64>,
}

/// The partitions of the latest snapshot, by their values.
///
/// # Errors
/// `Corrupt` or `NotFound` with the path of metadata that cannot be read.
pub async fn partitions(table: &Table) -> Result<Vec<PartitionSummary>> {
    let Some(snapshot) = Snapshots::new(table).latest().await? else { return Ok(Vec::new()) };
    let manifests = Manifests::new(table);
    let newest = Arc::new(Mutex::new(BTreeMap::<Vec<u8>, Option<i64>>::new()));
    let noted = Arc::clone(&newest);
    let all = move |batch: Arc<EntryBatch>| {
        let noted = Arc::clone(&noted);
        async move {
            for i in (0..batch.len()).filter(|i| batch.kind(*i) == FileKind::Add) {
                let made = batch.file(i)?.creation_time;
                let mut noted = noted.lock();
                let newest = noted.entry(batch.partition(i).to_vec()).or_default();
                *newest = (*newest).max(made);
            }
            Ok(Selection::of(&batch, |_| true))
        }
    };
    let live = manifests.live(manifests.of_snapshot(&snapshot).await?, StatsColumns::Keys, all).await?;
    let newest = std::mem::take(&mut *newest.lock());
    let mut found: BTreeMap<Vec<u8>, PartitionSummary> = BTreeMap::new();
    for (batch, i) in live.iter() {
        let bytes = batch.partition(i);
        let summary = match found.get_mut(bytes) {
            Some(summary) => summary,
            None => {
                let partition = BinaryRow::from_serialized(bytes.to_vec())?;
                let name = table.partition_name(&partition)?;
                let newest = newest.get(bytes).copied().flatten();
                let newest = newest.map(|local| table.env().clock.instant_millis(local));
                let summary = PartitionSummary { partition, name, files: 0, bytes: 0, rows: 0, newest };
                found.entry(bytes.to_vec()).or_insert(summary)
            }
        };
        summary.files += 1;
        summary.bytes = summary.bytes.saturating_add(u64::try_from(batch.file_size(i)).unwrap_or(0));
        summary.rows = summary.rows.saturating_add(batch.row_count(i));
    }
    let fields = table.schema().partition_fields();
    let mut all = Vec::with_capacity(found.len());
    for summary in found.into_values() {
        all.push((summary.partition.datums(fields.iter().map(|field| &field.data_type))?, summary));
    }
    all.sort_by(|(a, _), (b, _)| compare_rows(a, b));
    Ok(all.into_iter().map(|(_, summary)| summary).collect())
}

/// The times of the partitions of a table: those that the options form of their values. Without a pattern it is the value of the
/// first column that is a date or a time, as text or by its type.
pub(crate) struct Times<'t> {
    format: TimeFormat,
    has_pattern: bool,
    fields: Vec<&'t DataField>,
    keys: Vec<&'t str>,
    clock: &'t dyn Clock,
}

impl<'t> Times<'t> {
    pub(crate) fn of(table: &'t Table) -> Result<Self> {
        let options = table.options();
        let format = TimeFormat::new(options.partition_timestamp_pattern(), options.partition_timestamp_formatter())?;
        let fields = table.schema().partition_fields();
        let keys = fields.iter().map(|field| field.name.as_str()).collect();
        let has_pattern = options.partition_timestamp_pattern().is_some();
        Ok(Self { format, has_pattern, fields, keys, clock: &*table.env().clock })
    }

    /// The local time of a partition; `None` when its values form none.
    pub(crate) fn time(&self, partition: &BinaryRow) -> Result<Option<NaiveDateTime>> {
        let values = partition.datums(self.fields.iter().map(|field| &field.data_type))?;
        let typed = || self.fields.iter().zip(&values).map(|(field, value)| self.of_type(field, value.as_ref()?));
        if !self.has_pattern && self.fields.first().is_some_and(|field| is_time(&field.data_type.kind)) {
            return Ok(typed().next().flatten());
        }
        // A pattern reads dates as they are written, or as the legacy names of folders have them.
        for legacy in [false, true] {
            let text = |(value, field): (&Option<Datum>, &&DataField)| {
                value.as_ref().map(|value| partition_value(value, &field.data_type, legacy)).transpose()
            };
            let texts = values.iter().zip(&self.fields).map(text).collect::<Result<Vec<_>>>()?;
            if let Some(time) = self.format.time(&self.keys, &texts) {
                return Ok(Some(time));
            }
        }
        Ok(if self.has_pattern { None } else { typed().flatten().next() })
    }

    /// The time that a value is by its type.
    fn of_type(&self, field: &DataField, value: &Datum) -> Option<NaiveDateTime> {
        let millis = match (value, &field.data_type.kind) {
            (Datum::Date(day), _) => i64::from(*day).checked_mul(MILLIS_OF_DAY)?,
            (
                Datum::Timestamp { millis, .. },
                Kind::LocalZonedTimestamp(_) | Kind::WideTimestamp { zoned: true, .. },
            ) => millis.checked_add(self.clock.offset_millis_at(*millis))?,
            (Datum::Timestamp { millis, .. }, _) => *millis,
            _ => return None,
        };
        Some(DateTime::from_timestamp_millis(millis)?.naive_utc())
    }
}

fn is_time(kind: &Kind) -> bool {
    matches!(kind, Kind::Date | Kind::Timestamp(_) | Kind::LocalZonedTimestamp(_) | Kind::WideTimestamp { .. })
}

/// The partitions that are past `partition.expiration-time`, oldest values first, `partition.expiration-max-num` at the most.
///
/// # Errors
/// `Invalid` for a table without partitions or without the option, `Unsupported` for another strategy than `values-time` and
/// `update-time`, and what reading the table yields.
pub async fn expired_partitions(table: &Table) -> Result<Vec<PartitionSummary>> {
    let options = table.options();
    if table.schema().partition_keys.is_empty() {
        return Err(Error::invalid("the table has no partitions to expire").with("table", table.name()));
    }
    let Some(age) = options.partition_expiration_time()? else {
        return Err(Error::invalid("no expiration time for partitions is set")
            .with("table", table.name())
            .with_hint("set the option partition.expiration-time, or give the age to the command"));
    };
    let (before, clock) = (since(table, age), &table.env().clock);
    let found = partitions(table).await?;
    let mut expired: Vec<PartitionSummary> = match options.partition_expiration_strategy() {
        VALUES_TIME => {
            let old = older(table, before)?;
            let mut expired = Vec::new();
            for partition in found {
                if old(&partition)? {
                    expired.push(partition);
                }
            }
            expired
        }
        "update-time" => {
            let oldest = clock.now_millis().saturating_sub(millis(age));
            found.into_iter().filter(|p| p.newest.is_some_and(|newest| newest < oldest)).collect()
        }
        other => return Err(Error::unsupported(format!("the strategy {other:?} for partitions to expire"))),
    };
    expired.truncate(options.partition_expiration_max()?);
    Ok(expired)
}

/// The partitions that are worth compacting: those that are not past `partition.expiration-time` by their values; `None` for
/// all, unless `compaction.skip-expired-partitions` is on.
///
/// # Errors
/// As [`expired_partitions`].
pub(crate) async fn worth_compacting(table: &Table) -> Result<Option<Vec<BinaryRow>>> {
    let options = table.options();
    let by_values = options.partition_expiration_strategy() == VALUES_TIME;
    let age = options.partition_expiration_time()?;
    let applies = options.skips_expired_partitions()? && by_values && !table.schema().partition_keys.is_empty();
    let Some(age) = age.filter(|_| applies) else { return Ok(None) };
    let old = older(table, since(table, age))?;
    let mut worth = Vec::new();
    for partition in partitions(table).await? {
        if !old(&partition)? {
            worth.push(partition.partition);
        }
    }
    Ok(Some(worth))
}

/// Before which local time, in milliseconds, a partition is past an age.
fn since(table: &Table, age: Duration) -> i64 {
    let clock = &table.env().clock;
    clock.local_millis(clock.now_millis()).saturating_sub(millis(age))
}

fn millis(age: Duration) -> i64 {
    i64::try_from(age.as_millis()).unwrap_or(i64::MAX)
}

/// Tells partitions whose values form an earlier time.
fn older(table: &Table, before: i64) -> Result<impl Fn(&PartitionSummary) -> Result<bool>> {
    let times = Times::of(table)?;
    let before = DateTime::from_timestamp_millis(before).map_or(NaiveDateTime::MIN, |time| time.naive_utc());
    Ok(move |partition: &PartitionSummary| {
        let Some(time) = times.time(&partition.partition)? else {
            let partition = &partition.name;
            tracing::warn!(
                table = table.name(),
                partition,
                "the value of a partition is not a timestamp; it does not expire"
            );
            return Ok(false);
        };
        Ok(time < before)
    })
}
