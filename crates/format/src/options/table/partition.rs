//! Partitions (spec: options.md).

options! {
    DYNAMIC_PARTITION_OVERWRITE = ("dynamic-partition-overwrite", Bool, Some("true"), [], false, "Table option.");
    METASTORE_PARTITIONED_TABLE = ("metastore.partitioned-table", Bool, Some("false"), [], false, "Table option.");
    METASTORE_TAG_TO_PARTITION = ("metastore.tag-to-partition", Text, None, [], false, "Table option.");
    METASTORE_TAG_TO_PARTITION_PREVIEW = (
        "metastore.tag-to-partition.preview", Choice(&["none", "process-time", "watermark", "batch"]), Some("none"), [], false,
        "Table option."
    );
    PARTITION = ("partition", Text, None, [], true, "Table option.");
    PARTITION_DEFAULT_NAME = ("partition.default-name", Text, Some("__DEFAULT_PARTITION__"), [], false, "Table option.");
    PARTITION_END_INPUT_TO_DONE = ("partition.end-input-to-done", Bool, Some("false"), [], false, "Table option.");
    PARTITION_EXPIRATION_BATCH_SIZE = ("partition.expiration-batch-size", Int, None, [], false, "Table option.");
    PARTITION_EXPIRATION_CHECK_INTERVAL = (
        "partition.expiration-check-interval", Duration, Some("1 h"), [], false,
        "Table option."
    );
    PARTITION_EXPIRATION_MAX_NUM = ("partition.expiration-max-num", Int, Some("100"), [], false, "Table option.");
    PARTITION_EXPIRATION_STRATEGY = ("partition.expiration-strategy", Text, Some("values-time"), [], false, "Table option.");
    PARTITION_EXPIRATION_TIME = ("partition.expiration-time", Duration, None, [], false, "Table option.");
    PARTITION_IDLE_TIME_TO_REPORT_STATISTIC = (
        "partition.idle-time-to-report-statistic", Duration, Some("0 ms"), [], false,
        "Table option."
    );
    PARTITION_LEGACY_NAME = ("partition.legacy-name", Bool, Some("true"), [], false, "Table option.");
    PARTITION_MARK_DONE_ACTION = ("partition.mark-done-action", Text, Some("success-file"), [], false, "Table option.");
    PARTITION_MARK_DONE_ACTION_CUSTOM_CLASS = (
        "partition.mark-done-action.custom.class", Text, None, [], false,
        "Table option."
    );
    PARTITION_MARK_DONE_ACTION_HTTP_PARAMS = (
        "partition.mark-done-action.http.params", Text, None, [], false,
        "Table option."
    );
    PARTITION_MARK_DONE_ACTION_HTTP_URL = ("partition.mark-done-action.http.url", Text, None, [], false, "Table option.");
    PARTITION_SINK_STRATEGY = (
        "partition.sink-strategy", Choice(&["NONE", "HASH", "PARTITION_DYNAMIC"]), Some("NONE"), [], false,
        "Table option."
    );
    PARTITION_TIMESTAMP_FORMAT_STRICT = (
        "partition.timestamp-format.strict", Bool, Some("false"), [], false,
        "Table option."
    );
    PARTITION_TIMESTAMP_FORMATTER = ("partition.timestamp-formatter", Text, None, [], false, "Table option.");
    PARTITION_TIMESTAMP_PATTERN = ("partition.timestamp-pattern", Text, None, [], false, "Table option.");
}
