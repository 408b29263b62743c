//! Scans, time travel and streaming reads (spec: options.md).

options! {
    BATCH_SCAN_MODE = (
        "batch-scan-mode", Choice(&["none", "compact"]), Some("none"), [], false,
        "Internal: the kind of a batch scan."
    );
    CONTINUOUS_DISCOVERY_INTERVAL = (
        "continuous.discovery-interval", Duration, Some("10 s"), [], false,
        "How often a streaming read looks for snapshots."
    );
    INCREMENTAL_BETWEEN = ("incremental-between", Text, None, [], false, "Read changes between two snapshots or tags.");
    INCREMENTAL_BETWEEN_SCAN_MODE = (
        "incremental-between-scan-mode", Choice(&["auto", "delta", "changelog", "diff"]), Some("auto"), [], false,
        "What changes between two points are read from."
    );
    INCREMENTAL_BETWEEN_TAG_TO_SNAPSHOT = (
        "incremental-between-tag-to-snapshot", Bool, Some("false"), [], false,
        "Read between the snapshots of tags."
    );
    INCREMENTAL_BETWEEN_TIMESTAMP = (
        "incremental-between-timestamp", Text, None, [], false,
        "Read changes between two times."
    );
    INCREMENTAL_TO_AUTO_TAG = ("incremental-to-auto-tag", Text, None, [], false, "Read changes up to this automatic tag.");
    LINN_READ_COMMIT_TIME = (
        "linn.read.commit-time", Bool, Some("false"), [], false,
        "Show in the audit log and the binlog when each change was committed."
    );
    LINN_READ_SNAPSHOT_ID = (
        "linn.read.snapshot-id", Bool, Some("false"), [], false,
        "Show in the audit log and the binlog the snapshot of each change."
    );
    LINN_READ_WIDE_TIMESTAMPS = (
        "linn.read.wide-timestamps", Choice(&["none", "text"]), Some("none"), [], false,
        "Give timestamps of more than six digits as text, which holds years outside of 1677 to 2262 too."
    );
    SCAN_BOUNDED_WATERMARK = ("scan.bounded.watermark", Long, None, [], false, "Watermark at which a streaming read ends.");
    SCAN_BUCKET = ("scan.bucket", Int, None, [], false, "Only this bucket.");
    SCAN_CREATION_TIME_MILLIS = ("scan.creation-time-millis", Long, None, [], false, "Time that a scan starts from.");
    SCAN_FALLBACK_BRANCH = ("scan.fallback-branch", Text, None, [], false, "Branch for partitions that are missing here.");
    SCAN_FALLBACK_BRANCH_READ_FAIL_FAST = (
        "scan.fallback-branch.read-fail-fast", Bool, Some("false"), [], false,
        "Fail when the fallback branch cannot be read."
    );
    SCAN_FALLBACK_DELTA_BRANCH = ("scan.fallback-delta-branch", Text, None, [], false, "Delta branch of a chain table.");
    SCAN_FALLBACK_SNAPSHOT_BRANCH = (
        "scan.fallback-snapshot-branch", Text, None, [], false,
        "Snapshot branch of a chain table."
    );
    SCAN_FILE_CREATION_TIME_MILLIS = (
        "scan.file-creation-time-millis", Long, None, [], false,
        "Only files made after this time."
    );
    SCAN_IGNORE_CORRUPT_FILES = (
        "scan.ignore-corrupt-files", Bool, Some("false"), [], false,
        "Pass over files that are corrupt."
    );
    SCAN_IGNORE_LOST_FILES = ("scan.ignore-lost-files", Bool, Some("false"), [], false, "Pass over files that are missing.");
    SCAN_MANIFEST_PARALLELISM = ("scan.manifest.parallelism", Int, None, [], false, "Threads that read manifests.");
    SCAN_MAX_SPLITS_PER_TASK = ("scan.max-splits-per-task", Int, Some("10"), [], false, "Splits that a task holds.");
    SCAN_MODE = (
        "scan.mode", Choice(&["default", "latest-full", "full", "latest", "latest-delta", "compacted-full", "from-timestamp", "from-creation-timestamp", "from-file-creation-time", "from-snapshot", "from-snapshot-full", "incremental"]), Some("default"), ["log.scan"], false,
        "Where a scan starts."
    );
    SCAN_PLAN_AUTO_TAG_FOR_READ_TIME_RETAINED = (
        "scan.plan-auto-tag-for-read.time-retained", Duration, None, [], false,
        "How long the tag that protects a read is kept."
    );
    SCAN_PLAN_SORT_PARTITION = ("scan.plan-sort-partition", Bool, Some("false"), [], false, "Plan partitions in order.");
    SCAN_PRIMARY_BRANCH = ("scan.primary-branch", Text, None, [], false, "Branch whose partitions come first.");
    SCAN_SNAPSHOT_ID = ("scan.snapshot-id", Long, None, [], false, "Snapshot to read.");
    SCAN_TAG_NAME = ("scan.tag-name", Text, None, [], false, "Tag to read.");
    SCAN_TIMESTAMP = ("scan.timestamp", Text, None, [], false, "Time to read at, as text.");
    SCAN_TIMESTAMP_MILLIS = (
        "scan.timestamp-millis", Long, None, ["log.scan.timestamp-millis"], false,
        "Time to read at, in milliseconds."
    );
    SCAN_VERSION = ("scan.version", Text, None, [], false, "Tag or snapshot to read.");
    SCAN_WATERMARK = ("scan.watermark", Long, None, [], false, "Watermark to read at.");
    SOURCE_SPLIT_OPEN_FILE_COST = (
        "source.split.open-file-cost", Memory, Some("4 mb"), [], false,
        "Bytes that opening a file counts for."
    );
    SOURCE_SPLIT_TARGET_SIZE = (
        "source.split.target-size", Memory, Some("128 mb"), [], false,
        "Bytes that a split is filled to."
    );
    STREAM_SCAN_MODE = (
        "stream-scan-mode", Choice(&["none", "compact-bucket-table", "file-monitor"]), Some("none"), [], false,
        "Internal: the kind of a streaming scan."
    );
    TABLE_READ_SEQUENCE_NUMBER_ENABLED = (
        "table-read.sequence-number.enabled", Bool, Some("false"), [], false,
        "Show sequence numbers in the audit log."
    );
}
