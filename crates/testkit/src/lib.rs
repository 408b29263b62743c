//! What tests share: tables of other implementations with their expected rows, those implementations as running programs, rows as
//! JSON, a model of tables, and comparisons that say what differs. Never shipped; it panics where a test should fail.

// Waiting for other programs is this crate's business; the engine's seams do not reach them.
#![allow(clippy::disallowed_methods)]

pub mod commit;
pub mod compare;
pub mod duckdb;
pub mod fixture;
pub mod fuzz;
pub mod model;
pub mod parse;
pub mod peer;
pub mod render;
pub mod service;
pub mod sim;
pub mod variant;
