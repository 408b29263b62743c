//! `sys.rollback_to` and its kin.

use linn::core::Snapshots;
use linn::core::rollback::RollbackTo;
use linn::{Error, Result, SnapshotId, Table};

use super::Procedure;
use super::answer::{Cell, row};
use super::arguments::Arguments;
use crate::run::show::rows;
use crate::session::{Output, Session};

pub(super) const PROCEDURES: &[Procedure] = &[
    Procedure {
        name: "rollback_to",
        parameters: &["table", "tag", "snapshot_id"],
        run: |session, arguments| Box::pin(rollback_to(session, arguments)),
    },
    Procedure {
        name: "rollback_to_timestamp",
        parameters: &["table", "timestamp"],
        run: |session, arguments| Box::pin(to_timestamp(session, arguments)),
    },
    Procedure {
        name: "rollback_to_watermark",
        parameters: &["table", "watermark"],
        run: |session, arguments| Box::pin(to_watermark(session, arguments)),
    },
    Procedure {
        name: "rollback_to_as_latest",
        parameters: &["table", "tag", "snapshot_id"],
        run: |session, arguments| Box::pin(as_latest(session, arguments)),
    },
    Procedure {
        // As Spark has it: a snapshot id or the name of a tag.
        name: "rollback",
        parameters: &["table", "version", "snapshot", "tag"],
        run: |session, arguments| Box::pin(rollback(session, arguments)),
    },
];

/// The tag or snapshot that is asked for, one of both.
fn target(arguments: &Arguments) -> Result<RollbackTo> {
    match (arguments.get("tag"), arguments.parsed("snapshot_id", "a snapshot id")?) {
        (Some(tag), None) => Ok(RollbackTo::Tag(tag.to_owned())),
        (None, Some(id)) => Ok(RollbackTo::Snapshot(SnapshotId(id))),
        _ => Err(Error::invalid("give either a tag or a snapshot_id to roll back to")),
    }
}

/// A number that must be given.
fn millis(arguments: &Arguments, parameter: &str) -> Result<i64> {
    arguments.require(parameter)?;
    Ok(arguments.parsed(parameter, "a number of milliseconds since 1970")?.unwrap_or_default())
}

/// Goes back; the latest snapshot before and now.
async fn go(table: &Table, to: &RollbackTo) -> Result<(i64, i64)> {
    let Some(previous) = Snapshots::new(table).latest_id().await? else {
        return Err(Error::not_found("the table has no snapshots").with("table", table.name()));
    };
    Ok((previous.0, table.rollback(to).await?.id.0))
}

async fn answer(session: &Session, arguments: &Arguments, to: &RollbackTo) -> Result<Output> {
    let (previous, current) = go(&arguments.table(session, None).await?, to).await?;
    row([("previous_snapshot_id", Cell::Number(previous)), ("current_snapshot_id", Cell::Number(current))])
}

async fn rollback_to(session: &Session, arguments: &Arguments) -> Result<Output> {
    answer(session, arguments, &target(arguments)?).await
}

async fn to_timestamp(session: &Session, arguments: &Arguments) -> Result<Output> {
    answer(session, arguments, &RollbackTo::Time(millis(arguments, "timestamp")?)).await
}

async fn to_watermark(session: &Session, arguments: &Arguments) -> Result<Output> {
    let to = RollbackTo::Watermark(millis(arguments, "watermark")?);
    let (_, current) = go(&arguments.table(session, None).await?, &to).await?;
    rows(&["result"], [vec![format!("Success roll back to snapshot: {current} .")]])
}

async fn as_latest(session: &Session, arguments: &Arguments) -> Result<Output> {
    let done = arguments.table(session, None).await?.rollback_as_latest(&target(arguments)?).await?;
    row([
        ("previous_snapshot_id", Cell::Number(done.previous.0)),
        ("rolled_back_snapshot_id", Cell::Number(done.target.id.0)),
        ("current_snapshot_id", Cell::Number(done.current.0)),
    ])
}

async fn rollback(session: &Session, arguments: &Arguments) -> Result<Output> {
    let to = match (arguments.get("version"), arguments.parsed("snapshot", "a snapshot id")?, arguments.get("tag")) {
        (Some(version), None, None) => match version.parse() {
            Ok(id) => RollbackTo::Snapshot(SnapshotId(id)),
            Err(_) => RollbackTo::Tag(version.to_owned()),
        },
        (None, Some(id), None) => RollbackTo::Snapshot(SnapshotId(id)),
        (None, None, Some(tag)) => RollbackTo::Tag(tag.to_owned()),
        _ => return Err(Error::invalid("give one of version, snapshot and tag to roll back to")),
    };
    answer(session, arguments, &to).await
}
