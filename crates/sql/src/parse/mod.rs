//! From text to statements: what DataFusion's parser does not know (keys and partitions in DDL, options and time travel
//! on tables, CALL, INSERT OVERWRITE) is parsed here, over the same tokens; everything else is left to it.

mod alter;
mod create;
mod cursor;
mod dialect;
mod from;
mod function;
mod grammar;
mod reference;
mod star;
mod statement;
mod types;

pub(crate) use cursor::{Cursor, DIALECT, split};
pub(crate) use from::with_select;
pub(crate) use grammar::{Called, honoured};
pub(crate) use reference::{TableOptions, mark};
pub(crate) use star::EVERY;
pub(crate) use statement::{Analyzed, CallArgument, Insert, PartitionValues, Statement, parse};
pub(crate) use types::{own_type, with_types};

/// How many statements a text has. Only what Linn parses itself is looked at: nothing is planned, and no table is opened.
///
/// # Errors
/// `Invalid` naming what was expected.
pub fn check_syntax(sql: &str) -> linn::Result<usize> {
    let statements = split(sql)?;
    for tokens in &statements {
        parse(&mark(tokens)?.0)?;
    }
    Ok(statements.len())
}
