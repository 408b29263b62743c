//! Other implementations and Linn on the same tables. Runs with `cargo xtask interop`; without the peers it skips.

mod bucket_turns;
mod buckets;
mod changelog_files;
mod changelogs;
mod definitions;
mod deletion_vectors;
mod differential;
mod differential_types;
mod evolution;
mod expiry;
mod file_indexes;
mod fixtures_expire;
mod follow;
mod histories;
mod linn;
mod linn_writes;
mod peers_read_fixtures;
mod peers_write;
mod reads;
mod system_tables;
mod turns;
mod types;
mod wide;
