//! What a table is made of: its snapshots and files, and their compaction.

use clap::{Args, Subcommand};

use super::maintain::ExpireArgs;
use super::start::PictureArgs;

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
    /// Roll back to an older snapshot: later snapshots, changelogs and tags are deleted
    Rollback(RollbackArgs),
    /// Show what differs between two snapshots or tags, in rows or in files
    Diff(DiffArgs),
    /// Expire snapshots by number and age
    Expire(ExpireArgs),
    /// Start the history after a gap of missing snapshots
    RepairEarliest {
        /// Table as `db.table`
        table: String,
        /// First snapshot after the gap
        id: i64,
        #[command(flatten)]
        sure: Sure,
    },
}

#[derive(Debug, Args)]
pub(crate) struct RollbackArgs {
    /// Table as `db.table`
    pub(crate) table: String,
    #[command(flatten)]
    pub(crate) to: RollbackTarget,
    /// Delete nothing: commit a new snapshot with the old content
    #[arg(long)]
    pub(crate) as_latest: bool,
    /// Delete the files of the deleted snapshots too; no job may be writing to the table. Without it `linn orphan clean`
    /// deletes them later
    #[arg(long, conflicts_with = "as_latest")]
    pub(crate) clean: bool,
    #[command(flatten)]
    pub(crate) sure: Sure,
}

/// Where a rollback goes.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct RollbackTarget {
    /// To this snapshot
    #[arg(long, value_name = "ID")]
    pub(crate) snapshot: Option<i64>,
    /// To the snapshot of this tag
    #[arg(long, value_name = "NAME")]
    pub(crate) tag: Option<String>,
    /// To the newest snapshot of this time or before: `yyyy-MM-dd HH:mm:ss`, or milliseconds since the epoch
    #[arg(long, value_name = "TIME")]
    pub(crate) timestamp: Option<String>,
    /// To the newest snapshot with this watermark or an earlier one
    #[arg(long, value_name = "MILLIS")]
    pub(crate) watermark: Option<i64>,
}

/// Whether something that cannot be undone is done.
#[derive(Debug, Args)]
pub(crate) struct Sure {
    /// Only show what would be done
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not ask
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// Table as `db.table`
    pub(crate) table: String,
    /// What is compared: a snapshot's number, a tag (`NAME` or `tag:NAME`), or `latest`
    pub(crate) from: String,
    /// What it is compared with
    pub(crate) to: String,
    /// Compare data files instead of rows
    #[arg(long)]
    pub(crate) files: bool,
    /// Only count
    #[arg(long)]
    pub(crate) count: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TagCommand {
    /// List tags
    List {
        /// Table as `db.table`
        table: String,
    },
    /// Tag a snapshot
    Create {
        /// Table as `db.table`
        table: String,
        /// Name of the tag
        name: String,
        #[command(flatten)]
        of: TagTarget,
        /// How long the tag is kept, such as `30 d`
        #[arg(long, value_name = "TIME")]
        time_retained: Option<String>,
    },
    /// Delete a tag, with the files that nothing else needs
    Delete {
        /// Table as `db.table`
        table: String,
        /// Name of the tag
        name: String,
        #[command(flatten)]
        sure: Sure,
    },
    /// Rename a tag
    Rename {
        /// Table as `db.table`
        table: String,
        /// Name of the tag
        name: String,
        /// Its new name
        to: String,
    },
    /// Move a tag to another snapshot
    Replace {
        /// Table as `db.table`
        table: String,
        /// Name of the tag
        name: String,
        #[command(flatten)]
        of: TagTarget,
        /// How long the tag is kept, such as `30 d`
        #[arg(long, value_name = "TIME")]
        time_retained: Option<String>,
        #[command(flatten)]
        sure: Sure,
    },
    /// Delete expired tags
    Expire {
        /// Table as `db.table`
        table: String,
        /// Also tags created before, as `yyyy-MM-dd HH:mm:ss`
        #[arg(long, value_name = "TIME")]
        older_than: Option<String>,
        #[command(flatten)]
        sure: Sure,
    },
}

/// Which snapshot is tagged; the latest when not given.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub(crate) struct TagTarget {
    /// This snapshot
    #[arg(long, value_name = "ID")]
    pub(crate) snapshot: Option<i64>,
    /// The oldest snapshot of this time or later: `yyyy-MM-dd HH:mm:ss`, or milliseconds since the epoch
    #[arg(long, value_name = "TIME")]
    pub(crate) timestamp: Option<String>,
    /// The oldest snapshot whose watermark has reached this
    #[arg(long, value_name = "MILLIS")]
    pub(crate) watermark: Option<i64>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum BranchCommand {
    /// List branches
    List {
        /// Table as `db.table`
        table: String,
    },
    /// Create a branch: empty, or from a tag
    Create {
        /// Table as `db.table`
        table: String,
        /// Name of the branch
        name: String,
        /// Tag to start from
        #[arg(long, value_name = "NAME")]
        tag: Option<String>,
        /// Succeed when it exists
        #[arg(long)]
        if_not_exists: bool,
    },
    /// Delete a branch
    Delete {
        /// Table as `db.table`
        table: String,
        /// Name of the branch
        name: String,
        #[command(flatten)]
        sure: Sure,
    },
    /// Rename a branch
    Rename {
        /// Table as `db.table`
        table: String,
        /// Name of the branch
        name: String,
        /// Its new name
        to: String,
    },
    /// Merge a branch into the table, or into another branch. With a primary key, the rows that the branch changed since it was
    /// created are applied by key; without one, its new files are added, which needs both to have received only appends
    Merge {
        /// Table as `db.table`
        table: String,
        /// Name of the branch
        name: String,
        /// Branch that it is merged into
        #[arg(long, value_name = "NAME", default_value = "main")]
        into: String,
        /// Keep the rows of the table where both changed a key
        #[arg(long, conflicts_with = "theirs")]
        ours: bool,
        /// Take the rows of the branch where both changed a key
        #[arg(long)]
        theirs: bool,
        /// Show the conflicts, and how much would be done
        #[arg(long)]
        dry_run: bool,
    },
    /// Replace the table's history by that of a branch, from the branch's first snapshot on
    FastForward {
        /// Table as `db.table`
        table: String,
        /// Name of the branch
        name: String,
        #[command(flatten)]
        sure: Sure,
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
    /// Draw the state of a table: levels and runs of buckets with their key ranges, growth, sizes of files, keys
    Picture(PictureArgs),
    /// Remove data files that are missing from the table; their rows are lost
    Repair {
        /// Table as `db.table`
        table: String,
        #[command(flatten)]
        sure: Sure,
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
    /// Compact only what is due by the tables' options (the default)
    #[arg(long, conflicts_with = "full")]
    pub(crate) minor: bool,
    /// Keep compacting as new snapshots come, until interrupted
    #[arg(long)]
    pub(crate) watch: bool,
    /// Seconds between refreshes
    #[arg(long, value_name = "SECONDS", default_value_t = 5, requires = "watch")]
    pub(crate) interval: u64,
    /// Maximum number of buckets compacted at once; at most half the number of processors
    #[arg(long, value_name = "N")]
    pub(crate) parallelism: Option<usize>,
}
