//! The formats of results.

use clap::ValueEnum;

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
    /// Tab-separated values with a header.
    Tsv,
    /// A Markdown table.
    Markdown,
    /// Each row as a list of its columns.
    Vertical,
    /// An Arrow IPC stream.
    Arrow,
    /// A Parquet file.
    Parquet,
    /// One Debezium change event a line; of changes only.
    Debezium,
}
