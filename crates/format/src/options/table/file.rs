//! Data files: format, compression, size, statistics, place (spec: options.md).

options! {
    ASYNC_FILE_WRITE = ("async-file-write", Bool, Some("true"), [], false, "Table option.");
    DATA_FILE_EXTERNAL_PATHS = ("data-file.external-paths", Text, None, [], false, "Table option.");
    DATA_FILE_EXTERNAL_PATHS_SPECIFIC_FS = ("data-file.external-paths.specific-fs", Text, None, [], false, "Table option.");
    DATA_FILE_EXTERNAL_PATHS_STRATEGY = (
        "data-file.external-paths.strategy", Choice(&["none", "specific-fs", "round-robin", "entropy-inject", "weight-robin"]), Some("none"), [], false,
        "Table option."
    );
    DATA_FILE_EXTERNAL_PATHS_WEIGHTS = ("data-file.external-paths.weights", Text, None, [], false, "Table option.");
    DATA_FILE_PATH_DIRECTORY = ("data-file.path-directory", Text, None, [], true, "Table option.");
    DATA_FILE_PREFIX = ("data-file.prefix", Text, Some("data-"), [], false, "Table option.");
    DATA_FILE_THIN_MODE = ("data-file.thin-mode", Bool, Some("false"), [], false, "Table option.");
    FILE_OPERATION_THREAD_NUM = ("file-operation.thread-num", Int, None, ["delete-file.thread-num"], false, "Table option.");
    FILE_READER_ASYNC_THRESHOLD = ("file-reader-async-threshold", Memory, Some("10 mb"), [], false, "Table option.");
    FILE_BLOCK_SIZE = ("file.block-size", Memory, None, [], false, "Table option.");
    FILE_COMPRESSION = ("file.compression", Text, Some("zstd"), [], false, "Table option.");
    FILE_COMPRESSION_PER_LEVEL = ("file.compression.per.level", Map, None, [], false, "Table option.");
    FILE_COMPRESSION_ZSTD_LEVEL = ("file.compression.zstd-level", Int, Some("1"), [], false, "Table option.");
    FILE_FORMAT = ("file.format", Text, Some("parquet"), [], false, "Table option.");
    FILE_FORMAT_PER_LEVEL = ("file.format.per.level", Map, None, [], false, "Table option.");
    FILE_SUFFIX_INCLUDE_COMPRESSION = ("file.suffix.include.compression", Bool, Some("false"), [], false, "Table option.");
    FORMAT_TABLE_COMMIT_HIVE_SYNC_URL = ("format-table.commit-hive-sync-url", Text, None, [], false, "Table option.");
    FORMAT_TABLE_FILE_COMPRESSION = (
        "format-table.file.compression", Text, None, ["file.compression"], false,
        "Table option."
    );
    FORMAT_TABLE_IMPLEMENTATION = (
        "format-table.implementation", Choice(&["paimon", "engine"]), Some("paimon"), [], false,
        "Table option."
    );
    FORMAT_TABLE_PARTITION_PATH_ONLY_VALUE = (
        "format-table.partition-path-only-value", Bool, Some("false"), [], false,
        "Table option."
    );
    FORMAT_TABLE_SCAN_LIST_PARALLELISM = ("format-table.scan.list-parallelism", Int, Some("64"), [], false, "Table option.");
    METADATA_STATS_DENSE_STORE = ("metadata.stats-dense-store", Bool, Some("true"), [], false, "Table option.");
    METADATA_STATS_KEEP_FIRST_N_COLUMNS = (
        "metadata.stats-keep-first-n-columns", Int, Some("-1"), [], false,
        "Table option."
    );
    METADATA_STATS_MODE = ("metadata.stats-mode", Text, Some("truncate(16)"), [], false, "Table option.");
    METADATA_STATS_MODE_PER_LEVEL = ("metadata.stats-mode.per.level", Map, None, [], false, "Table option.");
    PAGE_SIZE = ("page-size", Memory, Some("64 kb"), [], false, "Table option.");
    PARQUET_ENABLE_DICTIONARY = ("parquet.enable.dictionary", Text, None, [], false, "Table option.");
    READ_BATCH_SIZE = ("read.batch-size", Int, Some("1024"), [], false, "Table option.");
    TARGET_FILE_ROW_NUM = ("target-file-row-num", Long, Some("9223372036854775807"), [], false, "Table option.");
    TARGET_FILE_SIZE = ("target-file-size", Memory, None, [], false, "Table option.");
    WRITE_BATCH_MEMORY = ("write.batch-memory", Memory, Some("128 mb"), [], false, "Table option.");
    WRITE_BATCH_SIZE = ("write.batch-size", Int, Some("1024"), ["orc.write.batch-size"], false, "Table option.");
}
