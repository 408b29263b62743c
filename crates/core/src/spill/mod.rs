//! Memory that buffers share, and the local files that they spill into when it is used up.

mod budget;
mod file;

use arrow_ipc::CompressionType;
use linn_format::Result;
use linn_format::options::Options;
use linn_format::options::table::write::SPILL_COMPRESSION;

pub use budget::MemoryBudget;
pub(crate) use budget::Share;
pub(crate) use file::{Spill, SpillWriter};

/// The codec of spill files (`spill-compression`); `None` where they are not compressed.
///
/// # Errors
/// `Invalid` for a codec that is not known.
pub(crate) fn spill_compression(options: &Options) -> Result<Option<CompressionType>> {
    match options.require(&SPILL_COMPRESSION)? {
        "lz4" | "lzo" => Ok(Some(CompressionType::LZ4_FRAME)),
        "none" => Ok(None),
        _ => Ok(Some(CompressionType::ZSTD)),
    }
}
