//! The examples run.

#![expect(unreachable_pub, reason = "each example is a program")]

use linn::Result;

#[path = "../examples/follow_changes.rs"]
mod follow_changes;
#[path = "../examples/maintain.rs"]
mod maintain;
#[path = "../examples/own_storage.rs"]
mod own_storage;
#[path = "../examples/read_table.rs"]
mod read_table;
#[path = "../examples/upsert_stream.rs"]
mod upsert_stream;

#[test]
fn following_changes() -> Result<()> {
    follow_changes::main()
}

#[test]
fn maintenance() -> Result<()> {
    maintain::main()
}

#[test]
fn storage_of_ones_own() -> Result<()> {
    own_storage::main()
}

#[test]
fn reading() -> Result<()> {
    read_table::main()
}

#[test]
fn upserting_a_stream() -> Result<()> {
    upsert_stream::main()
}
