//! `linn snapshot`: the history of a table.

use std::sync::Arc;

use linn::core::Snapshots;
use linn::core::maintain::{earliest_to_repair, repair_earliest};
use linn::format::snapshot::Snapshot;
use linn::{Error, ErrorKind, Result, SnapshotId, Table};

use super::sure::agreed;
use super::{diff, rollback};
use crate::args::SnapshotCommand;
use crate::context::Context;
use crate::output::{Columns, print, time};
use crate::say::say;

pub(super) async fn run(context: &Context, command: SnapshotCommand) -> Result<()> {
    match command {
        SnapshotCommand::List { table } => list(context, &context.table(&table).await?).await,
        SnapshotCommand::Expire(args) => super::expire::snapshots(context, &args).await,
        SnapshotCommand::Show { table, id } => {
            let table = context.table(&table).await?;
            let snapshot = find(&table, id).await?;
            let json: serde_json::Value = serde_json::from_slice(&snapshot.to_json()?)
                .map_err(|e| Error::internal("a snapshot is not JSON").with_source(e))?;
            print(&serde_json::to_string_pretty(&json).unwrap_or_default())
        }
        SnapshotCommand::RepairEarliest { table, id, sure } => {
            let table = context.table(&table).await?;
            let id = SnapshotId(id);
            let now = earliest_to_repair(&table, id).await?;
            if agreed(&format!("start the history of {} at snapshot {id} instead of {now}", table.name()), &sure)? {
                repair_earliest(&table, id).await?;
                say!("The history of {} starts at snapshot {id}.", table.name());
            }
            Ok(())
        }
        SnapshotCommand::Rollback(args) => rollback::run(context, &args).await,
        SnapshotCommand::Diff(args) => diff::run(context, &args).await,
    }
}

/// A snapshot by its number, or the latest one.
///
/// # Errors
/// `NotFound` when it is not there.
pub(super) async fn find(table: &Table, id: Option<i64>) -> Result<Arc<Snapshot>> {
    let snapshots = Snapshots::new(table);
    match id {
        Some(id) => snapshots
            .get(SnapshotId(id))
            .await
            .map_err(|e| e.with("table", table.name()).with_hint("`linn snapshot list` lists the snapshots")),
        None => snapshots
            .latest()
            .await?
            .ok_or_else(|| Error::not_found("table has no snapshot yet").with("table", table.name())),
    }
}

async fn list(context: &Context, table: &Table) -> Result<()> {
    let snapshots = Snapshots::new(table);
    let mut all: Vec<Arc<Snapshot>> = Vec::new();
    for id in snapshots.list().await? {
        match snapshots.get(id).await {
            Ok(snapshot) => all.push(snapshot),
            // Expired meanwhile.
            Err(e) if e.kind() == ErrorKind::NotFound => {}
            Err(e) => return Err(e),
        }
    }
    Columns::new()
        .number("snapshot", all.iter().map(|s| s.id.0))
        .text("time", all.iter().map(|s| time(s.time_millis)))
        .text("kind", all.iter().map(|s| s.commit_kind.as_str()))
        .text("operation", all.iter().map(|s| s.operation.clone().unwrap_or_default()))
        .number("schema", all.iter().map(|s| s.schema_id.0))
        .number("records", all.iter().map(|s| s.total_record_count))
        .number("change", all.iter().map(|s| s.delta_record_count))
        .text("user", all.iter().map(|s| &s.commit_user))
        .show(context.output)
}
