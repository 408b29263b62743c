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
    /// Compact tables, once or as they change
    Run(CompactRunArgs),
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

#[derive(Debug, Args)]
pub(crate) struct CompactRunArgs {
    /// Tables as `db.table`, databases as `db`, or patterns such as `db.*` and `*.orders_?`
    #[arg(required = true, value_name = "TABLE")]
    pub(crate) targets: Vec<String>,
    /// Partition as `key=value,key=value`; may be given several times
    #[arg(long, value_name = "SPEC")]
    pub(crate) partition: Vec<String>,
    /// Merge everything into the top level
    #[arg(long)]
    pub(crate) full: bool,
    /// Do only what the tables' options say is due (the default)
    #[arg(long, conflicts_with = "full")]
    pub(crate) minor: bool,
    /// Go on as new snapshots come, until interrupted
    #[arg(long)]
    pub(crate) watch: bool,
    /// Seconds between looks at the tables
    #[arg(long, value_name = "SECONDS", default_value_t = 5, requires = "watch")]
    pub(crate) interval: u64,
    /// Most buckets at once; never more than half of the processors
    #[arg(long, value_name = "N")]
    pub(crate) parallelism: Option<usize>,
}
