//! Lookups into higher levels and from outside (spec: options.md).

options! {
    CACHE_PAGE_SIZE = ("cache-page-size", Memory, Some("64 kb"), [], false, "Page size of caches.");
    LOCAL_KV_DB_BLOCK_SIZE = (
        "local-kv-db.block-size", Memory, Some("4 kb"), [], false,
        "Block size of the local key-value store."
    );
    LOOKUP_COMPACT = (
        "lookup-compact", Choice(&["RADICAL", "GENTLE"]), Some("RADICAL"), [], false,
        "When lookup compaction takes level 0."
    );
    LOOKUP_COMPACT_MAX_INTERVAL = (
        "lookup-compact.max-interval", Int, None, [], false,
        "Flushes after which a gentle lookup compaction is forced."
    );
    LOOKUP_WAIT = (
        "lookup-wait", Bool, Some("true"), ["changelog-producer.lookup-wait"], false,
        "Commits wait for lookup compaction."
    );
    LOOKUP_BLOB_AS_DESCRIPTOR = (
        "lookup.blob-as-descriptor", Bool, Some("false"), [], false,
        "Lookup joins keep blob references."
    );
    LOOKUP_CACHE_FILE_RETENTION = (
        "lookup.cache-file-retention", Duration, Some("1 h"), [], false,
        "How long lookup files are kept."
    );
    LOOKUP_CACHE_MAX_DISK_SIZE = (
        "lookup.cache-max-disk-size", Memory, Some("9223372036854775807 b"), [], false,
        "Most disk space of the lookup cache."
    );
    LOOKUP_CACHE_MAX_MEMORY_SIZE = (
        "lookup.cache-max-memory-size", Memory, Some("256 mb"), [], false,
        "Most memory of the lookup cache."
    );
    LOOKUP_CACHE_ROWS = ("lookup.cache-rows", Long, Some("10000"), [], false, "Most rows in the lookup cache.");
    LOOKUP_CACHE_SPILL_COMPRESSION = (
        "lookup.cache-spill-compression", Text, Some("zstd"), [], false,
        "Compression of lookup files."
    );
    LOOKUP_CACHE_BLOOM_FILTER_ENABLED = (
        "lookup.cache.bloom.filter.enabled", Bool, Some("true"), [], false,
        "Use bloom filters in lookup files."
    );
    LOOKUP_CACHE_BLOOM_FILTER_FPP = (
        "lookup.cache.bloom.filter.fpp", Double, Some("0.05"), [], false,
        "False positive rate of lookup bloom filters."
    );
    LOOKUP_CACHE_HIGH_PRIORITY_POOL_RATIO = (
        "lookup.cache.high-priority-pool-ratio", Double, Some("0.25"), [], false,
        "Share of the cache for indexes and filters."
    );
    LOOKUP_CONTINUOUS_DISCOVERY_INTERVAL = (
        "lookup.continuous.discovery-interval", Duration, None, [], false,
        "How often lookups look for snapshots."
    );
    LOOKUP_HASH_LOAD_FACTOR = (
        "lookup.hash-load-factor", Double, Some("0.75"), [], false,
        "Load factor of lookup hash files."
    );
    LOOKUP_MERGE_BUFFER_SIZE = (
        "lookup.merge-buffer-size", Memory, Some("8 mb"), [], false,
        "Memory for merging one key in a lookup."
    );
    LOOKUP_MERGE_RECORDS_THRESHOLD = (
        "lookup.merge-records-threshold", Int, Some("1024"), [], false,
        "Records of a key above which they are buffered."
    );
    LOOKUP_REMOTE_FILE_ENABLED = (
        "lookup.remote-file.enabled", Bool, Some("false"), [], false,
        "Keep lookup files in the store."
    );
    LOOKUP_REMOTE_FILE_LEVEL_THRESHOLD = (
        "lookup.remote-file.level-threshold", Int, Some("-2147483648"), [], false,
        "Lowest level with lookup files in the store."
    );
}
