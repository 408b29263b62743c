//! What all files of one writer have in common.

use linn_format::Result;
use linn_format::file::{DataFileMeta, FileFormat, FileSource, FileWrite, KeyValueLayout, format_named};
use linn_format::index::IndexSpec;
use linn_format::options::table::changelog::CHANGELOG_FILE_STATS_MODE;
use linn_format::row::BinaryRow;
use linn_format::schema::TableSchema;
use linn_format::stats::StatsMode;
use linn_format::types::{DataField, KEY_PREFIX, Kind};

use super::FileKind;
use crate::table::Table;

/// Mode of the statistics of keys, whatever the table's mode.
const KEY_MODE: StatsMode = StatsMode::Truncate(128);

pub(super) struct Settings {
    pub(super) table: Table,
    /// Folder of the bucket.
    pub(super) folder: String,
    pub(super) level: i32,
    pub(super) source: FileSource,
    pub(super) kind: FileKind,
    pub(super) format: &'static dyn FileFormat,
    pub(super) write: FileWrite,
    /// How key-value batches become batches of the file; none for append files.
    pub(super) layout: Option<KeyValueLayout>,
    pub(super) key_fields: Vec<DataField>,
    pub(super) key_modes: Vec<StatsMode>,
    pub(super) value_modes: Vec<StatsMode>,
    pub(super) dense: bool,
    pub(super) indexes: Vec<IndexSpec>,
    pub(super) embedded_index_size: u64,
    pub(super) target_size: u64,
    pub(super) target_rows: i64,
    stem: String,
    suffix: String,
}

impl Settings {
    pub(super) fn new(
        table: &Table,
        partition: &BinaryRow,
        bucket: i32,
        level: i32,
        source: FileSource,
        kind: FileKind,
    ) -> Result<Self> {
        let (schema, options) = (table.schema(), table.options());
        let changelog = kind == FileKind::Changelog;
        let (name, compression) = if changelog {
            (options.changelog_file_format(), options.changelog_file_compression().to_owned())
        } else {
            (options.file_format_of_level(level)?, options.file_compression_of_level(level)?.to_owned())
        };
        let format = format_named(&name)?;
        let layout = match kind {
            FileKind::Append { .. } => None,
            FileKind::KeyValue | FileKind::Changelog => Some(KeyValueLayout::of(schema)?),
        };
        let fields = layout.as_ref().map_or_else(|| schema.fields.clone(), |layout| layout.fields().to_vec());
        let prefix = if changelog { options.changelog_file_prefix() } else { options.data_file_prefix() };
        let codec = if options.suffix_includes_compression()? { format!(".{compression}") } else { String::new() };
        let keys: Vec<DataField> = match kind {
            FileKind::Append { .. } => Vec::new(),
            _ => schema.trimmed_primary_keys().into_iter().cloned().collect(),
        };
        Ok(Self {
            folder: table.bucket_path(partition, bucket)?,
            level,
            source,
            kind,
            format,
            key_modes: key_modes(schema, &keys, &name, level)?,
            key_fields: keys,
            value_modes: value_modes(schema, &name, level, changelog)?,
            dense: options.stats_dense_store()?,
            indexes: if changelog { Vec::new() } else { IndexSpec::from_options(options)? },
            embedded_index_size: options.file_index_in_manifest_size()?,
            target_size: options.target_file_size(schema.is_primary_key_table())?,
            target_rows: options.target_file_rows()?.max(1),
            stem: format!("{prefix}{}", table.env().ids.uuid()),
            suffix: format!("{codec}.{name}"),
            write: FileWrite {
                fields,
                compression,
                zstd_level: options.zstd_level()?,
                options: options.clone(),
                parallel: false,
                // A changelog is read from its first row to its last.
                searched: !changelog,
            },
            layout,
            table: table.clone(),
        })
    }

