//! Avro data files, as the reference writes them (spec: format.md C.4 type map, C.7).
//!
//! Decoding is driven by the schema in the file and goes straight into Arrow buffers; columns are found by name.

mod container;
mod cursor;
mod decode;
mod define;
mod encode;
mod read;
mod schema;
mod value;
mod write;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use async_trait::async_trait;

use super::{BatchStream, FileFormat, FileRead, FileWrite, FileWriter, RangeReader};
use crate::Result;

/// The `avro` format.
#[derive(Debug, Clone, Copy, Default)]
pub struct Avro;

#[async_trait]
impl FileFormat for Avro {
    fn name(&self) -> &'static str {
        "avro"
    }

    async fn read(&self, source: Arc<dyn RangeReader>, read: FileRead) -> Result<BatchStream> {
        read::open(source, read).await
    }

    fn write(&self, write: FileWrite, sink: Box<dyn std::io::Write + Send>) -> Result<Box<dyn FileWriter>> {
        Ok(Box::new(write::Writer::start(&write, sink)?))
    }
}
