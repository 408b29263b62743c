//! What Avro containers of Linn carry against damage, which the format does not ask for and other readers verify or pass over:
//! a checksum in every zstd frame, and a hash of the schema in the header.
//!
//! Without them a flipped bit of a manifest is another name of a file, and of a deletion vector rows that come back.

use crate::{Error, Result};

/// Key of the hash in the header of a container.
pub(crate) const HEADER_KEY: &[u8] = b"linn.xxh3";

/// The hash of a container's schema, as it stands in its header: in hexadecimal digits, as there are readers that take all
/// values of a header for text.
pub(crate) fn of_schema(schema: &[u8]) -> String {
    format!("{:032x}", xxhash_rust::xxh3::xxh3_128(schema))
}

/// Checks the schema of a container against the hash in its header, where it has one.
///
/// # Errors
/// `Corrupt` when it is another.
pub(crate) fn check_schema(schema: &[u8], sum: Option<&[u8]>) -> Result<()> {
    match sum {
        Some(sum) if sum != of_schema(schema).as_bytes() => Err(Error::corrupt("avro schema has a wrong checksum")),
        _ => Ok(()),
    }
}

/// A zstd frame that carries the checksum of its content.
///
/// # Errors
/// Those of the library.
pub(crate) fn zstd_frame(content: &[u8], level: i32) -> std::io::Result<Vec<u8>> {
    let mut compressor = zstd::bulk::Compressor::new(level)?;
    compressor.include_checksum(true)?;
    compressor.compress(content)
}
