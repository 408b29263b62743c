//! JSON output: an array, or one object a line; nulls are written.

use std::io::Write;

use arrow::record_batch::RecordBatch;
use arrow_json::writer::{JsonArray, LineDelimited, Writer as ArrowWriter, WriterBuilder};
use linn::Result;

use super::{gone, unwritten};

/// Writes rows as JSON objects.
pub(crate) enum Writer<W: Write> {
    /// One array.
    Array(ArrowWriter<W, JsonArray>),
    /// One object a line.
    Lines(ArrowWriter<W, LineDelimited>),
}

impl<W: Write> Writer<W> {
    /// A writer to `out`.
    pub(crate) fn new(out: W, array: bool) -> Self {
        let builder = WriterBuilder::new().with_explicit_nulls(true);
        if array { Self::Array(builder.build(out)) } else { Self::Lines(builder.build(out)) }
    }

    /// Writes a batch.
    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        match self {
            Self::Array(writer) => writer.write(batch).map_err(unwritten)?,
            Self::Lines(writer) => writer.write(batch).map_err(unwritten)?,
        }
        Ok(())
    }

    /// Makes what was written visible.
    pub(crate) fn flush(&mut self) -> Result<()> {
        match self {
            Self::Array(writer) => writer.get_mut().flush().map_err(gone),
            Self::Lines(writer) => writer.get_mut().flush().map_err(gone),
        }
    }

    /// Completes the document.
    pub(crate) fn finish(self) -> Result<()> {
        match self {
            Self::Array(mut writer) => {
                writer.finish().map_err(unwritten)?;
                let mut out = writer.into_inner();
                writeln!(out).and_then(|()| out.flush()).map_err(gone)
            }
            Self::Lines(mut writer) => {
                writer.finish().map_err(unwritten)?;
                writer.into_inner().flush().map_err(gone)
            }
        }
    }
}
