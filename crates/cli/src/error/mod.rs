//! Errors as users see them: a stable code, what went wrong, where, and what to do about it.

mod classify;
mod index;
mod report;

pub(crate) use classify::code;
pub(crate) use index::{ENTRIES, find};
pub(crate) use report::report;
