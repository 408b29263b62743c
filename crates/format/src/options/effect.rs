//! What becomes of an option: acted on, refused, or only kept for those whom it concerns.
//!
//! Invariant: no option is ignored in silence. A test looks through the sources for the options that nothing reads; each of
//! these stands in one of the lists here.

use super::table::{blob, changelog, commit, compaction, file, general, index, key, lookup, partition, scan, write};
use super::{OptionDef, Options, option};
use crate::{Error, Result};

/// What Linn does about an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Effect {
    /// It is acted on.
    Works,
    /// Tables that set it are read, but neither made nor written: what is written would be wrong for others.
    Refused,
    /// It only says more about an option that is refused, or not acted on.
    Beside(&'static str),
    /// It is about another engine, or about how another one does what Linn does in its own way. No row depends on it.
    Foreign,
    /// It is kept, and what it asks for does not happen. No row depends on it.
    Inert,
}

/// What others count on in tables that set these: indexes beside the data, another order of files, other places,
/// keys of tables without a key, programs that are called.
const REFUSED: &[OptionDef] = &[
    blob::VECTOR_FIELD.untyped(),
    blob::VECTOR_FILE_FORMAT.untyped(),
    commit::COMMIT_CALLBACKS.untyped(),
    commit::MANIFEST_FORMAT.untyped(),
    commit::TAG_CALLBACKS.untyped(),
    commit::VISIBILITY_CALLBACK_ENABLED.untyped(),
    compaction::PK_CLUSTERING_OVERRIDE.untyped(),
    file::DATA_FILE_EXTERNAL_PATHS_STRATEGY.untyped(),
    general::CHAIN_TABLE_ENABLED.untyped(),
    general::QUERY_AUTH_ENABLED.untyped(),
    index::PK_BITMAP_INDEX_COLUMNS.untyped(),
    index::PK_BTREE_INDEX_COLUMNS.untyped(),
    index::PK_FULL_TEXT_INDEX_COLUMNS.untyped(),
    index::PK_MULTIVALUE_INDEX_COLUMNS.untyped(),
    index::PK_VECTOR_INDEX_COLUMNS.untyped(),
    key::UPSERT_KEY.untyped(),
];

