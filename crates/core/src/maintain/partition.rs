//! Expiry of partitions by the time in their values, or by the time of their newest file (spec: features.md B14). They are
//! dropped by commits that overwrite them with nothing; their files go when the snapshots before expire.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, NaiveDateTime};
use linn_format::manifest::{EntryBatch, FileKind, StatsColumns};
use linn_format::partition::partition_value;
use linn_format::row::BinaryRow;
use linn_format::{Error, Result};
use parking_lot::Mutex;

use super::time::TimeFormat;
use crate::commit::{BATCH_IDENTIFIER, Commit, CommitOutcome, Overwrite};
use crate::manifest::{Manifests, Selection};
use crate::snapshot::Snapshots;
use crate::table::Table;

/// The strategy by which the values of a partition are its time.
const VALUES_TIME: &str = "values-time";

/// A partition with what its files come to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartitionSummary {
    /// Its values.
    pub partition: BinaryRow,
    /// The values as text, nulls as `None`, as the options spell them where they are internal values.
    pub values: Vec<Option<String>>,
    /// Data files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Records in them, those that others hide included.
    pub rows: i64,
    /// When the newest file was made: milliseconds of the writer's wall clock.
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
                let values = values(table, &partition, true)?;
                let newest = newest.get(bytes).copied().flatten();
                let summary = PartitionSummary { partition, values, files: 0, bytes: 0, rows: 0, newest };
                found.entry(bytes.to_vec()).or_insert(summary)
            }
        };
        summary.files += 1;
        summary.bytes = summary.bytes.saturating_add(u64::try_from(batch.file_size(i)).unwrap_or(0));
        summary.rows = summary.rows.saturating_add(batch.row_count(i));
    }
    let mut all: Vec<PartitionSummary> = found.into_values().collect();
    all.sort_by(|a, b| a.values.cmp(&b.values));
    Ok(all)
}

/// The values of a partition as text: internal ones, such as the number of a day, or as a person writes them.
pub(super) fn values(table: &Table, partition: &BinaryRow, internal: bool) -> Result<Vec<Option<String>>> {
    let fields = table.schema().partition_fields();
    let datums = partition.datums(fields.iter().map(|field| &field.data_type))?;
    let text = |(datum, field): (Option<linn_format::datum::Datum>, &&linn_format::types::DataField)| {
        datum.map(|datum| partition_value(&datum, &field.data_type, internal)).transpose()
    };
    datums.into_iter().zip(&fields).map(text).collect()
}

/// The partitions that are past `partition.expiration-time`, oldest values first, `partition.expiration-max-num` at the most.
///
/// # Errors
/// `Invalid` for a table without partitions or without the option, `Unsupported` for another strategy than `values-time` and
/// `update-time`, and what reading the table yields.
pub async fn expired_partitions(table: &Table) -> Result<Vec<PartitionSummary>> {
    let options = table.options();
    if table.schema().partition_keys.is_empty() {
        return Err(Error::invalid("a table without partitions has none that expire").with("table", table.name()));
    }
    let Some(age) = options.partition_expiration_time()? else {
        return Err(Error::invalid("no age is set at which partitions expire")
            .with("table", table.name())
            .with_hint("set the option partition.expiration-time, or give the age to the command"));
    };
    let before = since(table, age);
    let found = partitions(table).await?;
    let mut expired: Vec<PartitionSummary> = match options.partition_expiration_strategy() {
        VALUES_TIME => {
            let old = older(table, before)?;
            found.into_iter().filter(|partition| old(partition)).collect()
        }
        "update-time" => found.into_iter().filter(|p| p.newest.is_some_and(|newest| newest < before)).collect(),
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
    let found = partitions(table).await?;
    Ok(Some(found.into_iter().filter(|partition| !old(partition)).map(|partition| partition.partition).collect()))
}

/// Before which local time, in milliseconds, a partition is past an age.
fn since(table: &Table, age: Duration) -> i64 {
    let clock = &table.env().clock;
    let now = clock.now_millis().saturating_add(clock.local_offset_millis());
    now.saturating_sub(i64::try_from(age.as_millis()).unwrap_or(i64::MAX))
}

/// Tells partitions whose values form an earlier time.
fn older(table: &Table, before: i64) -> Result<impl Fn(&PartitionSummary) -> bool> {
    let options = table.options();
    let format = TimeFormat::new(options.partition_timestamp_pattern(), options.partition_timestamp_formatter())?;
    let before = DateTime::from_timestamp_millis(before).map_or(NaiveDateTime::MIN, |time| time.naive_utc());
    let keys: Vec<&str> = table.schema().partition_keys.iter().map(String::as_str).collect();
    Ok(move |partition: &PartitionSummary| {
        let values = &partition.values;
        let Some(time) = format.time(&keys, values) else {
            tracing::warn!(table = table.name(), ?values, "a partition whose values form no time does not expire");
            return false;
        };
        time < before
    })
}

/// Drops partitions, as many in one commit as `partition.expiration-batch-size` says.
///
/// # Errors
/// `Conflict` or `UnknownOutcome` when a commit is not made for certain; what is dropped by then stays dropped.
pub async fn drop_partitions(table: &Table, partitions: &[BinaryRow]) -> Result<()> {
    let batch = table.options().partition_expiration_batch()?.and_then(|n| usize::try_from(n).ok()).filter(|n| *n > 0);
    let committer = table.committer(table.env().ids.uuid());
    for rows in partitions.chunks(batch.unwrap_or(usize::MAX)) {
        let commit = Commit { identifier: BATCH_IDENTIFIER, operation: Some("DELETE".to_owned()), ..Commit::default() };
        match committer.overwrite(Overwrite::Rows(rows.to_vec()), commit).await? {
            CommitOutcome::Committed(_) | CommitOutcome::CompactionLost { .. } => {}
            CommitOutcome::Conflict(why) => return Err(Error::conflict(why).with("table", table.name())),
            CommitOutcome::Unknown(why) => return Err(Error::unknown_outcome(why).with("table", table.name())),
        }
    }
    Ok(())
}
