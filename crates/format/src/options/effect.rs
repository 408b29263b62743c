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
    blob::VECTOR_FIELD,
    blob::VECTOR_FILE_FORMAT,
    commit::COMMIT_CALLBACKS,
    commit::MANIFEST_FORMAT,
    commit::TAG_CALLBACKS,
    commit::VISIBILITY_CALLBACK_ENABLED,
    compaction::PK_CLUSTERING_OVERRIDE,
    file::DATA_FILE_EXTERNAL_PATHS_STRATEGY,
    general::CHAIN_TABLE_ENABLED,
    general::QUERY_AUTH_ENABLED,
    index::PK_BITMAP_INDEX_COLUMNS,
    index::PK_BTREE_INDEX_COLUMNS,
    index::PK_FULL_TEXT_INDEX_COLUMNS,
    index::PK_MULTIVALUE_INDEX_COLUMNS,
    index::PK_VECTOR_INDEX_COLUMNS,
    key::UPSERT_KEY,
];

/// Options beside the one they belong to.
const BESIDE: &[(OptionDef, &[OptionDef])] = &[
    (
        general::DATA_EVOLUTION_ENABLED,
        &[
            blob::BLOB_COMPACTION_ENABLED,
            blob::BLOB_DESCRIPTOR_SOURCE_TABLE,
            blob::BLOB_FIELD,
            blob::BLOB_VIEW_RESOLVE_ENABLED,
            blob::BLOB_WRITE_NULL_ON_FETCH_FAILURE,
            blob::BLOB_WRITE_NULL_ON_MISSING_FILE,
            blob::BLOB_COPY_BUFFER_SIZE,
            blob::BLOB_SPLIT_BY_FILE_SIZE,
            blob::BLOB_TARGET_FILE_SIZE,
            general::DATA_EVOLUTION_COMPACTION_REWRITE_ROW_IDS,
            general::DATA_EVOLUTION_MERGE_INTO_FILE_PRUNING,
            general::DATA_EVOLUTION_MERGE_INTO_SOURCE_PERSIST,
            general::DATA_EVOLUTION_REASSIGN_SKIP_CONTIGUOUS_ROW_COUNT,
            general::DATA_EVOLUTION_ROW_ID_CONFLICT_REWRITE_MAX_SIZE,
            general::DATA_EVOLUTION_ROW_SIDECAR_ENABLED,
            general::DATA_EVOLUTION_ROW_SIDECAR_MAX_SELECTED_ROWS,
            general::DATA_EVOLUTION_ROW_SIDECAR_MAX_SELECTION_RATIO,
            index::FULL_TEXT_INDEX_SEARCH_MODE,
            index::GLOBAL_INDEX_BUILD_MAX_PARALLELISM,
            index::GLOBAL_INDEX_BUILD_MAX_SHARD,
            index::GLOBAL_INDEX_COLUMN_UPDATE_ACTION,
            index::GLOBAL_INDEX_ENABLED,
            index::GLOBAL_INDEX_EXTERNAL_PATH,
            index::GLOBAL_INDEX_ROW_COUNT_PER_SHARD,
            index::GLOBAL_INDEX_SEARCH_MODE,
            index::GLOBAL_INDEX_THREAD_NUM,
            index::SCALAR_INDEX_SEARCH_MODE,
            index::VECTOR_INDEX_SEARCH_MODE,
            index::VECTOR_SEARCH_DISTRIBUTE_ENABLED,
            index::VECTOR_SEARCH_LATERAL_JOIN_BATCH_SIZE,
        ],
    ),
    (general::ROW_TRACKING_ENABLED, &[general::ROW_TRACKING_PARTITION_GROUP_ON_COMMIT]),
    (blob::VECTOR_FIELD, &[blob::VECTOR_TARGET_FILE_SIZE]),
    (
        general::CHAIN_TABLE_ENABLED,
        &[
            general::CHAIN_TABLE_CHAIN_PARTITION_KEYS,
            general::CHAIN_TABLE_SPLIT_KEY_RANGE_ENABLED,
            general::CHAIN_TABLE_STREAMING_MERGE_SNAPSHOT,
            scan::SCAN_FALLBACK_DELTA_BRANCH,
            scan::SCAN_FALLBACK_SNAPSHOT_BRANCH,
        ],
    ),
    (
        compaction::CLUSTERING_INCREMENTAL,
        &[
            compaction::CLUSTERING_COLUMNS,
            compaction::CLUSTERING_HISTORY_PARTITION_IDLE_TO_FULL_SORT,
            compaction::CLUSTERING_HISTORY_PARTITION_LIMIT,
            compaction::CLUSTERING_INCREMENTAL_MODE,
            compaction::CLUSTERING_INCREMENTAL_OPTIMIZE_WRITE,
            compaction::CLUSTERING_STRATEGY,
        ],
    ),
    (
        file::DATA_FILE_EXTERNAL_PATHS_STRATEGY,
        &[
            file::DATA_FILE_EXTERNAL_PATHS,
            file::DATA_FILE_EXTERNAL_PATHS_SPECIFIC_FS,
            file::DATA_FILE_EXTERNAL_PATHS_WEIGHTS,
        ],
    ),
    (
        general::TYPE,
        &[
            file::FORMAT_TABLE_COMMIT_HIVE_SYNC_URL,
            file::FORMAT_TABLE_FILE_COMPRESSION,
            file::FORMAT_TABLE_IMPLEMENTATION,
            file::FORMAT_TABLE_PARTITION_PATH_ONLY_VALUE,
            file::FORMAT_TABLE_SCAN_LIST_PARALLELISM,
            general::MATERIALIZED_TABLE_DEFINITION_QUERY,
            general::MATERIALIZED_TABLE_INTERVAL_FRESHNESS,
            general::MATERIALIZED_TABLE_INTERVAL_FRESHNESS_TIME_UNIT,
            general::MATERIALIZED_TABLE_LOGICAL_REFRESH_MODE,
            general::MATERIALIZED_TABLE_REFRESH_HANDLER_BYTES,
            general::MATERIALIZED_TABLE_REFRESH_HANDLER_DESCRIPTION,
            general::MATERIALIZED_TABLE_REFRESH_MODE,
            general::MATERIALIZED_TABLE_REFRESH_STATUS,
        ],
    ),
    (commit::COMMIT_CALLBACKS, &[commit::COMMIT_CALLBACK_PARAM]),
    (commit::TAG_CALLBACKS, &[commit::TAG_CALLBACK_PARAM]),
    (
        commit::VISIBILITY_CALLBACK_ENABLED,
        &[commit::VISIBILITY_CALLBACK_CHECK_INTERVAL, commit::VISIBILITY_CALLBACK_TIMEOUT],
    ),
    (commit::MANIFEST_SORT_ENABLED, &[commit::MANIFEST_SORT_MAX_REWRITE_SIZE, commit::MANIFEST_SORT_PARTITION_FIELD]),
    (
        blob::VARIANT_SHREDDING_SCHEMA,
        &[
            blob::VARIANT_INFER_SHREDDING_SCHEMA,
            blob::VARIANT_SHREDDING_ADAPTIVE_MAX_INFER_BUFFER_ROW,
            blob::VARIANT_SHREDDING_ADAPTIVE_RETENTION_RATIO,
            blob::VARIANT_SHREDDING_INFERENCE_MODE,
            blob::VARIANT_SHREDDING_MAX_INFER_BUFFER_ROW,
            blob::VARIANT_SHREDDING_MAX_SCHEMA_DEPTH,
            blob::VARIANT_SHREDDING_MAX_SCHEMA_WIDTH,
            blob::VARIANT_SHREDDING_MIN_FIELD_CARDINALITY_RATIO,
        ],
    ),
];

