//! Writing one file, of the types the library can write.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Int64Type};
use arrow_array::{Array, ArrayRef, PrimitiveArray, RecordBatch, make_array};
use arrow_schema::{DataType as ArrowType, Field, Schema, SchemaRef, TimeUnit};
use orc_rust::compression::CompressionType;
use orc_rust::error::OrcError;
use orc_rust::{ArrowWriter, ArrowWriterBuilder};

use super::fence::fenced;
use crate::file::{FileWrite, FileWriter};
use crate::types::{DataField, Kind, arrow_type};
use crate::{Error, Result};

/// Whether LTZ is written as TIMESTAMP (default true).
const LEGACY_LTZ: &str = "orc.timestamp-ltz.legacy.type";
/// Rows in memory are taken to shrink to this part when encoded.
const SHRINK: u64 = 4;

/// The library's writer, which lacks `Send` only because it boxes its encoders without saying it.
struct Inner(ArrowWriter<Counted>);

// SAFETY: what the writer owns is the sink (`Send`), byte buffers, compressors, and column encoders, all of which are
// plain data of their own: orc-rust 0.9 has no shared or thread-bound state (no `Rc`, no cell, no raw pointer).
#[allow(unsafe_code)]
unsafe impl Send for Inner {}

/// A file being written.
pub(super) struct Writer {
    inner: Inner,
    schema: SchemaRef,
    written: Arc<AtomicU64>,
    flushed: u64,
    pending: u64,
}

struct Counted(Box<dyn Write + Send>, Arc<AtomicU64>);

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let n = self.0.write(bytes)?;
        self.1.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}

impl Writer {
    /// Starts a file.
    ///
    /// # Errors
    /// `Unsupported` naming the column or the codec that cannot be written.
    pub(super) fn start(write: &FileWrite, sink: Box<dyn Write + Send>) -> Result<Self> {
        let legacy = write.options.get(LEGACY_LTZ).is_none_or(|v| !v.eq_ignore_ascii_case("false"));
        let fields = write.fields.iter().map(|f| carrier(f, legacy)).collect::<Result<Vec<_>>>()?;
        let schema: SchemaRef = Arc::new(Schema::new(fields));
        let compression = compression(write.options.get("orc.compress").unwrap_or(&write.compression))?;
        let written = Arc::new(AtomicU64::new(0));
        let mut builder = ArrowWriterBuilder::new(Counted(sink, written.clone()), schema.clone());
        if let Some(compression) = compression {
            builder = builder.with_compression(compression);
        }
        let inner = Inner(fenced(|| builder.try_build())?.map_err(failed)?);
        Ok(Self { inner, schema, written, flushed: 0, pending: 0 })
    }
}

fn failed(e: OrcError) -> Error {
    match e {
        OrcError::IoError { .. } => Error::unavailable("orc file cannot be written").with_source(e),
        // What is left are values the format has no room for: timestamps within the second before 1970.
        _ => Error::unsupported("a value that orc files cannot hold").with_source(e),
    }
}

fn compression(name: &str) -> Result<Option<CompressionType>> {
    Ok(Some(match name.to_ascii_lowercase().as_str() {
        "none" | "uncompressed" | "" => return Ok(None),
        "zstd" => CompressionType::Zstd,
        "snappy" => CompressionType::Snappy,
        "lz4" => CompressionType::Lz4,
        "zlib" => CompressionType::Zlib,
        other => return Err(Error::unsupported(format!("orc codec {other:?}"))),
    }))
}

/// The Arrow field the library is given for a column.
fn carrier(field: &DataField, legacy_ltz: bool) -> Result<Field> {
    let arrow = match &field.data_type.kind {
        Kind::Time(_) => ArrowType::Int32,
        Kind::LocalZonedTimestamp(_) if legacy_ltz => match arrow_type(&field.data_type)? {
            ArrowType::Timestamp(unit, _) => ArrowType::Timestamp(unit, None),
            other => other,
        },
        Kind::Boolean
        | Kind::TinyInt
        | Kind::SmallInt
        | Kind::Int
        | Kind::BigInt
        | Kind::Float
        | Kind::Double
        | Kind::Char(_)
        | Kind::Varchar(_)
        | Kind::Binary(_)
        | Kind::Varbinary(_)
        | Kind::Date
        | Kind::Timestamp(_)
        | Kind::LocalZonedTimestamp(_) => arrow_type(&field.data_type)?,
        Kind::WideTimestamp { zoned, .. } => {
            ArrowType::Timestamp(TimeUnit::Nanosecond, (*zoned && !legacy_ltz).then(|| "UTC".into()))
        }
        other => {
            let message = format!("writing {other:?} to orc files");
            let hint = "use parquet or avro as file.format";
            return Err(Error::unsupported(message).with("column", &field.name).with_hint(hint));
        }
    };
    Ok(Field::new(&field.name, arrow, field.data_type.nullable))
}

/// The same values under the Arrow type the library is given.
fn relabel(array: &ArrayRef, field: &Field) -> Result<ArrayRef> {
    let (from, to) = (array.data_type(), field.data_type());
    match (from, to) {
        _ if from == to => Ok(array.clone()),
        (ArrowType::Time32(_), ArrowType::Int32) => Ok(make_array(retyped(array, to)?)),
        (ArrowType::Timestamp(a, _), ArrowType::Timestamp(b, _)) if a == b => Ok(make_array(retyped(array, to)?)),
        (ArrowType::Decimal128(38, 9), ArrowType::Timestamp(TimeUnit::Nanosecond, _)) => {
            let fit = |nanos: i128| i64::try_from(nanos).map_err(|_| beyond_nanos().with("column", field.name()));
            let nanos: PrimitiveArray<Int64Type> = array.as_primitive::<Decimal128Type>().try_unary(fit)?;
            Ok(make_array(retyped(&(Arc::new(nanos) as ArrayRef), to)?))
        }
        _ => Err(Error::invalid(format!("an array of {from} is not one of {to}")).with("column", field.name())),
    }
}

#[cold]
fn beyond_nanos() -> Error {
    Error::unsupported("writing timestamps before 1677 or after 2262 with nanoseconds to orc files")
        .with_hint("use parquet as file.format")
}

fn retyped(array: &ArrayRef, to: &ArrowType) -> Result<arrow_data::ArrayData> {
    Ok(array.to_data().into_builder().data_type(to.clone()).build()?)
}

impl FileWriter for Writer {
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        if batch.num_columns() != self.schema.fields().len() {
            let (given, has) = (batch.num_columns(), self.schema.fields().len());
            return Err(Error::invalid(format!("{given} columns given, the file has {has}")));
        }
        let columns = batch.columns().iter().zip(self.schema.fields());
        let columns = columns.map(|(array, field)| relabel(array, field)).collect::<Result<Vec<_>>>()?;
        let batch = RecordBatch::try_new(self.schema.clone(), columns)
            .map_err(|e| Error::invalid("batch does not fit the file").with_source(e))?;
        fenced(|| self.inner.0.write(&batch))?.map_err(failed)?;
        let written = self.written.load(Ordering::Relaxed);
        if written != self.flushed {
            (self.flushed, self.pending) = (written, 0);
        } else {
            self.pending += batch.get_array_memory_size() as u64 / SHRINK;
        }
        Ok(())
    }

    fn size(&self) -> u64 {
        self.written.load(Ordering::Relaxed) + self.pending
    }

    fn finish(self: Box<Self>) -> Result<()> {
        fenced(|| self.inner.0.close())?.map_err(failed)
    }
}
