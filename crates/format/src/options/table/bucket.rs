//! How rows are spread over buckets (spec: options.md).

options! {
    BUCKET = (
        "bucket", Int, Some("-1"), [], false,
        "Buckets of a partition: a number, -1 for dynamic or none, -2 for postponed."
    );
    BUCKET_APPEND_ORDERED = (
        "bucket-append-ordered", Bool, Some("true"), [], false,
        "Keep the order within the buckets of an append table."
    );
    BUCKET_FUNCTION_TYPE = (
        "bucket-function.type", Choice(&["default", "mod", "hive"]), Some("default"), [], true,
        "How a bucket is computed from the bucket key."
    );
    BUCKET_KEY = ("bucket-key", Text, None, [], true, "Columns that a bucket is computed from.");
    CROSS_PARTITION_UPSERT_BOOTSTRAP_PARALLELISM = (
        "cross-partition-upsert.bootstrap-parallelism", Int, Some("10"), [], false,
        "Threads that load the key index."
    );
    CROSS_PARTITION_UPSERT_INDEX_TTL = (
        "cross-partition-upsert.index-ttl", Duration, None, [], false,
        "How long keys stay in the index."
    );
    DYNAMIC_BUCKET_ASSIGNER_PARALLELISM = (
        "dynamic-bucket.assigner-parallelism", Int, None, [], false,
        "Number of bucket assigners."
    );
    DYNAMIC_BUCKET_INITIAL_BUCKETS = (
        "dynamic-bucket.initial-buckets", Int, None, [], true,
        "Buckets that a partition starts with."
    );
    DYNAMIC_BUCKET_MAX_BUCKETS = (
        "dynamic-bucket.max-buckets", Int, Some("-1"), [], false,
        "Most buckets of a partition, -1 for no limit."
    );
    DYNAMIC_BUCKET_TARGET_ROW_NUM = (
        "dynamic-bucket.target-row-num", Long, Some("2000000"), [], false,
        "Rows at which a new bucket is opened."
    );
    POSTPONE_BATCH_WRITE_FIXED_BUCKET = (
        "postpone.batch-write-fixed-bucket", Bool, Some("true"), [], false,
        "Batch writes go to real buckets."
    );
    POSTPONE_BATCH_WRITE_FIXED_BUCKET_MAX_PARALLELISM = (
        "postpone.batch-write-fixed-bucket.max-parallelism", Int, Some("2048"), [], false,
        "Most parallelism of such writes."
    );
    POSTPONE_BATCH_WRITE_FIXED_BUCKET_RESCALE_LOAD_FACTOR = (
        "postpone.batch-write-fixed-bucket.rescale-load-factor", Int, Some("32"), [], false,
        "Load at which such writes rescale."
    );
    POSTPONE_DEFAULT_BUCKET_NUM = (
        "postpone.default-bucket-num", Int, None, [], false,
        "Buckets of a partition when first compacted."
    );
    POSTPONE_MERGE_ON_READ = ("postpone.merge-on-read", Bool, Some("false"), [], false, "Show postponed records by merging.");
    POSTPONE_TARGET_ROW_NUM_PER_BUCKET = (
        "postpone.target-row-num-per-bucket", Long, None, [], false,
        "Rows that a bucket is planned for."
    );
    POSTPONE_TARGET_SIZE_PER_BUCKET = (
        "postpone.target-size-per-bucket", Memory, Some("1 gb"), [], false,
        "Size that a bucket is planned for."
    );
}
