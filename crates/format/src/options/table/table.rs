//! The table as such (spec: options.md).

options! {
    ADD_COLUMN_BEFORE_PARTITION = ("add-column-before-partition", Bool, Some("false"), [], false, "Table option.");
    ALTER_COLUMN_NULL_TO_NOT_NULL_DISABLED = (
        "alter-column-null-to-not-null.disabled", Bool, Some("true"), [], false,
        "Table option."
    );
    AUTO_CREATE = ("auto-create", Bool, Some("false"), [], false, "Table option.");
    BRANCH = ("branch", Text, Some("main"), [], false, "Table option.");
    CHAIN_TABLE_CHAIN_PARTITION_KEYS = ("chain-table.chain-partition-keys", Text, None, [], false, "Table option.");
    CHAIN_TABLE_ENABLED = ("chain-table.enabled", Bool, Some("false"), [], false, "Table option.");
    CHAIN_TABLE_SPLIT_KEY_RANGE_ENABLED = (
        "chain-table.split.key-range-enabled", Bool, Some("true"), [], false,
        "Table option."
    );
    CHAIN_TABLE_STREAMING_MERGE_SNAPSHOT = (
        "chain-table.streaming.merge-snapshot", Bool, Some("false"), [], false,
        "Table option."
    );
    DATA_EVOLUTION_COMPACTION_REWRITE_ROW_IDS = (
        "data-evolution.compaction.rewrite-row-ids", Bool, Some("false"), [], false,
        "Table option."
    );
    DATA_EVOLUTION_ENABLED = ("data-evolution.enabled", Bool, Some("false"), [], true, "Table option.");
    DATA_EVOLUTION_MERGE_INTO_FILE_PRUNING = (
        "data-evolution.merge-into.file-pruning", Bool, Some("true"), [], false,
        "Table option."
    );
    DATA_EVOLUTION_MERGE_INTO_SOURCE_PERSIST = (
        "data-evolution.merge-into.source-persist", Bool, Some("false"), [], false,
        "Table option."
    );
    DATA_EVOLUTION_REASSIGN_SKIP_CONTIGUOUS_ROW_COUNT = (
        "data-evolution.reassign.skip-contiguous-row-count", Long, Some("1000000000"), [], false,
        "Table option."
    );
    DATA_EVOLUTION_ROW_ID_CONFLICT_REWRITE_MAX_SIZE = (
        "data-evolution.row-id-conflict-rewrite.max-size", Memory, Some("256 mb"), [], false,
        "Table option."
    );
    DATA_EVOLUTION_ROW_SIDECAR_ENABLED = (
        "data-evolution.row-sidecar.enabled", Bool, Some("false"), [], false,
        "Table option."
    );
    DATA_EVOLUTION_ROW_SIDECAR_MAX_SELECTED_ROWS = (
        "data-evolution.row-sidecar.max-selected-rows", Long, Some("4096"), [], false,
        "Table option."
    );
    DATA_EVOLUTION_ROW_SIDECAR_MAX_SELECTION_RATIO = (
        "data-evolution.row-sidecar.max-selection-ratio", Double, Some("0.05"), [], false,
        "Table option."
    );
    DISABLE_EXPLICIT_TYPE_CASTING = ("disable-explicit-type-casting", Bool, Some("false"), [], false, "Table option.");
    MATERIALIZED_TABLE_DEFINITION_QUERY = ("materialized-table.definition-query", Text, None, [], false, "Table option.");
    MATERIALIZED_TABLE_INTERVAL_FRESHNESS = ("materialized-table.interval-freshness", Text, None, [], false, "Table option.");
    MATERIALIZED_TABLE_INTERVAL_FRESHNESS_TIME_UNIT = (
        "materialized-table.interval-freshness.time-unit", Choice(&["SECOND", "MINUTE", "HOUR", "DAY"]), None, [], false,
        "Table option."
    );
    MATERIALIZED_TABLE_LOGICAL_REFRESH_MODE = (
        "materialized-table.logical-refresh-mode", Choice(&["CONTINUOUS", "FULL", "AUTOMATIC"]), None, [], false,
        "Table option."
    );
    MATERIALIZED_TABLE_REFRESH_HANDLER_BYTES = (
        "materialized-table.refresh-handler-bytes", Text, None, [], false,
        "Table option."
    );
    MATERIALIZED_TABLE_REFRESH_HANDLER_DESCRIPTION = (
        "materialized-table.refresh-handler-description", Text, None, [], false,
        "Table option."
    );
    MATERIALIZED_TABLE_REFRESH_MODE = (
        "materialized-table.refresh-mode", Choice(&["CONTINUOUS", "FULL", "AUTOMATIC"]), None, [], false,
        "Table option."
    );
    MATERIALIZED_TABLE_REFRESH_STATUS = (
        "materialized-table.refresh-status", Choice(&["INITIALIZING", "ACTIVATED", "SUSPENDED"]), None, [], false,
        "Table option."
    );
    PATH = ("path", Text, None, [], false, "Table option.");
    QUERY_AUTH_ENABLED = ("query-auth.enabled", Bool, Some("false"), [], false, "Table option.");
    ROW_TRACKING_ENABLED = ("row-tracking.enabled", Bool, Some("false"), [], true, "Table option.");
    ROW_TRACKING_PARTITION_GROUP_ON_COMMIT = (
        "row-tracking.partition-group-on-commit", Bool, Some("true"), [], false,
        "Table option."
    );
    TYPE = (
        "type", Choice(&["table", "format-table", "materialized-table", "object-table", "lance-table", "iceberg-table"]), Some("table"), [], true,
        "Table option."
    );
}
