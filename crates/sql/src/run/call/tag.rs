//! `sys.create_tag` and its kin.

use linn::core::tag::{OlderThan, Retained, TagOf, Tags};
use linn::format::options::parse_duration;
use linn::{Result, SnapshotId};

use super::Procedure;
use super::answer::{Cell, row, success};
use super::arguments::Arguments;
use crate::run::show::rows;
use crate::session::{Output, Session};

pub(super) const PROCEDURES: &[Procedure] = &[
    Procedure {
        name: "create_tag",
        parameters: &["table", "tag", "snapshot_id", "time_retained"],
        run: |session, arguments| Box::pin(create(session, arguments)),
    },
    Procedure {
        name: "create_tag_from_timestamp",
        parameters: &["table", "tag", "timestamp", "time_retained"],
        run: |session, arguments| Box::pin(create_from(session, arguments, "timestamp", TagOf::Time)),
    },
    Procedure {
        name: "create_tag_from_watermark",
        parameters: &["table", "tag", "watermark", "time_retained"],
        run: |session, arguments| Box::pin(create_from(session, arguments, "watermark", TagOf::Watermark)),
    },
    Procedure {
        name: "replace_tag",
        parameters: &["table", "tag", "snapshot_id", "time_retained"],
        run: |session, arguments| Box::pin(replace(session, arguments)),
    },
    Procedure {
        name: "rename_tag",
        parameters: &["table", "tagName", "targetTagName"],
        run: |session, arguments| Box::pin(rename(session, arguments)),
    },
    Procedure {
        name: "delete_tag",
        parameters: &["table", "tag"],
        run: |session, arguments| Box::pin(delete(session, arguments)),
    },
    Procedure {
        name: "expire_tags",
        parameters: &["table", "older_than"],
        run: |session, arguments| Box::pin(expire(session, arguments)),
    },
    Procedure {
        name: "trigger_tag_automatic_creation",
        parameters: &["table"],
        run: |session, arguments| Box::pin(trigger(session, arguments)),
    },
];

fn retained(arguments: &Arguments) -> Result<Retained> {
    Ok(match arguments.get("time_retained") {
        Some(text) => Retained::For(parse_duration(text)?),
        None => Retained::Default,
    })
}

/// The snapshot that is asked for, else the latest one.
fn of(arguments: &Arguments) -> Result<TagOf> {
    let id = arguments.parsed("snapshot_id", "a snapshot id")?;
    Ok(id.map_or(TagOf::Latest, |id| TagOf::Id(SnapshotId(id))))
}

async fn create(session: &Session, arguments: &Arguments) -> Result<Output> {
    let table = arguments.table(session, None).await?;
    table.create_tag(arguments.require("tag")?, of(arguments)?, retained(arguments)?).await?;
    success()
}

async fn create_from(
    session: &Session,
    arguments: &Arguments,
    parameter: &str,
    of: fn(i64) -> TagOf,
) -> Result<Output> {
    arguments.require(parameter)?;
    let at = arguments.parsed(parameter, "a number of milliseconds since 1970")?.unwrap_or_default();
    let (table, tag) = (arguments.table(session, None).await?, arguments.require("tag")?);
    let snapshot = table.create_tag(tag, of(at), retained(arguments)?).await?;
    row([
        ("tagName", Cell::Text(tag.to_owned())),
        ("snapshot", Cell::Number(snapshot.id.0)),
        ("commit_time", Cell::Number(snapshot.time_millis)),
        ("watermark", Cell::Text(snapshot.watermark.map_or_else(|| "null".to_owned(), |w| w.to_string()))),
    ])
}

async fn replace(session: &Session, arguments: &Arguments) -> Result<Output> {
    let table = arguments.table(session, None).await?;
    let time = arguments.get("time_retained").map(parse_duration).transpose()?;
    table.replace_tag(arguments.require("tag")?, of(arguments)?, time).await?;
    success()
}

async fn rename(session: &Session, arguments: &Arguments) -> Result<Output> {
    let table = arguments.table(session, None).await?;
    Tags::new(&table).rename(arguments.require("tagName")?, arguments.require("targetTagName")?).await?;
    success()
}

/// Several names are separated by commas.
async fn delete(session: &Session, arguments: &Arguments) -> Result<Output> {
    let table = arguments.table(session, None).await?;
    for tag in arguments.require("tag")?.split(',') {
        table.delete_tag(tag.trim()).await?;
    }
    success()
}

async fn expire(session: &Session, arguments: &Arguments) -> Result<Output> {
    let table = arguments.table(session, None).await?;
    let older_than = arguments.get("older_than").map(OlderThan::parse).transpose()?;
    let mut expired = table.expire_tags(older_than).await?;
    if expired.is_empty() {
        expired.push("No expired tags.".to_owned());
    }
    rows(&["expired_tags"], [expired])
}

async fn trigger(session: &Session, arguments: &Arguments) -> Result<Output> {
    let table = arguments.table(session, None).await?;
    table.create_due_tags().await?;
    if table.options().tag_time_expire()? {
        table.expire_tags(None).await?;
    }
    success()
}
