//! Which bucket keys get: the reference's rules on known inputs, and a table over many writers.

mod cross;
mod partition;
mod table;
