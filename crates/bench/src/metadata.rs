//! Tables of many files that exist in manifests only, and many small commits.

use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use linn_core::{Commit, CommitMessage};
use linn_format::SchemaId;
use linn_format::datum::Datum;
use linn_format::file::{DataFileMeta, FileSource};
use linn_format::row::BinaryRow;
use linn_format::schema::TableSchema;
use linn_format::stats::SimpleStats;
use linn_format::types::{DataField, Kind};
use serde_json::{Value, json};

use crate::data::{Rows, Size};
use crate::measure::{Spent, record, size_of, start};
use crate::tree::{create, open};

pub(crate) const BUCKETS: i32 = 16;
/// Level of the files.
pub(crate) const LEVEL: u8 = 5;
/// Files that one commit brings.
const PER_COMMIT: usize = 10_000;
/// Rows, and keys, of a file.
const ROWS: i64 = 1000;
/// Small commits at either end of the history whose times are compared.
const ENDS: usize = 50;
/// Rows of a small commit.
const SMALL: usize = 1000;

/// Commits files with disjoint key ranges and statistics of every column.
pub(crate) async fn fill(dir: &Path, count: usize) -> Result<Value> {
    let table = create(dir, Rows::Narrow, &[("bucket".to_owned(), BUCKETS.to_string())]).await?;
    let committer = table.committer("bench");
    let files: Vec<i64> = (0..i64::try_from(count)?).collect();
    let mut time = Spent::default();
    for (identifier, chunk) in (1..).zip(files.chunks(PER_COMMIT)) {
        let messages = messages(table.schema(), chunk)?;
        let clock = start();
        committer.commit(Commit::streaming(identifier, messages)).await?;
        time += clock.elapsed();
    }
    Ok(record(count, size_of(dir)?, time))
}

/// Plans a full read in a process that has read nothing of the table yet.
pub(crate) async fn plan(dir: &Path) -> Result<Value> {
    let clock = start();
    let plan = open(dir).await?.scan().plan().await?;
    let time = clock.elapsed();
    let files = plan.splits.iter().map(|split| split.files.len()).sum();
    let mut measured = record(files, size_of(dir)?, time);
    measured["splits"] = plan.splits.len().into();
    Ok(measured)
}

/// Small commits of real rows with automatic compaction, which is waited for. Times of the commit alone, without writing; means
/// are over the snapshots that the commits made.
pub(crate) async fn commits(dir: &Path, count: usize) -> Result<Value> {
    let table = create(dir, Rows::Narrow, &[("bucket".to_owned(), "1".to_owned())]).await?;
    let committer = table.committer("bench");
    let mut writer = table.writer("bench")?;
    let size = Size { rows: SMALL, first: 0, commits: count };
    let mut times: Vec<(Spent, u32)> = Vec::new();
    let clock = start();
    for (identifier, commit) in (1..).zip(0..count) {
        for batch in Rows::Narrow.batches(size, commit)? {
            writer.write(&batch, None).await?;
        }
        let messages = writer.prepare_commit(true).await?;
        // A commit makes one snapshot of new rows and one more when something was compacted.
        let compacted = messages.iter().any(|m| !m.compact_before.is_empty() || !m.compact_after.is_empty());
        let clock = start();
        committer.commit(Commit::streaming(identifier, messages)).await?;
        times.push((clock.elapsed(), 1 + u32::from(compacted)));
    }
    let all = clock.elapsed();
    writer.close().await?;
    let sum = |part: &[(Spent, u32)]| part.iter().map(|(spent, _)| spent.time.as_secs_f64()).sum::<f64>();
    let snapshots = |part: &[(Spent, u32)]| part.iter().map(|(_, snapshots)| *snapshots).sum::<u32>();
    let mean = |part: &[(Spent, u32)]| sum(part) / f64::from(snapshots(part).max(1));
    let ends = ENDS.min(times.len());
    let first = times.get(..ends).map(mean);
    let last = times.get(times.len() - ends..).map(mean);
    let mut measured = record(SMALL * count, size_of(dir)?, times.iter().map(|(spent, _)| *spent).sum());
    measured["snapshots"] = json!(snapshots(&times));
    measured["first_mean_seconds"] = json!(first);
    measured["last_mean_seconds"] = json!(last);
    measured["last_to_first"] = json!(first.zip(last).map(|(first, last)| last / first));
    measured["slowest_seconds"] = json!(times.iter().map(|(spent, _)| spent.time.as_secs_f64()).max_by(f64::total_cmp));
    measured["with_writing_seconds"] = json!(all.time.as_secs_f64());
    Ok(measured)
}

