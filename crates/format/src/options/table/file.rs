//! Data files: format, compression, size, statistics, place (spec: options.md).

options! {
    ASYNC_FILE_WRITE = ("async-file-write", Bool, Some("true"), [], false, "Write files in the background.");
    DATA_FILE_EXTERNAL_PATHS = ("data-file.external-paths", Text, None, [], false, "Other places for data files.");
    DATA_FILE_EXTERNAL_PATHS_SPECIFIC_FS = (
        "data-file.external-paths.specific-fs", Text, None, [], false,
        "File system of the external place to use."
    );
    DATA_FILE_EXTERNAL_PATHS_STRATEGY = (
        "data-file.external-paths.strategy", Choice(&["none", "specific-fs", "round-robin", "entropy-inject", "weight-robin"]), Some("none"), [], false,
        "How an external place is chosen."
    );
    DATA_FILE_EXTERNAL_PATHS_WEIGHTS = (
        "data-file.external-paths.weights", Text, None, [], false,
        "Weights of the external places."
    );
    DATA_FILE_PATH_DIRECTORY = (
        "data-file.path-directory", Text, None, [], true,
        "Directory for data files inside the table."
    );
    DATA_FILE_PREFIX = ("data-file.prefix", Text, Some("data-"), [], false, "Name prefix of data files.");
    DATA_FILE_THIN_MODE = ("data-file.thin-mode", Bool, Some("false"), [], false, "Leave the key columns out of data files.");
    FILE_OPERATION_THREAD_NUM = (
        "file-operation.thread-num", Int, None, ["delete-file.thread-num"], false,
        "Threads for file operations."
    );
    FILE_READER_ASYNC_THRESHOLD = (
        "file-reader-async-threshold", Memory, Some("10 mb"), [], false,
        "Size above which files are read in the background."
    );
    FILE_BLOCK_SIZE = ("file.block-size", Memory, None, [], false, "Size of a row group or stripe.");
    FILE_COMPRESSION = ("file.compression", Text, Some("zstd"), [], false, "Compression of data files.");
    FILE_COMPRESSION_PER_LEVEL = ("file.compression.per.level", Map, None, [], false, "Compression by level.");
    FILE_COMPRESSION_ZSTD_LEVEL = ("file.compression.zstd-level", Int, Some("1"), [], false, "Level of zstd in data files.");
    FILE_FORMAT = ("file.format", Text, Some("parquet"), [], false, "Format of data files.");
    FILE_FORMAT_PER_LEVEL = ("file.format.per.level", Map, None, [], false, "Format by level.");
    FILE_SUFFIX_INCLUDE_COMPRESSION = (
        "file.suffix.include.compression", Bool, Some("false"), [], false,
        "File names tell the compression."
    );
    FORMAT_TABLE_COMMIT_HIVE_SYNC_URL = (
        "format-table.commit-hive-sync-url", Text, None, [], false,
        "Where format tables report partitions."
    );
    FORMAT_TABLE_FILE_COMPRESSION = (
        "format-table.file.compression", Text, None, ["file.compression"], false,
        "Compression of format table files."
    );
    FORMAT_TABLE_IMPLEMENTATION = (
        "format-table.implementation", Choice(&["paimon", "engine"]), Some("paimon"), [], false,
        "Who reads format tables."
    );
    FORMAT_TABLE_PARTITION_PATH_ONLY_VALUE = (
        "format-table.partition-path-only-value", Bool, Some("false"), [], false,
        "Partition directories hold values only."
    );
    FORMAT_TABLE_SCAN_LIST_PARALLELISM = (
        "format-table.scan.list-parallelism", Int, Some("64"), [], false,
        "Threads that list partitions of format tables."
    );
    METADATA_STATS_DENSE_STORE = (
        "metadata.stats-dense-store", Bool, Some("true"), [], false,
        "Store statistics only for columns that have some."
    );
    METADATA_STATS_KEEP_FIRST_N_COLUMNS = (
        "metadata.stats-keep-first-n-columns", Int, Some("-1"), [], false,
        "Columns from the front with statistics, -1 for all."
    );
    METADATA_STATS_MODE = (
        "metadata.stats-mode", Text, Some("truncate(16)"), [], false,
        "Statistics kept: none, counts, truncate(n) or full."
    );
    METADATA_STATS_MODE_PER_LEVEL = ("metadata.stats-mode.per.level", Map, None, [], false, "Statistics by level.");
    PAGE_SIZE = ("page-size", Memory, Some("64 kb"), [], false, "Memory page size.");
    PARQUET_ENABLE_DICTIONARY = ("parquet.enable.dictionary", Text, None, [], false, "Use dictionaries in Parquet.");
    READ_BATCH_SIZE = ("read.batch-size", Int, Some("1024"), [], false, "Rows of a batch when reading.");
    TARGET_FILE_ROW_NUM = (
        "target-file-row-num", Long, Some("9223372036854775807"), [], false,
        "Rows at which a data file rolls."
    );
    TARGET_FILE_SIZE = ("target-file-size", Memory, None, [], false, "Size at which a data file rolls.");
    WRITE_BATCH_MEMORY = ("write.batch-memory", Memory, Some("128 mb"), [], false, "Memory of a batch when writing.");
    WRITE_BATCH_SIZE = (
        "write.batch-size", Int, Some("1024"), ["orc.write.batch-size"], false,
        "Rows of a batch when writing."
    );
}
