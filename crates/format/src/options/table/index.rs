//! File indexes, global indexes and deletion vectors (spec: options.md).

options! {
    DELETION_VECTOR_INDEX_FILE_TARGET_SIZE = (
        "deletion-vector.index-file.target-size", Memory, Some("2 mb"), [], false,
        "Table option."
    );
    DELETION_VECTORS_BITMAP64 = ("deletion-vectors.bitmap64", Bool, Some("false"), [], false, "Table option.");
    DELETION_VECTORS_ENABLED = ("deletion-vectors.enabled", Bool, Some("false"), [], false, "Table option.");
    DELETION_VECTORS_MERGE_ON_READ = ("deletion-vectors.merge-on-read", Bool, Some("false"), [], false, "Table option.");
    DELETION_VECTORS_MODIFIABLE = ("deletion-vectors.modifiable", Bool, Some("false"), [], false, "Table option.");
    FILE_INDEX_IN_MANIFEST_THRESHOLD = (
        "file-index.in-manifest-threshold", Memory, Some("500 b"), [], false,
        "Table option."
    );
    FILE_INDEX_READ_ENABLED = ("file-index.read.enabled", Bool, Some("true"), [], false, "Table option.");
    FULL_TEXT_INDEX_SEARCH_MODE = (
        "full-text-index.search-mode", Choice(&["fast", "full", "detail"]), Some("fast"), [], false,
        "Table option."
    );
    GLOBAL_INDEX_BUILD_MAX_PARALLELISM = (
        "global-index.build.max-parallelism", Int, Some("4096"), [], false,
        "Table option."
    );
    GLOBAL_INDEX_BUILD_MAX_SHARD = ("global-index.build.max-shard", Int, Some("32"), [], false, "Table option.");
    GLOBAL_INDEX_COLUMN_UPDATE_ACTION = (
        "global-index.column-update-action", Choice(&["THROW_ERROR", "DROP_PARTITION_INDEX", "IGNORE"]), Some("THROW_ERROR"), [], false,
        "Table option."
    );
    GLOBAL_INDEX_ENABLED = ("global-index.enabled", Bool, Some("true"), [], false, "Table option.");
    GLOBAL_INDEX_EXTERNAL_PATH = ("global-index.external-path", Text, None, [], false, "Table option.");
    GLOBAL_INDEX_ROW_COUNT_PER_SHARD = ("global-index.row-count-per-shard", Long, Some("100000"), [], false, "Table option.");
    GLOBAL_INDEX_SEARCH_MODE = (
        "global-index.search-mode", Choice(&["fast", "full", "detail"]), None, [], false,
        "Table option."
    );
    GLOBAL_INDEX_THREAD_NUM = ("global-index.thread-num", Int, Some("32"), [], false, "Table option.");
    INDEX_FILE_IN_DATA_FILE_DIR = ("index-file-in-data-file-dir", Bool, Some("false"), [], true, "Table option.");
    PK_BITMAP_INDEX_COLUMNS = ("pk-bitmap.index.columns", Text, None, [], false, "Table option.");
    PK_BTREE_INDEX_COLUMNS = ("pk-btree.index.columns", Text, None, [], false, "Table option.");
    PK_FULL_TEXT_INDEX_COLUMNS = ("pk-full-text.index.columns", Text, None, [], false, "Table option.");
    PK_MULTIVALUE_INDEX_COLUMNS = ("pk-multivalue.index.columns", Text, None, [], false, "Table option.");
    PK_VECTOR_INDEX_COLUMNS = ("pk-vector.index.columns", Text, None, [], false, "Table option.");
    SCALAR_INDEX_SEARCH_MODE = (
        "scalar-index.search-mode", Choice(&["fast", "full", "detail"]), Some("fast"), [], false,
        "Table option."
    );
    VECTOR_INDEX_SEARCH_MODE = (
        "vector-index.search-mode", Choice(&["fast", "full", "detail"]), Some("fast"), [], false,
        "Table option."
    );
    VECTOR_SEARCH_DISTRIBUTE_ENABLED = ("vector-search.distribute.enabled", Bool, Some("false"), [], false, "Table option.");
    VECTOR_SEARCH_LATERAL_JOIN_BATCH_SIZE = (
        "vector-search.lateral-join.batch-size", Int, Some("256"), [], false,
        "Table option."
    );
}
