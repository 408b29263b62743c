//! Avro object container files.

use std::io::{BufReader, Read, Seek, SeekFrom};

use arrow::datatypes::SchemaRef;
use arrow_avro::reader::ReaderBuilder;
use linn::Result;

use super::{Batches, checked};
use crate::import::ahead::damaged;
use crate::import::chunk::ROWS;
use crate::import::source::Source;

/// Opens a file.
pub(super) fn open(source: &Source) -> Result<(SchemaRef, Batches)> {
    let input = BufReader::new(source.raw()?);
    let reader = ReaderBuilder::new().with_batch_size(ROWS).build(input);
    let reader = reader.map_err(|e| source.wrong("an Avro file that can be read", e))?;
    // The library takes a block that is cut short for the end of the file; each block ends with the mark of the header.
    let mark = reader.avro_header().sync();
    if end(source, mark.len())? != mark {
        return Err(damaged("it ends within a block").with("file", source.name()));
    }
    Ok((reader.schema(), checked(reader)))
}

/// The last bytes of a file, fewer when it is shorter.
fn end(source: &Source, length: usize) -> Result<Vec<u8>> {
    let mut file = source.raw()?;
    let size = file.seek(SeekFrom::End(0)).map_err(|e| source.failed(e))?;
    let start = size.saturating_sub(length as u64);
    let mut bytes = Vec::new();
    let read = file.seek(SeekFrom::Start(start)).and_then(|_| file.read_to_end(&mut bytes));
    read.map_err(|e| source.failed(e))?;
    Ok(bytes)
}
