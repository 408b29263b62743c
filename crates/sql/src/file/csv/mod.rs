//! Text with delimiters: taken apart, its types found out, read and written. A field in quotes is never null.

mod infer;
mod read;
mod record;

pub(super) use infer::infer;
pub(super) use read::{Wanted, read};
