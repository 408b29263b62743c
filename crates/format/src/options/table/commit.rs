//! Commits, manifests, snapshots and tags (spec: options.md).

options! {
    COMMIT_CALLBACK_PARAM = ("commit.callback.#.param", Text, None, [], false, "Table option.");
    COMMIT_CALLBACKS = ("commit.callbacks", Text, Some(""), [], false, "Table option.");
    COMMIT_DISCARD_DUPLICATE_FILES = ("commit.discard-duplicate-files", Bool, Some("false"), [], false, "Table option.");
    COMMIT_FORCE_COMPACT = ("commit.force-compact", Bool, Some("false"), [], false, "Table option.");
    COMMIT_FORCE_CREATE_SNAPSHOT = ("commit.force-create-snapshot", Bool, Some("false"), [], false, "Table option.");
    COMMIT_MAX_RETRIES = ("commit.max-retries", Int, Some("10"), [], false, "Table option.");
    COMMIT_MAX_RETRY_WAIT = ("commit.max-retry-wait", Duration, Some("10 s"), [], false, "Table option.");
    COMMIT_MIN_RETRY_WAIT = ("commit.min-retry-wait", Duration, Some("10 ms"), [], false, "Table option.");
    COMMIT_STRICT_MODE_LAST_SAFE_SNAPSHOT = ("commit.strict-mode.last-safe-snapshot", Long, None, [], false, "Table option.");
    COMMIT_TIMEOUT = ("commit.timeout", Duration, None, [], false, "Table option.");
    COMMIT_USER_PREFIX = ("commit.user-prefix", Text, None, [], false, "Table option.");
    END_INPUT_CHECK_PARTITION_EXPIRE = ("end-input.check-partition-expire", Bool, Some("false"), [], false, "Table option.");
    MANIFEST_SORT_ENABLED = ("manifest-sort.enabled", Bool, Some("false"), [], false, "Table option.");
    MANIFEST_SORT_MAX_REWRITE_SIZE = ("manifest-sort.max-rewrite-size", Memory, Some("256 mb"), [], false, "Table option.");
    MANIFEST_SORT_PARTITION_FIELD = ("manifest-sort.partition-field", Text, None, [], false, "Table option.");
    MANIFEST_COMPRESSION = ("manifest.compression", Text, Some("zstd"), [], false, "Table option.");
    MANIFEST_DELETE_FILE_DROP_STATS = ("manifest.delete-file-drop-stats", Bool, Some("false"), [], false, "Table option.");
    MANIFEST_FORMAT = ("manifest.format", Text, Some("avro"), [], false, "Table option.");
    MANIFEST_FULL_COMPACTION_THRESHOLD_SIZE = (
        "manifest.full-compaction-threshold-size", Memory, Some("16 mb"), [], false,
        "Table option."
    );
    MANIFEST_MERGE_MIN_COUNT = ("manifest.merge-min-count", Int, Some("30"), [], false, "Table option.");
    MANIFEST_MERGE_OPTIMIZE_ENABLED = ("manifest.merge-optimize.enabled", Bool, Some("true"), [], false, "Table option.");
    MANIFEST_TARGET_FILE_SIZE = ("manifest.target-file-size", Memory, Some("8 mb"), [], false, "Table option.");
    SNAPSHOT_CLEAN_EMPTY_DIRECTORIES = (
        "snapshot.clean-empty-directories", Bool, Some("false"), ["snapshot.expire.clean-empty-directories"], false,
        "Table option."
    );
    SNAPSHOT_EXPIRE_EXECUTION_MODE = (
        "snapshot.expire.execution-mode", Choice(&["sync", "async"]), Some("sync"), [], false,
        "Table option."
    );
    SNAPSHOT_EXPIRE_LIMIT = ("snapshot.expire.limit", Int, Some("50"), [], false, "Table option.");
    SNAPSHOT_IGNORE_EMPTY_COMMIT = ("snapshot.ignore-empty-commit", Bool, None, [], false, "Table option.");
    SNAPSHOT_NUM_RETAINED_MAX = ("snapshot.num-retained.max", Int, Some("2147483647"), [], false, "Table option.");
    SNAPSHOT_NUM_RETAINED_MIN = ("snapshot.num-retained.min", Int, Some("10"), [], false, "Table option.");
    SNAPSHOT_TIME_RETAINED = ("snapshot.time-retained", Duration, Some("1 h"), [], false, "Table option.");
    SNAPSHOT_WATERMARK_IDLE_TIMEOUT = ("snapshot.watermark-idle-timeout", Duration, None, [], false, "Table option.");
    TAG_AUTOMATIC_COMPLETION = ("tag.automatic-completion", Bool, Some("false"), [], false, "Table option.");
    TAG_AUTOMATIC_CREATION = (
        "tag.automatic-creation", Choice(&["none", "process-time", "watermark", "batch"]), Some("none"), [], false,
        "Table option."
    );
    TAG_BATCH_CUSTOMIZED_NAME = ("tag.batch.customized-name", Text, None, [], false, "Table option.");
    TAG_CALLBACK_PARAM = ("tag.callback.#.param", Text, None, [], false, "Table option.");
    TAG_CALLBACKS = ("tag.callbacks", Text, Some(""), [], false, "Table option.");
    TAG_CREATE_SUCCESS_FILE = ("tag.create-success-file", Bool, Some("false"), [], false, "Table option.");
    TAG_CREATION_DELAY = ("tag.creation-delay", Duration, Some("0 ms"), [], false, "Table option.");
    TAG_CREATION_PERIOD = (
        "tag.creation-period", Choice(&["daily", "hourly", "two-hours"]), Some("daily"), [], false,
        "Table option."
    );
    TAG_CREATION_PERIOD_DURATION = ("tag.creation-period-duration", Duration, None, [], false, "Table option.");
    TAG_DEFAULT_TIME_RETAINED = ("tag.default-time-retained", Duration, None, [], false, "Table option.");
    TAG_NUM_RETAINED_MAX = ("tag.num-retained-max", Int, None, [], false, "Table option.");
    TAG_PERIOD_FORMATTER = (
        "tag.period-formatter", Choice(&["with_dashes", "without_dashes", "without_dashes_and_spaces"]), Some("with_dashes"), [], false,
        "Table option."
    );
    TAG_TIME_EXPIRE_ENABLED = ("tag.time-expire-enabled", Bool, Some("true"), [], false, "Table option.");
    VISIBILITY_CALLBACK_CHECK_INTERVAL = (
        "visibility-callback.check-interval", Duration, Some("10 s"), [], false,
        "Table option."
    );
    VISIBILITY_CALLBACK_ENABLED = ("visibility-callback.enabled", Bool, Some("false"), [], false, "Table option.");
    VISIBILITY_CALLBACK_TIMEOUT = ("visibility-callback.timeout", Duration, Some("30 min"), [], false, "Table option.");
}
