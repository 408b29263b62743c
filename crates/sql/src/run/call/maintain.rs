//! `sys.expire_snapshots` and its kin: what makes room, and what repairs.

use linn::core::commit::{ManifestCounts, compact_manifests, count_manifests, remove_lost_manifests};
use linn::core::maintain::{
    ChangelogExpiry, Orphans, Retention, SnapshotExpiry, drop_partitions, expired_partitions, lost_files, mark_done,
    orphans, parse_time, purge, remove_lost, remove_orphans, repair_earliest,
};
use linn::format::partition::{PartitionSpec, partition_from_values, partition_parts, partition_specs};
use linn::{Error, Identifier, Options, Result, SnapshotId, Table};

use super::Procedure;
use super::answer::{Cell, row, success};
use super::arguments::Arguments;
use crate::run::show::rows;
use crate::session::{Output, Session};

pub(super) const PROCEDURES: &[Procedure] = &[
    Procedure {
        name: "expire_snapshots",
        parameters: &["table", "retain_max", "retain_min", "older_than", "max_deletes", "options"],
        run: |session, arguments| Box::pin(snapshots(session, arguments)),
    },
    Procedure {
        name: "expire_changelogs",
        parameters: &["table", "retain_max", "retain_min", "older_than", "max_deletes", "delete_all"],
        run: |session, arguments| Box::pin(changelogs(session, arguments)),
    },
    Procedure {
        name: "expire_partitions",
        parameters: &[
            "table",
            "expiration_time",
            "timestamp_formatter",
            "timestamp_pattern",
            "expire_strategy",
            "max_expires",
            "options",
        ],
        run: |session, arguments| Box::pin(partitions(session, arguments)),
    },
    Procedure {
        name: "remove_orphan_files",
        parameters: &["table", "older_than", "dry_run", "parallelism", "mode"],
        run: |session, arguments| Box::pin(orphan_files(session, arguments)),
    },
    Procedure {
        name: "remove_unexisting_files",
        parameters: &["table", "dry_run", "parallelism"],
        run: |session, arguments| Box::pin(unexisting_files(session, arguments)),
    },
    Procedure {
        name: "remove_unexisting_manifests",
        // The reference calls it tableId.
        parameters: &["table", "tableId"],
        run: |session, arguments| Box::pin(unexisting_manifests(session, arguments)),
    },
    Procedure {
        name: "repair_earliest_snapshot",
        parameters: &["table", "snapshot_id"],
        run: |session, arguments| Box::pin(earliest(session, arguments)),
    },
    Procedure {
        name: "compact_manifest",
        parameters: &[
            "table",
            "options",
            "dry_run",
            "manifest_sort_enabled",
            "manifest_sort_partition_field",
            "manifest_sort_max_rewrite_size",
        ],
        run: |session, arguments| Box::pin(manifests(session, arguments)),
    },
    Procedure {
        name: "mark_partition_done",
        parameters: &["table", "partitions"],
        run: |session, arguments| Box::pin(done(session, arguments)),
    },
    Procedure {
        name: "drop_partition",
        parameters: &["table", "partitions"],
        run: |session, arguments| Box::pin(dropped(session, arguments)),
    },
    Procedure {
        name: "purge_files",
        parameters: &["table"],
        run: |session, arguments| Box::pin(purged(session, arguments)),
    },
];

/// What the arguments say instead of the table's options. As in the reference they must fit each other.
fn narrowed(mut retention: Retention, table: &Table, arguments: &Arguments) -> Result<Retention> {
    retention.max = arguments.parsed("retain_max", "a number")?.unwrap_or(retention.max);
    retention.min = arguments.parsed("retain_min", "a number")?.unwrap_or(retention.min);
    retention.limit = arguments.parsed("max_deletes", "a number")?.unwrap_or(retention.limit);
    if let Some(time) = arguments.get("older_than") {
        retention.older_than = parse_time(table, time)?;
    }
    Ok(retention)
}

async fn snapshots(session: &Session, arguments: &Arguments) -> Result<Output> {
    let table = arguments.table(session, arguments.options("options")?.as_ref()).await?;
    let retention = narrowed(Retention::of_snapshots(&table)?, &table, arguments)?;
    let expiry = SnapshotExpiry::new(&table)?;
    let expired = match expiry.range(&retention).await? {
        Some((begin, end)) => expiry.run(begin, end).await?.snapshots.len(),
        None => 0,
    };
    rows(&["result"], [vec![expired.to_string()]])
}

