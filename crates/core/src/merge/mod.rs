//! The columnar merge: everything that brings records of one key together goes through here.
//!
//! Keys become order-preserving integers or bytes once per batch ([`key`]), a loser tree walks sorted runs ([`run`]) or
//! a buffer is sorted ([`sort`]), engines turn groups of equal keys into selections ([`engine`], [`function`]), and a
//! gather makes batches of them ([`output`]). Invariant: the result depends on the records and their order by (key,
//! user sequence, sequence number, run age) alone, not on batches or on how runs were cut.

mod assemble;
mod beside;
mod bounded;
mod changelog;
mod engine;
mod function;
mod key;
mod load;
mod older;
mod output;
mod retraction;
mod run;
mod section;
mod sort;
mod source;
mod spec;
mod tree;
mod waiting;

#[cfg(test)]
mod tests;

pub(crate) use assemble::{Ranks, View};
pub(crate) use beside::Columns;
pub(crate) use bounded::{SizedRun, SpillLimit, bounded};
pub(crate) use changelog::{Merged, equal_rows};
pub(crate) use engine::Extent;
pub(crate) use key::{KeyEncoder, Keys};
pub(crate) use older::{Found, Older};
pub(crate) use retraction::{Lasting, Retractions};
pub use run::merge;
pub(crate) use run::{Before, LeveledStream, MergeOptions, gallop, merge_changes, merge_levels};
pub use section::{KeyBound, KeyOrder, Section, sections};
pub(crate) use sort::SortedBuffer;
pub use spec::{MergeSpec, key_value_fields, key_value_schema};
