//! File indexes, global indexes and deletion vectors (spec: options.md).

options! {
    DELETION_VECTOR_INDEX_FILE_TARGET_SIZE = (
        "deletion-vector.index-file.target-size", Memory, Some("2 mb"), [], false,
        "Size at which a deletion vector file rolls."
    );
    DELETION_VECTORS_BITMAP64 = (
        "deletion-vectors.bitmap64", Bool, Some("false"), [], false,
        "Write deletion vectors in the 64-bit layout."
    );
    DELETION_VECTORS_ENABLED = (
        "deletion-vectors.enabled", Bool, Some("false"), [], false,
        "Mark deleted rows instead of merging on read."
    );
    DELETION_VECTORS_MERGE_ON_READ = (
        "deletion-vectors.merge-on-read", Bool, Some("false"), [], false,
        "Show uncompacted rows by merging."
    );
    DELETION_VECTORS_MODIFIABLE = (
        "deletion-vectors.modifiable", Bool, Some("false"), [], false,
        "Allow deletion vectors to be turned on and off."
    );
    FILE_INDEX_IN_MANIFEST_THRESHOLD = (
        "file-index.in-manifest-threshold", Memory, Some("500 b"), [], false,
        "Largest file index kept in the manifest."
    );
    FILE_INDEX_READ_ENABLED = ("file-index.read.enabled", Bool, Some("true"), [], false, "Consult file indexes.");
    FULL_TEXT_INDEX_SEARCH_MODE = (
        "full-text-index.search-mode", Choice(&["fast", "full", "detail"]), Some("fast"), [], false,
        "How far full-text searches go beyond the index."
    );
    GLOBAL_INDEX_BUILD_MAX_PARALLELISM = (
        "global-index.build.max-parallelism", Int, Some("4096"), [], false,
        "Most parallelism of index builds."
    );
    GLOBAL_INDEX_BUILD_MAX_SHARD = (
        "global-index.build.max-shard", Int, Some("32"), [], false,
        "Most shards of an index build."
    );
    GLOBAL_INDEX_COLUMN_UPDATE_ACTION = (
        "global-index.column-update-action", Choice(&["THROW_ERROR", "DROP_PARTITION_INDEX", "IGNORE"]), Some("THROW_ERROR"), [], false,
        "What an update of an indexed column does."
    );
    GLOBAL_INDEX_ENABLED = ("global-index.enabled", Bool, Some("true"), [], false, "Consult global indexes.");
    GLOBAL_INDEX_EXTERNAL_PATH = ("global-index.external-path", Text, None, [], false, "Other place for global indexes.");
    GLOBAL_INDEX_ROW_COUNT_PER_SHARD = (
        "global-index.row-count-per-shard", Long, Some("100000"), [], false,
        "Rows of an index shard."
    );
    GLOBAL_INDEX_SEARCH_MODE = (
        "global-index.search-mode", Choice(&["fast", "full", "detail"]), None, [], false,
        "How far index searches go beyond the index."
    );
    GLOBAL_INDEX_THREAD_NUM = ("global-index.thread-num", Int, Some("32"), [], false, "Threads that read global indexes.");
    INDEX_FILE_IN_DATA_FILE_DIR = (
        "index-file-in-data-file-dir", Bool, Some("false"), [], true,
        "Keep index files beside data files."
    );
    PK_BITMAP_INDEX_COLUMNS = ("pk-bitmap.index.columns", Text, None, [], false, "Columns with bitmap indexes.");
    PK_BTREE_INDEX_COLUMNS = ("pk-btree.index.columns", Text, None, [], false, "Columns with B-tree indexes.");
    PK_FULL_TEXT_INDEX_COLUMNS = ("pk-full-text.index.columns", Text, None, [], false, "Columns with full-text indexes.");
    PK_MULTIVALUE_INDEX_COLUMNS = ("pk-multivalue.index.columns", Text, None, [], false, "Columns with multi-value indexes.");
    PK_VECTOR_INDEX_COLUMNS = ("pk-vector.index.columns", Text, None, [], false, "Columns with vector indexes.");
    SCALAR_INDEX_SEARCH_MODE = (
        "scalar-index.search-mode", Choice(&["fast", "full", "detail"]), Some("fast"), [], false,
        "How far scalar searches go beyond the index."
    );
    VECTOR_INDEX_SEARCH_MODE = (
        "vector-index.search-mode", Choice(&["fast", "full", "detail"]), Some("fast"), [], false,
        "How far vector searches go beyond the index."
    );
    VECTOR_SEARCH_DISTRIBUTE_ENABLED = (
        "vector-search.distribute.enabled", Bool, Some("false"), [], false,
        "Spread vector searches."
    );
    VECTOR_SEARCH_LATERAL_JOIN_BATCH_SIZE = (
        "vector-search.lateral-join.batch-size", Int, Some("256"), [], false,
        "Searches done together in a lateral join."
    );
}
