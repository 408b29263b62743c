//! Manifests of other writers, round trips, hostile bytes.

mod golden;
mod hostile;
mod round_trip;

use bytes::Bytes;

/// A file of `tests/fixtures/manifests`.
macro_rules! fixture {
    ($name:literal) => {
        bytes::Bytes::from_static(include_bytes!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../tests/fixtures/manifests/",
            $name
        )))
    };
}
pub(super) use fixture;

/// The decompressed blocks of a container.
fn blocks(bytes: &Bytes) -> Vec<Vec<u8>> {
    let mut container = super::avro::Container::open(bytes).unwrap();
    let mut blocks = Vec::new();
    let mut block = Vec::new();
    while container.block(&mut block).unwrap().is_some() {
        blocks.push(block.clone());
    }
    blocks
}

/// Whether a header has this text: what stands in the schema that a file was written with.
fn header_has(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|w| w == text.as_bytes())
}
