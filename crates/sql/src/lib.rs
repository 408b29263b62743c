//! SQL over Linn's tables, planned and run by DataFusion.
//!
//! A statement's tables are opened before it is planned, each with the options and the time travel given to it, and
//! registered for this statement alone; so one statement sees one snapshot of each table.

mod error;
mod exact;
mod parse;
mod provider;
mod run;
mod session;

pub use parse::check_syntax;
pub use provider::{LinnTable, Reading};
pub use session::{Output, Session};
