//! How rows are spread over buckets (spec: options.md).

options! {
    BUCKET = ("bucket", Int, Some("-1"), [], false, "Table option.");
    BUCKET_APPEND_ORDERED = ("bucket-append-ordered", Bool, Some("true"), [], false, "Table option.");
    BUCKET_FUNCTION_TYPE = (
        "bucket-function.type", Choice(&["default", "mod", "hive"]), Some("default"), [], true,
        "Table option."
    );
    BUCKET_KEY = ("bucket-key", Text, None, [], true, "Table option.");
    CROSS_PARTITION_UPSERT_BOOTSTRAP_PARALLELISM = (
        "cross-partition-upsert.bootstrap-parallelism", Int, Some("10"), [], false,
        "Table option."
    );
    CROSS_PARTITION_UPSERT_INDEX_TTL = ("cross-partition-upsert.index-ttl", Duration, None, [], false, "Table option.");
    DYNAMIC_BUCKET_ASSIGNER_PARALLELISM = ("dynamic-bucket.assigner-parallelism", Int, None, [], false, "Table option.");
    DYNAMIC_BUCKET_INITIAL_BUCKETS = ("dynamic-bucket.initial-buckets", Int, None, [], true, "Table option.");
    DYNAMIC_BUCKET_MAX_BUCKETS = ("dynamic-bucket.max-buckets", Int, Some("-1"), [], false, "Table option.");
    DYNAMIC_BUCKET_TARGET_ROW_NUM = ("dynamic-bucket.target-row-num", Long, Some("2000000"), [], false, "Table option.");
    POSTPONE_BATCH_WRITE_FIXED_BUCKET = ("postpone.batch-write-fixed-bucket", Bool, Some("true"), [], false, "Table option.");
    POSTPONE_BATCH_WRITE_FIXED_BUCKET_MAX_PARALLELISM = (
        "postpone.batch-write-fixed-bucket.max-parallelism", Int, Some("2048"), [], false,
        "Table option."
    );
    POSTPONE_BATCH_WRITE_FIXED_BUCKET_RESCALE_LOAD_FACTOR = (
        "postpone.batch-write-fixed-bucket.rescale-load-factor", Int, Some("32"), [], false,
        "Table option."
    );
    POSTPONE_DEFAULT_BUCKET_NUM = ("postpone.default-bucket-num", Int, None, [], false, "Table option.");
    POSTPONE_MERGE_ON_READ = ("postpone.merge-on-read", Bool, Some("false"), [], false, "Table option.");
    POSTPONE_TARGET_ROW_NUM_PER_BUCKET = ("postpone.target-row-num-per-bucket", Long, None, [], false, "Table option.");
    POSTPONE_TARGET_SIZE_PER_BUCKET = ("postpone.target-size-per-bucket", Memory, Some("1 gb"), [], false, "Table option.");
}
