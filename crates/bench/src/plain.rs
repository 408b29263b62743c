//! The limit: plain Parquet with the same rows and codec, on one thread.

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use arrow_array::RecordBatch;
use arrow_ord::sort::sort_to_indices;
use arrow_schema::SchemaRef;
use arrow_select::concat::concat_batches;
use arrow_select::take::take_record_batch;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::arrow::{ArrowWriter, ProjectionMask};
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use serde_json::Value;

use crate::data::{Rows, Size};
use crate::measure::{Spent, record, size_of, start};
use crate::tree::COMPACTED;

/// Rows of a batch read, as many as Linn takes.
const BATCH: usize = 8192;

/// Writes one sorted file a commit. Sorting is timed apart from writing.
pub(crate) fn write(dir: &Path, data: Rows, size: Size) -> Result<Value> {
    let (mut sorting, mut writing, mut rows) = (Spent::default(), Spent::default(), 0);
    for commit in size.first..size.commits {
        let input = data.batches(size, commit)?;
        let clock = start();
        let Some(first) = input.first() else { continue };
        let all = concat_batches(&first.schema(), &input)?;
        let sorted = take_record_batch(&all, &sort_to_indices(all.column(0), None, None)?)?;
        sorting += clock.elapsed();
        rows += sorted.num_rows();
        let clock = start();
        let mut writer = writer(&dir.join(format!("{commit}.parquet")), sorted.schema())?;
        writer.write(&sorted)?;
        finish(writer)?;
        writing += clock.elapsed();
    }
    let mut measured = record(rows, size_of(dir)?, writing);
    measured["sort_seconds"] = sorting.time.as_secs_f64().into();
    Ok(measured)
}

/// Reads all files, one after the other.
pub(crate) fn scan(dir: &Path, columns: &str) -> Result<Value> {
    let mut rows = 0;
    let clock = start();
    for path in files(dir)? {
        for batch in reader(&path, columns)? {
            rows += batch?.num_rows();
        }
    }
    Ok(record(rows, size_of(dir)?, clock.elapsed()))
}

/// Reads the files that a compaction of the table read, and writes the rows that it made: the same bytes, without the merge.
/// Only the reading of the one and the writing of the other is timed.
pub(crate) fn rewrite(dir: &Path) -> Result<Value> {
    let compacted: Value = serde_json::from_slice(&std::fs::read(dir.join(COMPACTED))?)?;
    let (read, made) = (listed(&compacted["read"])?, listed(&compacted["made"])?);
    let (mut rows, mut bytes, mut spent) = (0, 0, Spent::default());
    for path in read {
        let clock = start();
        for batch in reader(&path, "all")? {
            rows += batch?.num_rows();
        }
        spent += clock.elapsed();
        bytes += path.metadata()?.len();
    }
    let target = dir.join("rewritten");
    for path in made {
        let mut out: Option<ArrowWriter<File>> = None;
        for batch in reader(&path, "all")? {
            let batch: RecordBatch = batch?;
            let clock = start();
            let out = match &mut out {
                Some(out) => out,
                none => none.insert(writer(&target, batch.schema())?),
            };
            out.write(&batch)?;
            spent += clock.elapsed();
        }
        let clock = start();
        out.map(finish).transpose()?;
        spent += clock.elapsed();
    }
    Ok(record(rows, bytes, spent))
}

fn listed(paths: &Value) -> Result<Vec<PathBuf>> {
    let paths = paths.as_array().context("nothing was compacted")?;
    Ok(paths.iter().filter_map(|path| path.as_str().map(PathBuf::from)).collect())
}

fn writer(path: &Path, schema: SchemaRef) -> Result<ArrowWriter<File>> {
    let properties = WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?)).build();
    Ok(ArrowWriter::try_new(File::create(path)?, schema, Some(properties))?)
}

/// Ends a file and has it on disk, as Linn's are before it commits them.
fn finish(writer: ArrowWriter<File>) -> Result<()> {
    Ok(writer.into_inner()?.sync_all()?)
}

fn reader(path: &Path, columns: &str) -> Result<ParquetRecordBatchReader> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(path)?)?.with_batch_size(BATCH);
    if columns == "all" {
        return Ok(builder.build()?);
    }
    let mask = ProjectionMask::columns(builder.parquet_schema(), columns.split(','));
    Ok(builder.with_projection(mask).build()?)
}

fn files(dir: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        files.push(entry?.path());
    }
    files.retain(|path| path.extension().is_some_and(|e| e == "parquet"));
    files.sort();
    Ok(files)
}
