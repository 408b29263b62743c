//! The sorted runs of a bucket, and where on the line of its keys their files are.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use linn::format::datum::{Datum, compare_rows};
use linn::format::file::DataFileMeta;
use linn::{Result, Table};
use serde_json::{Value, json};

use crate::command::files;

/// A bucket.
#[derive(Debug)]
pub(super) struct Bucket {
    pub(super) name: String,
    pub(super) bytes: i64,
    pub(super) rows: i64,
    pub(super) files: usize,
    /// Newest first.
    pub(super) runs: Vec<Run>,
    /// The least and the greatest key; none without keys.
    pub(super) ends: Option<(String, String)>,
}

/// Files whose keys do not overlap; in a table without keys, files in the order of their rows.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) level: i32,
    pub(super) bytes: i64,
    pub(super) blocks: Vec<Block>,
}

/// A file on the line of keys, from 0 to 1.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) file: String,
    pub(super) bytes: i64,
    pub(super) rows: i64,
    pub(super) keys: Option<(String, String)>,
}

impl Bucket {
    /// How many runs have keys around a place on the line.
    pub(super) fn depth(&self, from: f64, to: f64) -> usize {
        let there = |run: &&Run| run.blocks.iter().any(|block| block.from <= to && block.to >= from);
        self.runs.iter().filter(there).count()
    }
}

/// The runs of a bucket.
pub(super) fn of(table: &Table, bucket: &files::Bucket) -> Result<Bucket> {
    let files = &bucket.files;
    let keyed = !files.is_empty() && files.iter().all(|file| file.min_key.arity() > 0);
    let runs = match keyed {
        true => by_key(table, files)?,
        false => by_size(files),
    };
    let place = match bucket.partition.as_str() {
        "" => format!("bucket {}", bucket.bucket),
        partition => format!("{partition} bucket {}", bucket.bucket),
    };
    Ok(Bucket {
        name: place,
        bytes: files.iter().map(|file| file.file_size).sum(),
        rows: files.iter().map(|file| file.row_count).sum(),
        files: files.len(),
        ends: ends(&runs),
        runs,
    })
}

/// The keys at both ends of the line.
fn ends(runs: &[Run]) -> Option<(String, String)> {
    let blocks = || runs.iter().flat_map(|run| &run.blocks).filter_map(|block| Some((block, block.keys.as_ref()?)));
    let (_, first) = blocks().min_by(|(a, _), (b, _)| a.from.total_cmp(&b.from))?;
    let (_, last) = blocks().max_by(|(a, _), (b, _)| a.to.total_cmp(&b.to))?;
    Some((first.0.clone(), last.1.clone()))
}

type Key = Vec<Option<Datum>>;

/// Files by the rank of their keys among all ends of files: what overlaps can be seen, however keys are spread.
fn by_key(table: &Table, files: &[Arc<DataFileMeta>]) -> Result<Vec<Run>> {
    let fields = table.schema().trimmed_primary_keys();
    let decoded = |file: &Arc<DataFileMeta>| -> Result<(Key, Key)> {
        let types = || fields.iter().map(|field| &field.data_type);
        Ok((file.min_key.datums(types())?, file.max_key.datums(types())?))
    };
    let keys = files.iter().map(decoded).collect::<Result<Vec<_>>>()?;
    let mut line: Vec<&Key> = keys.iter().flat_map(|(low, high)| [low, high]).collect();
    line.sort_by(|a, b| compare_rows(a, b));
    line.dedup_by(|a, b| compare_rows(a, b).is_eq());
    let last = line.len().saturating_sub(1).max(1) as f64;
    let rank = |key: &Key| line.binary_search_by(|other| compare_rows(other, key)).unwrap_or_default() as f64 / last;
    let mut levels: BTreeMap<(i32, Reverse<i64>), Vec<Block>> = BTreeMap::new();
    for (file, (low, high)) in files.iter().zip(&keys) {
        // A file of level 0 is a run of its own.
        let age = Reverse(if file.level == 0 { file.max_sequence_number } else { 0 });
        let to = if line.len() == 1 { 1.0 } else { rank(high) };
        levels.entry((file.level, age)).or_default().push(Block {
            from: rank(low),
            to,
            file: file.file_name.clone(),
            bytes: file.file_size,
            rows: file.row_count,
            keys: Some((files::key(table, &file.min_key)?, files::key(table, &file.max_key)?)),
        });
    }
    let run = |((level, _), mut blocks): ((i32, Reverse<i64>), Vec<Block>)| {
        blocks.sort_by(|a, b| a.from.total_cmp(&b.from));
        Run { level, bytes: blocks.iter().map(|block| block.bytes).sum(), blocks }
    };
    Ok(levels.into_iter().map(run).collect())
}

/// Files one behind the other, as long as they are large.
fn by_size(files: &[Arc<DataFileMeta>]) -> Vec<Run> {
    let total = files.iter().map(|file| file.file_size).sum::<i64>().max(1) as f64;
    let mut at = 0i64;
    let block = |file: &Arc<DataFileMeta>| {
        let from = at as f64 / total;
        at += file.file_size;
        Block {
            from,
            to: at as f64 / total,
            file: file.file_name.clone(),
            bytes: file.file_size,
            rows: file.row_count,
            keys: None,
        }
    };
    let blocks: Vec<Block> = files.iter().map(block).collect();
    match blocks.is_empty() {
        true => Vec::new(),
        false => vec![Run { level: 0, bytes: at, blocks }],
    }
}

/// A bucket as data.
pub(super) fn json(bucket: &Bucket) -> Value {
    let block = |b: &Block| {
        let (min, max) = b.keys.clone().unzip();
        json!({"file": b.file, "bytes": b.bytes, "rows": b.rows, "min_key": min, "max_key": max,
               "from": b.from, "to": b.to})
    };
    let run = |run: &Run| json!({"level": run.level, "files": run.blocks.iter().map(block).collect::<Vec<_>>()});
    json!({"bucket": bucket.name, "bytes": bucket.bytes, "rows": bucket.rows,
           "runs": bucket.runs.iter().map(run).collect::<Vec<_>>()})
}
