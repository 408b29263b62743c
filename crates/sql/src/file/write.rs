//! Rows into a file: Parquet, Arrow IPC, text with delimiters, JSON. The file is there as a whole when all rows are in it.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use datafusion::arrow::array::{Array, RecordBatch};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::ipc::MetadataVersion;
use datafusion::arrow::ipc::writer::{FileWriter, IpcWriteOptions};
use datafusion::arrow::json::writer::{JsonArray, JsonFormat, LineDelimited, Writer, WriterBuilder};
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use flate2::Compression as GzipLevel;
use flate2::write::GzEncoder;
use futures::StreamExt;
use linn::format::BatchStream;
use linn::{Error, Options, Result};
use parquet::arrow::ArrowWriter;
use parquet::basic::{BrotliLevel, Compression, GzipLevel as ParquetGzip, ZstdLevel};
use parquet::file::properties::WriterProperties;

use super::json::{Floats, with_text_keys};
use super::options::{FileFormat, FileOptions, Packing};
use super::place::Stores;

/// Bytes that are handed to the store at once.
const CHUNK: usize = 4 << 20;

/// Writes all rows to the file at `path`, and returns how many there were. A file that is there is replaced when all of the
/// new one is written.
///
/// # Errors
/// What the rows and the store yield; nothing is left behind then.
pub(crate) async fn write(
    stores: &Stores,
    given: &Options,
    path: &str,
    options: &FileOptions,
    schema: SchemaRef,
    mut rows: BatchStream,
) -> Result<u64> {
    let format = options.format.or_else(|| FileFormat::of_path(path)).ok_or_else(|| {
        Error::invalid("the format of the file is not known from its name")
            .with("path", path)
            .with_hint("give it: COPY … TO '…' (FORMAT parquet), arrow, csv or json")
    })?;
    let buffer = Buffer::default();
    let mut encoder = Encoder::new(format, options, path, &schema, buffer.clone())?;
    let (storage, _, key) = stores.of(path, given)?;
    if key.is_empty() || path.ends_with('/') {
        return Err(Error::invalid("this is the path of a folder, not of a file").with("path", path));
    }
    let mut writer = storage.writer(&key).await?;
    let mut count = 0u64;
    let written: Result<()> = async {
        while let Some(batch) = rows.next().await {
            let batch = batch?;
            count += batch.num_rows() as u64;
            encoder.put(&batch)?;
            if buffer.len() >= CHUNK {
                writer.write(buffer.take()).await?;
            }
        }
        encoder.finish()?;
        writer.write(buffer.take()).await
    }
    .await;
    if let Err(e) = written {
        if let Err(left) = writer.abort().await {
            tracing::warn!("what was written of {path} may be left over: {left}");
        }
        return Err(e);
    }
    writer.close().await?;
    Ok(count)
}

/// Bytes between an encoder and the store.
#[derive(Debug, Clone, Default)]
struct Buffer(Arc<Mutex<Vec<u8>>>);

