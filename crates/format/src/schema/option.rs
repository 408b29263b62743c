//! Which options of a table with data may change (spec: format.md C.3; cases D3, D4).
//!
//! Rules compare what the options mean before and after, so that older keys, resets and spelling do not matter.

use super::TableSchema;
use crate::options::{Options, option};
use crate::{Error, Result};

/// Sets an option.
pub(super) fn set(schema: &mut TableSchema, key: &str, value: &str, has_snapshot: bool) -> Result<()> {
    if restates_keys(schema, key, value) {
        return Ok(());
    }
    let mut options = schema.options.clone();
    options.set(key, value);
    options.check_accepted(key)?;
    replace(schema, options, key, has_snapshot)
}

/// Removes an option.
pub(super) fn remove(schema: &mut TableSchema, key: &str, has_snapshot: bool) -> Result<()> {
    let mut options = schema.options.clone();
    options.remove(key);
    replace(schema, options, key, has_snapshot)
}

/// Whether `primary-key` or `partition` is set to what the table has.
fn restates_keys(schema: &TableSchema, key: &str, value: &str) -> bool {
    let names = crate::options::parse_list(value);
    match key {
        "primary-key" => names == schema.primary_keys,
        "partition" => names == schema.partition_keys,
        _ => false,
    }
}

fn replace(schema: &mut TableSchema, options: Options, key: &str, has_snapshot: bool) -> Result<()> {
    if matches!(key, "type" | "path") && !options.means_the_same(&schema.options, key) {
        return Err(refused(key).with_hint("make a new table"));
    }
    if has_snapshot {
        check_immutable(&schema.options, &options, key)?;
        check_bucket(&schema.options, &options)?;
        check_deletion_vectors(&schema.options, &options)?;
        check_levels(&schema.options, &options)?;
        check_ignore(&schema.options, &options)?;
        check_clustering(&schema.options, &options)?;
    }
    schema.options = options;
    Ok(())
}

fn refused(key: &str) -> Error {
    Error::invalid(format!("option {key:?} cannot be changed on this table"))
}

fn check_immutable(old: &Options, new: &Options, key: &str) -> Result<()> {
    let immutable = option(key).is_some_and(|def| def.immutable);
    if immutable && !old.means_the_same(new, key) {
        return Err(
            refused(key).with_hint("it is fixed once the table has a snapshot: make a new table and copy the rows")
        );
    }
    Ok(())
}

fn check_bucket(old: &Options, new: &Options) -> Result<()> {
    let (from, to) = (old.bucket()?, new.bucket()?);
    if from != to && (from == -1 || to == -1) {
        return Err(Error::invalid(format!("option \"bucket\" cannot change from {from} to {to} once there is data"))
            .with_hint("only numbers of fixed buckets can change; make a new table and copy the rows"));
    }
    Ok(())
}

fn check_deletion_vectors(old: &Options, new: &Options) -> Result<()> {
    let modifiable = old.is_on(&crate::options::table::index::DELETION_VECTORS_MODIFIABLE)?;
    if !modifiable && old.deletion_vectors_enabled()? != new.deletion_vectors_enabled()? {
        return Err(Error::invalid(
            "option \"deletion-vectors.enabled\" cannot change once there is data: rows could show twice",
        )
        .with_hint("compact fully, then set \"deletion-vectors.modifiable\" = \"true\" and try again"));
    }
    Ok(())
}

/// Full compactions compare with the highest level: were it another one, what was told there would be told again, or what lies
/// in between never.
fn check_levels(old: &Options, new: &Options) -> Result<()> {
    let by_level = new.changelog_producer()? == crate::options::ChangelogProducer::FullCompaction;
    let (from, to) = (old.num_levels()?, new.num_levels()?);
    if by_level && from != to {
        return Err(Error::invalid(format!(
            "the number of levels cannot change from {from} to {to} with changelog producer full-compaction: changes would \
             be told twice"
        ))
        .with_hint(format!(
            "without \"num-levels\" it follows \"num-sorted-run.compaction-trigger\": set \"num-levels\" = \"{from}\" first"
        )));
    }
    Ok(())
}

/// Deletes that were ignored cannot be found again, so ignoring them is for ever.
fn check_ignore(old: &Options, new: &Options) -> Result<()> {
    for (key, was, is) in [
        ("ignore-delete", old.ignore_delete()?, new.ignore_delete()?),
        ("ignore-update-before", old.ignore_update_before()?, new.ignore_update_before()?),
    ] {
        if was && !is {
            return Err(Error::invalid(format!(
                "option {key:?} cannot change from true to false: what was ignored is lost"
            ))
            .with_hint("leave it set, or make a new table"));
        }
    }
    Ok(())
}

fn check_clustering(old: &Options, new: &Options) -> Result<()> {
    let columns =
        |options: &Options| options.text(&crate::options::table::compaction::CLUSTERING_COLUMNS).map(str::to_owned);
    if old.contains("pk-clustering-override") && columns(old) != columns(new) {
        return Err(refused("clustering.columns").with_hint("files are sorted by these columns: make a new table"));
    }
    Ok(())
}
