//! Parquet and Arrow IPC, file or stream, in their own types.

use std::io::{BufReader, Read, Seek};

use arrow::datatypes::SchemaRef;
use arrow::ipc::reader::{FileReader, StreamReader};
use arrow::record_batch::{RecordBatch, RecordBatchReader};
use linn::Result;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::chunk::{Chunk, Chunks, ROWS};
use super::source::Source;
use crate::args::FileKind;

const MAGIC: &[u8; 6] = b"ARROW1";

/// The schema of a columnar file and its chunks.
///
/// # Errors
/// `Invalid` when the file is not what it should be.
pub(crate) fn open(source: &Source, keep: bool) -> Result<(SchemaRef, Chunks)> {
    let name = source.name();
    let (schema, batches): (SchemaRef, Box<dyn Iterator<Item = _> + Send>) = match source.kind {
        FileKind::Parquet => {
            let builder = ParquetRecordBatchReaderBuilder::try_new(source.raw()?)
                .map_err(|e| source.wrong("a Parquet file", e))?;
            let reader = builder.with_batch_size(ROWS).build().map_err(|e| source.wrong("a Parquet file", e))?;
            (reader.schema(), Box::new(reader))
        }
        _ => {
            let mut file = source.raw()?;
            let mut magic = Vec::new();
            (&mut file).take(MAGIC.len() as u64).read_to_end(&mut magic).map_err(|e| source.failed(e))?;
            file.rewind().map_err(|e| source.failed(e))?;
            let input = BufReader::new(file);
            if magic == MAGIC {
                let reader = FileReader::try_new(input, None).map_err(|e| source.wrong("an Arrow file", e))?;
                (reader.schema(), Box::new(reader))
            } else {
                let reader = StreamReader::try_new(input, None).map_err(|e| source.wrong("an Arrow stream", e))?;
                (reader.schema(), Box::new(reader))
            }
        }
    };
    let mut row = 0u64;
    let chunks = batches.map(move |batch: Result<RecordBatch, arrow::error::ArrowError>| {
        let batch =
            batch.map_err(|e| linn::Error::invalid("the input is damaged").with("file", &name).with_source(e))?;
        let first = row + 1;
        row += batch.num_rows() as u64;
        let originals = if keep { lines(&batch)? } else { Vec::new() };
        Ok(Chunk { rows: (first..=row).collect(), batch, originals, broken: Vec::new() })
    });
    Ok((schema, Box::new(chunks)))
}

/// Each row as JSON.
fn lines(batch: &RecordBatch) -> Result<Vec<String>> {
    let mut writer = arrow_json::LineDelimitedWriter::new(Vec::new());
    writer.write(batch)?;
    writer.finish()?;
    Ok(String::from_utf8_lossy(&writer.into_inner()).lines().map(str::to_owned).collect())
}
