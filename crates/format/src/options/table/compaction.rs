//! Levels, compaction and clustering (spec: options.md).

options! {
    CLUSTERING_COLUMNS = (
        "clustering.columns", Text, None, ["sink.clustering.by-columns"], false,
        "Columns that files are clustered by."
    );
    CLUSTERING_HISTORY_PARTITION_IDLE_TO_FULL_SORT = (
        "clustering.history-partition.idle-to-full-sort", Duration, None, [], false,
        "Idle time after which a partition is clustered fully."
    );
    CLUSTERING_HISTORY_PARTITION_LIMIT = (
        "clustering.history-partition.limit", Int, Some("5"), [], false,
        "Most old partitions clustered fully at once."
    );
    CLUSTERING_INCREMENTAL = ("clustering.incremental", Bool, Some("false"), [], false, "Cluster new data bit by bit.");
    CLUSTERING_INCREMENTAL_MODE = (
        "clustering.incremental.mode", Choice(&["global-sort", "local-sort"]), Some("global-sort"), [], false,
        "Whether incremental clustering sorts across tasks."
    );
    CLUSTERING_INCREMENTAL_OPTIMIZE_WRITE = (
        "clustering.incremental.optimize-write", Bool, Some("false"), [], false,
        "Cluster before writing."
    );
    CLUSTERING_STRATEGY = (
        "clustering.strategy", Text, Some("auto"), ["sink.clustering.strategy"], false,
        "Curve or order that clustering follows."
    );
    COMPACTION_DELETE_RATIO_THRESHOLD = (
        "compaction.delete-ratio-threshold", Double, Some("0.2"), [], false,
        "Share of deleted rows at which an append file is rewritten."
    );
    COMPACTION_FILE_NUM_LIMIT = (
        "compaction.file-num-limit", Int, Some("100000"), [], false,
        "Most files that one compaction scan looks at."
    );
    COMPACTION_FORCE_REWRITE_ALL_FILES = (
        "compaction.force-rewrite-all-files", Bool, Some("false"), [], false,
        "A full compaction rewrites every file."
    );
    COMPACTION_FORCE_UP_LEVEL_0 = (
        "compaction.force-up-level-0", Bool, Some("false"), [], false,
        "A compaction always takes all of level 0."
    );
    COMPACTION_INCREMENTAL_SIZE_THRESHOLD = (
        "compaction.incremental-size-threshold", Memory, None, [], false,
        "New data above this size starts a full compaction."
    );
    COMPACTION_MAX_SIZE_AMPLIFICATION_PERCENT = (
        "compaction.max-size-amplification-percent", Int, Some("200"), [], false,
        "Extra space in percent that starts a full compaction."
    );
    COMPACTION_MIN_FILE_NUM = (
        "compaction.min.file-num", Int, Some("5"), [], false,
        "Small append files that start a compaction."
    );
    COMPACTION_OFFPEAK_RATIO = ("compaction.offpeak-ratio", Int, Some("0"), [], false, "Size ratio in off-peak hours.");
    COMPACTION_OFFPEAK_END_HOUR = (
        "compaction.offpeak.end.hour", Int, Some("-1"), [], false,
        "Hour at which off-peak ends, exclusive."
    );
    COMPACTION_OFFPEAK_START_HOUR = (
        "compaction.offpeak.start.hour", Int, Some("-1"), [], false,
        "Hour at which off-peak starts."
    );
    COMPACTION_OPTIMIZATION_INTERVAL = (
        "compaction.optimization-interval", Duration, None, [], false,
        "How often a full compaction is due."
    );
    COMPACTION_SIZE_RATIO = (
        "compaction.size-ratio", Int, Some("1"), [], false,
        "Percent by which the next run may be larger and still join."
    );
    COMPACTION_SKIP_EXPIRED_PARTITIONS = (
        "compaction.skip-expired-partitions", Bool, Some("false"), [], false,
        "Leave expired partitions uncompacted."
    );
    COMPACTION_SMALL_FILE_RATIO = (
        "compaction.small-file-ratio", Double, Some("0.7"), [], false,
        "Share of the target size below which a file is small."
    );
    COMPACTION_TOTAL_SIZE_THRESHOLD = (
        "compaction.total-size-threshold", Memory, None, [], false,
        "Total below this size is compacted fully."
    );
    FORCE_LOOKUP = ("force-lookup", Bool, Some("false"), [], true, "Always look up in compaction.");
    FULL_COMPACTION_DELTA_COMMITS = (
        "full-compaction.delta-commits", Int, None, [], false,
        "Commits between full compactions."
    );
    LINN_COMPACTION_IO_LIMIT = (
        "linn.compaction.io-limit", Memory, None, [], false,
        "Bytes a second that the compactions of one writer or one job read and write together."
    );
    LINN_DELETE_RETENTION_TIME = (
        "linn.delete.retention-time", Duration, Some("1 d"), [], false,
        "How long a delete holds back rows that a sequence orders before it, though they come later."
    );
    NUM_LEVELS = ("num-levels", Int, None, [], false, "Number of levels.");
    NUM_SORTED_RUN_COMPACTION_TRIGGER = (
        "num-sorted-run.compaction-trigger", Int, Some("5"), [], false,
        "Sorted runs that start a compaction."
    );
    NUM_SORTED_RUN_STOP_TRIGGER = ("num-sorted-run.stop-trigger", Int, None, [], false, "Sorted runs at which writers wait.");
    OVERWRITE_UPGRADE = ("overwrite-upgrade", Bool, Some("true"), [], false, "Move files up after an overwrite.");
    PK_CLUSTERING_OVERRIDE = (
        "pk-clustering-override", Bool, Some("false"), [], true,
        "Sort files by clustering columns instead of the key."
    );
    SORT_COMPACTION_LOCAL_SAMPLE_MAGNIFICATION = (
        "sort-compaction.local-sample.magnification", Int, Some("1000"), [], false,
        "Samples per task of a sort."
    );
    SORT_COMPACTION_RANGE_STRATEGY = (
        "sort-compaction.range-strategy", Choice(&["SIZE", "QUANTITY"]), Some("SIZE"), [], false,
        "Whether ranges are cut by size or count."
    );
    WRITE_ONLY = (
        "write-only", Bool, Some("false"), ["write.compaction-skip"], false,
        "Leave compaction and expiry to others."
    );
    ZORDER_VAR_LENGTH_CONTRIBUTION = (
        "zorder.var-length-contribution", Int, Some("8"), [], false,
        "Bytes of text that the Z-order takes."
    );
}
