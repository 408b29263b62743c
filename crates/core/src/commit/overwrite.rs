//! Overwrites: which partitions are replaced, and what they hold when it happens (spec: format.md C.17; cases Q6).

use std::collections::HashSet;

use linn_format::datum::Datum;
use linn_format::manifest::{FileKind, IndexManifestEntry, ManifestEntry, ManifestMeta};
use linn_format::partition::{PartitionSpec, parse_partition_value};
use linn_format::row::BinaryRow;
use linn_format::schema::Bucketing;
use linn_format::types::DataField;
use linn_format::{Error, Result, ResultExt};

use super::base;
use super::change::Change;
use super::files::Files;
use crate::table::Table;

/// What an overwrite replaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Overwrite {
    /// Everything.
    Table,
    /// The partitions that the new rows are in; nothing when there are none.
    Dynamic,
    /// The partitions that match a spec: some or all partition keys with their values as text; `None` is null, and every text is
    /// itself, also the default name of null. With `dynamic-partition-overwrite` (the default) only those of them that the new
    /// rows are in.
    Partition(PartitionSpec),
    /// The partitions that match any of these specs, whatever the options say.
    Specs(Vec<PartitionSpec>),
    /// These partitions.
    Rows(Vec<BinaryRow>),
}

/// What the writer of new rows knows of a table whose keys may be in any partition.
pub(super) enum Known<'a> {
    /// It has not looked.
    Nothing,
    /// Where keys are in the partitions that stay: all but these, where it has chosen them.
    Keys(Option<&'a HashSet<BinaryRow>>),
}

/// An [`Overwrite`] in terms of partition rows.
#[derive(Debug, Clone)]
pub(crate) enum Target {
    All,
    Rows(HashSet<BinaryRow>),
    /// Any of these; each has a wanted value, null, or anything per partition field.
    Specs(Vec<Vec<Option<Option<Datum>>>>, Vec<DataField>),
}

/// What is to be replaced; `None` when that is nothing. New rows outside of it are refused, unless their keys were in
/// partitions that stay.
pub(super) fn resolve(
    table: &Table,
    overwrite: Overwrite,
    added: &Change,
    known: &Known<'_>,
) -> Result<Option<Target>> {
    let partitioned = !table.schema().partition_keys.is_empty();
    let dynamic = partitioned && table.options().dynamic_partition_overwrite()?;
    let partial = match &overwrite {
        Overwrite::Table => false,
        Overwrite::Dynamic => dynamic,
        Overwrite::Partition(spec) => dynamic || !spec.is_empty(),
        Overwrite::Specs(_) | Overwrite::Rows(_) => true,
    };
    // The new rows' keys may be in partitions that stay: there they are deleted, or the rows go.
    if partial && table.schema().is_cross_partition() && !added.entries.is_empty() {
        return among_others(table, overwrite, known).map(Some);
    }
    let target = match overwrite {
        Overwrite::Table => Target::All,
        Overwrite::Dynamic if !partitioned => Target::All,
        // A partition that is named by all its columns is replaced also when nothing comes in its place.
        Overwrite::Partition(spec) if dynamic && added.entries.is_empty() && whole(table, &spec)?.is_some() => {
            specs(table, &[spec])?
        }
        Overwrite::Partition(_) | Overwrite::Dynamic if dynamic => {
            let rows: HashSet<BinaryRow> = added.entries.iter().map(|entry| entry.partition.clone()).collect();
            return Ok((!rows.is_empty()).then_some(Target::Rows(rows)));
        }
        Overwrite::Dynamic => Target::All,
        Overwrite::Partition(spec) if spec.is_empty() => Target::All,
        Overwrite::Partition(spec) => specs(table, &[spec])?,
        Overwrite::Specs(all) => specs(table, &all)?,
        Overwrite::Rows(rows) => Target::Rows(rows.into_iter().collect()),
    };
    for entry in &added.entries {
        if !target.holds(&entry.partition)? {
            return Err(outside(table));
        }
    }
    Ok(Some(target))
}

/// What is replaced of a table whose keys are known across its partitions.
fn among_others(table: &Table, overwrite: Overwrite, known: &Known<'_>) -> Result<Target> {
    let Known::Keys(gone) = known else { return Err(whole_only(table)) };
    match (overwrite, gone) {
        (Overwrite::Dynamic, Some(gone)) => Ok(Target::Rows((*gone).clone())),
        (Overwrite::Partition(spec), Some(gone)) => {
            let within = specs(table, &[spec])?;
            for partition in *gone {
                if !within.holds(partition)? {
                    return Err(outside(table));
                }
            }
            Ok(Target::Rows((*gone).clone()))
        }
        (Overwrite::Partition(spec), None) => whole(table, &spec)?.ok_or_else(|| whole_only(table)),
        (Overwrite::Specs(all), None) => specs(table, &all),
        (Overwrite::Rows(rows), None) => Ok(Target::Rows(rows.into_iter().collect())),
        _ => Err(whole_only(table)),
    }
}

