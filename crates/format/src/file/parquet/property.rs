//! Table options as Parquet's writer properties; defaults are the reference's.

use parquet::basic::{BrotliLevel, Compression, GzipLevel, Type as Physical, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder, WriterVersion};
use parquet::schema::types::{ColumnPath, SchemaDescriptor};

use crate::file::FileWrite;
use crate::options::{Options, parse_memory};
use crate::{Error, Result, ResultExt};

const BLOCK_SIZE: usize = 128 << 20;

/// How a file is written.
pub(super) struct Properties {
    pub(super) writer: WriterProperties,
    /// Encoded bytes after which a row group ends.
    pub(super) block_size: usize,
    /// Rows after which a row group ends.
    pub(super) block_rows: usize,
}

/// The properties that options ask for.
///
/// # Errors
/// `Invalid` naming the option whose value cannot be used.
pub(super) fn properties(write: &FileWrite, schema: &SchemaDescriptor) -> Result<Properties> {
    let options = &write.options;
    let mut builder = WriterProperties::builder()
        .set_created_by(concat!("linn version ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_compression(compression(write)?)
        .set_writer_version(version(options)?);
    if let Some(size) = size(options, "parquet.page.size")? {
        builder = builder.set_data_page_size_limit(size);
    }
    if let Some(size) = size(options, "parquet.dictionary.page.size")? {
        builder = builder.set_dictionary_page_size_limit(size);
    }
    if let Some(rows) = size(options, "parquet.page.row.count.limit")? {
        builder = builder.set_data_page_row_count_limit(rows);
    }
    builder = columns(builder, options)?;
    if !write.searched {
        builder = builder.set_statistics_enabled(EnabledStatistics::None);
    }
    for column in schema.columns().iter().filter(|c| c.physical_type() == Physical::INT96) {
        builder = builder.set_column_statistics_enabled(column.path().clone(), EnabledStatistics::None);
    }
    let block_size = match size(options, "file.block-size")? {
        Some(size) => size,
        None => size(options, "parquet.block.size")?.unwrap_or(BLOCK_SIZE),
    };
    let block_rows = size(options, "parquet.block.row.count.limit")?.unwrap_or(usize::MAX);
    Ok(Properties { writer: builder.build(), block_size, block_rows })
}

/// Options of one column are written `key#column.path`.
fn columns(mut builder: WriterPropertiesBuilder, options: &Options) -> Result<WriterPropertiesBuilder> {
    for (key, value) in options.iter().filter(|(key, _)| key.starts_with("parquet.")) {
        let (name, column) = match key.split_once('#') {
            Some((name, column)) => (name, Some(ColumnPath::new(column.split('.').map(str::to_owned).collect()))),
            None => (key, None),
        };
        builder = match (name, column) {
            ("parquet.enable.dictionary", None) => builder.set_dictionary_enabled(flag(key, value)?),
            ("parquet.enable.dictionary", Some(c)) => builder.set_column_dictionary_enabled(c, flag(key, value)?),
            ("parquet.bloom.filter.enabled", None) => builder.set_bloom_filter_enabled(flag(key, value)?),
            ("parquet.bloom.filter.enabled", Some(c)) => builder.set_column_bloom_filter_enabled(c, flag(key, value)?),
            ("parquet.bloom.filter.expected.ndv", Some(c)) => {
                builder.set_column_bloom_filter_max_ndv(c, number(key, value)?)
            }
            ("parquet.bloom.filter.fpp", Some(c)) => builder.set_column_bloom_filter_fpp(c, rate(key, value)?),
            _ => builder,
        };
    }
    Ok(builder)
}

fn version(options: &Options) -> Result<WriterVersion> {
    match options.raw("parquet.writer.version") {
        None => Ok(WriterVersion::PARQUET_1_0),
        Some(text) => match text.to_ascii_lowercase().as_str() {
            "v1" | "parquet_1_0" => Ok(WriterVersion::PARQUET_1_0),
            "v2" | "parquet_2_0" => Ok(WriterVersion::PARQUET_2_0),
            _ => Err(unusable("parquet.writer.version", text)),
        },
    }
}

fn compression(write: &FileWrite) -> Result<Compression> {
    let name = write.options.raw("parquet.compression").unwrap_or(&write.compression);
    let level = match write.options.raw("parquet.compression.codec.zstd.level") {
        Some(text) => text.parse().map_err(|_| unusable("parquet.compression.codec.zstd.level", text))?,
        None => write.zstd_level,
    };
    match name.to_ascii_lowercase().as_str() {
        "none" | "uncompressed" | "" => Ok(Compression::UNCOMPRESSED),
        "snappy" => Ok(Compression::SNAPPY),
        "gzip" => Ok(Compression::GZIP(GzipLevel::default())),
        "brotli" => Ok(Compression::BROTLI(BrotliLevel::default())),
        "lz4" => Ok(Compression::LZ4),
        "lz4_raw" => Ok(Compression::LZ4_RAW),
        "zstd" => ZstdLevel::try_new(level)
            .map(Compression::ZSTD)
            .map_err(|_| unusable("file.compression.zstd-level", &level.to_string())),
        "lzo" => Err(Error::unsupported("lzo compression in parquet files")),
        _ => Err(unusable("file.compression", name)),
    }
}

fn size(options: &Options, key: &str) -> Result<Option<usize>> {
    let Some(text) = options.raw(key) else { return Ok(None) };
    let bytes = parse_memory(text).context("option", key)?;
    match usize::try_from(bytes) {
        Ok(size) if size > 0 => Ok(Some(size)),
        _ => Err(unusable(key, text)),
    }
}

fn flag(key: &str, text: &str) -> Result<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(unusable(key, text)),
    }
}

fn number(key: &str, text: &str) -> Result<u64> {
    text.trim().parse().ok().filter(|n| *n > 0).ok_or_else(|| unusable(key, text))
}

fn rate(key: &str, text: &str) -> Result<f64> {
    text.trim().parse().ok().filter(|r| *r > 0.0 && *r < 1.0).ok_or_else(|| unusable(key, text))
}

fn unusable(key: &str, text: &str) -> Error {
    Error::invalid(format!("option {key} cannot be {text:?}"))
}