    /// Name of the `number`th file.
    pub(super) fn file_name(&self, number: usize) -> String {
        format!("{}-{number}{}", self.stem, self.suffix)
    }

    /// Metadata of a file of which nothing is known but what the settings say.
    pub(super) fn meta(&self, file_name: String) -> DataFileMeta {
        let empty = linn_format::stats::SimpleStats::empty;
        let env = self.table.env();
        DataFileMeta {
            file_name,
            file_size: 0,
            row_count: 0,
            min_key: BinaryRow::empty(),
            max_key: BinaryRow::empty(),
            key_stats: empty(),
            value_stats: empty(),
            min_sequence_number: 0,
            max_sequence_number: 0,
            schema_id: self.table.schema().id,
            level: self.level,
            extra_files: Vec::new(),
            creation_time: Some(env.clock.local_millis(env.clock.now_millis())),
            delete_row_count: Some(0),
            embedded_index: None,
            file_source: Some(self.source),
            value_stats_cols: None,
            external_path: None,
            first_row_id: None,
            write_cols: None,
            write_cols_sequences: None,
        }
    }
}

/// Keys of Avro files follow the table's mode, those of other formats are always kept.
fn key_modes(schema: &TableSchema, keys: &[DataField], format: &str, level: i32) -> Result<Vec<StatsMode>> {
    let options = &schema.options;
    let mode = |field: &DataField| {
        let column = format!("{KEY_PREFIX}{}", field.name);
        let mode = if format == "avro" || options.of_field(&column, "stats-mode").is_some() {
            StatsMode::parse(options.stats_mode_word(&column, level)?)?
        } else {
            KEY_MODE
        };
        Ok(told_by(format, &field.data_type.kind, mode))
    };
    keys.iter().map(mode).collect()
}

fn value_modes(schema: &TableSchema, format: &str, level: i32, changelog: bool) -> Result<Vec<StatsMode>> {
    let options = &schema.options;
    let thin = format != "avro" && schema.is_primary_key_table() && options.thin_mode()?;
    let keys = schema.trimmed_primary_keys();
    let first = options.stats_first_columns()?;
    let changelog_mode = options.text(&CHANGELOG_FILE_STATS_MODE).filter(|_| changelog);
    let mut counted = 0;
    let mode = |field: &DataField| {
        let own = options.of_field(&field.name, "stats-mode");
        // Without `_KEY_` columns the values stand for them.
        if own.is_none() && thin && keys.iter().any(|k| k.id == field.id) {
            return Ok(told_by(format, &field.data_type.kind, KEY_MODE));
        }
        counted += 1;
        let mode = match (own, changelog_mode) {
            (Some(own), _) => StatsMode::parse(own)?,
            _ if first >= 0 && counted > first => StatsMode::None,
            (None, Some(mode)) => StatsMode::parse(mode)?,
            (None, None) => StatsMode::parse(options.stats_mode_word(&field.name, level)?)?,
        };
        Ok(told_by(format, &field.data_type.kind, mode))
    };
    schema.fields.iter().map(mode).collect()
}

/// As much of a mode as the reference keeps, which takes the statistics from those of the file: Parquet has none of nested
/// values and only null counts of INT96, ORC only null counts of binaries.
fn told_by(format: &str, kind: &Kind, mode: StatsMode) -> StatsMode {
    let counts = if mode == StatsMode::None { StatsMode::None } else { StatsMode::Counts };
    match (format, kind) {
        ("parquet", Kind::Timestamp(7..) | Kind::LocalZonedTimestamp(7..) | Kind::WideTimestamp { .. }) => counts,
        (
            "parquet",
            Kind::Array(_) | Kind::Map(..) | Kind::Multiset(_) | Kind::Row(_) | Kind::Variant | Kind::Vector { .. },
        ) => StatsMode::None,
        ("orc", Kind::Binary(_) | Kind::Varbinary(_)) => counts,
        _ => mode,
    }
}
