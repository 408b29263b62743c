//! ORC data files, read through `orc-rust` (spec: format.md C.7).
//!
//! The library panics on some corrupt files, so its calls are fenced in [`fence`]; what it could not survive (a type
//! tree that contains itself) is refused before it sees the file, in [`tail`]. Files are written without it, in [`write`]:
//! all types of the reference, with field ids (`paimon.id`), without statistics.

mod carrier;
pub(crate) mod fence;
mod read;
mod source;
mod tail;
mod write;

#[cfg(test)]
mod tests;

use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;

use super::{BatchStream, FileFormat, FileRead, FileWrite, FileWriter, RangeReader};
use crate::{Error, Result};

/// Looks at a file before `orc-rust` does, which would not survive some that are damaged. Must be called where that library is given
/// a file by others than this module.
///
/// # Errors
/// `Corrupt` for what is no ORC file, or whose types do not form a tree.
pub async fn check(file: Arc<dyn RangeReader>) -> Result<()> {
    tail::check(&mut source::Source::new(file)).await
}

/// The same of a file that is read by blocking.
///
/// # Errors
/// As [`check`], and `Unavailable` when the file cannot be read.
pub fn check_blocking(file: impl Read + Seek + Send + 'static) -> Result<()> {
    futures::executor::block_on(check(Arc::new(Blocking::new(file)?)))
}

/// A file that is read by blocking, one range at a time.
struct Blocking<R> {
    file: Mutex<R>,
    size: u64,
}

impl<R: Read + Seek> Blocking<R> {
    fn new(mut file: R) -> Result<Self> {
        let size = file.seek(SeekFrom::End(0)).map_err(unreadable)?;
        Ok(Self { file: Mutex::new(file), size })
    }
}

#[async_trait]
impl<R: Read + Seek + Send> RangeReader for Blocking<R> {
    fn size(&self) -> u64 {
        self.size
    }

    fn path(&self) -> &str {
        ""
    }

    async fn read(&self, range: Range<u64>) -> Result<Bytes> {
        let length = range.end.checked_sub(range.start).filter(|_| range.end <= self.size);
        let length = length.ok_or_else(|| Error::corrupt("orc file refers to bytes beyond its end"))?;
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(range.start)).map_err(unreadable)?;
        let mut bytes = Vec::new();
        (&mut *file).take(length).read_to_end(&mut bytes).map_err(unreadable)?;
        if bytes.len() as u64 != length {
            return Err(Error::corrupt("orc file is shorter than it was"));
        }
        Ok(bytes.into())
    }
}

fn unreadable(error: std::io::Error) -> Error {
    Error::unavailable("the file cannot be read").with_source(error)
}

/// The `orc` format.
#[derive(Debug, Clone, Copy, Default)]
pub struct Orc;

#[async_trait]
impl FileFormat for Orc {
    fn name(&self) -> &'static str {
        "orc"
    }

    async fn read(&self, source: Arc<dyn RangeReader>, read: FileRead) -> Result<BatchStream> {
        read::open(source, read).await
    }

    fn write(&self, write: FileWrite, sink: Box<dyn std::io::Write + Send>) -> Result<Box<dyn FileWriter>> {
        Ok(Box::new(write::Writer::start(&write, sink)?))
    }
}
