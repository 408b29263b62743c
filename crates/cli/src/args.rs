//! The command tree: every command, flag and default in one place; help, completions and the reference come from it.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// How results are written to standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// Aligned columns for people.
    Table,
    /// One JSON array.
    Json,
    /// One JSON object a line.
    Ndjson,
    /// Comma-separated values with a header.
    Csv,
    /// A Markdown table.
    Markdown,
    /// An Arrow IPC stream.
    Arrow,
}

/// Linn: streaming lakehouse tables without a JVM.
///
/// Results go to standard output, everything else to standard error.
/// Exit codes: 0 done, 1 internal, 2 invalid, 3 not found, 4 already exists, 5 unsupported, 6 conflict,
/// 7 unavailable, 8 unknown outcome, 9 corrupt.
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
    /// No progress bars
    #[arg(long, global = true)]
    pub(crate) no_progress: bool,
    /// More messages on standard error (-v, -vv)
    #[arg(short = 'v', long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run SQL: interactively, from an argument or from a file
    Sql(SqlArgs),
    /// Databases
    #[command(subcommand)]
    Db(DbCommand),
    /// Tables and their rows
    #[command(subcommand)]
    Table(TableCommand),
    /// Snapshots of a table
    #[command(subcommand)]
    Snapshot(SnapshotCommand),
    /// Data files of a table
    #[command(subcommand)]
    Files(FilesCommand),
    /// Compaction
    #[command(subcommand)]
    Compact(CompactCommand),
    /// Table options and what they mean
    #[command(subcommand)]
    Option(OptionCommand),
    /// Configuration as Linn sees it
    #[command(subcommand)]
    Config(ConfigCommand),
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
    /// Database that unqualified names are in
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
    },
}

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
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
    /// Read rows
    Read(ReadArgs),
    /// Import CSV, JSON lines, Parquet or Arrow IPC into a table, creating it when asked
    Import(ImportArgs),
    /// Export rows to a file
    Export(ExportArgs),
    /// Insert or update rows of a primary-key table from a file
    Upsert(ImportArgs),
    /// Delete the rows whose keys a file lists, or those that match a condition
    Delete(DeleteArgs),
    /// Show how a read would be planned: pruned manifests, files, splits
    Explain(ReadArgs),
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

#[derive(Debug, Args)]
pub(crate) struct ReadArgs {
    /// Table as `db.table`
    pub(crate) table: String,
    /// Columns to read, all by default
    #[arg(long, short = 's', value_delimiter = ',', value_name = "COLUMNS")]
    pub(crate) select: Vec<String>,
    /// Condition in SQL
    #[arg(long = "where", value_name = "SQL")]
    pub(crate) filter: Option<String>,
    /// Rows at the most
    #[arg(long, short = 'n')]
    pub(crate) limit: Option<usize>,
    /// Snapshot id
    #[arg(long, conflicts_with_all = ["tag", "timestamp"])]
    pub(crate) snapshot: Option<i64>,
    /// Tag
    #[arg(long, conflicts_with = "timestamp")]
    pub(crate) tag: Option<String>,
    /// Time, as milliseconds since the epoch or `yyyy-MM-dd HH:mm:ss`
    #[arg(long)]
    pub(crate) timestamp: Option<String>,
    /// Table option for this read
    #[arg(long = "option", short = 'O', value_name = "KEY=VALUE")]
    pub(crate) options: Vec<String>,
}

/// Format of files to import and export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FileKind {
    /// Comma-separated values.
    Csv,
    /// One JSON object a line.
    Ndjson,
    /// Parquet.
    Parquet,
    /// Arrow IPC, file or stream.
    Arrow,
}

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// Table as `db.table`
    pub(crate) table: String,
    /// Files (`-` for standard input); `.gz` and `.zst` are unpacked
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Format; by the file's ending when not given
    #[arg(long, value_enum)]
    pub(crate) format: Option<FileKind>,
    /// Create the table from the inferred schema, which is shown first
    #[arg(long)]
    pub(crate) create: bool,
    /// Primary key of a table to be created
    #[arg(long, value_delimiter = ',', value_name = "COLUMNS", requires = "create")]
    pub(crate) primary_key: Vec<String>,
    /// Partition columns of a table to be created
    #[arg(long, value_delimiter = ',', value_name = "COLUMNS", requires = "create")]
    pub(crate) partition_by: Vec<String>,
    /// Option of a table to be created
    #[arg(long = "option", short = 'O', value_name = "KEY=VALUE")]
    pub(crate) options: Vec<String>,
    /// Text that stands for null in CSV
    #[arg(long, default_value = "")]
    pub(crate) null: String,
    /// Field delimiter of CSV
    #[arg(long, default_value = ",")]
    pub(crate) delimiter: char,
    /// The CSV file has no header; columns come in table order
    #[arg(long)]
    pub(crate) no_header: bool,
    /// What to do with rows that do not fit: `fail`, or `skip:FILE` to write them aside
    #[arg(long, default_value = "fail", value_name = "fail|skip:FILE")]
    pub(crate) on_error: String,
    /// Replace what is there: the whole table, or the partitions in the data
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// Only show the inferred schema
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Rows in a commit; 0 commits once at the end
    #[arg(long, default_value_t = 0)]
    pub(crate) commit_rows: u64,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    /// File to write (`-` for standard output)
    #[arg(long, short = 'f')]
    pub(crate) file: PathBuf,
    /// Format; by the file's ending when not given
    #[arg(long, value_enum)]
    pub(crate) format: Option<FileKind>,
}

#[derive(Debug, Args)]
pub(crate) struct DeleteArgs {
    /// Table as `db.table`
    pub(crate) table: String,
    /// File with the keys of the rows to delete
    #[arg(required_unless_present = "filter", conflicts_with = "filter")]
    pub(crate) file: Option<PathBuf>,
    /// Condition in SQL
    #[arg(long = "where", value_name = "SQL")]
    pub(crate) filter: Option<String>,
    /// Format of the file; by its ending when not given
    #[arg(long, value_enum)]
    pub(crate) format: Option<FileKind>,
}

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
