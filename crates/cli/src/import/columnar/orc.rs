//! ORC files. The library believes what a file says of types and lengths, so both are checked before.

use std::fs::File;
use std::io::{self, BufReader, Error, ErrorKind, Read};

use arrow::datatypes::SchemaRef;
use bytes::Bytes;
use linn::Result;
use linn::format::file::orc::check_blocking;
use orc_rust::ArrowReaderBuilder;
use orc_rust::reader::ChunkReader;

use super::{Batches, checked};
use crate::import::chunk::ROWS;
use crate::import::source::Source;

/// Opens a file.
pub(super) fn open(source: &Source) -> Result<(SchemaRef, Batches)> {
    check_blocking(source.raw()?).map_err(|e| source.wrong("an ORC file", e))?;
    let builder = ArrowReaderBuilder::try_new(Ranges(source.raw()?)).map_err(|e| source.wrong("an ORC file", e))?;
    let schema = builder.schema();
    Ok((schema, checked(builder.with_batch_size(ROWS).build())))
}

/// A file whose ranges are held against its size before there is memory for them.
struct Ranges(File);

impl ChunkReader for Ranges {
    type T = BufReader<File>;

    fn len(&self) -> u64 {
        ChunkReader::len(&self.0)
    }

    fn get_read(&self, offset: u64) -> io::Result<Self::T> {
        self.0.get_read(offset)
    }

    fn get_bytes(&self, offset: u64, length: u64) -> io::Result<Bytes> {
        let within = offset.checked_add(length).is_some_and(|end| end <= ChunkReader::len(self));
        if !within {
            return Err(Error::new(ErrorKind::UnexpectedEof, "the file refers to bytes beyond its end"));
        }
        let mut bytes = Vec::new();
        self.get_read(offset)?.take(length).read_to_end(&mut bytes)?;
        Ok(bytes.into())
    }
}
