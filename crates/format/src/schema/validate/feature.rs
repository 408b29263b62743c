//! Changelogs, deletion vectors, retention, row tracking, clustering, and columns that options name.

use super::{invalid, known_column};
use crate::Result;
use crate::options::table::{changelog, commit, compaction, file, general, key, partition, scan};
use crate::options::{ChangelogProducer, MergeEngine};
use crate::schema::TableSchema;
use crate::types::Kind;

/// The changelog producer fits the table (spec: features.md B4).
pub(super) fn changelog(schema: &TableSchema) -> Result<()> {
    let options = &schema.options;
    let producer = options.changelog_producer()?;
    let has_key = schema.is_primary_key_table();
    if !has_key && producer != ChangelogProducer::None {
        return Err(invalid(
            format!("\"changelog-producer\" = {:?} needs a primary key", producer.as_str()),
            "remove it",
        ));
    }
    if options.is_on(&changelog::STREAMING_READ_OVERWRITE)? {
        if !has_key {
            return Err(invalid(
                "\"streaming-read-overwrite\" needs a primary key",
                "use \"streaming-read-append-overwrite\"",
            ));
        }
        if matches!(producer, ChangelogProducer::FullCompaction | ChangelogProducer::Lookup) {
            return Err(invalid(
                format!("\"streaming-read-overwrite\" would show changes twice with changelog producer {producer}"),
                "remove it",
            ));
        }
    }
    if producer == ChangelogProducer::Lookup && options.is_set(&compaction::FULL_COMPACTION_DELTA_COMMITS) {
        return Err(invalid(
            "\"full-compaction.delta-commits\" cannot be used with \"changelog-producer\" = \"lookup\"",
            "use changelog producer full-compaction, or remove the option",
        ));
    }
    let quiet = matches!(producer, ChangelogProducer::None | ChangelogProducer::Lookup);
    if has_key && options.merge_engine()? == MergeEngine::FirstRow && !quiet {
        return Err(invalid(
            format!("merge engine first-row cannot be used with changelog producer {producer}"),
            "use changelog producer none or lookup",
        ));
    }
    Ok(())
}

/// Deletion vectors fit the changelog producer and the merge engine (spec: features.md B8).
pub(super) fn deletion_vectors(schema: &TableSchema) -> Result<()> {
    let options = &schema.options;
    if !options.deletion_vectors_enabled()? {
        return Ok(());
    }
    if options.changelog_producer()? == ChangelogProducer::FullCompaction {
        return Err(invalid(
            "\"deletion-vectors.enabled\" cannot be used with changelog producer full-compaction",
            "use changelog producer none, input or lookup",
        ));
    }
    let clustered = options.is_on(&compaction::PK_CLUSTERING_OVERRIDE)?;
    if schema.is_primary_key_table() && options.merge_engine()? == MergeEngine::FirstRow && !clustered {
        return Err(invalid("merge engine first-row deletes nothing and takes no deletion vectors", "turn them off"));
    }
    Ok(())
}

/// What is kept is at least one, and the least is not above the most.
pub(super) fn retention(schema: &TableSchema) -> Result<()> {
    let options = &schema.options;
    for (what, min, max) in [
        ("snapshot", options.snapshot_retain_min()?, options.snapshot_retain_max()?),
        ("changelog", options.changelog_retain_min()?, options.changelog_retain_max()?),
    ] {
        if min < 1 {
            return Err(invalid(format!("\"{what}.num-retained.min\" cannot be {min}"), "set it to at least 1"));
        }
        if min > max {
            return Err(invalid(
                format!("\"{what}.num-retained.min\" = {min} is above \"{what}.num-retained.max\" = {max}"),
                "lower the first or raise the second",
            ));
        }
    }
    if schema.partition_keys.is_empty() && options.is_set(&partition::PARTITION_EXPIRATION_TIME) {
        return Err(invalid("\"partition.expiration-time\" is for tables with partitions", "remove it"));
    }
    if options.target_file_rows()? < 1 {
        return Err(invalid("\"target-file-row-num\" must be at least 1", "raise it"));
    }
    for def in [
        &compaction::NUM_SORTED_RUN_COMPACTION_TRIGGER,
        &compaction::NUM_LEVELS,
        &compaction::COMPACTION_MIN_FILE_NUM,
        &commit::MANIFEST_MERGE_MIN_COUNT,
        &file::READ_BATCH_SIZE,
        &file::WRITE_BATCH_SIZE,
    ] {
        if options.get(def)?.is_some_and(|value| value < 1) {
            return Err(invalid(format!("option {:?} must be at least 1", def.key), "raise it"));
        }
    }
    Ok(())
}

