//! Where the files of a table lie (spec: format.md C.1). All paths are relative to the store's root.

use linn_format::manifest::IndexManifestEntry;
use linn_format::options::table::index::INDEX_FILE_IN_DATA_FILE_DIR;
use linn_format::partition::{partition_name, partition_path};
use linn_format::row::BinaryRow;
use linn_format::schema::Bucketing;
use linn_format::{Error, Result};

use super::Table;

impl Table {
    /// Where the branch keeps its schemas, snapshots, tags, changelogs and consumers. Data, manifests, indexes and
    /// statistics of all branches lie together below [`Table::path`].
    pub fn branch_path(&self) -> String {
        match self.branch() {
            Some(branch) => format!("{}/branch/branch-{branch}", self.path()),
            None => self.path().to_owned(),
        }
    }

    /// Folder of the snapshots.
    pub fn snapshot_dir(&self) -> String {
        format!("{}/snapshot", self.branch_path())
    }

    /// Folder of the changelogs that outlive their snapshots.
    pub fn changelog_dir(&self) -> String {
        format!("{}/changelog", self.branch_path())
    }

    /// Folder of the schemas.
    pub fn schema_dir(&self) -> String {
        format!("{}/schema", self.branch_path())
    }

    /// Folder of the tags.
    pub fn tag_dir(&self) -> String {
        format!("{}/tag", self.branch_path())
    }

    /// Folder of the consumers' positions.
    pub fn consumer_dir(&self) -> String {
        format!("{}/consumer", self.branch_path())
    }

    /// A manifest, manifest list or index manifest.
    pub fn manifest_path(&self, name: &str) -> String {
        format!("{}/manifest/{name}", self.path())
    }

    /// An index file outside of a bucket.
    pub fn index_path(&self, name: &str) -> String {
        format!("{}/index/{name}", self.path())
    }

    /// The file of a line of an index manifest.
    ///
    /// # Errors
    /// `Unsupported` for a file outside of the table, `Corrupt` when the partition is not one of the table's.
    pub fn index_file_path(&self, line: &IndexManifestEntry) -> Result<String> {
        if let Some(path) = &line.external_path {
            return Err(Error::unsupported("index files outside of the table").with("path", path));
        }
        match self.options().is_on(&INDEX_FILE_IN_DATA_FILE_DIR)? {
            true => Ok(format!("{}/{}", self.bucket_path(&line.partition, line.bucket)?, line.file_name)),
            false => Ok(self.index_path(&line.file_name)),
        }
    }

    /// A statistics file.
    pub fn statistics_path(&self, name: &str) -> String {
        format!("{}/statistics/{name}", self.path())
    }

    /// Folder that the partitions lie in, without a trailing slash.
    pub fn data_root(&self) -> String {
        match self.options().data_file_directory().map(|folder| folder.trim_matches('/')) {
            Some(folder) if !folder.is_empty() => format!("{}/{folder}", self.path()),
            _ => self.path().to_owned(),
        }
    }

    /// Folder of a bucket's data files, without a trailing slash.
    ///
    /// # Errors
    /// `Corrupt` when the row is not one of the partition columns.
    pub fn bucket_path(&self, partition: &BinaryRow, bucket: i32) -> Result<String> {
        let mut path = self.data_root();
        if !self.schema().partition_keys.is_empty() {
            path = format!("{path}/{}", self.partition_folders(partition)?);
        }
        Ok(match bucket {
            Bucketing::POSTPONED => format!("{path}/bucket-postpone"),
            other => format!("{path}/bucket-{other}"),
        })
    }

    /// The name of a partition, such as `day=2026-01-31/hour=5`: as commands and statements take it, and its own, also where several
    /// partitions share a folder.
    ///
    /// # Errors
    /// `Corrupt` when the row is not one of the partition columns.
    pub fn partition_name(&self, partition: &BinaryRow) -> Result<String> {
        partition_name(partition, &self.schema().partition_fields(), self.options().partition_default_name())
    }

    /// The folders of a partition as the table's options spell them, such as `day=2026-01-31/hour=5`.
    ///
    /// # Errors
    /// `Corrupt` when the row is not one of the partition columns.
    pub(crate) fn partition_folders(&self, partition: &BinaryRow) -> Result<String> {
        let options = self.options();
        let (legacy, default) = (options.legacy_partition_name()?, options.partition_default_name());
        let names = partition_path(partition, &self.schema().partition_fields(), legacy, default)?;
        Ok(names.trim_end_matches('/').to_owned())
    }
}