impl Buffer {
    fn len(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    fn take(&self) -> Bytes {
        Bytes::from(std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

impl Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Text, packed or not.
enum Packed {
    Plain(Buffer),
    Gzip(GzEncoder<Buffer>),
    Zstd(zstd::Encoder<'static, Buffer>),
}

impl Packed {
    fn new(packing: Packing, buffer: Buffer) -> Result<Self> {
        Ok(match packing {
            Packing::Plain => Self::Plain(buffer),
            Packing::Gzip => Self::Gzip(GzEncoder::new(buffer, GzipLevel::default())),
            Packing::Zstd => Self::Zstd(zstd::Encoder::new(buffer, 0).map_err(failed)?),
        })
    }

    fn finish(self) -> Result<()> {
        match self {
            Self::Plain(_) => Ok(()),
            Self::Gzip(encoder) => encoder.finish().map(drop).map_err(failed),
            Self::Zstd(encoder) => encoder.finish().map(drop).map_err(failed),
        }
    }
}

impl Write for Packed {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self {
            Self::Plain(out) => out.write(bytes),
            Self::Gzip(out) => out.write(bytes),
            Self::Zstd(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn failed(error: std::io::Error) -> Error {
    Error::internal("rows cannot be packed").with_source(error)
}

/// Rows as the bytes of one format.
enum Encoder {
    Parquet(Box<ArrowWriter<Buffer>>),
    Arrow(Box<FileWriter<Buffer>>),
    Csv { out: Packed, delimiter: u8, quote: u8, escape: u8, null: String, line: Vec<u8> },
    Lines(Writer<Packed, LineDelimited>),
    List(Writer<Packed, JsonArray>),
    Done,
}

impl Encoder {
    fn new(format: FileFormat, options: &FileOptions, path: &str, schema: &SchemaRef, buffer: Buffer) -> Result<Self> {
        match format {
            FileFormat::Parquet => {
                let writer = ArrowWriter::try_new(buffer, Arc::clone(schema), Some(properties(options)?));
                Ok(Self::Parquet(Box::new(writer.map_err(encoded)?)))
            }
            FileFormat::Csv => {
                let (quote, delimiter) = (options.quote, options.delimiter(path));
                let escape = options.escape.unwrap_or(quote);
                let out = Packed::new(options.packing(path)?, buffer)?;
                let mut csv = Self::Csv { out, delimiter, quote, escape, null: options.null.clone(), line: Vec::new() };
                if options.header {
                    let names: Vec<&str> = schema.fields().iter().map(|f| f.name().as_str()).collect();
                    csv.header(&names)?;
                }
                Ok(csv)
            }
            FileFormat::Json => {
                let out = Packed::new(options.packing(path)?, buffer)?;
                let list = options.array;
                if list { Ok(Self::List(json(out))) } else { Ok(Self::Lines(json(out))) }
            }
            FileFormat::Arrow => match options.compression.as_deref() {
                None | Some("auto" | "none" | "uncompressed") => {
                    // Some readers expect the first message right behind the magic.
                    let options = IpcWriteOptions::try_new(8, false, MetadataVersion::V5)?;
                    Ok(Self::Arrow(Box::new(FileWriter::try_new_with_options(buffer, schema, options)?)))
                }
                Some(other) => Err(Error::unsupported(format!("compression {other} of Arrow files"))
                    .with_hint("Arrow files are written as they are: leave compression out")),
            },
            FileFormat::Orc | FileFormat::Avro => {
                let name = if format == FileFormat::Orc { "ORC" } else { "Avro" };
                Err(Error::unsupported(format!("COPY to {name} files")).with_hint("write parquet, arrow, csv or json"))
            }
        }
    }

    fn header(&mut self, names: &[&str]) -> Result<()> {
        let Self::Csv { out, delimiter, quote, escape, null, line } = self else { return Ok(()) };
        for (i, name) in names.iter().enumerate() {
            if i > 0 {
                line.push(*delimiter);
            }
            field(line, name, *delimiter, *quote, *escape, null);
        }
        line.push(b'\n');
        let written = out.write_all(line).map_err(failed);
        line.clear();
        written
    }

    fn put(&mut self, batch: &RecordBatch) -> Result<()> {
        match self {
            Self::Parquet(writer) => writer.write(batch).map_err(encoded),
            Self::Arrow(writer) => Ok(writer.write(batch)?),
            Self::Lines(writer) => Ok(writer.write(&with_text_keys(batch)?)?),
            Self::List(writer) => Ok(writer.write(&with_text_keys(batch)?)?),
            Self::Csv { out, delimiter, quote, escape, null, line } => {
                use std::fmt::Write as _;
                let format = FormatOptions::new()
                    .with_display_error(false)
                    .with_timestamp_format(Some("%Y-%m-%d %H:%M:%S%.f"))
                    .with_timestamp_tz_format(Some("%Y-%m-%d %H:%M:%S%.f%:z"));
                let columns = batch.columns().iter().map(|c| ArrayFormatter::try_new(c.as_ref(), &format));
                let columns = columns.collect::<Result<Vec<_>, _>>()?;
                let mut text = String::new();
                for row in 0..batch.num_rows() {
                    for (at, (column, values)) in columns.iter().zip(batch.columns()).enumerate() {
                        if at > 0 {
                            line.push(*delimiter);
                        }
                        if values.is_null(row) {
                            line.extend_from_slice(null.as_bytes());
                            continue;
                        }
                        text.clear();
                        let value = column.value(row);
                        write!(text, "{value}").map_err(|_| Error::internal("a value cannot be written as text"))?;
                        field(line, &text, *delimiter, *quote, *escape, null);
                    }
                    line.push(b'\n');
                    if line.len() >= CHUNK {
                        out.write_all(line).map_err(failed)?;
                        line.clear();
                    }
                }
                let written = out.write_all(line).map_err(failed);
                line.clear();
                written
            }
            Self::Done => Err(Error::internal("rows behind the end of a file")),
        }
    }

    fn finish(&mut self) -> Result<()> {
        match std::mem::replace(self, Self::Done) {
            Self::Parquet(writer) => writer.close().map(drop).map_err(encoded),
            Self::Arrow(mut writer) => Ok(writer.finish()?),
            Self::Csv { out, .. } => out.finish(),
            Self::Lines(mut writer) => {
                writer.finish()?;
                writer.into_inner().finish()
            }
            Self::List(mut writer) => {
                writer.finish()?;
                writer.into_inner().finish()
            }
            Self::Done => Ok(()),
        }
    }
}

/// One field; in quotes where it would be read as something else without them.
fn field(line: &mut Vec<u8>, text: &str, delimiter: u8, quote: u8, escape: u8, null: &str) {
    let special = |b: u8| b == delimiter || b == quote || b == escape || b == b'\n' || b == b'\r';
    if text != null && !text.is_empty() && !text.bytes().any(special) {
        line.extend_from_slice(text.as_bytes());
        return;
    }
    line.push(quote);
    for byte in text.bytes() {
        if byte == quote || byte == escape {
            line.push(escape);
        }
        line.push(byte);
    }
    line.push(quote);
}

fn json<F: JsonFormat>(out: Packed) -> Writer<Packed, F> {
    WriterBuilder::new()
        .with_explicit_nulls(true)
        .with_timestamp_format("%Y-%m-%d %H:%M:%S%.f".to_owned())
        .with_encoder_factory(Arc::new(Floats))
        .build(out)
}

fn encoded(error: parquet::errors::ParquetError) -> Error {
    Error::invalid("the rows cannot be written as Parquet").with_source(error)
}

fn properties(options: &FileOptions) -> Result<WriterProperties> {
    let wrong = |_| Error::invalid("the value of option compression_level is out of range");
    let level = options.level;
    let compression = match options.compression.as_deref() {
        None | Some("auto" | "zstd") => Compression::ZSTD(ZstdLevel::try_new(level.unwrap_or(3)).map_err(wrong)?),
        Some("snappy") => Compression::SNAPPY,
        Some("none" | "uncompressed") => Compression::UNCOMPRESSED,
        Some("lz4" | "lz4_raw") => Compression::LZ4_RAW,
        Some("gzip") => {
            let level = u32::try_from(level.unwrap_or(6)).unwrap_or(u32::MAX);
            Compression::GZIP(ParquetGzip::try_new(level).map_err(wrong)?)
        }
        Some("brotli") => {
            let level = u32::try_from(level.unwrap_or(1)).unwrap_or(u32::MAX);
            Compression::BROTLI(BrotliLevel::try_new(level).map_err(wrong)?)
        }
        Some(other) => {
            return Err(Error::unsupported(format!("compression {other} of Parquet"))
                .with_hint("compressions are zstd, snappy, lz4, gzip, brotli and none"));
        }
    };
    let mut properties = WriterProperties::builder().set_compression(compression);
    if let Some(rows) = options.group {
        if rows == 0 {
            return Err(Error::invalid("option row_group_size is 0"));
        }
        properties = properties.set_max_row_group_row_count(Some(rows));
    }
    Ok(properties.build())
}
