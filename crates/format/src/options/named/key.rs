//! Buckets, merging, record order, changelogs, deletion vectors.

use crate::options::table::{bucket, changelog, compaction, index, key, lookup, partition};
use crate::options::{ChangelogProducer, MergeEngine, OptionDef, Options, SortOrder, Word};
use crate::{Error, Result};

impl Options {
    /// Number of buckets; −1 for dynamic or none, −2 for postponed.
    ///
    /// # Errors
    /// `Invalid` for text that is no number.
    pub fn bucket(&self) -> Result<i32> {
        self.require(&bucket::BUCKET)
    }

    /// The names in `bucket-key`; empty when not set.
    pub fn bucket_key(&self) -> Vec<&str> {
        self.list(&bucket::BUCKET_KEY)
    }

    /// `default`, `mod` or `hive`.
    ///
    /// # Errors
    /// `Invalid` for another word.
    pub fn bucket_function_word(&self) -> Result<&'static str> {
        self.require(&bucket::BUCKET_FUNCTION_TYPE)
    }

    /// How the records of one key become one row.
    ///
    /// # Errors
    /// `Invalid` for another word.
    pub fn merge_engine(&self) -> Result<MergeEngine> {
        self.word(&key::MERGE_ENGINE, MergeEngine::from_word)
    }

    /// Who writes changelog files.
    ///
    /// # Errors
    /// `Invalid` for another word.
    pub fn changelog_producer(&self) -> Result<ChangelogProducer> {
        self.word(&changelog::CHANGELOG_PRODUCER, ChangelogProducer::from_word)
    }

    /// Whether changelogs leave out updates that change nothing.
    ///
    /// # Errors
    /// `Invalid` for text that is no switch.
    pub fn row_deduplicate(&self) -> Result<bool> {
        self.is_on(&changelog::CHANGELOG_PRODUCER_ROW_DEDUPLICATE)
    }

    /// The columns whose changes alone are no update then; empty when not set.
    pub fn row_deduplicate_ignored(&self) -> Vec<&str> {
        self.list(&changelog::CHANGELOG_PRODUCER_ROW_DEDUPLICATE_IGNORE_FIELDS)
    }

    /// The trimmed names in `sequence.field`; empty when not set.
    pub fn sequence_fields(&self) -> Vec<&str> {
        self.list(&key::SEQUENCE_FIELD)
    }

    /// Direction of `sequence.field`.
    ///
    /// # Errors
    /// `Invalid` for another word.
    pub fn sequence_sort_order(&self) -> Result<SortOrder> {
        self.word(&key::SEQUENCE_FIELD_SORT_ORDER, SortOrder::from_word)
    }

    /// The column that holds the kind of each record.
    pub fn rowkind_field(&self) -> Option<&str> {
        self.text(&key::ROWKIND_FIELD)
    }

    /// Whether deletes (and update-befores) are dropped.
    ///
    /// # Errors
    /// `Invalid` for text that is no switch.
    pub fn ignore_delete(&self) -> Result<bool> {
        self.is_on(&key::IGNORE_DELETE)
    }

    /// Whether update-befores are dropped.
    ///
    /// # Errors
    /// `Invalid` for text that is no switch.
    pub fn ignore_update_before(&self) -> Result<bool> {
        self.is_on(&key::IGNORE_UPDATE_BEFORE)
    }

    /// Whether merging goes by the snapshot that committed a record.
    ///
    /// # Errors
    /// `Invalid` for text that is no switch.
    pub fn snapshot_ordering(&self) -> Result<bool> {
        self.is_on(&key::SEQUENCE_SNAPSHOT_ORDERING)
    }

    /// The aggregate function of a column, without the table's default.
    pub fn field_aggregate(&self, field: &str) -> Option<&str> {
        self.of_field(field, "aggregate-function")
    }

    /// The aggregate function of a column, its own or the table's default.
    pub fn aggregate_of(&self, field: &str) -> Option<&str> {
        self.field_aggregate(field).or_else(|| self.default_aggregate())
    }

    /// The aggregate function of columns without one of their own.
    pub fn default_aggregate(&self) -> Option<&str> {
        self.text(&key::FIELDS_DEFAULT_AGGREGATE_FUNCTION)
    }

    /// `fields.<a,b>.sequence-group` options as (ordering columns, protected columns), in key order.
    pub fn sequence_groups(&self) -> Vec<(Vec<&str>, Vec<&str>)> {
        let groups = self.iter().filter_map(|(key, value)| {
            let names = key.strip_prefix("fields.")?.strip_suffix(".sequence-group")?;
            Some((super::super::parse_list(names), super::super::parse_list(value)))
        });
        groups.collect()
    }

    /// Whether deletion vectors are on.
    ///
    /// # Errors
    /// `Invalid` for text that is no switch.
    pub fn deletion_vectors_enabled(&self) -> Result<bool> {
        self.is_on(&index::DELETION_VECTORS_ENABLED)
    }

    /// Whether deletion vectors are written in the 64-bit layout.
    ///
    /// # Errors
    /// `Invalid` for text that is no switch.
    pub fn deletion_vectors_bitmap64(&self) -> Result<bool> {
        self.is_on(&index::DELETION_VECTORS_BITMAP64)
    }

    /// Size at which index files of deletion vectors roll, bytes.
    ///
    /// # Errors
    /// `Invalid` for text that is no size.
    pub fn deletion_vector_file_size(&self) -> Result<u64> {
        self.require(&index::DELETION_VECTOR_INDEX_FILE_TARGET_SIZE)
    }

    /// Whether batch scans merge level 0 although deletion vectors are on.
    ///
    /// # Errors
    /// `Invalid` for text that is no switch.
    pub fn deletion_vectors_merge_on_read(&self) -> Result<bool> {
        self.is_on(&index::DELETION_VECTORS_MERGE_ON_READ)
    }

    /// Whether compaction of level 0 looks keys up in higher levels: lookup producer, deletion vectors, first-row, or forced.
    ///
    /// # Errors
    /// `Invalid` for a bad value of one of these.
    pub fn need_lookup(&self) -> Result<bool> {
        Ok(self.changelog_producer()? == ChangelogProducer::Lookup
            || self.merge_engine()? == MergeEngine::FirstRow
            || self.deletion_vectors_enabled()?
            || self.is_on(&compaction::FORCE_LOOKUP)?)
    }

    /// Whether a commit waits for the compactions that look up.
    ///
    /// # Errors
    /// `Invalid` for a bad value.
    pub fn wait_for_lookup(&self) -> Result<bool> {
        Ok(self.need_lookup()? && self.is_on(&lookup::LOOKUP_WAIT)?)
    }

    /// Directory name of a null or blank partition value.
    pub fn partition_default_name(&self) -> &str {
        self.text(&partition::PARTITION_DEFAULT_NAME).unwrap_or("__DEFAULT_PARTITION__")
    }

    /// Whether partition values are named as older versions did.
    ///
    /// # Errors
    /// `Invalid` for text that is no switch.
    pub fn legacy_partition_name(&self) -> Result<bool> {
        self.is_on(&partition::PARTITION_LEGACY_NAME)
    }

    /// Whether an overwrite replaces only the partitions it writes.
    ///
    /// # Errors
    /// `Invalid` for text that is no switch.
    pub fn dynamic_partition_overwrite(&self) -> Result<bool> {
        self.is_on(&partition::DYNAMIC_PARTITION_OVERWRITE)
    }

    pub(super) fn word<T>(&self, def: &OptionDef<Word>, from: impl Fn(&str) -> Option<T>) -> Result<T> {
        let word = self.require(def)?;
        from(word).ok_or_else(|| Error::internal(format!("option {:?} does not take {word:?}", def.key)))
    }
}