async fn changelogs(session: &Session, arguments: &Arguments) -> Result<Output> {
    let table = arguments.table(session, None).await?;
    let expiry = ChangelogExpiry::new(&table);
    if flag(arguments, "delete_all")? {
        expiry.run(&expiry.all().await?).await?;
        return rows(&["result"], [vec!["Delete all separated changelogs success.".to_owned()]]);
    }
    let due = expiry.due(&narrowed(Retention::of_changelogs(&table)?, &table, arguments)?).await?;
    let expired = expiry.run(&due).await?.changelogs.len();
    rows(&["result"], [vec![expired.to_string()]])
}

async fn partitions(session: &Session, arguments: &Arguments) -> Result<Output> {
    let mut options = arguments.options("options")?.unwrap_or_default();
    for (argument, key) in [
        ("expire_strategy", "partition.expiration-strategy"),
        ("timestamp_formatter", "partition.timestamp-formatter"),
        ("timestamp_pattern", "partition.timestamp-pattern"),
        ("expiration_time", "partition.expiration-time"),
        ("max_expires", "partition.expiration-max-num"),
    ] {
        if let Some(value) = arguments.get(argument) {
            options.set(key, value);
        }
    }
    let table = arguments.table(session, Some(&options)).await?;
    let expired = expired_partitions(&table).await?;
    if expired.is_empty() {
        return rows(&["expired_partitions"], [vec!["No expired partitions.".to_owned()]]);
    }
    let partitions: Vec<_> = expired.iter().map(|partition| partition.partition.clone()).collect();
    drop_partitions(&table, &partitions).await?;
    let (fields, default) = (table.schema().partition_fields(), table.options().partition_default_name());
    let mut named = Vec::with_capacity(expired.len());
    for partition in &expired {
        named.push(partition_parts(&partition.partition, &fields, default)?.join(", "));
    }
    rows(&["expired_partitions"], [named])
}

/// The tables of `db.table` or of all of `db.*`.
async fn tables(session: &Session, arguments: &Arguments) -> Result<Vec<Table>> {
    let name = arguments.require("table")?;
    let Some(database) = name.strip_suffix(".*") else { return Ok(vec![arguments.table(session, None).await?]) };
    let mut tables = Vec::new();
    for table in session.catalog().list_tables(database).await? {
        tables.push(session.catalog().table(&Identifier::new(database, &table)?).await?);
    }
    Ok(tables)
}

async fn orphan_files(session: &Session, arguments: &Arguments) -> Result<Output> {
    if let Some(mode) = arguments.get("mode")
        && !["local", "distributed"].iter().any(|known| mode.eq_ignore_ascii_case(known))
    {
        return Err(Error::invalid(format!("mode {mode:?} is neither local nor distributed")));
    }
    let dry = flag(arguments, "dry_run")?;
    let (mut files, mut bytes) = (0, 0);
    for table in tables(session, arguments).await? {
        let table = parallel(table, arguments)?;
        let older_than = arguments.get("older_than").map(|text| parse_time(&table, text)).transpose()?;
        let found: Orphans = match dry {
            true => orphans(&table, older_than).await?,
            false => remove_orphans(&table, older_than).await?,
        };
        files += found.removal.files();
        bytes += found.removal.bytes();
    }
    rows(&["result"], [vec![files.to_string(), bytes.to_string()]])
}

async fn unexisting_files(session: &Session, arguments: &Arguments) -> Result<Output> {
    let table = parallel(arguments.table(session, None).await?, arguments)?;
    let lost = lost_files(&table).await?;
    if !flag(arguments, "dry_run")? {
        remove_lost(&table, &lost).await?;
    }
    rows(&["result"], [lost.into_iter().map(|file| file.path).collect()])
}

async fn unexisting_manifests(session: &Session, arguments: &Arguments) -> Result<Output> {
    let table = match arguments.get("tableId") {
        Some(name) => {
            let parts: Vec<String> = name.split('.').map(str::to_owned).collect();
            session.catalog().table(&session.identifier(&parts)?).await?
        }
        None => arguments.table(session, None).await?,
    };
    remove_lost_manifests(&table).await?;
    success()
}