/// Schedulers, metastores and sinks of other engines; buffers, caches and threads of the reference; what is always so here
/// (DELETE writes its deletes, rows are merged before they go to another process, sorted runs are merged by a tree of losers).
const FOREIGN: &[OptionDef] = &[
    changelog::DELETE_FORCE_PRODUCE_CHANGELOG,
    commit::MANIFEST_MERGE_OPTIMIZE_ENABLED,
    compaction::COMPACTION_FILE_NUM_LIMIT,
    compaction::SORT_COMPACTION_LOCAL_SAMPLE_MAGNIFICATION,
    compaction::SORT_COMPACTION_RANGE_STRATEGY,
    compaction::ZORDER_VAR_LENGTH_CONTRIBUTION,
    file::ASYNC_FILE_WRITE,
    file::FILE_READER_ASYNC_THRESHOLD,
    file::PAGE_SIZE,
    file::WRITE_BATCH_MEMORY,
    file::WRITE_BATCH_SIZE,
    general::AUTO_CREATE,
    key::KEY_VALUE_SEQUENCE_NUMBER_ENABLED,
    key::LOCAL_MERGE_BUFFER_SIZE,
    lookup::LOCAL_KV_DB_BLOCK_SIZE,
    lookup::LOOKUP_CACHE_HIGH_PRIORITY_POOL_RATIO,
    lookup::LOOKUP_HASH_LOAD_FACTOR,
    lookup::LOOKUP_MERGE_BUFFER_SIZE,
    lookup::LOOKUP_MERGE_RECORDS_THRESHOLD,
    partition::METASTORE_PARTITIONED_TABLE,
    partition::METASTORE_TAG_TO_PARTITION,
    partition::METASTORE_TAG_TO_PARTITION_PREVIEW,
    partition::PARTITION_IDLE_TIME_TO_REPORT_STATISTIC,
    partition::PARTITION_SINK_STRATEGY,
    scan::BATCH_SCAN_MODE,
    scan::SCAN_MANIFEST_PARALLELISM,
    scan::SCAN_MAX_SPLITS_PER_TASK,
    scan::STREAM_SCAN_MODE,
    write::SORT_ENGINE,
    write::WRITE_BUFFER_FOR_APPEND,
];

/// Layouts that only make reading faster, joins, and marks.
const INERT: &[OptionDef] = &[
    blob::VARIANT_SHREDDING_SCHEMA,
    commit::MANIFEST_SORT_ENABLED,
    lookup::LOOKUP_BLOB_AS_DESCRIPTOR,
    lookup::LOOKUP_CACHE_ROWS,
    lookup::LOOKUP_CONTINUOUS_DISCOVERY_INTERVAL,
    partition::PARTITION_END_INPUT_TO_DONE,
    partition::PARTITION_MARK_DONE_ACTION_CUSTOM_CLASS,
    partition::PARTITION_TIMESTAMP_FORMAT_STRICT,
    scan::SCAN_FALLBACK_BRANCH_READ_FAIL_FAST,
    scan::SCAN_PLAN_SORT_PARTITION,
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
