//! Changelogs and consumers (spec: options.md).

options! {
    CHANGELOG_FILE_COMPRESSION = ("changelog-file.compression", Text, None, [], false, "Table option.");
    CHANGELOG_FILE_FORMAT = ("changelog-file.format", Text, None, [], false, "Table option.");
    CHANGELOG_FILE_PREFIX = ("changelog-file.prefix", Text, Some("changelog-"), [], false, "Table option.");
    CHANGELOG_FILE_STATS_MODE = ("changelog-file.stats-mode", Text, None, [], false, "Table option.");
    CHANGELOG_PRODUCER = (
        "changelog-producer", Choice(&["none", "input", "full-compaction", "lookup"]), Some("none"), [], false,
        "Table option."
    );
    CHANGELOG_PRODUCER_ROW_DEDUPLICATE = (
        "changelog-producer.row-deduplicate", Bool, Some("false"), [], false,
        "Table option."
    );
    CHANGELOG_PRODUCER_ROW_DEDUPLICATE_IGNORE_FIELDS = (
        "changelog-producer.row-deduplicate-ignore-fields", Text, None, [], false,
        "Table option."
    );
    CHANGELOG_NUM_RETAINED_MAX = ("changelog.num-retained.max", Int, None, [], false, "Table option.");
    CHANGELOG_NUM_RETAINED_MIN = ("changelog.num-retained.min", Int, None, [], false, "Table option.");
    CHANGELOG_TIME_RETAINED = ("changelog.time-retained", Duration, None, [], false, "Table option.");
    CONSUMER_ID = ("consumer-id", Text, None, [], false, "Table option.");
    CONSUMER_CHANGELOG_ONLY = ("consumer.changelog-only", Bool, Some("false"), [], false, "Table option.");
    CONSUMER_EXPIRATION_TIME = ("consumer.expiration-time", Duration, None, [], false, "Table option.");
    CONSUMER_IGNORE_PROGRESS = ("consumer.ignore-progress", Bool, Some("false"), [], false, "Table option.");
    CONSUMER_MODE = (
        "consumer.mode", Choice(&["exactly-once", "at-least-once"]), Some("exactly-once"), [], false,
        "Table option."
    );
    DELETE_FORCE_PRODUCE_CHANGELOG = ("delete.force-produce-changelog", Bool, Some("false"), [], false, "Table option.");
    STREAMING_READ_APPEND_OVERWRITE = ("streaming-read-append-overwrite", Bool, Some("false"), [], false, "Table option.");
    STREAMING_READ_OVERWRITE = ("streaming-read-overwrite", Bool, Some("false"), [], false, "Table option.");
    STREAMING_READ_SNAPSHOT_DELAY = ("streaming.read.snapshot.delay", Duration, None, [], false, "Table option.");
}
