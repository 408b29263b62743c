//! `linn tag`: names that keep snapshots.

use std::time::Duration;

use linn::core::Tags;
use linn::core::maintain::parse_time;
use linn::core::tag::{OlderThan, Retained, TagOf};
use linn::format::options::parse_duration;
use linn::{Result, SnapshotId, Table};

use super::sure::{agreed, confirmed};
use crate::args::{TagCommand, TagTarget};
use crate::context::Context;
use crate::output::{Columns, count, span, time};
use crate::say::say;

pub(super) async fn run(context: &Context, command: TagCommand) -> Result<()> {
    match command {
        TagCommand::List { table } => list(context, &context.table(&table).await?).await,
        TagCommand::Create { table, name, of, time_retained } => {
            let retained = duration(time_retained.as_deref())?.map_or(Retained::Default, Retained::For);
            let table = context.table(&table).await?;
            let snapshot = table.create_tag(&name, target(&table, &of)?, retained).await?;
            say!("Created tag {name} of snapshot {}.", snapshot.id);
            Ok(())
        }
        TagCommand::Delete { table, name, sure } => {
            let table = context.table(&table).await?;
            let tag = Tags::new(&table).get(&name).await?;
            let what = format!("delete tag {name} of snapshot {}", tag.snapshot.id);
            if agreed(&what, &sure)? {
                table.delete_tag(&name).await?;
                say!("Deleted tag {name}.");
            }
            Ok(())
        }
        TagCommand::Rename { table, name, to } => {
            Tags::new(&context.table(&table).await?).rename(&name, &to).await?;
            say!("Renamed tag {name} to {to}.");
            Ok(())
        }
        TagCommand::Replace { table, name, of, time_retained, sure } => {
            let (table, time) = (context.table(&table).await?, duration(time_retained.as_deref())?);
            let former = Tags::new(&table).get(&name).await?.snapshot.id;
            let snapshot = table.snapshot_to_tag(target(&table, &of)?).await?.id;
            let what = format!("move tag {name} from snapshot {former} to snapshot {snapshot}");
            if agreed(&what, &sure)? {
                let snapshot = table.replace_tag(&name, TagOf::Id(snapshot), time).await?;
                say!("Moved tag {name} to snapshot {}.", snapshot.id);
            }
            Ok(())
        }
        TagCommand::Expire { table, older_than, sure } => {
            let table = context.table(&table).await?;
            let older_than = older_than.as_deref().map(OlderThan::parse).transpose()?;
            let expired = table.expired_tags(older_than).await?;
            if sure.dry_run && !expired.is_empty() {
                say!("Would delete {}.", count(expired.len(), "tag"));
                return Columns::new()
                    .text("tag", expired.iter().map(|tag| &tag.name))
                    .number("snapshot", expired.iter().map(|tag| tag.snapshot.0))
                    .text("created", expired.iter().map(|tag| tag.created.to_string()))
                    .show(context.output);
            }
            if expired.is_empty() {
                say!("No tag of {} is expired.", table.name());
            } else if confirmed(&format!("delete {}", count(expired.len(), "tag")), sure.yes)? {
                say!("Deleted {}.", count(table.expire_tags(older_than).await?.len(), "tag"));
            }
            Ok(())
        }
    }
}

fn duration(text: Option<&str>) -> Result<Option<Duration>> {
    text.map(parse_duration).transpose()
}

fn target(table: &Table, of: &TagTarget) -> Result<TagOf> {
    Ok(match (of.snapshot, &of.timestamp, of.watermark) {
        (Some(id), ..) => TagOf::Id(SnapshotId(id)),
        (_, Some(time), _) => TagOf::Time(parse_time(table, time)?),
        (.., Some(watermark)) => TagOf::Watermark(watermark),
        (None, None, None) => TagOf::Latest,
    })
}

async fn list(context: &Context, table: &Table) -> Result<()> {
    let all = Tags::new(table).all(|_| true).await?;
    Columns::new()
        .text("tag", all.iter().map(|(name, _)| name))
        .number("snapshot", all.iter().map(|(_, tag)| tag.snapshot.id.0))
        .text("committed", all.iter().map(|(_, tag)| time(tag.snapshot.time_millis)))
        .number("records", all.iter().map(|(_, tag)| tag.snapshot.total_record_count))
        .text("created", all.iter().map(|(_, tag)| tag.create_time.map(|t| t.to_string()).unwrap_or_default()))
        .text("time_retained", all.iter().map(|(_, tag)| tag.time_retained.map(span).unwrap_or_default()))
        .show(context.output)
}
