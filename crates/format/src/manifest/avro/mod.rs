//! The part of Avro that manifests need: object containers, writer schemas, binary values (Avro 1.11 specification).
//!
//! A file is always read with the schema written in it, fields found by name, so files of every version and writer read
//! alike. Whatever the bytes claim, no more memory is taken than they can fill, and nothing panics.

mod codec;
mod container;
mod cursor;
mod encode;
mod schema;
mod value;

pub use codec::Codec;
pub(super) use container::{Container, Writer};
pub(super) use cursor::Cursor;
pub(super) use encode::{put_bytes, put_long};
pub(super) use schema::Type;
pub(super) use value::{Record, Value, skip};

/// Whether these are the first bytes of an object container.
pub(super) fn is_container(bytes: &[u8]) -> bool {
    bytes.starts_with(&container::MAGIC)
}
