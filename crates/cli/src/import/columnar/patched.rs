//! A file some of whose bytes are read as others.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;

use bytes::Bytes;
use parquet::errors::Result;
use parquet::file::reader::{ChunkReader, Length};

/// A file, and where its bytes are the type of a false boolean that is read as that of a true one.
#[derive(Clone)]
pub(super) struct Patched {
    pub(super) file: Arc<File>,
    /// In order.
    pub(super) places: Arc<Vec<u64>>,
}

impl Patched {
    fn patch(&self, start: u64, bytes: &mut [u8]) {
        let first = self.places.partition_point(|place| *place < start);
        for place in self.places.iter().skip(first) {
            match usize::try_from(place - start).ok().and_then(|at| bytes.get_mut(at)) {
                Some(byte) => *byte = (*byte & 0xf0) | 1,
                None => return,
            }
        }
    }
}

impl Length for Patched {
    fn len(&self) -> u64 {
        self.file.metadata().map_or(0, |metadata| metadata.len())
    }
}

impl ChunkReader for Patched {
    type T = Reader;

    fn get_read(&self, start: u64) -> Result<Reader> {
        let mut file = self.file.try_clone()?;
        file.seek(SeekFrom::Start(start))?;
        Ok(Reader { source: self.clone(), file: std::io::BufReader::new(file), at: start })
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let mut bytes = Vec::new();
        self.get_read(start)?.take(length as u64).read_to_end(&mut bytes)?;
        if bytes.len() < length {
            return Err(parquet::errors::ParquetError::EOF(format!(
                "the file ends within the {length} bytes at {start}"
            )));
        }
        Ok(bytes.into())
    }
}

/// Reads on from a place.
pub(super) struct Reader {
    source: Patched,
    file: std::io::BufReader<File>,
    at: u64,
}

impl Read for Reader {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        let read = self.file.read(bytes)?;
        self.source.patch(self.at, bytes.get_mut(..read).unwrap_or_default());
        self.at += read as u64;
        Ok(read)
    }
}
