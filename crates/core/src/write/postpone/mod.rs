//! Postponed buckets (`bucket=-2`): rows wait in a folder of their own, in the order in which they came, until they are
//! placed into real buckets (spec: features.md B6; cases B6, R6).
//!
//! Each partition has its own number of buckets, decided when its first rows are placed. Invariant: a row is in the
//! waiting files or in a real bucket, never in both, and rows of one writer are placed in their order.

mod count;
mod fold;
mod place;

#[cfg(test)]
mod tests;

pub(crate) use count::{Load, enlarge};
pub(crate) use place::{compact, place_staged};
