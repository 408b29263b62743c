//! `linn snapshot rollback`.

use linn::core::Snapshots;
use linn::core::rollback::{RollbackPlan, RollbackTo};
use linn::{Error, Result, SnapshotId};

use super::sure::{agreed, confirmed};
use crate::args::{RollbackArgs, RollbackTarget};
use crate::context::Context;
use crate::output::Columns;

pub(super) async fn run(context: &Context, args: &RollbackArgs) -> Result<()> {
    let table = context.table(&args.table).await?;
    let to = target(&args.to)?;
    let plan = table.plan_rollback(&to).await?;
    if args.as_latest {
        let latest = Snapshots::new(&table).latest_id().await?.map_or(0, |id| id.0);
        let what = format!("put the content of snapshot {} after snapshot {latest}", plan.target.id);
        if agreed(&what, &args.sure)? {
            let done = table.rollback_as_latest(&to).await?;
            let tag = done.tag.map(|tag| format!("; tag {tag} keeps its files")).unwrap_or_default();
            eprintln!("snapshot {} has the content of snapshot {}{tag}", done.current, done.target.id);
        }
        return Ok(());
    }
    if args.sure.dry_run {
        return show(context, &plan);
    }
    let what = format!(
        "take away {} snapshots, {} changelogs and {} tags, and go back to snapshot {}",
        plan.snapshots.len(),
        plan.changelogs.len(),
        plan.tags.len(),
        plan.target.id
    );
    if confirmed(&what, args.sure.yes)? {
        let now = table.rollback(&to).await?;
        eprintln!("snapshot {} is the latest", now.id);
    }
    Ok(())
}

fn show(context: &Context, plan: &RollbackPlan) -> Result<()> {
    let gone: Vec<(&str, String)> = plan
        .snapshots
        .iter()
        .map(|id| ("snapshot", id.to_string()))
        .chain(plan.changelogs.iter().map(|id| ("changelog", id.to_string())))
        .chain(plan.tags.iter().map(|(id, name)| ("tag", format!("{name} (snapshot {id})"))))
        .collect();
    eprintln!("would go back to snapshot {}", plan.target.id);
    Columns::new()
        .text("taken away", gone.iter().map(|(kind, _)| *kind))
        .text("name", gone.iter().map(|(_, name)| name))
        .show(context.output)
}

fn target(to: &RollbackTarget) -> Result<RollbackTo> {
    match (to.snapshot, &to.tag, to.timestamp, to.watermark) {
        (Some(id), ..) => Ok(RollbackTo::Snapshot(SnapshotId(id))),
        (_, Some(tag), ..) => Ok(RollbackTo::Tag(tag.clone())),
        (_, _, Some(millis), _) => Ok(RollbackTo::Time(millis)),
        (.., Some(watermark)) => Ok(RollbackTo::Watermark(watermark)),
        (None, None, None, None) => Err(Error::invalid("where to go back to is not said")),
    }
}
