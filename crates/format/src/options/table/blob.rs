//! Blobs, vectors and variants (spec: options.md).

options! {
    BLOB_AS_DESCRIPTOR = ("blob-as-descriptor", Bool, Some("false"), [], false, "Table option.");
    BLOB_COMPACTION_ENABLED = ("blob-compaction.enabled", Bool, Some("false"), [], false, "Table option.");
    BLOB_DESCRIPTOR_FIELD = ("blob-descriptor-field", Text, None, ["blob.stored-descriptor-fields"], true, "Table option.");
    BLOB_DESCRIPTOR_SOURCE_TABLE = ("blob-descriptor.source-table", Text, None, [], false, "Table option.");
    BLOB_FIELD = ("blob-field", Text, None, [], true, "Table option.");
    BLOB_VIEW_FIELD = ("blob-view-field", Text, None, [], true, "Table option.");
    BLOB_VIEW_RESOLVE_ENABLED = ("blob-view.resolve.enabled", Bool, Some("true"), [], false, "Table option.");
    BLOB_WRITE_NULL_ON_FETCH_FAILURE = ("blob-write-null-on-fetch-failure", Bool, Some("false"), [], false, "Table option.");
    BLOB_WRITE_NULL_ON_MISSING_FILE = ("blob-write-null-on-missing-file", Bool, Some("false"), [], false, "Table option.");
    BLOB_COPY_BUFFER_SIZE = ("blob.copy-buffer-size", Memory, Some("4 kb"), [], false, "Table option.");
    BLOB_SPLIT_BY_FILE_SIZE = ("blob.split-by-file-size", Bool, None, [], false, "Table option.");
    BLOB_TARGET_FILE_SIZE = ("blob.target-file-size", Memory, None, [], false, "Table option.");
    VARIANT_INFER_SHREDDING_SCHEMA = ("variant.inferShreddingSchema", Bool, Some("false"), [], false, "Table option.");
    VARIANT_SHREDDING_ADAPTIVE_MAX_INFER_BUFFER_ROW = (
        "variant.shredding.adaptive.maxInferBufferRow", Int, Some("256"), [], false,
        "Table option."
    );
    VARIANT_SHREDDING_ADAPTIVE_RETENTION_RATIO = (
        "variant.shredding.adaptive.retentionRatio", Double, Some("0.05"), [], false,
        "Table option."
    );
    VARIANT_SHREDDING_INFERENCE_MODE = (
        "variant.shredding.inferenceMode", Choice(&["per-file", "adaptive"]), Some("per-file"), [], false,
        "Table option."
    );
    VARIANT_SHREDDING_MAX_INFER_BUFFER_ROW = (
        "variant.shredding.maxInferBufferRow", Int, Some("4096"), [], false,
        "Table option."
    );
    VARIANT_SHREDDING_MAX_SCHEMA_DEPTH = ("variant.shredding.maxSchemaDepth", Int, Some("50"), [], false, "Table option.");
    VARIANT_SHREDDING_MAX_SCHEMA_WIDTH = ("variant.shredding.maxSchemaWidth", Int, Some("300"), [], false, "Table option.");
    VARIANT_SHREDDING_MIN_FIELD_CARDINALITY_RATIO = (
        "variant.shredding.minFieldCardinalityRatio", Double, Some("0.1"), [], false,
        "Table option."
    );
    VARIANT_SHREDDING_SCHEMA = (
        "variant.shreddingSchema", Text, None, ["parquet.variant.shreddingSchema"], false,
        "Table option."
    );
    VECTOR_FIELD = ("vector-field", Text, None, [], false, "Table option.");
    VECTOR_FILE_FORMAT = ("vector.file.format", Text, None, [], false, "Table option.");
    VECTOR_TARGET_FILE_SIZE = ("vector.target-file-size", Memory, None, [], false, "Table option.");
}
