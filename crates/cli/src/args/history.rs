//! What a table is made of: its snapshots and files, and their compaction.

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub(crate) enum SnapshotCommand {
    /// List snapshots, newest last
    List {
        /// Table as `db.table`
        table: String,
    },
    /// Show one snapshot as it is stored
    Show {
        /// Table as `db.table`
        table: String,
        /// Snapshot id; the latest when not given
        id: Option<i64>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum FilesCommand {
    /// List the data files of the latest snapshot
    List {
        /// Table as `db.table`
        table: String,
        /// Snapshot id
        #[arg(long)]
        snapshot: Option<i64>,
    },
    /// Draw partitions, buckets and levels with their files
    Tree {
        /// Table as `db.table`
        table: String,
        /// Snapshot id
        #[arg(long)]
        snapshot: Option<i64>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum CompactCommand {
    /// Show what a compaction would do
    Plan(CompactArgs),
    /// Compact
    Run(CompactArgs),
}

#[derive(Debug, Args)]
pub(crate) struct CompactArgs {
    /// Table as `db.table`
    pub(crate) table: String,
    /// Partition as `key=value,key=value`; may be given several times
    #[arg(long, value_name = "SPEC")]
    pub(crate) partition: Vec<String>,
    /// Merge everything into the top level
    #[arg(long)]
    pub(crate) full: bool,
}
