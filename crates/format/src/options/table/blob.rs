//! Blobs, vectors and variants (spec: options.md).

options! {
    BLOB_AS_DESCRIPTOR = (
        "blob-as-descriptor", Bool, Some("false"), [], false,
        "Write references to blobs instead of their bytes."
    );
    BLOB_COMPACTION_ENABLED = (
        "blob-compaction.enabled", Bool, Some("false"), [], false,
        "Compact blob files along with data evolution."
    );
    BLOB_DESCRIPTOR_FIELD = (
        "blob-descriptor-field", Text, None, ["blob.stored-descriptor-fields"], true,
        "Columns kept as blob references inside data files."
    );
    BLOB_DESCRIPTOR_SOURCE_TABLE = (
        "blob-descriptor.source-table", Text, None, [], false,
        "Table whose storage the blob references point into."
    );
    BLOB_FIELD = ("blob-field", Text, None, [], true, "Columns stored as blobs.");
    BLOB_VIEW_FIELD = ("blob-view-field", Text, None, [], true, "Columns kept as references to blobs of other tables.");
    BLOB_VIEW_RESOLVE_ENABLED = (
        "blob-view.resolve.enabled", Bool, Some("true"), [], false,
        "Resolve references to blobs of other tables on read."
    );
    BLOB_WRITE_NULL_ON_FETCH_FAILURE = (
        "blob-write-null-on-fetch-failure", Bool, Some("false"), [], false,
        "Write null when a blob cannot be fetched."
    );
    BLOB_WRITE_NULL_ON_MISSING_FILE = (
        "blob-write-null-on-missing-file", Bool, Some("false"), [], false,
        "Write null when a blob does not exist."
    );
    BLOB_COPY_BUFFER_SIZE = ("blob.copy-buffer-size", Memory, Some("4 kb"), [], false, "Buffer for copying blobs.");
    BLOB_SPLIT_BY_FILE_SIZE = ("blob.split-by-file-size", Bool, None, [], false, "Count blob sizes when cutting splits.");
    BLOB_TARGET_FILE_SIZE = ("blob.target-file-size", Memory, None, [], false, "Size at which a blob file rolls.");
    VARIANT_INFER_SHREDDING_SCHEMA = (
        "variant.inferShreddingSchema", Bool, Some("false"), [], false,
        "Find the shredding of variants by itself."
    );
    VARIANT_SHREDDING_ADAPTIVE_MAX_INFER_BUFFER_ROW = (
        "variant.shredding.adaptive.maxInferBufferRow", Int, Some("256"), [], false,
        "Rows sampled in later files."
    );
    VARIANT_SHREDDING_ADAPTIVE_RETENTION_RATIO = (
        "variant.shredding.adaptive.retentionRatio", Double, Some("0.05"), [], false,
        "Share of rows that keeps a path shredded."
    );
    VARIANT_SHREDDING_INFERENCE_MODE = (
        "variant.shredding.inferenceMode", Choice(&["per-file", "adaptive"]), Some("per-file"), [], false,
        "Whether files share what was found."
    );
    VARIANT_SHREDDING_MAX_INFER_BUFFER_ROW = (
        "variant.shredding.maxInferBufferRow", Int, Some("4096"), [], false,
        "Rows sampled to find the shredding."
    );
    VARIANT_SHREDDING_MAX_SCHEMA_DEPTH = (
        "variant.shredding.maxSchemaDepth", Int, Some("50"), [], false,
        "Deepest path looked at."
    );
    VARIANT_SHREDDING_MAX_SCHEMA_WIDTH = (
        "variant.shredding.maxSchemaWidth", Int, Some("300"), [], false,
        "Most fields shredded."
    );
    VARIANT_SHREDDING_MIN_FIELD_CARDINALITY_RATIO = (
        "variant.shredding.minFieldCardinalityRatio", Double, Some("0.1"), [], false,
        "Share of rows a field needs to be shredded."
    );
    VARIANT_SHREDDING_SCHEMA = (
        "variant.shreddingSchema", Text, None, ["parquet.variant.shreddingSchema"], false,
        "Shredding of variants."
    );
    VECTOR_FIELD = ("vector-field", Text, None, [], false, "Columns stored as vectors.");
    VECTOR_FILE_FORMAT = ("vector.file.format", Text, None, [], false, "Format of vector files.");
    VECTOR_TARGET_FILE_SIZE = ("vector.target-file-size", Memory, None, [], false, "Size at which a vector file rolls.");
}
