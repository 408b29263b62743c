//! Accessors for the options that code reads, with the rules that join several options.

mod bucket;
mod commit;
mod compaction;
mod file;
mod key;
mod maintain;
mod scan;
mod stream;
mod tag;
