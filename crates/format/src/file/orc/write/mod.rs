//! Writing one file (spec: format.md C.7).
//!
//! Columns are gathered as runs of a stripe in memory, compressed and written when it is full. The library that reads could
//! write too, but not every integer: see decision 0008.

mod bytes;
mod chunk;
mod column;
mod ints;
mod shape;
mod time;
mod wire;

#[cfg(test)]
mod tests;

use std::io::Write;

use arrow_array::RecordBatch;

use self::chunk::{CHUNK, Codec};
use self::column::{Column, Stream};
use self::shape::Shape;
use self::wire::Message;
use crate::file::{FileWrite, FileWriter};
use crate::options::parse_memory;
use crate::{Error, Result, ResultExt};

/// Whether LTZ is written as TIMESTAMP (default true).
const LEGACY_LTZ: &str = "orc.timestamp-ltz.legacy.type";
/// Rows in memory are taken to shrink to this part when encoded.
const SHRINK: u64 = 4;
/// Bytes of a stripe before compression, where no option says it.
const STRIPE: usize = 64 << 20;
/// Rows after which a stripe's size is looked at.
const ROWS: usize = 1024;
const MAGIC: &[u8] = b"ORC";
/// The number of a writer, and its version, that no other is known by; readers then work around nobody's faults.
const UNKNOWN: u64 = u32::MAX as u64;

/// A file being written.
pub(super) struct Writer {
    sink: Box<dyn Write + Send>,
    codec: Codec,
    names: Vec<String>,
    shape: Shape,
    columns: Vec<Column>,
    stripe_bytes: usize,
    /// Rows of the stripe being filled.
    rows: u64,
    stripes: Vec<Stripe>,
    written: u64,
    /// An estimate of what the stripe being filled will take.
    pending: u64,
    /// Whether a value was refused in the middle of its row, after which columns differ in length.
    torn: bool,
}

/// Where a stripe is.
struct Stripe {
    start: u64,
    data: u64,
    footer: u64,
    rows: u64,
}

impl Writer {
    /// Starts a file.
    ///
    /// # Errors
    /// `Unsupported` naming the column or the codec that cannot be written, before anything is.
    pub(super) fn start(write: &FileWrite, sink: Box<dyn Write + Send>) -> Result<Self> {
        let legacy = write.options.raw(LEGACY_LTZ).is_none_or(|v| !v.eq_ignore_ascii_case("false"));
        let shape = Shape::of(&write.fields, legacy)?;
        let columns = shape.parts.iter().map(Column::new).collect();
        let names = write.fields.iter().map(|f| f.name.clone()).collect();
        let (codec, stripe_bytes) = (Codec::of(write)?, stripe_bytes(write)?);
        let mut this = Self {
            sink,
            codec,
            names,
            shape,
            columns,
            stripe_bytes,
            rows: 0,
            stripes: Vec::new(),
            written: 0,
            pending: 0,
            torn: false,
        };
        this.put(MAGIC)?;
        Ok(this)
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        put(&mut self.sink, bytes, &mut self.written)
    }

    fn append(&mut self, batch: &RecordBatch) -> Result<()> {
        for ((column, array), name) in self.columns.iter_mut().zip(batch.columns()).zip(&self.names) {
            column.write(array).context("column", name)?;
        }
        self.rows += batch.num_rows() as u64;
        if self.columns.iter().map(Column::size).sum::<usize>() >= self.stripe_bytes {
            self.end_stripe()
        } else {
            Ok(())
        }
    }

    fn end_stripe(&mut self) -> Result<()> {
        let start = self.written;
        let Self { sink, codec, written, columns, .. } = self;
        let mut footer = Message::default();
        let mut stream = |stream: Stream, column: u64, bytes: Vec<u8>| {
            let bytes = codec.section(bytes)?;
            let described = Message::default().number(1, stream as u64).number(2, column).number(3, bytes.len() as u64);
            footer = std::mem::take(&mut footer).message(1, &described);
            put(sink, &bytes, written)
        };
        // The root, a struct that is never null, is column 0 and has no streams.
        let mut own = 1;
        for column in columns {
            own = column.finish(own, &mut stream)?;
        }
        self.shape.walk(&mut |shape| {
            let encoding = Message::default().number(1, if shape.form.has_runs() { 2 } else { 0 });
            footer = std::mem::take(&mut footer).message(2, &encoding);
        });
        let data = self.written - start;
        let footer = self.codec.section(footer.bytes(3, b"UTC").into_bytes())?;
        self.put(&footer)?;
        let rows = std::mem::take(&mut self.rows);
        self.stripes.push(Stripe { start, data, footer: footer.len() as u64, rows });
        self.pending = 0;
        Ok(())
    }

    fn footer(&self) -> Message {
        let mut footer = Message::default().number(1, MAGIC.len() as u64).number(2, self.written);
        for Stripe { start, data, footer: end, rows } in &self.stripes {
            let stripe = Message::default().number(1, *start).number(2, 0).number(3, *data).number(4, *end);
            footer = footer.message(3, &stripe.number(5, *rows));
        }
        let mut own = 0;
        self.shape.walk(&mut |shape| {
            footer = std::mem::take(&mut footer).message(4, &shape.describe(own));
            own += 1;
        });
        footer.number(6, self.stripes.iter().map(|s| s.rows).sum()).number(9, UNKNOWN)
    }
}

fn put(sink: &mut impl Write, bytes: &[u8], written: &mut u64) -> Result<()> {
    sink.write_all(bytes).map_err(|e| Error::unavailable("orc file cannot be written").with_source(e))?;
    *written += bytes.len() as u64;
    Ok(())
}

fn stripe_bytes(write: &FileWrite) -> Result<usize> {
    for key in ["file.block-size", "orc.stripe.size"] {
        if let Some(text) = write.options.raw(key) {
            let bytes = parse_memory(text).context("option", key)?;
            return usize::try_from(bytes).map_err(|_| Error::invalid("a stripe is too large").with("option", key));
        }
    }
    Ok(STRIPE)
}

impl FileWriter for Writer {
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        if batch.num_columns() != self.columns.len() {
            let (given, has) = (batch.num_columns(), self.columns.len());
            return Err(Error::invalid(format!("{given} columns given, the file has {has}")));
        }
        self.pending += batch.get_array_memory_size() as u64 / SHRINK;
        for start in (0..batch.num_rows()).step_by(ROWS) {
            let rows = batch.slice(start, ROWS.min(batch.num_rows() - start));
            self.append(&rows).inspect_err(|_| self.torn = true)?;
        }
        Ok(())
    }

    fn size(&self) -> u64 {
        self.written + self.pending
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        if self.torn {
            return Err(Error::internal("an orc file of which a row was refused cannot be finished"));
        }
        if self.rows > 0 {
            self.end_stripe()?;
        }
        let footer = self.codec.section(self.footer().into_bytes())?;
        self.put(&footer)?;
        let mut end = Message::default().number(1, footer.len() as u64).number(2, self.codec.number());
        if self.codec != Codec::None {
            end = end.number(3, CHUNK as u64);
        }
        let end = end.packed(4, [0, 12]).number(5, 0).number(6, UNKNOWN).bytes(8000, MAGIC).into_bytes();
        self.put(&end)?;
        let length = u8::try_from(end.len()).map_err(|_| Error::internal("the end of an orc file is too long"))?;
        self.put(&[length])?;
        self.sink.flush().map_err(|e| Error::unavailable("orc file cannot be written").with_source(e))
    }
}
