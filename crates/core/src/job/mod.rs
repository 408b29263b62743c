//! Work over a whole table that is committed at its end: compaction of what is due, and partitions written again with another
//! number of buckets.

mod compact;
mod growth;
mod queue;
mod rescale;
mod visible;

pub use compact::{BucketPlan, CompactJob};
pub use growth::Growth;
