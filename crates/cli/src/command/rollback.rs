//! `linn snapshot rollback`.

use linn::core::Snapshots;
use linn::core::maintain::{Removal, parse_time};
use linn::core::rollback::{RollbackPlan, RollbackTo};
use linn::{Error, Result, SnapshotId, Table};

use super::removal::bytes;
use super::sure::agreed;
use crate::args::{RollbackArgs, RollbackTarget};
use crate::context::Context;
use crate::output::{Columns, count};
use crate::say::{caution, say};

pub(super) async fn run(context: &Context, args: &RollbackArgs) -> Result<()> {
    let table = context.table(&args.table).await?;
    let to = target(&table, &args.to)?;
    let plan = table.plan_rollback(&to).await?;
    if args.as_latest {
        let latest = Snapshots::new(&table).latest_id().await?.map_or(0, |id| id.0);
        let what = format!("commit the content of snapshot {} after snapshot {latest}", plan.target.id);
        if agreed(&what, &args.sure)? {
            let done = table.rollback_as_latest(&to).await?;
            let tag = done.tag.map(|tag| format!("; tag {tag} keeps its files")).unwrap_or_default();
            say!("Snapshot {} has the content of snapshot {}{tag}.", done.current, done.target.id);
        }
        return Ok(());
    }
    let frees = match args.clean {
        true => Some(table.rollback_frees(&plan).await?),
        false => None,
    };
    if args.sure.dry_run {
        show(context, &plan, frees.as_ref())?;
    }
    let what = format!(
        "roll back to snapshot {}, deleting {}, {} and {}{}",
        plan.target.id,
        count(plan.snapshots.len(), "snapshot"),
        count(plan.changelogs.len(), "changelog"),
        count(plan.tags.len(), "tag"),
        frees.map_or_else(String::new, |frees| {
            format!(" with {}, {}", count(frees.files(), "file"), bytes(frees.bytes()))
        }),
    );
    if !agreed(&what, &args.sure)? {
        return Ok(());
    }
    if args.clean {
        let done = table.rollback_and_clean(&to).await?;
        let gone = done.removal.files() as u64 - done.left;
        say!("Rolled back to snapshot {}; deleted {}.", done.target.id, count(gone, "file"));
        if done.left > 0 {
            caution!("{} could not be deleted; `linn orphan clean` deletes them later", count(done.left, "file"));
        }
    } else {
        let now = table.rollback(&to).await?;
        say!("Rolled back to snapshot {}; `linn orphan clean` deletes the files of later snapshots.", now.id);
    }
    Ok(())
}

fn show(context: &Context, plan: &RollbackPlan, frees: Option<&Removal>) -> Result<()> {
    let gone: Vec<(&str, String)> = plan
        .snapshots
        .iter()
        .map(|id| ("snapshot", id.to_string()))
        .chain(plan.changelogs.iter().map(|id| ("changelog", id.to_string())))
        .chain(plan.tags.iter().map(|(id, name)| ("tag", format!("{name} (snapshot {id})"))))
        .chain(frees.into_iter().flat_map(Removal::iter).map(|file| ("file", file.path.clone())))
        .collect();
    Columns::new()
        .text("kind", gone.iter().map(|(kind, _)| *kind))
        .text("name", gone.iter().map(|(_, name)| name))
        .show(context.output)
}

fn target(table: &Table, to: &RollbackTarget) -> Result<RollbackTo> {
    match (to.snapshot, &to.tag, &to.timestamp, to.watermark) {
        (Some(id), ..) => Ok(RollbackTo::Snapshot(SnapshotId(id))),
        (_, Some(tag), ..) => Ok(RollbackTo::Tag(tag.clone())),
        (_, _, Some(time), _) => Ok(RollbackTo::Time(parse_time(table, time)?)),
        (.., Some(watermark)) => Ok(RollbackTo::Watermark(watermark)),
        (None, None, None, None) => Err(Error::invalid("no snapshot to roll back to is given")),
    }
}
