//! What writing will read of the options: a table is not made, nor made so, that nobody could write to.
//!
//! Tables of others may have such options; these are read, and altered in other ways.

use arrow_array::new_empty_array;

use super::TableSchema;
use crate::file::{FileWrite, format_named};
use crate::hash::BucketFunction;
use crate::index::{IndexSpec, IndexWriter};
use crate::lookup::BlockCodec;
use crate::options::Options;
use crate::options::table::key;
use crate::stats::StatsMode;
use crate::types::{DataField, DataType, Kind, arrow_type};
use crate::{Error, Result, ResultExt};

/// Checks the options that a writer and its compactions read, with what rows there may be.
///
/// # Errors
/// `Invalid` or `Unsupported` naming the option, or the column that it is about.
pub(super) fn check(schema: &TableSchema) -> Result<()> {
    numbers(&schema.options)
        .and_then(|()| buckets(schema))
        .and_then(|()| files(schema))
        .and_then(|()| indexes(schema))
        .and_then(|()| expiry(&schema.options))
        .map_err(|e| if e.hint().is_some() { e } else { e.with_hint("set it to a value of its kind, or remove it") })
}

fn numbers(options: &Options) -> Result<()> {
    options.stop_trigger()?;
    options.compaction_min_files()?;
    options.full_compaction_commits()?;
    options.compaction_io_limit()?;
    options.delete_retention_millis()?;
    options.lookup_compact_max_interval()?;
    options.lookup_bloom_fpp()?;
    options.lookup_remote_level()?;
    BlockCodec::parse(options.lookup_compression(), options.spill_zstd_level()?)?;
    options.dynamic_bucket_target_row_num()?;
    options.dynamic_bucket_initial_buckets()?;
    options.dynamic_bucket_assigner_parallelism()?;
    options.dynamic_bucket_max_buckets()?;
    options.postpone_default_bucket_num()?;
    options.postpone_max_fixed_buckets()?;
    options.postpone_rescale_load_factor()?;
    options.postpone_target_row_num_per_bucket()?;
    options.postpone_target_size_per_bucket()?;
    Ok(())
}

/// The types of the bucket key that the bucket function takes.
fn buckets(schema: &TableSchema) -> Result<()> {
    if schema.options.bucket()? == -1 {
        return Ok(());
    }
    let function = BucketFunction::parse(schema.options.bucket_function_word()?)?;
    for DataField { name, data_type, .. } in schema.bucket_keys()? {
        let none = new_empty_array(&arrow_type(data_type)?);
        let buckets = function.buckets(&[none], std::slice::from_ref(data_type), 1);
        buckets.map_err(|e| e.with("column", name).with_hint("use the default function"))?;
    }
    Ok(())
}

/// Formats, codecs and modes of statistics of the files of every level, and of changelogs.
fn files(schema: &TableSchema) -> Result<()> {
    let options = &schema.options;
    let mut kinds = vec![(options.changelog_file_format(), options.changelog_file_compression())];
    for level in 0..i32::try_from(options.num_levels()?.min(LEVELS)).unwrap_or_default() {
        kinds.push((options.file_format_of_level(level)?, options.file_compression_of_level(level)?));
        for field in &schema.fields {
            StatsMode::parse(options.stats_mode_word(&field.name, level)?).context("column", &field.name)?;
        }
    }
    kinds.sort_unstable();
    kinds.dedup();
    for (format, compression) in kinds {
        let write = FileWrite {
            fields: vec![DataField::new(0, "k", DataType::required(Kind::Int))],
            compression: compression.to_owned(),
            zstd_level: options.zstd_level()?,
            options: options.clone(),
            parallel: false,
            searched: true,
        };
        format_named(&format)?.write(write, Box::new(std::io::sink())).context("format", &format)?;
    }
    Ok(())
}

/// Levels that are looked at one by one.
const LEVELS: usize = 32;

fn indexes(schema: &TableSchema) -> Result<()> {
    IndexSpec::check_options(&schema.options)?;
    let specs = IndexSpec::from_options(&schema.options)?;
    IndexWriter::new(&schema.fields, &specs).map(drop)
}

fn expiry(options: &Options) -> Result<()> {
    if options.is_set(&key::RECORD_LEVEL_EXPIRE_TIME) && options.text(&key::RECORD_LEVEL_TIME_FIELD).is_none() {
        return Err(Error::invalid("\"record-level.expire-time\" needs \"record-level.time-field\"")
            .with_hint("name the column that tells the age of a row"));
    }
    Ok(())
}
