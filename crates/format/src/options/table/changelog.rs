//! Changelogs and consumers (spec: options.md).

options! {
    CHANGELOG_FILE_COMPRESSION = ("changelog-file.compression", Text, None, [], false, "Compression of changelog files.");
    CHANGELOG_FILE_FORMAT = ("changelog-file.format", Text, None, [], false, "Format of changelog files.");
    CHANGELOG_FILE_PREFIX = ("changelog-file.prefix", Text, Some("changelog-"), [], false, "Name prefix of changelog files.");
    CHANGELOG_FILE_STATS_MODE = ("changelog-file.stats-mode", Text, None, [], false, "Statistics kept for changelog files.");
    CHANGELOG_PRODUCER = (
        "changelog-producer", Choice(&["none", "input", "full-compaction", "lookup"]), Some("none"), [], false,
        "Who writes changelog files."
    );
    CHANGELOG_PRODUCER_ROW_DEDUPLICATE = (
        "changelog-producer.row-deduplicate", Bool, Some("false"), [], false,
        "Leave out updates that change nothing."
    );
    CHANGELOG_PRODUCER_ROW_DEDUPLICATE_IGNORE_FIELDS = (
        "changelog-producer.row-deduplicate-ignore-fields", Text, None, [], false,
        "Columns whose changes alone are no update."
    );
    CHANGELOG_NUM_RETAINED_MAX = ("changelog.num-retained.max", Int, None, [], false, "Most changelogs to keep.");
    CHANGELOG_NUM_RETAINED_MIN = ("changelog.num-retained.min", Int, None, [], false, "Fewest changelogs to keep.");
    CHANGELOG_TIME_RETAINED = ("changelog.time-retained", Duration, None, [], false, "How long changelogs are kept.");
    CONSUMER_ID = ("consumer-id", Text, None, [], false, "Name under which a streaming read records its progress.");
    CONSUMER_CHANGELOG_ONLY = (
        "consumer.changelog-only", Bool, Some("false"), [], false,
        "A consumer holds changelogs only."
    );
    CONSUMER_EXPIRATION_TIME = (
        "consumer.expiration-time", Duration, None, [], false,
        "Idle time after which a consumer expires."
    );
    CONSUMER_IGNORE_PROGRESS = (
        "consumer.ignore-progress", Bool, Some("false"), [], false,
        "Start without the recorded progress."
    );
    CONSUMER_MODE = (
        "consumer.mode", Choice(&["exactly-once", "at-least-once"]), Some("exactly-once"), [], false,
        "How exactly progress is recorded."
    );
    DELETE_FORCE_PRODUCE_CHANGELOG = (
        "delete.force-produce-changelog", Bool, Some("false"), [], false,
        "DELETE writes a changelog."
    );
    STREAMING_READ_APPEND_OVERWRITE = (
        "streaming-read-append-overwrite", Bool, Some("false"), [], false,
        "Streaming reads show overwrites of append tables."
    );
    STREAMING_READ_OVERWRITE = (
        "streaming-read-overwrite", Bool, Some("false"), [], false,
        "Streaming reads show overwrites."
    );
    STREAMING_READ_SNAPSHOT_DELAY = (
        "streaming.read.snapshot.delay", Duration, None, [], false,
        "How far streaming reads stay behind the latest snapshot."
    );
}
