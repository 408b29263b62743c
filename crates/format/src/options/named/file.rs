//! Data files: format, compression, size, statistics; write buffers.

use crate::Result;
use crate::options::Options;
use crate::options::table::{changelog, file, write};

/// Bytes in a mebibyte.
const MIB: u64 = 1 << 20;

impl Options {
    /// Format of data files, in lower case.
    pub fn file_format(&self) -> String {
        self.text(&file::FILE_FORMAT).unwrap_or("parquet").to_lowercase()
    }

    /// Format of data files of a level, in lower case.
    ///
    /// # Errors
    /// `Invalid` for a list of another form than `level:format`.
    pub fn file_format_of_level(&self, level: i32) -> Result<String> {
        let found = self.per_level(&file::FILE_FORMAT_PER_LEVEL, level)?.map(str::to_lowercase);
        Ok(found.unwrap_or_else(|| self.file_format()))
    }

    /// Format of changelog files, in lower case: their own, else the data files'.
    pub fn changelog_file_format(&self) -> String {
        self.text(&changelog::CHANGELOG_FILE_FORMAT).map_or_else(|| self.file_format(), str::to_lowercase)
    }

    /// Compression of data files.
    pub fn file_compression(&self) -> &str {
        self.text(&file::FILE_COMPRESSION).unwrap_or("zstd")
    }

    /// Compression of data files of a level.
    ///
    /// # Errors
    /// `Invalid` for a list of another form than `level:codec`.
    pub fn file_compression_of_level(&self, level: i32) -> Result<&str> {
        Ok(self.per_level(&file::FILE_COMPRESSION_PER_LEVEL, level)?.unwrap_or_else(|| self.file_compression()))
    }

    /// Compression of changelog files: their own, else the data files'.
    pub fn changelog_file_compression(&self) -> &str {
        self.text(&changelog::CHANGELOG_FILE_COMPRESSION).unwrap_or_else(|| self.file_compression())
    }

    /// Level of zstd in data files.
    ///
    /// # Errors
    /// `Invalid` for text that is no number.
    pub fn zstd_level(&self) -> Result<i32> {
        self.require(&file::FILE_COMPRESSION_ZSTD_LEVEL)
    }

    /// Whether file names tell the compression.
    ///
    /// # Errors
    /// `Invalid` for text that is no switch.
    pub fn suffix_includes_compression(&self) -> Result<bool> {
        self.is_on(&file::FILE_SUFFIX_INCLUDE_COMPRESSION)
    }

    /// Bytes of a row group or stripe, where set.
    ///
    /// # Errors
    /// `Invalid` for text that is no size.
    pub fn file_block_size(&self) -> Result<Option<u64>> {
        self.get(&file::FILE_BLOCK_SIZE)
    }

    /// Size at which a data file rolls; by default 128 MiB with a primary key, 256 MiB without.
    ///
    /// # Errors
    /// `Invalid` for text that is no size.
    pub fn target_file_size(&self, has_primary_key: bool) -> Result<u64> {
        let default = if has_primary_key { 128 * MIB } else { 256 * MIB };
        Ok(self.get(&file::TARGET_FILE_SIZE)?.unwrap_or(default))
    }

    /// Rows at which a data file rolls.
    ///
    /// # Errors
    /// `Invalid` for text that is no number.
    pub fn target_file_rows(&self) -> Result<i64> {
        self.require(&file::TARGET_FILE_ROW_NUM)
    }

    /// Name prefix of data files.
    pub fn data_file_prefix(&self) -> &str {
        self.text(&file::DATA_FILE_PREFIX).unwrap_or("data-")
    }

    /// Name prefix of changelog files.
    pub fn changelog_file_prefix(&self) -> &str {
        self.text(&changelog::CHANGELOG_FILE_PREFIX).unwrap_or("changelog-")
    }

    /// Directory between the table and its partitions, where set.
    pub fn data_file_directory(&self) -> Option<&str> {
        self.text(&file::DATA_FILE_PATH_DIRECTORY)
    }

    /// Whether data files leave out the `_KEY_` columns.
    ///
    /// # Errors
    /// `Invalid` for text that is no switch.
    pub fn thin_mode(&self) -> Result<bool> {
        self.is_on(&file::DATA_FILE_THIN_MODE)
    }

    /// Statistics mode of a column in files of a level, as text: the column's own, the level's, the table's.
    ///
    /// # Errors
    /// `Invalid` for a list of another form than `level:mode`.
    pub fn stats_mode_word(&self, field: &str, level: i32) -> Result<&str> {
        if let Some(mode) = self.of_field(field, "stats-mode") {
            return Ok(mode);
        }
        let level = self.per_level(&file::METADATA_STATS_MODE_PER_LEVEL, level)?;
        Ok(level.or_else(|| self.text(&file::METADATA_STATS_MODE)).unwrap_or("truncate(16)"))
    }

    /// How many columns from the front keep statistics; −1 for all.
    ///
    /// # Errors
    /// `Invalid` for text that is no number.
    pub fn stats_first_columns(&self) -> Result<i32> {
        self.require(&file::METADATA_STATS_KEEP_FIRST_N_COLUMNS)
    }

    /// Whether statistics are stored for the columns that have some only.
    ///
    /// # Errors
    /// `Invalid` for text that is no switch.
    pub fn stats_dense_store(&self) -> Result<bool> {
        self.is_on(&file::METADATA_STATS_DENSE_STORE)
    }

    /// Rows of a batch when reading.
    ///
    /// # Errors
    /// `Invalid` for text that is no positive number.
    pub fn read_batch_size(&self) -> Result<usize> {
        self.positive(&file::READ_BATCH_SIZE)
    }

    /// Rows of a batch when writing.
    ///
    /// # Errors
    /// `Invalid` for text that is no positive number.
    pub fn write_batch_size(&self) -> Result<usize> {
        self.positive(&file::WRITE_BATCH_SIZE)
    }

    /// Bytes that a writer buffers before it flushes.
    ///
    /// # Errors
    /// `Invalid` for text that is no size.
    pub fn write_buffer_size(&self) -> Result<u64> {
        self.require(&write::WRITE_BUFFER_SIZE)
    }

    /// Whether a full write buffer may spill to disk.
    ///
    /// # Errors
    /// `Invalid` for text that is no switch.
    pub fn write_buffer_spillable(&self) -> Result<bool> {
        self.is_on(&write::WRITE_BUFFER_SPILLABLE)
    }

    /// The options of a file format, such as `parquet.enable.dictionary` for `parquet`, with their whole keys.
    pub fn of_format<'a>(&'a self, format: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.iter().filter(move |(key, _)| key.strip_prefix(format).is_some_and(|rest| rest.starts_with('.')))
    }
}