/// Options that name columns name ones that exist and have a fitting type.
pub(super) fn columns_by_option(schema: &TableSchema) -> Result<()> {
    let options = &schema.options;
    if let Some(name) = options.rowkind_field() {
        let field = known_column(schema, name, "rowkind.field")?;
        if !matches!(field.data_type.kind, Kind::Char(_) | Kind::Varchar(_)) {
            return Err(invalid(
                format!("\"rowkind.field\" names {name:?} of type {}", field.data_type),
                "name a STRING column",
            ));
        }
    }
    if let Some(name) = options.text(&key::RECORD_LEVEL_TIME_FIELD) {
        let kind = &known_column(schema, name, "record-level.time-field")?.data_type.kind;
        if !matches!(kind, Kind::Int | Kind::BigInt | Kind::Timestamp(_) | Kind::LocalZonedTimestamp(_)) {
            return Err(invalid(
                format!("\"record-level.time-field\" names {name:?} of type {kind}"),
                "name an INT, BIGINT or TIMESTAMP column",
            ));
        }
    }
    for (kind, columns) in options.file_index_columns() {
        for name in columns {
            // `map[key]` indexes one key of a MAP.
            let column = name.split('[').next().unwrap_or(name);
            known_column(schema, column, &format!("file-index.{kind}.columns"))?;
        }
    }
    if !schema.is_primary_key_table() && options.is_on(&scan::TABLE_READ_SEQUENCE_NUMBER_ENABLED)? {
        return Err(invalid("\"table-read.sequence-number.enabled\" needs a primary key", "remove it"));
    }
    if options.is_on(&commit::MANIFEST_SORT_ENABLED)? {
        manifest_sort(schema)?;
    }
    Ok(())
}

fn manifest_sort(schema: &TableSchema) -> Result<()> {
    let evolving = schema.options.is_on(&general::DATA_EVOLUTION_ENABLED)?;
    if !evolving && schema.partition_keys.is_empty() {
        return Err(invalid("\"manifest-sort.enabled\" needs a partitioned table", "remove it"));
    }
    match schema.options.text(&commit::MANIFEST_SORT_PARTITION_FIELD) {
        Some(name) if !name.is_empty() && !schema.partition_keys.iter().any(|key| key == name) => Err(invalid(
            format!("\"manifest-sort.partition-field\" names {name:?}, which is not a partition column"),
            "name a partition column",
        )),
        _ => Ok(()),
    }
}

/// Row ids are for append tables without buckets; BLOB columns need data evolution.
pub(super) fn row_tracking(schema: &TableSchema) -> Result<()> {
    let options = &schema.options;
    let tracking = options.is_on(&general::ROW_TRACKING_ENABLED)?;
    let evolving = options.is_on(&general::DATA_EVOLUTION_ENABLED)?;
    if tracking && (schema.is_primary_key_table() || options.bucket()? != -1) {
        return Err(invalid(
            "\"row-tracking.enabled\" needs a table without primary key and with \"bucket\" = \"-1\"",
            "remove it, or make an append table",
        ));
    }
    if evolving && !tracking {
        return Err(invalid("\"data-evolution.enabled\" needs \"row-tracking.enabled\"", "set both"));
    }
    if evolving && options.is_on(&compaction::CLUSTERING_INCREMENTAL)? {
        return Err(invalid(
            "\"data-evolution.enabled\" and \"clustering.incremental\" exclude each other",
            "remove one",
        ));
    }
    let blobs = schema.fields.iter().filter(|field| field.data_type.kind == Kind::Blob).count();
    if blobs > 0 && !schema.is_primary_key_table() && !evolving {
        return Err(invalid(
            "BLOB columns need \"data-evolution.enabled\" = \"true\"",
            "set it, and \"row-tracking.enabled\"",
        ));
    }
    if blobs == schema.fields.len() {
        return Err(invalid("a table cannot have BLOB columns only", "add a column of another type"));
    }
    Ok(())
}

/// Clustering options fit the table.
pub(super) fn clustering(schema: &TableSchema) -> Result<()> {
    let options = &schema.options;
    if options.is_on(&compaction::CLUSTERING_INCREMENTAL)? && schema.is_primary_key_table() {
        return Err(invalid("\"clustering.incremental\" is for tables without a primary key", "remove it"));
    }
    for name in options.list(&compaction::CLUSTERING_COLUMNS) {
        known_column(schema, name, "clustering.columns")?;
    }
    if !options.is_on(&compaction::PK_CLUSTERING_OVERRIDE)? {
        return Ok(());
    }
    let option = "pk-clustering-override";
    let engine = options.merge_engine()?;
    let problem = if options.list(&compaction::CLUSTERING_COLUMNS).is_empty() {
        Some("needs \"clustering.columns\"")
    } else if !options.deletion_vectors_enabled()? && engine != MergeEngine::FirstRow {
        Some("needs \"deletion-vectors.enabled\"")
    } else if !matches!(engine, MergeEngine::Deduplicate | MergeEngine::FirstRow) {
        Some("needs merge engine deduplicate or first-row")
    } else if !options.sequence_fields().is_empty() {
        Some("cannot be used with \"sequence.field\"")
    } else if options.is_set(&key::RECORD_LEVEL_EXPIRE_TIME) {
        Some("cannot be used with \"record-level.expire-time\"")
    } else if !matches!(options.changelog_producer()?, ChangelogProducer::None | ChangelogProducer::Input) {
        Some("needs changelog producer none or input")
    } else {
        None
    };
    match problem {
        Some(problem) => {
            Err(invalid(format!("option {option:?} {problem}"), format!("change that, or remove {option:?}")))
        }
        None => Ok(()),
    }
}
