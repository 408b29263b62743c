//! ORC files.

use arrow::datatypes::SchemaRef;
use linn::Result;
use orc_rust::ArrowReaderBuilder;

use super::{Batches, checked};
use crate::import::chunk::ROWS;
use crate::import::source::Source;

/// Opens a file.
pub(super) fn open(source: &Source) -> Result<(SchemaRef, Batches)> {
    let builder = ArrowReaderBuilder::try_new(source.raw()?).map_err(|e| source.wrong("an ORC file", e))?;
    let schema = builder.schema();
    Ok((schema, checked(builder.with_batch_size(ROWS).build())))
}
