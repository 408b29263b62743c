//! Changes of tables, and who follows them.

use clap::{Args, Subcommand, ValueEnum};

use super::history::Sure;

#[derive(Debug, Args)]
pub(crate) struct TailArgs {
    /// Table as `db.table`
    pub(crate) table: String,
    /// Where to start: `latest` (new changes), `full` (all rows, then new changes), `earliest` (all changes that are kept), a
    /// snapshot such as `5` (its changes and later ones), `tag:NAME` (changes after it), or a time
    /// such as `2024-06-01 12:00:00`, or `time:MILLIS`. Without: `latest`, with --no-follow `earliest`
    #[arg(long, value_name = "WHERE")]
    pub(crate) from: Option<String>,
    /// Wait for more at the end (the default)
    #[arg(long, short = 'f')]
    pub(crate) follow: bool,
    /// Stop at the latest snapshot
    #[arg(long, conflicts_with = "follow")]
    pub(crate) no_follow: bool,
    /// Continue where this consumer stopped, and record its progress once rows are printed; snapshots that it has not read do
    /// not expire. --from is where a new consumer starts
    #[arg(long, value_name = "ID")]
    pub(crate) consumer: Option<String>,
    /// Columns to print, all by default
    #[arg(long, short = 's', value_delimiter = ',', value_name = "COLUMNS")]
    pub(crate) select: Vec<String>,
    /// Condition in SQL. Where a table has no old rows, an update to a row that does not match is printed as `-D`
    #[arg(long = "where", value_name = "SQL")]
    pub(crate) filter: Option<String>,
    /// Print at most this many changes
    #[arg(long, short = 'n')]
    pub(crate) limit: Option<usize>,
    /// Columns with the commit of each change: `snapshot` (`_SNAPSHOT_ID`), `commit-time` (`_COMMIT_TIME`)
    #[arg(long, value_delimiter = ',', value_name = "COLUMNS")]
    pub(crate) with: Vec<With>,
    /// Table option for this read
    #[arg(long = "option", short = 'O', value_name = "KEY=VALUE")]
    pub(crate) options: Vec<String>,
}

/// What a change tells of its commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum With {
    /// Its snapshot.
    Snapshot,
    /// When it was made.
    CommitTime,
}

impl With {
    /// The table option that shows it.
    pub(crate) fn option(self) -> &'static str {
        match self {
            Self::Snapshot => "linn.read.snapshot-id",
            Self::CommitTime => "linn.read.commit-time",
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConsumerCommand {
    /// List the consumers of a table
    List {
        /// Table as `db.table`
        table: String,
    },
    /// Set the snapshot that a consumer reads next; creates the consumer when it does not exist
    Reset {
        /// Table as `db.table`
        table: String,
        /// Consumer
        id: String,
        /// Snapshot to read next
        #[arg(long, value_name = "ID")]
        next_snapshot: i64,
        #[command(flatten)]
        sure: Sure,
    },
    /// Delete consumers; snapshots that they have not read may expire
    Delete {
        /// Table as `db.table`
        table: String,
        /// Consumers
        #[arg(required = true)]
        ids: Vec<String>,
        #[command(flatten)]
        sure: Sure,
    },
    /// Delete consumers that have made no progress for a time
    Expire {
        /// Table as `db.table`
        table: String,
        /// Time without progress, such as `7 d`; the option consumer.expiration-time when not given
        #[arg(long, value_name = "TIME")]
        idle: Option<String>,
        #[command(flatten)]
        sure: Sure,
    },
}
