//! Primary keys, merging and record order (spec: options.md).

options! {
    AGGREGATION_REMOVE_RECORD_ON_DELETE = (
        "aggregation.remove-record-on-delete", Bool, Some("false"), [], true,
        "Table option."
    );
    FIELDS_DEFAULT_AGGREGATE_FUNCTION = ("fields.default-aggregate-function", Text, None, [], false, "Table option.");
    IGNORE_DELETE = (
        "ignore-delete", Bool, Some("false"), ["first-row.ignore-delete", "deduplicate.ignore-delete", "partial-update.ignore-delete"], false,
        "Table option."
    );
    IGNORE_UPDATE_BEFORE = ("ignore-update-before", Bool, Some("false"), [], false, "Table option.");
    KEY_VALUE_SEQUENCE_NUMBER_ENABLED = (
        "key-value.sequence_number.enabled", Bool, Some("false"), [], false,
        "Table option."
    );
    LOCAL_MERGE_BUFFER_SIZE = ("local-merge-buffer-size", Memory, None, [], false, "Table option.");
    MERGE_ENGINE = (
        "merge-engine", Choice(&["deduplicate", "partial-update", "aggregation", "first-row"]), Some("deduplicate"), [], true,
        "Table option."
    );
    PARTIAL_UPDATE_REMOVE_RECORD_ON_DELETE = (
        "partial-update.remove-record-on-delete", Bool, Some("false"), [], true,
        "Table option."
    );
    PARTIAL_UPDATE_REMOVE_RECORD_ON_SEQUENCE_GROUP = (
        "partial-update.remove-record-on-sequence-group", Text, None, [], true,
        "Table option."
    );
    PRIMARY_KEY = ("primary-key", Text, None, [], true, "Table option.");
    PRIMARY_KEY_NULLABLE = ("primary-key.nullable", Bool, Some("false"), [], false, "Table option.");
    RECORD_LEVEL_EXPIRE_TIME = ("record-level.expire-time", Duration, None, [], false, "Table option.");
    RECORD_LEVEL_TIME_FIELD = ("record-level.time-field", Text, None, [], false, "Table option.");
    ROWKIND_FIELD = ("rowkind.field", Text, None, [], true, "Table option.");
    SEQUENCE_FIELD = ("sequence.field", Text, None, [], false, "Table option.");
    SEQUENCE_FIELD_SORT_ORDER = (
        "sequence.field.sort-order", Choice(&["ascending", "descending"]), Some("ascending"), [], false,
        "Table option."
    );
    SEQUENCE_SNAPSHOT_ORDERING = ("sequence.snapshot-ordering", Bool, Some("false"), [], true, "Table option.");
    UPSERT_KEY = ("upsert-key", Text, None, [], false, "Table option.");
    WRITE_SEQUENCE_NUMBER_INIT_MODE = (
        "write.sequence-number-init-mode", Choice(&["scan", "snapshot"]), Some("scan"), [], false,
        "Table option."
    );
}
