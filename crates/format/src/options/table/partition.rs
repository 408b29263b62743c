//! Partitions (spec: options.md).

options! {
    DYNAMIC_PARTITION_OVERWRITE = (
        "dynamic-partition-overwrite", Bool, Some("true"), [], false,
        "An overwrite replaces only the partitions it writes."
    );
    METASTORE_PARTITIONED_TABLE = (
        "metastore.partitioned-table", Bool, Some("false"), [], false,
        "Register partitions in the metastore."
    );
    METASTORE_TAG_TO_PARTITION = (
        "metastore.tag-to-partition", Text, None, [], false,
        "Show tags as partitions of this column."
    );
    METASTORE_TAG_TO_PARTITION_PREVIEW = (
        "metastore.tag-to-partition.preview", Choice(&["none", "process-time", "watermark", "batch"]), Some("none"), [], false,
        "Show snapshots as tags that are to come."
    );
    PARTITION = ("partition", Text, None, [], true, "Partition columns, instead of in the DDL.");
    PARTITION_DEFAULT_NAME = (
        "partition.default-name", Text, Some("__DEFAULT_PARTITION__"), [], false,
        "Directory name of null values."
    );
    PARTITION_END_INPUT_TO_DONE = (
        "partition.end-input-to-done", Bool, Some("false"), [], false,
        "Mark partitions done at the end of input."
    );
    PARTITION_EXPIRATION_BATCH_SIZE = (
        "partition.expiration-batch-size", Int, None, [], false,
        "Partitions expired at once."
    );
    PARTITION_EXPIRATION_CHECK_INTERVAL = (
        "partition.expiration-check-interval", Duration, Some("1 h"), [], false,
        "How often partitions are checked for expiry."
    );
    PARTITION_EXPIRATION_MAX_NUM = (
        "partition.expiration-max-num", Int, Some("100"), [], false,
        "Most partitions expired in a run."
    );
    PARTITION_EXPIRATION_STRATEGY = (
        "partition.expiration-strategy", Text, Some("values-time"), [], false,
        "Whether values or updates tell the age."
    );
    PARTITION_EXPIRATION_TIME = ("partition.expiration-time", Duration, None, [], false, "Age at which partitions expire.");
    PARTITION_IDLE_TIME_TO_REPORT_STATISTIC = (
        "partition.idle-time-to-report-statistic", Duration, Some("0 ms"), [], false,
        "Idle time after which statistics are reported."
    );
    PARTITION_LEGACY_NAME = (
        "partition.legacy-name", Bool, Some("true"), [], false,
        "Name partition values as older versions did."
    );
    PARTITION_MARK_DONE_ACTION = (
        "partition.mark-done-action", Text, Some("success-file"), [], false,
        "How a partition is marked done."
    );
    PARTITION_MARK_DONE_ACTION_CUSTOM_CLASS = (
        "partition.mark-done-action.custom.class", Text, None, [], false,
        "Class of a custom mark."
    );
    PARTITION_MARK_DONE_ACTION_HTTP_PARAMS = (
        "partition.mark-done-action.http.params", Text, None, [], false,
        "Parameters of an HTTP mark."
    );
    PARTITION_MARK_DONE_ACTION_HTTP_URL = (
        "partition.mark-done-action.http.url", Text, None, [], false,
        "Address of an HTTP mark."
    );
    PARTITION_SINK_STRATEGY = (
        "partition.sink-strategy", Choice(&["NONE", "HASH", "PARTITION_DYNAMIC"]), Some("NONE"), [], false,
        "How rows of partitions reach writers."
    );
    PARTITION_TIMESTAMP_FORMAT_STRICT = (
        "partition.timestamp-format.strict", Bool, Some("false"), [], false,
        "Refuse partition values that are not timestamps."
    );
    PARTITION_TIMESTAMP_FORMATTER = (
        "partition.timestamp-formatter", Text, None, [], false,
        "Format of times in partition values."
    );
    PARTITION_TIMESTAMP_PATTERN = (
        "partition.timestamp-pattern", Text, None, [], false,
        "How partition columns form a time."
    );
}
