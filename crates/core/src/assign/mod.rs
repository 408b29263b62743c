//! Which bucket a key lives in, where that is remembered and not computed (spec: features.md B6; format.md C.8, C.11).
//!
//! Tables with dynamic buckets keep the hashes of each bucket's keys in index files. Where the primary key lacks partition
//! columns, the keys themselves tell, which are read when a writer starts. Either way a table has one writer at a time; a
//! second one is refused when it commits.

mod bootstrap;
mod cross;
mod dynamic;
mod file;
mod fill;
mod kept;
mod keys;
mod map;
mod partition;
mod route;

#[cfg(test)]
mod tests;

pub(crate) use cross::CrossPartition;
pub(crate) use dynamic::{DynamicBuckets, Messages};
pub(crate) use kept::Kept;
pub(crate) use route::{Columns, Partitions, Routed, Router, group};
