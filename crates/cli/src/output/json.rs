//! JSON output: an array, or one object a line; nulls are written.

use std::io::Write;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, StringArray};
use arrow::record_batch::RecordBatch;
use arrow_json::writer::{JsonArray, LineDelimited, Writer as ArrowWriter, WriterBuilder};
use linn::{Error, Result};

use super::encode::Encoders;
use super::style::Decimals;
use super::{gone, unwritten};

/// Writes rows as JSON objects.
pub(crate) enum Writer<W: Write> {
    /// One array.
    Array(ArrowWriter<W, JsonArray>),
    /// One object a line.
    Lines(ArrowWriter<W, LineDelimited>),
}

fn builder(decimals: Decimals) -> WriterBuilder {
    WriterBuilder::new().with_explicit_nulls(true).with_encoder_factory(Arc::new(Encoders(decimals)))
}

impl<W: Write> Writer<W> {
    /// A writer to `out`.
    pub(crate) fn new(out: W, array: bool, decimals: Decimals) -> Self {
        let builder = builder(decimals);
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

/// Each row as a JSON object.
pub(crate) fn lines(batch: &RecordBatch, decimals: Decimals) -> Result<Vec<String>> {
    let mut writer = builder(decimals).build::<_, LineDelimited>(Vec::new());
    writer.write(batch)?;
    writer.finish()?;
    let text = String::from_utf8(writer.into_inner());
    let text = text.map_err(|e| Error::internal("JSON is not text").with_source(e))?;
    Ok(text.lines().map(str::to_owned).collect())
}

/// Each value as JSON; a null stays one.
pub(crate) fn texts(column: &ArrayRef) -> Result<ArrayRef> {
    let batch = RecordBatch::try_from_iter_with_nullable([("v", Arc::clone(column), true)])?;
    let lines = lines(&batch, Decimals::Number)?;
    let value = |(row, line): (usize, &String)| -> Option<String> {
        let inner = line.strip_prefix("{\"v\":")?.strip_suffix('}')?;
        column.is_valid(row).then(|| inner.to_owned())
    };
    Ok(Arc::new(lines.iter().enumerate().map(value).collect::<StringArray>()))
}
