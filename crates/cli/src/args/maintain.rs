//! Maintenance: expiry, cleaning, repair, checks.

use clap::{Args, Subcommand};

use super::history::Sure;

/// How much history is kept; the table's options apply where a flag is not given.
#[derive(Debug, Args)]
pub(crate) struct ExpireArgs {
    /// Table as `db.table`
    pub(crate) table: String,
    /// Keep at most N, whatever their age
    #[arg(long, value_name = "N")]
    pub(crate) retain_max: Option<i64>,
    /// Keep at least N
    #[arg(long, value_name = "N")]
    pub(crate) retain_min: Option<i64>,
    /// Expire only those older than this: `yyyy-MM-dd HH:mm:ss`, or milliseconds since the epoch
    #[arg(long, value_name = "TIME")]
    pub(crate) older_than: Option<String>,
    /// Expire at most N
    #[arg(long, value_name = "N")]
    pub(crate) max_deletes: Option<i64>,
    #[command(flatten)]
    pub(crate) sure: Sure,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ChangelogCommand {
    /// List the changelogs that outlive their snapshots
    List {
        /// Table as `db.table`
        table: String,
    },
    /// Expire changelogs by number and age
    Expire {
        #[command(flatten)]
        expire: ExpireArgs,
        /// Expire all of them
        #[arg(long, conflicts_with_all = ["retain_max", "retain_min", "older_than", "max_deletes"])]
        all: bool,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum PartitionCommand {
    /// List partitions with their files and rows
    List {
        /// Table as `db.table`
        table: String,
    },
    /// Drop partitions
    Drop {
        /// Table as `db.table`
        table: String,
        /// Partition as `key=value,key=value`, some or all keys
        #[arg(required = true, value_name = "SPEC")]
        partitions: Vec<String>,
        #[command(flatten)]
        sure: Sure,
    },
    /// Drop expired partitions
    Expire {
        /// Table as `db.table`
        table: String,
        /// Age, such as `7 d`; the option partition.expiration-time when not given
        #[arg(long, value_name = "AGE")]
        expiration_time: Option<String>,
        /// Another option for this run, such as `partition.expiration-strategy=update-time`
        #[arg(long = "option", short = 'O', value_name = "KEY=VALUE")]
        options: Vec<String>,
        #[command(flatten)]
        sure: Sure,
    },
    /// Mark partitions as done
    MarkDone {
        /// Table as `db.table`
        table: String,
        /// Partition as `key=value,key=value`, all keys
        #[arg(required_unless_present = "idle", conflicts_with = "idle", value_name = "SPEC")]
        partitions: Vec<String>,
        /// All partitions whose time is over, that have received no data for this long and are not marked yet
        #[arg(long, value_name = "TIME", requires = "time_interval")]
        idle: Option<String>,
        /// Length of a partition's time, which starts at the time in its values, such as `1 d`
        #[arg(long, value_name = "TIME", requires = "idle")]
        time_interval: Option<String>,
        /// Only show which partitions would be marked
        #[arg(long, requires = "idle")]
        dry_run: bool,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum OrphanCommand {
    /// Delete the files of tables that nothing refers to
    Clean {
        /// Tables as `db.table`, databases as `db`, or patterns such as `db.*`
        #[arg(required = true, value_name = "TABLE")]
        targets: Vec<String>,
        /// Only files older than this: `yyyy-MM-dd HH:mm:ss`, or milliseconds since the epoch; a day ago when not given
        #[arg(long, value_name = "TIME")]
        older_than: Option<String>,
        #[command(flatten)]
        sure: Sure,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum ManifestCommand {
    /// Merge all manifests of a table
    Compact {
        /// Table as `db.table`
        table: String,
        /// Only show what would be merged
        #[arg(long)]
        dry_run: bool,
    },
    /// Remove manifests that are missing from the table; the rows of their files are lost
    Repair {
        /// Table as `db.table`
        table: String,
        #[command(flatten)]
        sure: Sure,
    },
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Tables as `db.table`, databases as `db`, or patterns such as `db.*`
    #[arg(required = true, value_name = "TABLE")]
    pub(crate) targets: Vec<String>,
    /// Also read the rows of the latest snapshot and its deletion vectors
    #[arg(long)]
    pub(crate) deep: bool,
}
