//! What a manifest says of a data file (spec: format.md C.5).

use bytes::Bytes;

use crate::row::BinaryRow;
use crate::stats::SimpleStats;
use crate::{Error, Result, SchemaId};

/// Who wrote a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum FileSource {
    /// A writer, from new rows.
    Append = 0,
    /// A compaction, from other files.
    Compact = 1,
}

impl FileSource {
    /// The source of a `_FILE_SOURCE` number.
    ///
    /// # Errors
    /// `Corrupt` for any number but 0 and 1.
    pub(crate) fn from_number(number: i64) -> Result<Self> {
        match number {
            0 => Ok(Self::Append),
            1 => Ok(Self::Compact),
            other => Err(Error::corrupt(format!("file source {other} is not 0 or 1"))),
        }
    }
}

/// The metadata of one data file, all fields of the newest format; those that older files lack are `Option`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataFileMeta {
    /// Name within the bucket directory.
    pub file_name: String,
    /// Size in bytes.
    pub file_size: i64,
    /// Records, additions and deletions together.
    pub row_count: i64,
    /// Smallest trimmed primary key; arity 0 for append tables.
    pub min_key: BinaryRow,
    /// Largest trimmed primary key.
    pub max_key: BinaryRow,
    /// Statistics of the trimmed primary key columns.
    pub key_stats: SimpleStats,
    /// Statistics of the value columns, those in `value_stats_cols` or all.
    pub value_stats: SimpleStats,
    /// Smallest sequence number.
    pub min_sequence_number: i64,
    /// Largest sequence number.
    pub max_sequence_number: i64,
    /// Schema the file was written with.
    pub schema_id: SchemaId,
    /// Level in the merge tree; 0 for append tables.
    pub level: i32,
    /// Files that belong to this one (indexes, lookup files), in the same directory.
    pub extra_files: Vec<String>,
    /// Milliseconds of the writer's local wall clock when the file was made, read as if UTC.
    pub creation_time: Option<i64>,
    /// Retractions among the records.
    pub delete_row_count: Option<i64>,
    /// A small file index.
    pub embedded_index: Option<Bytes>,
    /// Who wrote it.
    pub file_source: Option<FileSource>,
    /// Columns of `value_stats`; `None` means all, empty means none.
    pub value_stats_cols: Option<Vec<String>>,
    /// Full path when the file is not under the table.
    pub external_path: Option<String>,
    /// Row id of the first row.
    pub first_row_id: Option<i64>,
    /// Columns the file holds; `None` means all.
    pub write_cols: Option<Vec<String>>,
    /// Sequence numbers of `write_cols`.
    pub write_cols_sequences: Option<Vec<i64>>,
}
