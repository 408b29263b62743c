//! Write buffers and sorting (spec: options.md).

options! {
    LOCAL_SORT_MAX_NUM_FILE_HANDLES = (
        "local-sort.max-num-file-handles", Int, Some("128"), [], false,
        "Most files merged at once in a sort."
    );
    SINK_PROCESS_TIME_ZONE = ("sink.process-time-zone", Text, None, [], false, "Time zone of processing time.");
    SINK_WATERMARK_TIME_ZONE = ("sink.watermark-time-zone", Text, Some("UTC"), [], false, "Time zone of watermarks.");
    SORT_ENGINE = (
        "sort-engine", Choice(&["min-heap", "loser-tree"]), Some("loser-tree"), [], false,
        "How sorted runs are merged."
    );
    SORT_SPILL_BUFFER_SIZE = (
        "sort-spill-buffer-size", Memory, Some("64 mb"), [], false,
        "Memory of a sort before it spills."
    );
    SORT_SPILL_THRESHOLD = ("sort-spill-threshold", Int, None, [], false, "Sorted readers above which a merge spills.");
    SPILL_COMPRESSION = (
        "spill-compression", Choice(&["zstd", "lz4", "lzo", "none"]), Some("zstd"), [], false,
        "Compression of spilled data."
    );
    SPILL_COMPRESSION_ZSTD_LEVEL = (
        "spill-compression.zstd-level", Int, Some("1"), [], false,
        "Level of zstd in spilled data."
    );
    WRITE_BUFFER_FOR_APPEND = (
        "write-buffer-for-append", Bool, Some("false"), [], false,
        "Buffer the writes of append tables."
    );
    WRITE_BUFFER_SIZE = (
        "write-buffer-size", Memory, Some("256 mb"), [], false,
        "Memory that a writer fills before it flushes."
    );
    WRITE_BUFFER_SPILL_MAX_DISK_SIZE = (
        "write-buffer-spill.max-disk-size", Memory, Some("9223372036854775807 b"), [], false,
        "Most disk space of spilled buffers."
    );
    WRITE_BUFFER_SPILLABLE = ("write-buffer-spillable", Bool, Some("true"), [], false, "A full buffer may spill to disk.");
    WRITE_MAX_WRITERS_TO_SPILL = (
        "write-max-writers-to-spill", Int, Some("10"), [], false,
        "Writers above which append writes are buffered."
    );
}
