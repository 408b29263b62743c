//! Primary keys, merging and record order (spec: options.md).

options! {
    AGGREGATION_REMOVE_RECORD_ON_DELETE = (
        "aggregation.remove-record-on-delete", Bool, Some("false"), [], true,
        "A delete removes the whole row."
    );
    FIELDS_DEFAULT_AGGREGATE_FUNCTION = (
        "fields.default-aggregate-function", Text, None, [], false,
        "Aggregate function of columns without one."
    );
    IGNORE_DELETE = (
        "ignore-delete", Bool, Some("false"), ["first-row.ignore-delete", "deduplicate.ignore-delete", "partial-update.ignore-delete"], false,
        "Drop deletes."
    );
    IGNORE_UPDATE_BEFORE = ("ignore-update-before", Bool, Some("false"), [], false, "Drop update-before records.");
    KEY_VALUE_SEQUENCE_NUMBER_ENABLED = (
        "key-value.sequence_number.enabled", Bool, Some("false"), [], false,
        "Internal: show sequence numbers."
    );
    LOCAL_MERGE_BUFFER_SIZE = (
        "local-merge-buffer-size", Memory, None, [], false,
        "Buffer for merging before rows are spread."
    );
    MERGE_ENGINE = (
        "merge-engine", Choice(&["deduplicate", "partial-update", "aggregation", "first-row"]), Some("deduplicate"), [], true,
        "How the records of one key become one row."
    );
    PARTIAL_UPDATE_REMOVE_RECORD_ON_DELETE = (
        "partial-update.remove-record-on-delete", Bool, Some("false"), [], true,
        "A delete removes the whole row."
    );
    PARTIAL_UPDATE_REMOVE_RECORD_ON_SEQUENCE_GROUP = (
        "partial-update.remove-record-on-sequence-group", Text, None, [], true,
        "Deletes of these sequence groups remove the row."
    );
    PRIMARY_KEY = ("primary-key", Text, None, [], true, "Primary key columns, instead of in the DDL.");
    PRIMARY_KEY_NULLABLE = ("primary-key.nullable", Bool, Some("false"), [], true, "Allow null in primary key columns.");
    RECORD_LEVEL_EXPIRE_TIME = ("record-level.expire-time", Duration, None, [], false, "Age at which rows expire.");
    RECORD_LEVEL_TIME_FIELD = ("record-level.time-field", Text, None, [], false, "Column that tells the age of a row.");
    ROWKIND_FIELD = ("rowkind.field", Text, None, [], true, "Column that holds the kind of each record.");
    SEQUENCE_FIELD = ("sequence.field", Text, None, [], false, "Columns that order the records of a key.");
    SEQUENCE_FIELD_SORT_ORDER = (
        "sequence.field.sort-order", Choice(&["ascending", "descending"]), Some("ascending"), [], false,
        "Direction of that order."
    );
    SEQUENCE_SNAPSHOT_ORDERING = (
        "sequence.snapshot-ordering", Bool, Some("false"), [], true,
        "Order the records of a key by snapshot."
    );
    UPSERT_KEY = ("upsert-key", Text, None, [], false, "Key by which inserts into an append table merge.");
    WRITE_SEQUENCE_NUMBER_INIT_MODE = (
        "write.sequence-number-init-mode", Choice(&["scan", "snapshot"]), Some("scan"), [], false,
        "Where the next sequence number comes from."
    );
}
