//! Lookup files: sorted keys and values in blocks, with an index of the blocks and a bloom filter of the keys
//! (spec: format.md C.12).
//!
//! ```text
//! [data block][trailer] … [bloom filter][index block][trailer][footer]
//! ```
//!
//! Every block has a checksum, so damage is found and never read as another row. Keys and values are compacted rows;
//! what a value is made of is the [`Processor`]'s matter.

mod block;
mod bloom;
mod read;
mod seal;
#[cfg(test)]
mod tests;
mod value;
mod write;

pub use read::{BlockSource, LookupReader};
pub use seal::BlockCodec;
pub use value::{LookupValue, Processor, RemoteName, VERSION};
pub use write::{LookupWriter, WriteOptions};

const FOOTER_LEN: usize = 36;
const MAGIC: i32 = 1_481_571_681;
/// Bytes behind every block: its codec and its checksum.
const TRAILER_LEN: usize = 5;

/// Where a block lies, its trailer not counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Handle {
    offset: u64,
    size: u32,
}
