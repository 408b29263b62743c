//! Append tables.
