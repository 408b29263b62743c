//! The footer of a Parquet file, with what some writers get wrong put right.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;

use linn::format::file::parquet::int96_as_bytes;
use linn::{Error, Result};
use parquet::errors::ParquetError;
use parquet::file::metadata::{
    FileMetaData, ParquetMetaData, ParquetMetaDataBuilder, ParquetMetaDataOptions, ParquetMetaDataReader,
    RowGroupMetaData,
};

use super::thrift::without_odd_fields;
use crate::import::ahead::damaged;
use crate::import::source::Source;

/// A footer.
pub(super) struct Footer {
    pub(super) declared: Arc<ParquetMetaData>,
    /// With bytes in place of INT96.
    pub(super) read: Arc<ParquetMetaData>,
    pub(super) has_int96: bool,
}

/// Reads the footer.
///
/// # Errors
/// Those of Parquet.
pub(super) fn read(file: &File) -> Result<Footer, ParquetError> {
    let declared = parse(file, ParquetMetaDataOptions::new())?;
    let bytes = int96_as_bytes(declared.file_metadata().schema_descr())?;
    let has_int96 = bytes.is_some();
    let read = match bytes {
        Some(schema) => parse(file, ParquetMetaDataOptions::new().with_schema(Arc::new(schema)))?,
        None => declared.clone(),
    };
    Ok(Footer { declared: Arc::new(mended(declared)?), read: Arc::new(mended(read)?), has_int96 })
}

/// Fields that some writers gave another meaning are left out where the footer cannot be read.
fn parse(file: &File, options: ParquetMetaDataOptions) -> Result<ParquetMetaData, ParquetError> {
    let reader = || ParquetMetaDataReader::new().with_metadata_options(Some(options.clone()));
    reader().parse_and_finish(file).or_else(|first| {
        let Some(footer) = bytes(file).ok().and_then(|footer| without_odd_fields(&footer)) else { return Err(first) };
        ParquetMetaDataReader::decode_metadata_with_options(&footer, Some(&options)).map_err(|_| first)
    })
}

/// The encoded footer.
fn bytes(mut file: &File) -> std::io::Result<Vec<u8>> {
    /// Bytes at the end: the length and the magic.
    const END: i64 = 8;
    let mut length = [0; 4];
    file.seek(SeekFrom::End(-END))?;
    file.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length);
    file.seek(SeekFrom::End(-END - i64::from(length)))?;
    let mut footer = Vec::new();
    file.take(length.into()).read_to_end(&mut footer)?;
    Ok(footer)
}

/// The number of rows is that of the row groups, and no dictionary is at the beginning of the file.
fn mended(metadata: ParquetMetaData) -> Result<ParquetMetaData, ParquetError> {
    let rows = metadata.row_groups().iter().map(RowGroupMetaData::num_rows).fold(0, i64::saturating_add);
    let said = metadata.file_metadata();
    let file = FileMetaData::new(
        said.version(),
        rows,
        said.created_by().map(str::to_owned),
        said.key_value_metadata().cloned(),
        said.schema_descr_ptr(),
        said.column_orders().cloned(),
    );
    let mut groups = Vec::new();
    for group in metadata.row_groups() {
        if group.num_rows() < 0 {
            return Err(ParquetError::General("a row group has an impossible number of rows".to_owned()));
        }
        let mut columns = Vec::new();
        for column in group.columns() {
            let offset = column.dictionary_page_offset().filter(|offset| *offset > 0);
            columns.push(column.clone().into_builder().set_dictionary_page_offset(offset).build()?);
        }
        groups.push(group.clone().into_builder().set_column_metadata(columns).build()?);
    }
    Ok(ParquetMetaDataBuilder::new(file).set_row_groups(groups).build())
}

/// Tells what is no Parquet file at all from one that is damaged.
///
/// # Errors
/// `Invalid` for other files, `Corrupt` for one without an end, `Unsupported` for an encrypted one.
pub(super) fn check_magic(file: &mut File, source: &Source) -> Result<()> {
    let mut ends = [0; 8];
    let (start, end) = ends.split_at_mut(4);
    let read = file.read_exact(start).and_then(|()| file.seek(SeekFrom::End(-4))).and_then(|_| file.read_exact(end));
    match read {
        Ok(()) if matches!(&ends, b"PAR1PAR1") => Ok(()),
        Ok(()) if ends.ends_with(b"PARE") => {
            Err(Error::unsupported("encrypted Parquet files").with("file", source.name()))
        }
        Ok(()) if ends.starts_with(b"PAR1") => {
            Err(damaged("the end of the file is missing").with("file", source.name()))
        }
        Ok(()) => Err(source.wrong("a Parquet file", "the bytes PAR1 are not at its beginning and end")),
        Err(e) if e.kind() == std::io::ErrorKind::UnexpectedEof || e.kind() == std::io::ErrorKind::InvalidInput => {
            Err(source.wrong("a Parquet file", "it is too short"))
        }
        Err(e) => Err(source.failed(e)),
    }
}
