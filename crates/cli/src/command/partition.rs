//! `linn partition`: list, drop, expire, mark done.

use linn::core::maintain::{
    PartitionSummary, drop_partitions, expired_partitions, idle_partitions, mark_done, mark_partitions, partitions,
};
use linn::format::options::parse_duration;
use linn::format::partition::{PartitionSpec, parse_partition_value, partition_spec};
use linn::{Error, Result, ResultExt, Table};

use super::sure::agreed;
use crate::args::{PartitionCommand, Sure};
use crate::context::{Context, options};
use crate::output::{Columns, count, size, time};
use crate::say::say;

pub(super) async fn run(context: &Context, command: PartitionCommand) -> Result<()> {
    match command {
        PartitionCommand::List { table } => {
            let table = context.table(&table).await?;
            show(context, &partitions(&table).await?)
        }
        PartitionCommand::Drop { table, partitions, sure } => {
            let table = context.table(&table).await?;
            let chosen = chosen(&table, &partitions).await?;
            drop_all(context, &table, &chosen, &sure).await
        }
        PartitionCommand::Expire { table, expiration_time, options: pairs, sure } => {
            let mut dynamic = options(&pairs)?;
            if let Some(age) = expiration_time {
                dynamic.set("partition.expiration-time", age);
            }
            let table = context.table(&table).await?.with_options(&dynamic)?;
            let expired = expired_partitions(&table).await?;
            if expired.is_empty() {
                say!("No partition of {} is expired.", table.name());
                return Ok(());
            }
            drop_all(context, &table, &expired, &sure).await
        }
        PartitionCommand::MarkDone { table, idle: Some(idle), time_interval, dry_run, .. } => {
            let table = context.table(&table).await?;
            let interval = parse_duration(time_interval.as_deref().unwrap_or("0 ms"))?;
            let finished = idle_partitions(&table, parse_duration(&idle)?, interval).await?;
            if dry_run {
                return show(context, &finished);
            }
            for mark in mark_partitions(&table, &finished).await? {
                say!("{}", told(&mark));
            }
            if finished.is_empty() {
                say!("No partition of {} is ready to be marked done.", table.name());
            }
            Ok(())
        }
        PartitionCommand::MarkDone { table, partitions, .. } => {
            let table = context.table(&table).await?;
            let specs = partitions.iter().map(|text| spec(&table, text)).collect::<Result<Vec<_>>>()?;
            for mark in mark_done(&table, &specs).await? {
                say!("{}", told(&mark));
            }
            Ok(())
        }
    }
}

/// Marks are paths, or the addresses of who was told.
fn told(mark: &str) -> String {
    if mark.contains("://") { format!("Reported to {mark}.") } else { format!("Created {mark}.") }
}

/// The partition that a text such as `dt=2024-01-31,hr=7` names.
pub(super) fn spec(table: &Table, text: &str) -> Result<PartitionSpec> {
    partition_spec(text, &table.schema().partition_fields(), table.options().partition_default_name())
        .map_err(|e| e.with("table", table.name()))
}

/// The partitions that match any of the specs; a spec that matches none is an error.
async fn chosen(table: &Table, specs: &[String]) -> Result<Vec<PartitionSummary>> {
    let all = partitions(table).await?;
    let fields = table.schema().partition_fields();
    let mut chosen: Vec<PartitionSummary> = Vec::new();
    for text in specs {
        let mut wanted = Vec::new();
        for (key, value) in spec(table, text)? {
            let Some(at) = fields.iter().position(|field| field.name == key) else {
                let keys: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
                let error = Error::invalid(format!("'{key}' is not a partition column")).with("table", table.name());
                return Err(error.with_hint(match keys.is_empty() {
                    true => "the table is not partitioned".to_owned(),
                    false => format!("the partition columns are {}", keys.join(", ")),
                }));
            };
            let parsed = value.map(|value| parse_partition_value(&value, &fields[at].data_type)).transpose();
            let value = parsed.context("partition", text)?;
            wanted.push((at, value));
        }
        let mut found = false;
        for one in &all {
            let values = one.partition.datums(fields.iter().map(|field| &field.data_type))?;
            if wanted.iter().all(|(at, value)| values.get(*at) == Some(value)) {
                found = true;
                if !chosen.contains(one) {
                    chosen.push(one.clone());
                }
            }
        }
        if !found {
            return Err(Error::not_found("no partition matches").with("partition", text).with("table", table.name()));
        }
    }
    Ok(chosen)
}

async fn drop_all(context: &Context, table: &Table, chosen: &[PartitionSummary], sure: &Sure) -> Result<()> {
    let rows: i64 = chosen.iter().map(|partition| partition.rows).sum();
    let bytes: u64 = chosen.iter().map(|partition| partition.bytes).sum();
    let bytes = size(i64::try_from(bytes).unwrap_or(i64::MAX));
    let what =
        format!("drop {} of {} ({}, {bytes})", count(chosen.len(), "partition"), table.name(), count(rows, "record"));
    if sure.dry_run {
        show(context, chosen)?;
    }
    if agreed(&what, sure)? {
        let rows: Vec<_> = chosen.iter().map(|partition| partition.partition.clone()).collect();
        drop_partitions(table, &rows).await?;
        say!("Dropped {}; the files are deleted when older snapshots expire.", count(rows.len(), "partition"));
    }
    Ok(())
}

fn show(context: &Context, all: &[PartitionSummary]) -> Result<()> {
    Columns::new()
        .text("partition", all.iter().map(|one| &one.name))
        .number("files", all.iter().map(|one| i64::try_from(one.files).ok()))
        .number("bytes", all.iter().map(|one| i64::try_from(one.bytes).ok()))
        .number("records", all.iter().map(|one| one.rows))
        .text("newest_file", all.iter().map(|one| one.newest.map(time).unwrap_or_default()))
        .show(context.output)
}
