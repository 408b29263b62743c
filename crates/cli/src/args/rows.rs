//! Rows of tables: what is read, imported, exported and deleted.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// As of when a table is read; as it is now when nothing is given.
#[derive(Debug, Default, Args)]
pub(crate) struct AsOf {
    /// Snapshot id
    #[arg(long, conflicts_with_all = ["tag", "timestamp"])]
    pub(crate) snapshot: Option<i64>,
    /// Tag
    #[arg(long, conflicts_with = "timestamp")]
    pub(crate) tag: Option<String>,
    /// Time, as milliseconds since the epoch or `yyyy-MM-dd HH:mm:ss`
    #[arg(long)]
    pub(crate) timestamp: Option<String>,
}

impl AsOf {
    /// The option of the table that says so.
    pub(crate) fn option(&self) -> Option<(&'static str, String)> {
        match (self.snapshot, &self.tag, &self.timestamp) {
            (Some(id), ..) => Some(("scan.snapshot-id", id.to_string())),
            (None, Some(tag), _) => Some(("scan.tag-name", tag.clone())),
            (None, None, Some(time)) => {
                let millis = time.bytes().all(|b| b.is_ascii_digit());
                Some((if millis { "scan.timestamp-millis" } else { "scan.timestamp" }, time.clone()))
            }
            (None, None, None) => None,
        }
    }
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
    /// Read at most this many rows
    #[arg(long, short = 'n')]
    pub(crate) limit: Option<usize>,
    #[command(flatten)]
    pub(crate) at: AsOf,
    /// Table option for this read
    #[arg(long = "option", short = 'O', value_name = "KEY=VALUE")]
    pub(crate) options: Vec<String>,
}

/// Format of files to import and export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FileKind {
    /// Comma-separated values.
    Csv,
    /// Tab-separated values.
    Tsv,
    /// One JSON object a line; objects over several lines, an array of them and GeoJSON are read too.
    #[value(alias = "json")]
    Ndjson,
    /// Parquet.
    Parquet,
    /// ORC.
    Orc,
    /// Avro object container files.
    Avro,
    /// Arrow IPC, file or stream.
    Arrow,
}

impl FileKind {
    /// Whether values have types of their own.
    pub(crate) fn is_columnar(self) -> bool {
        matches!(self, Self::Parquet | Self::Orc | Self::Avro | Self::Arrow)
    }
}

/// How files of rows are read.
#[derive(Debug, Args)]
pub(crate) struct InputArgs {
    /// Format; determined from the file extension by default
    #[arg(long, value_enum)]
    pub(crate) format: Option<FileKind>,
    /// Text that represents null in CSV, empty by default; a quoted field is never null
    #[arg(long, default_value = "", value_name = "TEXT")]
    pub(crate) null: String,
    /// Field delimiter of CSV, a comma when not given (a tab in TSV)
    #[arg(long, value_name = "CHAR")]
    pub(crate) delimiter: Option<char>,
    /// The CSV file has no header; columns come in table order
    #[arg(long)]
    pub(crate) no_header: bool,
    /// What to do with rows that do not fit: `fail`, or `skip:FILE` to write them to FILE and continue
    #[arg(long, default_value = "fail", value_name = "fail|skip:FILE")]
    pub(crate) on_error: String,
}

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// Table as `db.table`
    pub(crate) table: String,
    /// Files (`-` for standard input); `.gz` and `.zst` are unpacked
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// Ignore columns of the files that the table does not have
    #[arg(long)]
    pub(crate) ignore_unknown: bool,
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
    /// Overwrite the whole table, or the partitions that occur in the data
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// Only show the inferred schema
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Rows per commit; 0 commits once at the end
    #[arg(long, default_value_t = 0, value_name = "ROWS")]
    pub(crate) commit_rows: u64,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    /// File to write (`-` for standard output)
    #[arg(long, short = 'f')]
    pub(crate) file: PathBuf,
    /// Format; determined from the file extension by default
    #[arg(long, value_enum)]
    pub(crate) format: Option<FileKind>,
    /// Text that represents null in CSV, empty by default; values that read the same are quoted
    #[arg(long, default_value = "", value_name = "TEXT")]
    pub(crate) null: String,
}

#[derive(Debug, Args)]
pub(crate) struct DeleteArgs {
    /// Table as `db.table`
    pub(crate) table: String,
    /// File with the keys of the rows to delete (`-` for standard input); other columns do not matter
    #[arg(required_unless_present = "filter", conflicts_with = "filter")]
    pub(crate) file: Option<PathBuf>,
    /// Condition in SQL
    #[arg(long = "where", value_name = "SQL")]
    pub(crate) filter: Option<String>,
    /// Only count the rows that would be deleted
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) input: InputArgs,
}
