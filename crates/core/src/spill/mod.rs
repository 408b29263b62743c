//! Memory that buffers share, and the local files that they spill into when it is used up.

mod budget;
mod file;

use arrow_ipc::CompressionType;
use linn_format::options::Options;
use linn_format::{Error, Result};

pub use budget::MemoryBudget;
pub(crate) use budget::Share;
pub(crate) use file::{Spill, SpillWriter};

/// The codec of spill files (`spill-compression`); `None` where they are not compressed.
///
/// # Errors
/// `Invalid` for a codec that is not known.
pub(crate) fn spill_compression(options: &Options) -> Result<Option<CompressionType>> {
    match options.get("spill-compression").map(|c| c.trim().to_ascii_lowercase()).as_deref() {
        None | Some("zstd") => Ok(Some(CompressionType::ZSTD)),
        Some("lz4" | "lzo") => Ok(Some(CompressionType::LZ4_FRAME)),
        Some("none") => Ok(None),
        Some(other) => Err(Error::invalid(format!("spill-compression {other} is not known"))),
    }
}
