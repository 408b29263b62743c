//! Write buffers and sorting (spec: options.md).

options! {
    LOCAL_SORT_MAX_NUM_FILE_HANDLES = ("local-sort.max-num-file-handles", Int, Some("128"), [], false, "Table option.");
    SINK_PROCESS_TIME_ZONE = ("sink.process-time-zone", Text, None, [], false, "Table option.");
    SINK_WATERMARK_TIME_ZONE = ("sink.watermark-time-zone", Text, Some("UTC"), [], false, "Table option.");
    SORT_ENGINE = ("sort-engine", Choice(&["min-heap", "loser-tree"]), Some("loser-tree"), [], false, "Table option.");
    SORT_SPILL_BUFFER_SIZE = ("sort-spill-buffer-size", Memory, Some("64 mb"), [], false, "Table option.");
    SORT_SPILL_THRESHOLD = ("sort-spill-threshold", Int, None, [], false, "Table option.");
    SPILL_COMPRESSION = ("spill-compression", Text, Some("zstd"), [], false, "Table option.");
    SPILL_COMPRESSION_ZSTD_LEVEL = ("spill-compression.zstd-level", Int, Some("1"), [], false, "Table option.");
    WRITE_BUFFER_FOR_APPEND = ("write-buffer-for-append", Bool, Some("false"), [], false, "Table option.");
    WRITE_BUFFER_SIZE = ("write-buffer-size", Memory, Some("256 mb"), [], false, "Table option.");
    WRITE_BUFFER_SPILL_MAX_DISK_SIZE = (
        "write-buffer-spill.max-disk-size", Memory, Some("9223372036854775807 b"), [], false,
        "Table option."
    );
    WRITE_BUFFER_SPILLABLE = ("write-buffer-spillable", Bool, Some("true"), [], false, "Table option.");
    WRITE_MAX_WRITERS_TO_SPILL = ("write-max-writers-to-spill", Int, Some("10"), [], false, "Table option.");
}
