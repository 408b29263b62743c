//! Casts between column types, following the reference's rules (spec: features.md B10).

mod civil;
pub(crate) mod parse;
pub(crate) mod text;
mod widen;

pub(crate) use widen::{is_widening, narrow, widen};
