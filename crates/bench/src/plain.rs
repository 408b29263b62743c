//! The limit: plain Parquet with the same rows and codec, on one thread.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
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

use crate::data::{Size, batches};
use crate::measure::{record, size_of, start};

/// Rows of a batch read, as many as Linn takes.
const BATCH: usize = 8192;

/// Writes one sorted file a commit. Sorting is timed apart from writing.
pub(crate) fn write(dir: &Path, size: Size) -> Result<Value> {
    let (mut sorting, mut writing) = (Duration::ZERO, Duration::ZERO);
    for commit in 0..size.commits {
        let input = batches(size, commit)?;
        let clock = start();
        let Some(first) = input.first() else { continue };
        let all = concat_batches(&first.schema(), &input)?;
        let sorted = take_record_batch(&all, &sort_to_indices(all.column(0), None, None)?)?;
        sorting += clock.elapsed();
        let clock = start();
        let mut writer = writer(&dir.join(format!("{commit}.parquet")), sorted.schema())?;
        writer.write(&sorted)?;
        finish(writer)?;
        writing += clock.elapsed();
    }
    let mut measured = record(size.rows * size.commits, size_of(dir)?, writing);
    measured["sort_seconds"] = sorting.as_secs_f64().into();
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

/// Reads all files and writes their rows into one.
pub(crate) fn rewrite(dir: &Path) -> Result<Value> {
    let (files, bytes, mut rows) = (files(dir)?, size_of(dir)?, 0);
    let target = dir.join("rewritten");
    let clock = start();
    let mut out: Option<ArrowWriter<File>> = None;
    for path in files {
        for batch in reader(&path, "all")? {
            let batch: RecordBatch = batch?;
            rows += batch.num_rows();
            let out = match &mut out {
                Some(out) => out,
                none => none.insert(writer(&target, batch.schema())?),
            };
            out.write(&batch)?;
        }
    }
    if let Some(out) = out {
        finish(out)?;
    }
    Ok(record(rows, bytes, clock.elapsed()))
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
