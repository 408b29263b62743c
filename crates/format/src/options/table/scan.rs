//! Scans, time travel and streaming reads (spec: options.md).

options! {
    BATCH_SCAN_MODE = ("batch-scan-mode", Choice(&["none", "compact"]), Some("none"), [], false, "Table option.");
    CONTINUOUS_DISCOVERY_INTERVAL = ("continuous.discovery-interval", Duration, Some("10 s"), [], false, "Table option.");
    INCREMENTAL_BETWEEN = ("incremental-between", Text, None, [], false, "Table option.");
    INCREMENTAL_BETWEEN_SCAN_MODE = (
        "incremental-between-scan-mode", Choice(&["auto", "delta", "changelog", "diff"]), Some("auto"), [], false,
        "Table option."
    );
    INCREMENTAL_BETWEEN_TAG_TO_SNAPSHOT = (
        "incremental-between-tag-to-snapshot", Bool, Some("false"), [], false,
        "Table option."
    );
    INCREMENTAL_BETWEEN_TIMESTAMP = ("incremental-between-timestamp", Text, None, [], false, "Table option.");
    INCREMENTAL_TO_AUTO_TAG = ("incremental-to-auto-tag", Text, None, [], false, "Table option.");
    SCAN_BOUNDED_WATERMARK = ("scan.bounded.watermark", Long, None, [], false, "Table option.");
    SCAN_BUCKET = ("scan.bucket", Int, None, [], false, "Table option.");
    SCAN_CREATION_TIME_MILLIS = ("scan.creation-time-millis", Long, None, [], false, "Table option.");
    SCAN_FALLBACK_BRANCH = ("scan.fallback-branch", Text, None, [], false, "Table option.");
    SCAN_FALLBACK_BRANCH_READ_FAIL_FAST = (
        "scan.fallback-branch.read-fail-fast", Bool, Some("false"), [], false,
        "Table option."
    );
    SCAN_FALLBACK_DELTA_BRANCH = ("scan.fallback-delta-branch", Text, None, [], false, "Table option.");
    SCAN_FALLBACK_SNAPSHOT_BRANCH = ("scan.fallback-snapshot-branch", Text, None, [], false, "Table option.");
    SCAN_FILE_CREATION_TIME_MILLIS = ("scan.file-creation-time-millis", Long, None, [], false, "Table option.");
    SCAN_IGNORE_CORRUPT_FILES = ("scan.ignore-corrupt-files", Bool, Some("false"), [], false, "Table option.");
    SCAN_IGNORE_LOST_FILES = ("scan.ignore-lost-files", Bool, Some("false"), [], false, "Table option.");
    SCAN_MANIFEST_PARALLELISM = ("scan.manifest.parallelism", Int, None, [], false, "Table option.");
    SCAN_MAX_SPLITS_PER_TASK = ("scan.max-splits-per-task", Int, Some("10"), [], false, "Table option.");
    SCAN_MODE = (
        "scan.mode", Choice(&["default", "latest-full", "full", "latest", "latest-delta", "compacted-full", "from-timestamp", "from-creation-timestamp", "from-file-creation-time", "from-snapshot", "from-snapshot-full", "incremental"]), Some("default"), ["log.scan"], false,
        "Table option."
    );
    SCAN_PLAN_AUTO_TAG_FOR_READ_TIME_RETAINED = (
        "scan.plan-auto-tag-for-read.time-retained", Duration, None, [], false,
        "Table option."
    );
    SCAN_PLAN_SORT_PARTITION = ("scan.plan-sort-partition", Bool, Some("false"), [], false, "Table option.");
    SCAN_PRIMARY_BRANCH = ("scan.primary-branch", Text, None, [], false, "Table option.");
    SCAN_SNAPSHOT_ID = ("scan.snapshot-id", Long, None, [], false, "Table option.");
    SCAN_TAG_NAME = ("scan.tag-name", Text, None, [], false, "Table option.");
    SCAN_TIMESTAMP = ("scan.timestamp", Text, None, [], false, "Table option.");
    SCAN_TIMESTAMP_MILLIS = ("scan.timestamp-millis", Long, None, ["log.scan.timestamp-millis"], false, "Table option.");
    SCAN_VERSION = ("scan.version", Text, None, [], false, "Table option.");
    SCAN_WATERMARK = ("scan.watermark", Long, None, [], false, "Table option.");
    SOURCE_SPLIT_OPEN_FILE_COST = ("source.split.open-file-cost", Memory, Some("4 mb"), [], false, "Table option.");
    SOURCE_SPLIT_TARGET_SIZE = ("source.split.target-size", Memory, Some("128 mb"), [], false, "Table option.");
    STREAM_SCAN_MODE = (
        "stream-scan-mode", Choice(&["none", "compact-bucket-table", "file-monitor"]), Some("none"), [], false,
        "Table option."
    );
    TABLE_READ_SEQUENCE_NUMBER_ENABLED = (
        "table-read.sequence-number.enabled", Bool, Some("false"), [], false,
        "Table option."
    );
}
