//! The command tree: every command, flag and default in one place; help and completions come from it.

mod follow;
mod history;
mod maintain;
mod rows;
mod start;
mod table;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::output::Decimals;
pub(crate) use crate::output::OutputFormat;

pub(crate) use follow::{ConsumerCommand, TailArgs};
pub(crate) use history::{
    BranchCommand, CompactArgs, CompactCommand, CompactRunArgs, DiffArgs, FilesCommand, RollbackArgs, RollbackTarget,
    SnapshotCommand, Sure, TagCommand, TagTarget,
};
pub(crate) use maintain::{ChangelogCommand, CheckArgs, ExpireArgs, ManifestCommand, OrphanCommand, PartitionCommand};
#[cfg(test)]
pub(crate) use rows::AsOf;
pub(crate) use rows::{DeleteArgs, ExportArgs, FileKind, ImportArgs, InputArgs, ReadArgs};
pub(crate) use start::{ErrorCommand, GetArgs, InitArgs, PictureArgs, TopArgs};
pub(crate) use table::{AlterArgs, CreateArgs, TableCommand};

/// Linn: streaming lakehouse tables without a JVM.
///
/// Results go to standard output, everything else to standard error.
/// Exit codes: 0 success, 1 internal, 2 invalid, 3 not found, 4 already exists, 5 unsupported, 6 conflict,
/// 7 unavailable, 8 unknown outcome, 9 corrupt, 130 interrupted.
#[derive(Debug, Parser)]
#[command(name = "linn", version, propagate_version = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Flags that every command takes.
#[derive(Debug, Clone, Args)]
pub(crate) struct Global {
    /// Warehouse: a folder, `file:/…`, `s3://bucket/prefix` or `memory:`
    #[arg(long, short = 'w', global = true, env = "LINN_WAREHOUSE", value_name = "URI")]
    pub(crate) warehouse: Option<String>,
    /// Configuration file with catalog options (YAML); default ./linn.yaml, then ~/.config/linn/config.yaml
    #[arg(long, global = true, env = "LINN_CONFIG", value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// A catalog option; may be given several times and wins over file and environment
    #[arg(long = "set", short = 'S', global = true, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Format of results
    #[arg(long, short = 'o', global = true, value_enum, default_value = "table")]
    pub(crate) output: OutputFormat,
    /// Rows of a table shown on a terminal; 0 shows all
    #[arg(long, global = true, value_name = "N")]
    pub(crate) max_rows: Option<usize>,
    /// Do not show long results in a pager (set LINN_PAGER or PAGER to choose one)
    #[arg(long, global = true)]
    pub(crate) no_pager: bool,
    /// Decimals in JSON: numbers with all their digits, or strings
    #[arg(long, global = true, value_enum, default_value_t, value_name = "FORM")]
    pub(crate) decimal_as: Decimals,
    /// No progress bars
    #[arg(long, global = true)]
    pub(crate) no_progress: bool,
    /// No colors; NO_COLOR=1 does the same
    #[arg(long, global = true)]
    pub(crate) no_color: bool,
    /// No messages on standard error but warnings and errors
    #[arg(long, short = 'q', global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// More messages on standard error (-v, -vv)
    #[arg(short = 'v', long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run SQL: interactively, from an argument or from a file
    Sql(SqlArgs),
    /// Set up a folder: a commented configuration file and a first table
    Init(InitArgs),
    /// Read rows by their primary keys
    Get(GetArgs),
    /// Databases
    #[command(subcommand)]
    Db(DbCommand),
    /// Tables and their rows
    #[command(subcommand)]
    Table(TableCommand),
    /// Snapshots of a table
    #[command(subcommand)]
    Snapshot(SnapshotCommand),
    /// Tags of a table: names that keep snapshots
    #[command(subcommand)]
    Tag(TagCommand),
    /// Branches of a table: other histories over the same files
    #[command(subcommand)]
    Branch(BranchCommand),
    /// Consumers: readers of changes that record their progress
    #[command(subcommand)]
    Consumer(ConsumerCommand),
    /// Data files of a table
    #[command(subcommand)]
    Files(FilesCommand),
    /// Compaction
    #[command(subcommand)]
    Compact(CompactCommand),
    /// Changelogs that outlive their snapshots
    #[command(subcommand)]
    Changelog(ChangelogCommand),
    /// Partitions of a table
    #[command(subcommand)]
    Partition(PartitionCommand),
    /// Manifests of a table
    #[command(subcommand)]
    Manifest(ManifestCommand),
    /// Files that nothing refers to
    #[command(subcommand)]
    Orphan(OrphanCommand),
    /// Check the integrity of tables, and suggest repairs
    Check(CheckArgs),
    /// Watch tables: commits, rates, runs per bucket, compactions due, lag of consumers
    Top(TopArgs),
    /// Test whether the warehouse's store can hold tables
    Doctor,
    /// Table options and what they mean
    #[command(subcommand)]
    Option(OptionCommand),
    /// Codes of errors: cause and cure
    #[command(subcommand)]
    Error(ErrorCommand),
    /// Effective configuration
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Write the man pages into a folder
    #[command(hide = true)]
    Man {
        /// Folder; created when it does not exist
        folder: PathBuf,
    },
    /// Shell completions on standard output
    Completions {
        /// Shell
        shell: clap_complete::Shell,
    },
}

#[derive(Debug, Args)]
pub(crate) struct SqlArgs {
    /// Run these statements and exit
    #[arg(short = 'c', long, value_name = "SQL", conflicts_with = "file")]
    pub(crate) command: Option<String>,
    /// Run the statements of a file (`-` for standard input) and exit
    #[arg(short = 'f', long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Database for unqualified table names
    #[arg(short = 'd', long, value_name = "DB", default_value = "default")]
    pub(crate) database: String,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DbCommand {
    /// List databases
    List,
    /// Create a database
    Create {
        /// Name
        name: String,
        /// Succeed when it exists
        #[arg(long)]
        if_not_exists: bool,
    },
    /// Drop a database
    Drop {
        /// Name
        name: String,
        /// Drop its tables too
        #[arg(long)]
        cascade: bool,
        /// Succeed when it does not exist
        #[arg(long)]
        if_exists: bool,
        #[command(flatten)]
        sure: Sure,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum OptionCommand {
    /// List table options
    List {
        /// Only keys that contain this
        pattern: Option<String>,
    },
    /// Explain one option
    Explain {
        /// Key
        key: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Show every setting and where it comes from
    Show,
}

#[cfg(test)]
mod tests;
