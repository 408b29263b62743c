//! SQL over Linn's tables, planned and run by DataFusion.
//!
//! A statement's tables are opened before it is planned, each with the options and the time travel given to it, and
//! registered for this statement alone; so one statement sees one snapshot of each table.

mod error;
mod exact;
mod file;
mod function;
mod names;
mod parse;
mod provider;
mod register;
mod rows;
mod run;
mod session;
mod share;

pub use names::quoted;
pub use parse::{check_syntax, is_open_set};
pub use provider::{LinnTable, Reading};
pub use register::register_linn;
pub use rows::{ROWS, query_rows};
pub use session::{Output, Session};
