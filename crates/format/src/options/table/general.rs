//! The table as such (spec: options.md).

options! {
    ADD_COLUMN_BEFORE_PARTITION = (
        "add-column-before-partition", Bool, Some("false"), [], false,
        "Place new columns before the first partition column."
    );
    ALTER_COLUMN_NULL_TO_NOT_NULL_DISABLED = (
        "alter-column-null-to-not-null.disabled", Bool, Some("true"), [], false,
        "Refuse to make a nullable column NOT NULL."
    );
    AUTO_CREATE = ("auto-create", Bool, Some("false"), [], false, "Create the storage of the table on first use.");
    BRANCH = ("branch", Text, Some("main"), [], false, "Branch to use.");
    CHAIN_TABLE_CHAIN_PARTITION_KEYS = (
        "chain-table.chain-partition-keys", Text, None, [], false,
        "Partition columns that form the chain."
    );
    CHAIN_TABLE_ENABLED = ("chain-table.enabled", Bool, Some("false"), [], false, "Whether this is a chain table.");
    CHAIN_TABLE_SPLIT_KEY_RANGE_ENABLED = (
        "chain-table.split.key-range-enabled", Bool, Some("true"), [], false,
        "Split buckets of chain tables by key ranges."
    );
    CHAIN_TABLE_STREAMING_MERGE_SNAPSHOT = (
        "chain-table.streaming.merge-snapshot", Bool, Some("false"), [], false,
        "Merge the chain when a streaming read starts."
    );
    DATA_EVOLUTION_COMPACTION_REWRITE_ROW_IDS = (
        "data-evolution.compaction.rewrite-row-ids", Bool, Some("false"), [], false,
        "Let compaction give new row ids."
    );
    DATA_EVOLUTION_ENABLED = (
        "data-evolution.enabled", Bool, Some("false"), [], true,
        "Write columns of rows in files of their own."
    );
    DATA_EVOLUTION_MERGE_INTO_FILE_PRUNING = (
        "data-evolution.merge-into.file-pruning", Bool, Some("true"), [], false,
        "Prune files in MERGE INTO."
    );
    DATA_EVOLUTION_MERGE_INTO_SOURCE_PERSIST = (
        "data-evolution.merge-into.source-persist", Bool, Some("false"), [], false,
        "Keep the source of MERGE INTO while it runs."
    );
    DATA_EVOLUTION_REASSIGN_SKIP_CONTIGUOUS_ROW_COUNT = (
        "data-evolution.reassign.skip-contiguous-row-count", Long, Some("1000000000"), [], false,
        "Runs above this length keep their row ids."
    );
    DATA_EVOLUTION_ROW_ID_CONFLICT_REWRITE_MAX_SIZE = (
        "data-evolution.row-id-conflict-rewrite.max-size", Memory, Some("256 mb"), [], false,
        "Most data rebased after a row id conflict."
    );
    DATA_EVOLUTION_ROW_SIDECAR_ENABLED = (
        "data-evolution.row-sidecar.enabled", Bool, Some("false"), [], false,
        "Write row files beside data files."
    );
    DATA_EVOLUTION_ROW_SIDECAR_MAX_SELECTED_ROWS = (
        "data-evolution.row-sidecar.max-selected-rows", Long, Some("4096"), [], false,
        "Most rows read from a row file."
    );
    DATA_EVOLUTION_ROW_SIDECAR_MAX_SELECTION_RATIO = (
        "data-evolution.row-sidecar.max-selection-ratio", Double, Some("0.05"), [], false,
        "Largest share of rows read from a row file."
    );
    DISABLE_EXPLICIT_TYPE_CASTING = (
        "disable-explicit-type-casting", Bool, Some("false"), [], false,
        "Refuse type changes that may lose something."
    );
    MATERIALIZED_TABLE_DEFINITION_QUERY = (
        "materialized-table.definition-query", Text, None, [], false,
        "Query of a materialized table."
    );
    MATERIALIZED_TABLE_INTERVAL_FRESHNESS = (
        "materialized-table.interval-freshness", Text, None, [], false,
        "Freshness of a materialized table."
    );
    MATERIALIZED_TABLE_INTERVAL_FRESHNESS_TIME_UNIT = (
        "materialized-table.interval-freshness.time-unit", Choice(&["SECOND", "MINUTE", "HOUR", "DAY"]), None, [], false,
        "Unit of the freshness."
    );
    MATERIALIZED_TABLE_LOGICAL_REFRESH_MODE = (
        "materialized-table.logical-refresh-mode", Choice(&["CONTINUOUS", "FULL", "AUTOMATIC"]), None, [], false,
        "Refresh mode that was asked for."
    );
    MATERIALIZED_TABLE_REFRESH_HANDLER_BYTES = (
        "materialized-table.refresh-handler-bytes", Text, None, [], false,
        "Refresh handler, serialized."
    );
    MATERIALIZED_TABLE_REFRESH_HANDLER_DESCRIPTION = (
        "materialized-table.refresh-handler-description", Text, None, [], false,
        "Refresh handler in words."
    );
    MATERIALIZED_TABLE_REFRESH_MODE = (
        "materialized-table.refresh-mode", Choice(&["CONTINUOUS", "FULL", "AUTOMATIC"]), None, [], false,
        "Refresh mode in use."
    );
    MATERIALIZED_TABLE_REFRESH_STATUS = (
        "materialized-table.refresh-status", Choice(&["INITIALIZING", "ACTIVATED", "SUSPENDED"]), None, [], false,
        "State of the refresh."
    );
    PATH = ("path", Text, None, [], false, "Place of the table.");
    QUERY_AUTH_ENABLED = (
        "query-auth.enabled", Bool, Some("false"), [], false,
        "Ask the catalog which rows and columns may be read."
    );
    ROW_TRACKING_ENABLED = ("row-tracking.enabled", Bool, Some("false"), [], true, "Give each row an id.");
    ROW_TRACKING_PARTITION_GROUP_ON_COMMIT = (
        "row-tracking.partition-group-on-commit", Bool, Some("true"), [], false,
        "Give row ids partition by partition."
    );
    TYPE = (
        "type", Choice(&["table", "format-table", "materialized-table", "object-table", "lance-table", "iceberg-table"]), Some("table"), [], true,
        "Type of the table."
    );
}
