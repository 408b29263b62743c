//! Where a file is damaged: looked for once reading has failed, so that reading itself need not keep track of it.

use std::sync::Arc;

use parquet::arrow::arrow_reader::ArrowReaderMetadata;
use parquet::column::page::PageReader;
use parquet::errors::Result;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::serialized_reader::SerializedPageReader;

use super::fence::fenced;
use super::project::leaves;
use super::source::Source;
use crate::types::DataField;
use crate::{Error, ErrorKind};

/// What was being read.
pub(super) struct Place {
    pub(super) source: Source,
    pub(super) metadata: ArrowReaderMetadata,
    pub(super) groups: Vec<usize>,
    pub(super) fields: Vec<DataField>,
}

impl Place {
    /// The error, with the row group and the column of the first page that cannot be read where the file is corrupt.
    pub(super) async fn of(&self, error: Error) -> Error {
        if error.kind() != ErrorKind::Corrupt || error.context().iter().any(|(key, _)| *key == "column") {
            return error;
        }
        let (metadata, schema) = (self.metadata.metadata(), self.metadata.parquet_schema());
        let Ok(read) = leaves(schema, &self.fields) else { return error };
        for (group, chunks) in self.groups.iter().filter_map(|at| Some((at, metadata.row_groups().get(*at)?))) {
            for (_, chunk) in chunks.columns().iter().enumerate().filter(|(leaf, _)| read.leaf_included(*leaf)) {
                if self.pages(chunk, chunks.num_rows()).await.is_err() {
                    return error.with("row group", group).with("column", chunk.column_path().string());
                }
            }
        }
        error
    }

    /// Reads the pages of a column chunk without decoding their values.
    async fn pages(&self, chunk: &ColumnChunkMetaData, rows: i64) -> Result<()> {
        let dictionary = chunk.dictionary_page_offset();
        // The footer was checked: chunks are inside of the file.
        let start = dictionary.unwrap_or_else(|| chunk.data_page_offset());
        let end = start.saturating_add(chunk.compressed_size());
        let bytes = self.source.read(start.try_into()?..end.try_into()?).await?;
        let moved = chunk.clone().into_builder().set_data_page_offset(chunk.data_page_offset().saturating_sub(start));
        let moved = moved.set_dictionary_page_offset(dictionary.map(|_| 0)).build()?;
        let rows = rows.try_into()?;
        let read = || {
            let mut pages = SerializedPageReader::new(Arc::new(bytes), &moved, rows, None)?;
            while pages.get_next_page()?.is_some() {}
            Ok(())
        };
        fenced(read).unwrap_or_else(|panic| Err(parquet::errors::ParquetError::External(Box::new(panic))))
    }
}
