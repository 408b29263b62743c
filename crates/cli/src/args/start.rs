//! Beginning, and looking things up: `linn init`, `get`, `man`, `error`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::rows::AsOf;

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Folder to set up; created when it does not exist
    #[arg(default_value = ".")]
    pub(crate) folder: PathBuf,
    /// Name of the first table
    #[arg(long, default_value = "default.events", value_name = "DB.TABLE")]
    pub(crate) table: String,
    /// Only write the configuration file
    #[arg(long)]
    pub(crate) no_table: bool,
}

#[derive(Debug, Args)]
pub(crate) struct GetArgs {
    /// Table as `db.table`
    pub(crate) table: String,
    /// Primary keys, one row each: the value, or for a key of several columns `value,value` in the order of the key, or
    /// `column=value,column=value`. Put a value with a comma in double quotes
    #[arg(required = true, value_name = "KEY", allow_negative_numbers = true)]
    pub(crate) keys: Vec<String>,
    /// Columns to read, all by default
    #[arg(long, short = 's', value_delimiter = ',', value_name = "COLUMNS")]
    pub(crate) select: Vec<String>,
    #[command(flatten)]
    pub(crate) at: AsOf,
}

#[derive(Debug, Args)]
pub(crate) struct TopArgs {
    /// Tables as `db.table`, databases as `db`, or patterns such as `db.*`; all tables when not given
    #[arg(value_name = "TABLE")]
    pub(crate) targets: Vec<String>,
    /// Print the state once and exit
    #[arg(long)]
    pub(crate) once: bool,
    /// Seconds between refreshes
    #[arg(long, value_name = "SECONDS", default_value_t = 2, conflicts_with = "once")]
    pub(crate) interval: u64,
    /// Maximum number of buckets, consumers and commits to show
    #[arg(long, short = 'n', value_name = "N", default_value_t = 8)]
    pub(crate) limit: usize,
}

#[derive(Debug, Args)]
pub(crate) struct PictureArgs {
    /// Table as `db.table`
    pub(crate) table: String,
    /// Snapshot id
    #[arg(long)]
    pub(crate) snapshot: Option<i64>,
    /// Only this bucket
    #[arg(long, value_name = "N")]
    pub(crate) bucket: Option<i32>,
    /// Only partitions whose names start with this text, as `linn partition list` shows them
    #[arg(long, value_name = "PREFIX")]
    pub(crate) partition: Option<String>,
    /// Maximum number of buckets to draw, those with the most runs first
    #[arg(long, short = 'n', value_name = "N", default_value_t = 8)]
    pub(crate) limit: usize,
    /// Write the pictures to an HTML file
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ErrorCommand {
    /// List the codes of all errors
    List,
    /// Explain the code of an error: its cause, and what to do
    Explain {
        /// Code, such as LINN-301 or 301
        code: String,
    },
}
