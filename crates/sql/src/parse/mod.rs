//! From text to statements: what DataFusion's parser does not know (keys and partitions in DDL, options and time travel
//! on tables, CALL, INSERT OVERWRITE) is parsed here, over the same tokens; everything else is left to it.

mod alter;
mod copy;
mod create;
mod cursor;
mod dialect;
mod explain;
mod from;
mod function;
mod grammar;
mod position;
mod reference;
mod set;
mod setting;
mod show;
mod star;
mod statement;
mod types;
mod view;

pub(crate) use cursor::{Cursor, DEPTH, DIALECT, split};
pub(crate) use explain::PlanFormat;
pub(crate) use from::with_select;
pub(crate) use grammar::{Called, honoured};
pub(crate) use position::{at, named, pointed, refused};
pub(crate) use reference::{COMPUTED, TableOptions, mark};
pub(crate) use set::SetInsert;
pub use set::is_open_set;
pub(crate) use star::EVERY;
pub(crate) use statement::{
    Analyzed, CallArgument, Insert, Listed, PartitionValues, Statement, executes, parse, verbatim,
};
pub(crate) use types::{own_type, with_types};
pub(crate) use view::NewView;

/// How many statements a text has. Only what Linn parses itself is looked at: nothing is planned, and no table is opened.
///
/// # Errors
/// `Invalid` naming what was expected.
pub fn check_syntax(sql: &str) -> linn::Result<usize> {
    let statements = split(sql)?;
    for tokens in &statements {
        if verbatim(tokens) {
            parse(tokens)?;
        } else {
            parse(&mark(tokens)?.0)?;
        }
    }
    Ok(statements.len())
}