fn messages(schema: &TableSchema, files: &[i64]) -> Result<Vec<CommitMessage>> {
    let mut messages: Vec<_> = (0..BUCKETS).map(|b| CommitMessage::new(BinaryRow::empty(), b, BUCKETS)).collect();
    for number in files {
        let bucket = usize::try_from(number % i64::from(BUCKETS))?;
        if let Some(message) = messages.get_mut(bucket) {
            message.new_files.push(Arc::new(file(schema, *number, *number)?));
        }
    }
    messages.retain(|message| !message.new_files.is_empty());
    Ok(messages)
}

/// The file of a number, with the keys that the file `keys` of the first ones has. Names are those of writers of a bucket.
pub(crate) fn file(schema: &TableSchema, number: i64, keys: i64) -> Result<DataFileMeta> {
    let (low, high) = (keys * ROWS, (keys + 1) * ROWS - 1);
    let key = schema.trimmed_primary_keys();
    let values: Vec<&DataField> = schema.fields.iter().collect();
    let writer = number / 10_000 * i64::from(BUCKETS) + number % i64::from(BUCKETS);
    let [a, b, c, d, e, f, g, h] = (writer.unsigned_abs() + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes();
    let uuid = format!(
        "{a:02x}{b:02x}{c:02x}{d:02x}-{e:02x}{f:02x}-4{g:02x}{:x}-8{h:02x}{:x}-{d:02x}{h:02x}{b:02x}{f:02x}{a:02x}{g:02x}",
        a % 16,
        b % 16
    );
    Ok(DataFileMeta {
        file_name: format!("data-{uuid}-{}.parquet", number % 10_000),
        file_size: 8_000_000 + number.wrapping_mul(7919) % 1_000_000,
        row_count: ROWS,
        min_key: row(&key, low)?,
        max_key: row(&key, high)?,
        key_stats: stats(&key, low, high)?,
        value_stats: stats(&values, low, high)?,
        min_sequence_number: low,
        max_sequence_number: high,
        schema_id: SchemaId(0),
        level: i32::from(LEVEL),
        extra_files: Vec::new(),
        creation_time: Some(1_700_000_000_000 + number * 10),
        delete_row_count: Some(0),
        embedded_index: None,
        file_source: Some(FileSource::Compact),
        value_stats_cols: None,
        external_path: None,
        first_row_id: None,
        write_cols: None,
        write_cols_sequences: None,
    })
}

fn stats(fields: &[&DataField], low: i64, high: i64) -> Result<SimpleStats> {
    let null_counts = fields.iter().map(|_| Some(0)).collect();
    Ok(SimpleStats { min: row(fields, low)?, max: row(fields, high)?, null_counts })
}

fn row(fields: &[&DataField], value: i64) -> Result<BinaryRow> {
    let datums: Vec<_> = fields.iter().map(|field| (Some(datum(field, value)), &field.data_type)).collect();
    Ok(BinaryRow::from_datums(&datums)?)
}

fn datum(field: &DataField, value: i64) -> Datum {
    match field.data_type.kind {
        Kind::BigInt => Datum::BigInt(value),
        Kind::Int => Datum::Int(i32::try_from(value).unwrap_or(i32::MAX)),
        Kind::Date => Datum::Date(i32::try_from(value).unwrap_or(i32::MAX)),
        Kind::Double => Datum::Double(value as f64),
        _ => Datum::String(format!("value-{value}")),
    }
}
