//! Avro object container files.

use std::io::BufReader;

use arrow::datatypes::SchemaRef;
use arrow_avro::reader::ReaderBuilder;
use linn::Result;

use super::{Batches, checked};
use crate::import::chunk::ROWS;
use crate::import::source::Source;

/// Opens a file.
pub(super) fn open(source: &Source) -> Result<(SchemaRef, Batches)> {
    let input = BufReader::new(source.raw()?);
    let reader = ReaderBuilder::new().with_batch_size(ROWS).build(input);
    let reader = reader.map_err(|e| source.wrong("an Avro file that can be read", e))?;
    Ok((reader.schema(), checked(reader)))
}
