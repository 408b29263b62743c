//! `linn table`: tables, their columns and options.

use clap::{Args, Subcommand};

use super::follow::TailArgs;
use super::history::{DiffArgs, Sure};
use super::rows::{DeleteArgs, ExportArgs, ImportArgs, ReadArgs};

#[derive(Debug, Subcommand)]
pub(crate) enum TableCommand {
    /// List the tables of a database
    List {
        /// Database
        #[arg(default_value = "default")]
        database: String,
    },
    /// Show a table's columns, keys, options and latest snapshot
    Show {
        /// Table as `db.table`
        table: String,
        /// Print the schema as JSON as it is stored
        #[arg(long)]
        schema_json: bool,
    },
    /// Create a table
    Create(CreateArgs),
    /// Change options or columns of a table
    Alter(AlterArgs),
    /// Drop a table with its files
    Drop {
        /// Table as `db.table`
        table: String,
        /// Succeed when it does not exist
        #[arg(long)]
        if_exists: bool,
        #[command(flatten)]
        sure: Sure,
    },
    /// Remove all rows, tags, branches, consumers and the whole history; the table and its schema stay
    Purge {
        /// Table as `db.table`
        table: String,
        #[command(flatten)]
        sure: Sure,
    },
    /// Read rows
    Read(ReadArgs),
    /// Print changes as they come, until interrupted
    Tail(TailArgs),
    /// Import CSV, JSON, Parquet, ORC, Avro or Arrow IPC files into a table; --create creates it
    Import(ImportArgs),
    /// Export rows to a file
    Export(ExportArgs),
    /// Insert or update rows of a primary-key table from a file
    Upsert(ImportArgs),
    /// Delete the rows whose keys a file lists, or those that match a condition
    Delete(DeleteArgs),
    /// Show how a read would be planned: pruned manifests, files, splits
    Explain(ReadArgs),
    /// Show what differs between two snapshots or tags, in rows or in files
    Diff(DiffArgs),
    /// Compute statistics of a table and its columns, for query planners
    Analyze {
        /// Table as `db.table`
        table: String,
        /// Columns to analyze
        #[arg(long, value_delimiter = ',', value_name = "COLUMNS", conflicts_with = "all_columns")]
        columns: Vec<String>,
        /// Analyze all columns
        #[arg(long)]
        all_columns: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct CreateArgs {
    /// Table as `db.table`
    pub(crate) table: String,
    /// Column as `name TYPE [NOT NULL]`; may be given several times
    #[arg(long = "column", short = 'C', value_name = "NAME TYPE", required = true)]
    pub(crate) columns: Vec<String>,
    /// Primary key columns
    #[arg(long, value_delimiter = ',', value_name = "COLUMNS")]
    pub(crate) primary_key: Vec<String>,
    /// Partition columns
    #[arg(long, value_delimiter = ',', value_name = "COLUMNS")]
    pub(crate) partition_by: Vec<String>,
    /// Table option; may be given several times
    #[arg(long = "option", short = 'O', value_name = "KEY=VALUE")]
    pub(crate) options: Vec<String>,
    /// Comment
    #[arg(long)]
    pub(crate) comment: Option<String>,
    /// Succeed when it exists
    #[arg(long)]
    pub(crate) if_not_exists: bool,
}

#[derive(Debug, Args)]
pub(crate) struct AlterArgs {
    /// Table as `db.table`
    pub(crate) table: String,
    /// Set a table option
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set_option: Vec<String>,
    /// Remove a table option
    #[arg(long, value_name = "KEY")]
    pub(crate) remove_option: Vec<String>,
    /// Add a column as `name TYPE`
    #[arg(long, value_name = "NAME TYPE")]
    pub(crate) add_column: Vec<String>,
    /// Drop a column
    #[arg(long, value_name = "NAME")]
    pub(crate) drop_column: Vec<String>,
    /// Rename a column as `old=new`
    #[arg(long, value_name = "OLD=NEW")]
    pub(crate) rename_column: Vec<String>,
    /// Change a column's type as `name TYPE`
    #[arg(long, value_name = "NAME TYPE")]
    pub(crate) change_type: Vec<String>,
    /// Rename the table
    #[arg(long, value_name = "DB.TABLE")]
    pub(crate) rename_to: Option<String>,
}
