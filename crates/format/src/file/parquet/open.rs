//! Opening a file: the footer, checked against the file's size.

use std::sync::Arc;

use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{
    ColumnChunkMetaData, PageIndexPolicy, ParquetMetaData, ParquetMetaDataOptions, ParquetMetaDataReader,
};

use super::fence::fenced_async;
use super::reading;
use super::schema::int96_as_bytes;
use super::source::Source;
use crate::RangeReader;

/// How much of a file's end is read at once; most footers fit.
const TAIL: u64 = 64 << 10;

/// An open file.
pub(super) struct Open {
    pub(super) source: Source,
    pub(super) metadata: ArrowReaderMetadata,
}

/// Reads the footer, and the page index if it is wanted and there.
pub(super) async fn open(file: Arc<dyn RangeReader>, page_index: bool) -> crate::Result<Open> {
    let (size, path) = (file.size(), file.path().to_owned());
    let mut source = Source::open(file, TAIL).await?;
    let loaded = fenced_async(load(&mut source, size, page_index)).await;
    let metadata = loaded.map_err(|e| e.with("path", &path))?.map_err(|e| reading(e, &path))?;
    source.release();
    Ok(Open { source, metadata })
}

async fn load(source: &mut Source, size: u64, page_index: bool) -> Result<ArrowReaderMetadata> {
    let policy = if page_index { PageIndexPolicy::Optional } else { PageIndexPolicy::Skip };
    let reader = || ParquetMetaDataReader::new().with_page_index_policy(policy).with_prefetch_hint(Some(TAIL as usize));
    let mut metadata = reader().load_and_finish(&mut *source, size).await?;
    if let Some(schema) = int96_as_bytes(metadata.file_metadata().schema_descr())? {
        // The pages of both are the same, but Arrow wraps around where nanoseconds overflow.
        let options = ParquetMetaDataOptions::new().with_schema(Arc::new(schema));
        metadata = reader().with_metadata_options(Some(options)).load_and_finish(&mut *source, size).await?;
    }
    check(&metadata, size)?;
    // An embedded Arrow schema is another engine's; the Parquet types say all.
    ArrowReaderMetadata::try_new(Arc::new(metadata), ArrowReaderOptions::new().with_skip_arrow_metadata(true))
}

/// Refuses counts and places that cannot be, before anything is computed with them.
fn check(metadata: &ParquetMetaData, size: u64) -> Result<()> {
    let mut rows = 0_i64;
    for group in metadata.row_groups() {
        rows = match rows.checked_add(group.num_rows()) {
            Some(sum) if group.num_rows() >= 0 => sum,
            _ => return Err(ParquetError::General("a row group has an impossible number of rows".to_owned())),
        };
        if group.columns().iter().any(|column| !inside(column, size)) {
            return Err(ParquetError::General("a column chunk lies outside of the file".to_owned()));
        }
    }
    if rows == metadata.file_metadata().num_rows() {
        Ok(())
    } else {
        Err(ParquetError::General("row groups and file disagree on the number of rows".to_owned()))
    }
}

fn inside(column: &ColumnChunkMetaData, size: u64) -> bool {
    let start = column.dictionary_page_offset().unwrap_or_else(|| column.data_page_offset());
    match (u64::try_from(start), u64::try_from(column.compressed_size())) {
        (Ok(start), Ok(length)) => start.checked_add(length).is_some_and(|end| end <= size),
        _ => false,
    }
}
