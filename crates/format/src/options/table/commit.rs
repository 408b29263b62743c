//! Commits, manifests, snapshots and tags (spec: options.md).

options! {
    COMMIT_CALLBACK_PARAM = ("commit.callback.#.param", Text, None, [], false, "Parameter of a commit callback.");
    COMMIT_CALLBACKS = ("commit.callbacks", Text, Some(""), [], false, "Callbacks after a commit.");
    COMMIT_DISCARD_DUPLICATE_FILES = (
        "commit.discard-duplicate-files", Bool, Some("false"), [], false,
        "Leave out files that are committed already."
    );
    COMMIT_FORCE_COMPACT = ("commit.force-compact", Bool, Some("false"), [], false, "Compact before each commit.");
    COMMIT_FORCE_CREATE_SNAPSHOT = (
        "commit.force-create-snapshot", Bool, Some("false"), [], false,
        "Make snapshots without data."
    );
    COMMIT_MAX_RETRIES = ("commit.max-retries", Int, Some("10"), [], false, "Most retries of a commit.");
    COMMIT_MAX_RETRY_WAIT = (
        "commit.max-retry-wait", Duration, Some("10 s"), [], false,
        "Longest wait between retries of a commit."
    );
    COMMIT_MIN_RETRY_WAIT = (
        "commit.min-retry-wait", Duration, Some("10 ms"), [], false,
        "Shortest wait between retries of a commit."
    );
    COMMIT_STRICT_MODE_LAST_SAFE_SNAPSHOT = (
        "commit.strict-mode.last-safe-snapshot", Long, None, [], false,
        "Snapshot after which commits of others are checked for."
    );
    COMMIT_TIMEOUT = ("commit.timeout", Duration, None, [], false, "How long a commit is retried.");
    COMMIT_USER_PREFIX = ("commit.user-prefix", Text, None, [], false, "Prefix of commit users.");
    END_INPUT_CHECK_PARTITION_EXPIRE = (
        "end-input.check-partition-expire", Bool, Some("false"), [], false,
        "Expire partitions at the end of a batch."
    );
    LINN_ISOLATION_LEVEL = (
        "linn.isolation-level", Choice(&["serializable", "snapshot", "none"]), Some("serializable"), [], false,
        "Which commits of others make a statement run again that reads the table it writes."
    );
    MANIFEST_SORT_ENABLED = ("manifest-sort.enabled", Bool, Some("false"), [], false, "Sort manifests at commit.");
    MANIFEST_SORT_MAX_REWRITE_SIZE = (
        "manifest-sort.max-rewrite-size", Memory, Some("256 mb"), [], false,
        "Most manifest data sorted at once."
    );
    MANIFEST_SORT_PARTITION_FIELD = (
        "manifest-sort.partition-field", Text, None, [], false,
        "Partition column that manifests are sorted by."
    );
    MANIFEST_COMPRESSION = ("manifest.compression", Text, Some("zstd"), [], false, "Compression of manifests.");
    MANIFEST_DELETE_FILE_DROP_STATS = (
        "manifest.delete-file-drop-stats", Bool, Some("false"), [], false,
        "Leave statistics out of DELETE entries."
    );
    MANIFEST_FORMAT = ("manifest.format", Text, Some("avro"), [], false, "Format of manifests.");
    MANIFEST_FULL_COMPACTION_THRESHOLD_SIZE = (
        "manifest.full-compaction-threshold-size", Memory, Some("16 mb"), [], false,
        "Size of changed manifests that starts a full rewrite."
    );
    MANIFEST_MERGE_MIN_COUNT = (
        "manifest.merge-min-count", Int, Some("30"), [], false,
        "Small manifests that start a merge."
    );
    MANIFEST_MERGE_OPTIMIZE_ENABLED = (
        "manifest.merge-optimize.enabled", Bool, Some("true"), [], false,
        "Merge manifests with less rewriting."
    );
    MANIFEST_TARGET_FILE_SIZE = (
        "manifest.target-file-size", Memory, Some("8 mb"), [], false,
        "Size that manifests are merged towards."
    );
    SNAPSHOT_CLEAN_EMPTY_DIRECTORIES = (
        "snapshot.clean-empty-directories", Bool, Some("false"), ["snapshot.expire.clean-empty-directories"], false,
        "Remove empty directories in expiry."
    );
    SNAPSHOT_EXPIRE_EXECUTION_MODE = (
        "snapshot.expire.execution-mode", Choice(&["sync", "async"]), Some("sync"), [], false,
        "Expire within the commit or beside it."
    );
    SNAPSHOT_EXPIRE_LIMIT = ("snapshot.expire.limit", Int, Some("50"), [], false, "Most snapshots expired at once.");
    SNAPSHOT_IGNORE_EMPTY_COMMIT = (
        "snapshot.ignore-empty-commit", Bool, None, [], false,
        "Make no snapshot without changes."
    );
    SNAPSHOT_NUM_RETAINED_MAX = ("snapshot.num-retained.max", Int, Some("2147483647"), [], false, "Most snapshots to keep.");
    SNAPSHOT_NUM_RETAINED_MIN = ("snapshot.num-retained.min", Int, Some("10"), [], false, "Fewest snapshots to keep.");
    SNAPSHOT_TIME_RETAINED = ("snapshot.time-retained", Duration, Some("1 h"), [], false, "How long snapshots are kept.");
    SNAPSHOT_WATERMARK_IDLE_TIMEOUT = (
        "snapshot.watermark-idle-timeout", Duration, None, [], false,
        "Idle time after which the watermark moves on."
    );
    TAG_AUTOMATIC_COMPLETION = ("tag.automatic-completion", Bool, Some("false"), [], false, "Make missing tags later.");
    TAG_AUTOMATIC_CREATION = (
        "tag.automatic-creation", Choice(&["none", "process-time", "watermark", "batch"]), Some("none"), [], false,
        "When tags are made by themselves."
    );
    TAG_BATCH_CUSTOMIZED_NAME = ("tag.batch.customized-name", Text, None, [], false, "Name of tags made by batches.");
    TAG_CALLBACK_PARAM = ("tag.callback.#.param", Text, None, [], false, "Parameter of a tag callback.");
    TAG_CALLBACKS = ("tag.callbacks", Text, Some(""), [], false, "Callbacks after a tag is made.");
    TAG_CREATE_SUCCESS_FILE = (
        "tag.create-success-file", Bool, Some("false"), [], false,
        "Write a success file with each tag."
    );
    TAG_CREATION_DELAY = ("tag.creation-delay", Duration, Some("0 ms"), [], false, "Wait after a period before its tag.");
    TAG_CREATION_PERIOD = (
        "tag.creation-period", Choice(&["daily", "hourly", "two-hours"]), Some("daily"), [], false,
        "Period of tags."
    );
    TAG_CREATION_PERIOD_DURATION = ("tag.creation-period-duration", Duration, None, [], false, "Period of tags as a time.");
    TAG_DEFAULT_TIME_RETAINED = ("tag.default-time-retained", Duration, None, [], false, "How long tags are kept.");
    TAG_NUM_RETAINED_MAX = ("tag.num-retained-max", Int, None, [], false, "Most automatic tags to keep.");
    TAG_PERIOD_FORMATTER = (
        "tag.period-formatter", Choice(&["with_dashes", "without_dashes", "without_dashes_and_spaces"]), Some("with_dashes"), [], false,
        "How tags are named after periods."
    );
    TAG_TIME_EXPIRE_ENABLED = ("tag.time-expire-enabled", Bool, Some("true"), [], false, "Expire tags by time.");
    VISIBILITY_CALLBACK_CHECK_INTERVAL = (
        "visibility-callback.check-interval", Duration, Some("10 s"), [], false,
        "How often visibility is checked."
    );
    VISIBILITY_CALLBACK_ENABLED = (
        "visibility-callback.enabled", Bool, Some("false"), [], false,
        "Commits wait until data is visible."
    );
    VISIBILITY_CALLBACK_TIMEOUT = (
        "visibility-callback.timeout", Duration, Some("30 min"), [], false,
        "Longest wait for visibility."
    );
}