fn outside(table: &Table) -> Error {
    Error::invalid("a new row is outside of the partition that is overwritten").with("table", table.name())
}

/// The partitions of a spec, however many of them the new rows are in; `None` when the options say that only those are replaced that
/// the rows are in, and the spec does not tell them.
///
/// # Errors
/// `Invalid` for a key that is none of the table's partitions, and for values that its type does not take.
pub(crate) fn whole(table: &Table, spec: &PartitionSpec) -> Result<Option<Target>> {
    let complete = table.schema().partition_keys.iter().all(|key| spec.iter().any(|(named, _)| named == key));
    match complete || !table.options().dynamic_partition_overwrite()? {
        true => specs(table, std::slice::from_ref(spec)).map(Some),
        false => Ok(None),
    }
}

fn whole_only(table: &Table) -> Error {
    Error::unsupported("overwriting the partitions that rows are in where the primary key lacks partition columns")
        .with("table", table.name())
        .with_hint("write with a batch overwriter, name every partition column, or overwrite the whole table")
}

fn specs(table: &Table, specs: &[PartitionSpec]) -> Result<Target> {
    let fields: Vec<DataField> = table.schema().partition_fields().into_iter().cloned().collect();
    let one = |spec: &PartitionSpec| {
        if let Some((key, _)) = spec.iter().find(|(key, _)| !fields.iter().any(|field| field.name == *key)) {
            return Err(Error::invalid(format!("{key:?} is not a partition key")).with("table", table.name()));
        }
        let twice = |(at, (key, _)): (usize, &(String, _))| spec.iter().take(at).any(|(before, _)| before == key);
        if let Some(at) = spec.iter().enumerate().position(twice) {
            let key = spec.get(at).map_or("", |(key, _)| key);
            return Err(Error::invalid(format!("partition key {key:?} is named twice")).with("table", table.name()));
        }
        let value = |field: &DataField| match spec.iter().find(|(key, _)| *key == field.name) {
            None => Ok(None),
            Some((_, None)) => Ok(Some(None)),
            Some((_, Some(text))) => parse_partition_value(text, &field.data_type)
                .map(|value| Some(Some(value)))
                .context("column", &field.name),
        };
        fields.iter().map(value).collect::<Result<Vec<_>>>()
    };
    let wanted = specs.iter().map(one).collect::<Result<Vec<_>>>()?;
    Ok(Target::Specs(wanted, fields))
}

impl Target {
    /// Whether a partition is replaced.
    pub(crate) fn holds(&self, partition: &BinaryRow) -> Result<bool> {
        match self {
            Self::All => Ok(true),
            Self::Rows(rows) => Ok(rows.contains(partition)),
            Self::Specs(specs, fields) => {
                let values = partition.datums(fields.iter().map(|field| &field.data_type))?;
                let matches = |spec: &Vec<Option<Option<Datum>>>| {
                    spec.iter().zip(&values).all(|(wanted, value)| wanted.as_ref().is_none_or(|wanted| wanted == value))
                };
                Ok(specs.iter().any(matches))
            }
        }
    }

    /// Removes what the target holds in these manifests and adds the new files.
    pub(super) async fn change(
        &self,
        files: &Files,
        manifests: &[ManifestMeta],
        index: &[IndexManifestEntry],
        added: &Change,
    ) -> Result<Change> {
        let mut change = Change::default();
        let postponed = files.table().schema().bucketing()? == Bucketing::Postponed;
        // Rows that wait for a bucket stay, unless the table is one whose rows do.
        let live = base::live(files, manifests, |partition| self.holds(partition)).await?;
        let removed = live.into_iter().filter(|entry| postponed || entry.bucket != Bucketing::POSTPONED);
        change.entries = removed.map(|entry| ManifestEntry { kind: FileKind::Delete, ..entry }).collect();
        for line in index {
            if self.holds(&line.partition)? {
                change.index.push(IndexManifestEntry { kind: FileKind::Delete, ..line.clone() });
            }
        }
        change.entries.extend(added.entries.iter().cloned());
        change.index.extend(added.index.iter().cloned());
        Ok(change)
    }
}
