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

use std::sync::Arc;

use async_trait::async_trait;

use super::{BatchStream, FileFormat, FileRead, FileWrite, FileWriter, RangeReader};
use crate::Result;

/// Looks at a file before `orc-rust` does, which would not survive some that are damaged. Must be called where that library is given
/// a file by others than this module.
///
/// # Errors
/// `Corrupt` for what is no ORC file, or whose types do not form a tree.
pub async fn check(file: Arc<dyn RangeReader>) -> Result<()> {
    tail::check(&mut source::Source::new(file)).await
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
