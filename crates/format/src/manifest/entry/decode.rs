//! An Avro manifest into a batch, block by block.

use super::StatsColumns;
use super::batch::EntryBatch;
use super::build::Builder;
use super::program::Program;
use crate::manifest::avro::{Container, Cursor};
use crate::{Error, Result};

/// Reads an Avro manifest.
pub(super) fn read(bytes: &[u8], stats: StatsColumns) -> Result<EntryBatch> {
    let mut container = Container::open(bytes)?;
    let program = Program::compile(container.schema())?;
    let mut builder = Builder::new(program.items, stats);
    let mut block = Vec::new();
    let mut before = container.taken();
    while let Some(count) = container.block(&mut block)? {
        let mut cursor = Cursor::new(&block);
        builder.reserve(before);
        for _ in 0..count {
            builder.push(&program.run(&mut cursor)?)?;
        }
        if cursor.remaining() > 0 {
            return Err(Error::corrupt("avro block is longer than its entries"));
        }
        before = container.taken();
    }
    builder.finish()
}
