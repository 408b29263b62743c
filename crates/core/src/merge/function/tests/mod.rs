//! Functions one by one.

mod nested;
mod unions;
