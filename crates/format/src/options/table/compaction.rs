//! Levels, compaction and clustering (spec: options.md).

options! {
    CLUSTERING_COLUMNS = ("clustering.columns", Text, None, ["sink.clustering.by-columns"], false, "Table option.");
    CLUSTERING_HISTORY_PARTITION_IDLE_TO_FULL_SORT = (
        "clustering.history-partition.idle-to-full-sort", Duration, None, [], false,
        "Table option."
    );
    CLUSTERING_HISTORY_PARTITION_LIMIT = ("clustering.history-partition.limit", Int, Some("5"), [], false, "Table option.");
    CLUSTERING_INCREMENTAL = ("clustering.incremental", Bool, Some("false"), [], false, "Table option.");
    CLUSTERING_INCREMENTAL_MODE = (
        "clustering.incremental.mode", Choice(&["global-sort", "local-sort"]), Some("global-sort"), [], false,
        "Table option."
    );
    CLUSTERING_INCREMENTAL_OPTIMIZE_WRITE = (
        "clustering.incremental.optimize-write", Bool, Some("false"), [], false,
        "Table option."
    );
    CLUSTERING_STRATEGY = ("clustering.strategy", Text, Some("auto"), ["sink.clustering.strategy"], false, "Table option.");
    COMPACTION_DELETE_RATIO_THRESHOLD = (
        "compaction.delete-ratio-threshold", Double, Some("0.2"), [], false,
        "Table option."
    );
    COMPACTION_FILE_NUM_LIMIT = ("compaction.file-num-limit", Int, Some("100000"), [], false, "Table option.");
    COMPACTION_FORCE_REWRITE_ALL_FILES = (
        "compaction.force-rewrite-all-files", Bool, Some("false"), [], false,
        "Table option."
    );
    COMPACTION_FORCE_UP_LEVEL_0 = ("compaction.force-up-level-0", Bool, Some("false"), [], false, "Table option.");
    COMPACTION_INCREMENTAL_SIZE_THRESHOLD = (
        "compaction.incremental-size-threshold", Memory, None, [], false,
        "Table option."
    );
    COMPACTION_MAX_SIZE_AMPLIFICATION_PERCENT = (
        "compaction.max-size-amplification-percent", Int, Some("200"), [], false,
        "Table option."
    );
    COMPACTION_MIN_FILE_NUM = ("compaction.min.file-num", Int, Some("5"), [], false, "Table option.");
    COMPACTION_OFFPEAK_RATIO = ("compaction.offpeak-ratio", Int, Some("0"), [], false, "Table option.");
    COMPACTION_OFFPEAK_END_HOUR = ("compaction.offpeak.end.hour", Int, Some("-1"), [], false, "Table option.");
    COMPACTION_OFFPEAK_START_HOUR = ("compaction.offpeak.start.hour", Int, Some("-1"), [], false, "Table option.");
    COMPACTION_OPTIMIZATION_INTERVAL = ("compaction.optimization-interval", Duration, None, [], false, "Table option.");
    COMPACTION_SIZE_RATIO = ("compaction.size-ratio", Int, Some("1"), [], false, "Table option.");
    COMPACTION_SKIP_EXPIRED_PARTITIONS = (
        "compaction.skip-expired-partitions", Bool, Some("false"), [], false,
        "Table option."
    );
    COMPACTION_SMALL_FILE_RATIO = ("compaction.small-file-ratio", Double, Some("0.7"), [], false, "Table option.");
    COMPACTION_TOTAL_SIZE_THRESHOLD = ("compaction.total-size-threshold", Memory, None, [], false, "Table option.");
    FORCE_LOOKUP = ("force-lookup", Bool, Some("false"), [], true, "Table option.");
    FULL_COMPACTION_DELTA_COMMITS = ("full-compaction.delta-commits", Int, None, [], false, "Table option.");
    NUM_LEVELS = ("num-levels", Int, None, [], false, "Table option.");
    NUM_SORTED_RUN_COMPACTION_TRIGGER = ("num-sorted-run.compaction-trigger", Int, Some("5"), [], false, "Table option.");
    NUM_SORTED_RUN_STOP_TRIGGER = ("num-sorted-run.stop-trigger", Int, None, [], false, "Table option.");
    OVERWRITE_UPGRADE = ("overwrite-upgrade", Bool, Some("true"), [], false, "Table option.");
    PK_CLUSTERING_OVERRIDE = ("pk-clustering-override", Bool, Some("false"), [], true, "Table option.");
    SORT_COMPACTION_LOCAL_SAMPLE_MAGNIFICATION = (
        "sort-compaction.local-sample.magnification", Int, Some("1000"), [], false,
        "Table option."
    );
    SORT_COMPACTION_RANGE_STRATEGY = (
        "sort-compaction.range-strategy", Choice(&["SIZE", "QUANTITY"]), Some("SIZE"), [], false,
        "Table option."
    );
    WRITE_ONLY = ("write-only", Bool, Some("false"), ["write.compaction-skip"], false, "Table option.");
    ZORDER_VAR_LENGTH_CONTRIBUTION = ("zorder.var-length-contribution", Int, Some("8"), [], false, "Table option.");
}