async fn earliest(session: &Session, arguments: &Arguments) -> Result<Output> {
    let table = arguments.table(session, None).await?;
    arguments.require("snapshot_id")?;
    let id: i64 = arguments.parsed("snapshot_id", "a snapshot id")?.unwrap_or_default();
    let previous = repair_earliest(&table, SnapshotId(id)).await?;
    row([
        ("previous_earliest_snapshot_id", Cell::Number(previous.0)),
        ("current_earliest_snapshot_id", Cell::Number(id)),
    ])
}

async fn manifests(session: &Session, arguments: &Arguments) -> Result<Output> {
    if flag(arguments, "manifest_sort_enabled")? {
        return Err(Error::unsupported("the argument manifest_sort_enabled of sys.compact_manifest"));
    }
    let table = arguments.table(session, arguments.options("options")?.as_ref()).await?;
    if flag(arguments, "dry_run")? {
        return rows(&["result"], [vec![counted(count_manifests(&table).await?)]]);
    }
    compact_manifests(&table).await?;
    rows(&["result"], [vec!["success".to_owned()]])
}

/// The manifests of a table in the words of the reference.
fn counted(counts: Option<ManifestCounts>) -> String {
    match counts {
        None => "Dry run: no snapshot exists.".to_owned(),
        Some(counts) if counts.files == 0 => "Dry run: 0 manifest files.".to_owned(),
        Some(counts) => format!(
            "Dry run: {} manifest files ({}), {} deleted entries in {} files, {} undersized files (< {}).",
            counts.files,
            memory(counts.bytes),
            counts.removals,
            counts.removing,
            counts.small,
            memory(counts.target)
        ),
    }
}

/// Bytes in the largest unit that they are a whole number of.
fn memory(bytes: u64) -> String {
    let units = ["bytes", "kb", "mb", "gb", "tb"];
    let (mut value, mut unit) = (bytes, 0);
    while value > 0 && value.is_multiple_of(1024) && unit + 1 < units.len() {
        value /= 1024;
        unit += 1;
    }
    format!("{value} {}", units[unit])
}

/// `k=v,k=v;k=v,k=v`.
fn specs(arguments: &Arguments, table: &Table) -> Result<Vec<PartitionSpec>> {
    let fields = table.schema().partition_fields();
    partition_specs(arguments.require("partitions")?, &fields, table.options().partition_default_name())
}

async fn done(session: &Session, arguments: &Arguments) -> Result<Output> {
    let table = arguments.table(session, None).await?;
    mark_done(&table, &specs(arguments, &table)?).await?;
    success()
}

async fn dropped(session: &Session, arguments: &Arguments) -> Result<Output> {
    let table = arguments.table(session, None).await?;
    let fields = table.schema().partition_fields();
    let specs = specs(arguments, &table)?;
    // Specs of all keys are checked before anything is dropped; others match by the keys they name.
    for spec in specs.iter().filter(|spec| spec.len() == fields.len()) {
        partition_from_values(spec, &fields)?;
    }
    let committer = table.committer(table.env().ids.uuid());
    linn::committed(committer.drop_partitions(specs, linn::core::commit::BATCH_IDENTIFIER).await?)?;
    success()
}

async fn purged(session: &Session, arguments: &Arguments) -> Result<Output> {
    purge(&arguments.table(session, None).await?).await?;
    success()
}

/// The table with as many operations on files at once as the argument `parallelism` says.
fn parallel(table: Table, arguments: &Arguments) -> Result<Table> {
    match arguments.get("parallelism") {
        Some(number) => {
            let options: Options = [("file-operation.thread-num", number)].into_iter().collect();
            table.with_options(&options)
        }
        None => Ok(table),
    }
}

fn flag(arguments: &Arguments, name: &str) -> Result<bool> {
    match arguments.get(name) {
        None => Ok(false),
        Some(text) if text.eq_ignore_ascii_case("true") => Ok(true),
        Some(text) if text.eq_ignore_ascii_case("false") => Ok(false),
        Some(text) => Err(Error::invalid(format!("{name} {text:?} is neither true nor false"))),
    }
}