/// Options beside the one they belong to.
const BESIDE: &[(OptionDef, &[OptionDef])] = &[
    (
        general::DATA_EVOLUTION_ENABLED.untyped(),
        &[
            blob::BLOB_COMPACTION_ENABLED.untyped(),
            blob::BLOB_DESCRIPTOR_SOURCE_TABLE.untyped(),
            blob::BLOB_FIELD.untyped(),
            blob::BLOB_VIEW_RESOLVE_ENABLED.untyped(),
            blob::BLOB_WRITE_NULL_ON_FETCH_FAILURE.untyped(),
            blob::BLOB_WRITE_NULL_ON_MISSING_FILE.untyped(),
            blob::BLOB_COPY_BUFFER_SIZE.untyped(),
            blob::BLOB_SPLIT_BY_FILE_SIZE.untyped(),
            blob::BLOB_TARGET_FILE_SIZE.untyped(),
            general::DATA_EVOLUTION_COMPACTION_REWRITE_ROW_IDS.untyped(),
            general::DATA_EVOLUTION_MERGE_INTO_FILE_PRUNING.untyped(),
            general::DATA_EVOLUTION_MERGE_INTO_SOURCE_PERSIST.untyped(),
            general::DATA_EVOLUTION_REASSIGN_SKIP_CONTIGUOUS_ROW_COUNT.untyped(),
            general::DATA_EVOLUTION_ROW_ID_CONFLICT_REWRITE_MAX_SIZE.untyped(),
            general::DATA_EVOLUTION_ROW_SIDECAR_ENABLED.untyped(),
            general::DATA_EVOLUTION_ROW_SIDECAR_MAX_SELECTED_ROWS.untyped(),
            general::DATA_EVOLUTION_ROW_SIDECAR_MAX_SELECTION_RATIO.untyped(),
            index::FULL_TEXT_INDEX_SEARCH_MODE.untyped(),
            index::GLOBAL_INDEX_BUILD_MAX_PARALLELISM.untyped(),
            index::GLOBAL_INDEX_BUILD_MAX_SHARD.untyped(),
            index::GLOBAL_INDEX_COLUMN_UPDATE_ACTION.untyped(),
            index::GLOBAL_INDEX_ENABLED.untyped(),
            index::GLOBAL_INDEX_EXTERNAL_PATH.untyped(),
            index::GLOBAL_INDEX_ROW_COUNT_PER_SHARD.untyped(),
            index::GLOBAL_INDEX_SEARCH_MODE.untyped(),
            index::GLOBAL_INDEX_THREAD_NUM.untyped(),
            index::SCALAR_INDEX_SEARCH_MODE.untyped(),
            index::VECTOR_INDEX_SEARCH_MODE.untyped(),
            index::VECTOR_SEARCH_DISTRIBUTE_ENABLED.untyped(),
            index::VECTOR_SEARCH_LATERAL_JOIN_BATCH_SIZE.untyped(),
        ],
    ),
    (general::ROW_TRACKING_ENABLED.untyped(), &[general::ROW_TRACKING_PARTITION_GROUP_ON_COMMIT.untyped()]),
    (blob::VECTOR_FIELD.untyped(), &[blob::VECTOR_TARGET_FILE_SIZE.untyped()]),
    (
        general::CHAIN_TABLE_ENABLED.untyped(),
        &[
            general::CHAIN_TABLE_CHAIN_PARTITION_KEYS.untyped(),
            general::CHAIN_TABLE_SPLIT_KEY_RANGE_ENABLED.untyped(),
            general::CHAIN_TABLE_STREAMING_MERGE_SNAPSHOT.untyped(),
            scan::SCAN_FALLBACK_DELTA_BRANCH.untyped(),
            scan::SCAN_FALLBACK_SNAPSHOT_BRANCH.untyped(),
        ],
    ),
    (
        compaction::CLUSTERING_INCREMENTAL.untyped(),
        &[
            compaction::CLUSTERING_COLUMNS.untyped(),
            compaction::CLUSTERING_HISTORY_PARTITION_IDLE_TO_FULL_SORT.untyped(),
            compaction::CLUSTERING_HISTORY_PARTITION_LIMIT.untyped(),
            compaction::CLUSTERING_INCREMENTAL_MODE.untyped(),
            compaction::CLUSTERING_INCREMENTAL_OPTIMIZE_WRITE.untyped(),
            compaction::CLUSTERING_STRATEGY.untyped(),
        ],
    ),
    (
        file::DATA_FILE_EXTERNAL_PATHS_STRATEGY.untyped(),
        &[
            file::DATA_FILE_EXTERNAL_PATHS.untyped(),
            file::DATA_FILE_EXTERNAL_PATHS_SPECIFIC_FS.untyped(),
            file::DATA_FILE_EXTERNAL_PATHS_WEIGHTS.untyped(),
        ],
    ),
    (
        general::TYPE.untyped(),
        &[
            file::FORMAT_TABLE_COMMIT_HIVE_SYNC_URL.untyped(),
            file::FORMAT_TABLE_FILE_COMPRESSION.untyped(),
            file::FORMAT_TABLE_IMPLEMENTATION.untyped(),
            file::FORMAT_TABLE_PARTITION_PATH_ONLY_VALUE.untyped(),
            file::FORMAT_TABLE_SCAN_LIST_PARALLELISM.untyped(),
            general::MATERIALIZED_TABLE_DEFINITION_QUERY.untyped(),
            general::MATERIALIZED_TABLE_INTERVAL_FRESHNESS.untyped(),
            general::MATERIALIZED_TABLE_INTERVAL_FRESHNESS_TIME_UNIT.untyped(),
            general::MATERIALIZED_TABLE_LOGICAL_REFRESH_MODE.untyped(),
            general::MATERIALIZED_TABLE_REFRESH_HANDLER_BYTES.untyped(),
            general::MATERIALIZED_TABLE_REFRESH_HANDLER_DESCRIPTION.untyped(),
            general::MATERIALIZED_TABLE_REFRESH_MODE.untyped(),
            general::MATERIALIZED_TABLE_REFRESH_STATUS.untyped(),
        ],
    ),
    (commit::COMMIT_CALLBACKS.untyped(), &[commit::COMMIT_CALLBACK_PARAM.untyped()]),
    (commit::TAG_CALLBACKS.untyped(), &[commit::TAG_CALLBACK_PARAM.untyped()]),
    (
        commit::VISIBILITY_CALLBACK_ENABLED.untyped(),
        &[commit::VISIBILITY_CALLBACK_CHECK_INTERVAL.untyped(), commit::VISIBILITY_CALLBACK_TIMEOUT.untyped()],
    ),
    (
        commit::MANIFEST_SORT_ENABLED.untyped(),
        &[commit::MANIFEST_SORT_MAX_REWRITE_SIZE.untyped(), commit::MANIFEST_SORT_PARTITION_FIELD.untyped()],
    ),
    (
        blob::VARIANT_SHREDDING_SCHEMA.untyped(),
        &[
            blob::VARIANT_INFER_SHREDDING_SCHEMA.untyped(),
            blob::VARIANT_SHREDDING_ADAPTIVE_MAX_INFER_BUFFER_ROW.untyped(),
            blob::VARIANT_SHREDDING_ADAPTIVE_RETENTION_RATIO.untyped(),
            blob::VARIANT_SHREDDING_INFERENCE_MODE.untyped(),
            blob::VARIANT_SHREDDING_MAX_INFER_BUFFER_ROW.untyped(),
            blob::VARIANT_SHREDDING_MAX_SCHEMA_DEPTH.untyped(),
            blob::VARIANT_SHREDDING_MAX_SCHEMA_WIDTH.untyped(),
            blob::VARIANT_SHREDDING_MIN_FIELD_CARDINALITY_RATIO.untyped(),
        ],
    ),
];

