//! JSON: objects one after the other, in lines or not, or a list of them.

mod infer;
mod list;
mod read;
mod write;

pub(super) use infer::infer;
pub(super) use list::Unlisted;
pub(super) use read::read;
pub(super) use write::{Floats, with_text_keys};
