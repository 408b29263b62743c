//! Manifest lists, manifests, index manifests: Avro files with the reference's schemas (spec: format.md C.4).
//!
//! Every file is read by the schema written in it, fields by name; what is written has the reference's newest schema.

mod avro;
mod entry;
mod index;
mod list;
mod records;

pub use avro::Codec;
pub use entry::{
    EntryBatch, FileIdentity, FileName, ManifestWriter, StatsColumns, read_manifest, read_manifest_columns,
    write_manifest,
};
pub use index::{read_index_manifest, write_index_manifest};
pub use list::{read_manifest_list, write_manifest_list};

use crate::file::DataFileMeta;
use crate::row::BinaryRow;
use crate::stats::SimpleStats;
use crate::{Error, Result, SchemaId};

/// Whether an entry adds or removes a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum FileKind {
    /// The file belongs to the table from now on.
    Add = 0,
    /// The file does not belong to the table any more.
    Delete = 1,
}

impl FileKind {
    /// The kind of a `_KIND` number.
    ///
    /// # Errors
    /// `Corrupt` for any number but 0 and 1.
    pub(crate) fn from_number(number: i64) -> Result<Self> {
        match number {
            0 => Ok(Self::Add),
            1 => Ok(Self::Delete),
            other => Err(Error::corrupt(format!("file kind {other} is not 0 or 1"))),
        }
    }
}

/// A line of a manifest list: one manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManifestMeta {
    /// Name in the `manifest` folder.
    pub file_name: String,
    /// Size in bytes.
    pub file_size: i64,
    /// Entries that add.
    pub num_added_files: i64,
    /// Entries that delete.
    pub num_deleted_files: i64,
    /// Statistics of the entries' partitions.
    pub partition_stats: SimpleStats,
    /// Schema at the time of writing.
    pub schema_id: SchemaId,
    /// Smallest bucket.
    pub min_bucket: Option<i32>,
    /// Largest bucket.
    pub max_bucket: Option<i32>,
    /// Smallest level.
    pub min_level: Option<i32>,
    /// Largest level.
    pub max_level: Option<i32>,
    /// Smallest row id.
    pub min_row_id: Option<i64>,
    /// Largest row id.
    pub max_row_id: Option<i64>,
}

/// A line of a manifest: one file added or removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManifestEntry {
    /// Add or delete.
    pub kind: FileKind,
    /// Partition of the file; arity 0 for unpartitioned tables.
    pub partition: BinaryRow,
    /// Bucket of the file.
    pub bucket: i32,
    /// Bucket count of the partition when the file was written.
    pub total_buckets: i32,
    /// The file.
    pub file: DataFileMeta,
}

/// Index type of a hash index of dynamic buckets.
pub const HASH_INDEX: &str = "HASH";
/// Index type of deletion vectors.
pub const DELETION_VECTORS_INDEX: &str = "DELETION_VECTORS";

/// Where one data file's deletion vector lies in an index file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeletionVectorMeta {
    /// Data file the vector belongs to.
    pub data_file: String,
    /// Offset of the vector's size field in the index file.
    pub offset: i32,
    /// Length as stored (see format.md C.11 for what it covers).
    pub length: i32,
    /// Deleted rows, when known.
    pub cardinality: Option<i64>,
}

/// Row range and column of a global index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GlobalIndexMeta {
    /// First row id.
    pub row_range_start: i64,
    /// Last row id.
    pub row_range_end: i64,
    /// Indexed field.
    pub index_field_id: i32,
    /// Further indexed fields.
    pub extra_field_ids: Option<Vec<i32>>,
    /// Opaque to Linn.
    pub index_meta: Option<bytes::Bytes>,
    /// Opaque to Linn.
    pub source_meta: Option<bytes::Bytes>,
}

/// A line of an index manifest: one index file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexManifestEntry {
    /// Add or delete.
    pub kind: FileKind,
    /// Partition.
    pub partition: BinaryRow,
    /// Bucket.
    pub bucket: i32,
    /// [`HASH_INDEX`], [`DELETION_VECTORS_INDEX`] or another type that is kept as it is.
    pub index_type: String,
    /// Name in the `index` folder.
    pub file_name: String,
    /// Size in bytes.
    pub file_size: i64,
    /// Rows; what it counts depends on the type.
    pub row_count: i64,
    /// Deletion vectors in the file, in file order.
    pub deletion_vectors: Option<Vec<DeletionVectorMeta>>,
    /// Full path when the file is not under the table.
    pub external_path: Option<String>,
    /// Global index.
    pub global_index: Option<GlobalIndexMeta>,
}

#[cfg(test)]
mod tests;