/// Schedulers, metastores and sinks of other engines; buffers, caches and threads of the reference; what is always so here
/// (DELETE writes its deletes, rows are merged before they go to another process, sorted runs are merged by a tree of losers).
const FOREIGN: &[OptionDef] = &[
    changelog::DELETE_FORCE_PRODUCE_CHANGELOG.untyped(),
    commit::MANIFEST_MERGE_OPTIMIZE_ENABLED.untyped(),
    compaction::COMPACTION_FILE_NUM_LIMIT.untyped(),
    compaction::SORT_COMPACTION_LOCAL_SAMPLE_MAGNIFICATION.untyped(),
    compaction::SORT_COMPACTION_RANGE_STRATEGY.untyped(),
    compaction::ZORDER_VAR_LENGTH_CONTRIBUTION.untyped(),
    file::ASYNC_FILE_WRITE.untyped(),
    file::FILE_READER_ASYNC_THRESHOLD.untyped(),
    file::PAGE_SIZE.untyped(),
    file::WRITE_BATCH_MEMORY.untyped(),
    file::WRITE_BATCH_SIZE.untyped(),
    general::AUTO_CREATE.untyped(),
    key::KEY_VALUE_SEQUENCE_NUMBER_ENABLED.untyped(),
    key::LOCAL_MERGE_BUFFER_SIZE.untyped(),
    lookup::LOCAL_KV_DB_BLOCK_SIZE.untyped(),
    lookup::LOOKUP_CACHE_HIGH_PRIORITY_POOL_RATIO.untyped(),
    lookup::LOOKUP_HASH_LOAD_FACTOR.untyped(),
    lookup::LOOKUP_MERGE_BUFFER_SIZE.untyped(),
    lookup::LOOKUP_MERGE_RECORDS_THRESHOLD.untyped(),
    partition::METASTORE_PARTITIONED_TABLE.untyped(),
    partition::METASTORE_TAG_TO_PARTITION.untyped(),
    partition::METASTORE_TAG_TO_PARTITION_PREVIEW.untyped(),
    partition::PARTITION_IDLE_TIME_TO_REPORT_STATISTIC.untyped(),
    partition::PARTITION_SINK_STRATEGY.untyped(),
    scan::BATCH_SCAN_MODE.untyped(),
    scan::SCAN_MANIFEST_PARALLELISM.untyped(),
    scan::SCAN_MAX_SPLITS_PER_TASK.untyped(),
    scan::STREAM_SCAN_MODE.untyped(),
    write::SORT_ENGINE.untyped(),
    write::WRITE_BUFFER_FOR_APPEND.untyped(),
];

/// Layouts that only make reading faster, joins, and marks.
const INERT: &[OptionDef] = &[
    blob::VARIANT_SHREDDING_SCHEMA.untyped(),
    commit::MANIFEST_SORT_ENABLED.untyped(),
    lookup::LOOKUP_BLOB_AS_DESCRIPTOR.untyped(),
    lookup::LOOKUP_CACHE_ROWS.untyped(),
    lookup::LOOKUP_CONTINUOUS_DISCOVERY_INTERVAL.untyped(),
    partition::PARTITION_END_INPUT_TO_DONE.untyped(),
    partition::PARTITION_MARK_DONE_ACTION_CUSTOM_CLASS.untyped(),
    partition::PARTITION_TIMESTAMP_FORMAT_STRICT.untyped(),
    scan::SCAN_FALLBACK_BRANCH_READ_FAIL_FAST.untyped(),
    scan::SCAN_PLAN_SORT_PARTITION.untyped(),
];

impl OptionDef {
    /// What Linn does about the option.
    pub fn effect(&self) -> Effect {
        let within = |list: &[OptionDef]| list.iter().any(|def| def.key == self.key);
        let beside = BESIDE.iter().find(|(_, list)| within(list));
        match beside {
            Some((main, _)) => Effect::Beside(main.key),
            None if within(REFUSED) => Effect::Refused,
            None if within(FOREIGN) => Effect::Foreign,
            None if within(INERT) => Effect::Inert,
            None => Effect::Works,
        }
    }
}

impl Options {
    /// Refuses options whose tables cannot be written.
    ///
    /// # Errors
    /// `Unsupported` naming the option.
    pub fn check_writable(&self) -> Result<()> {
        REFUSED.iter().try_for_each(|def| self.check_accepted(def.key))
    }

    /// Refuses an option, under this key or an older one, whose tables cannot be written. The value that it has anyway
    /// does no harm.
    pub(crate) fn check_accepted(&self, key: &str) -> Result<()> {
        let Some(def) = option(key).filter(|def| def.effect() == Effect::Refused) else { return Ok(()) };
        let Some(text) = self.text_set(def).map(str::trim) else { return Ok(()) };
        let harmless = def.default.unwrap_or(if def.kind == super::OptionKind::Bool { "false" } else { "" });
        if text.eq_ignore_ascii_case(harmless) {
            return Ok(());
        }
        Err(Error::unsupported(format!("writing tables with option {:?} = {text:?}", def.key))
            .with_hint(format!("remove {:?} from the table, or write it with another engine", def.key)))
    }
}

#[cfg(test)]
mod tests;
