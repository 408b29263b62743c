//! `linn compact`: what a compaction would do, and doing it.

use linn::core::commit::Commit;
use linn::core::compact::Step;
use linn::format::partition::partition_from_values;
use linn::format::row::BinaryRow;
use linn::{Result, Table};

use super::files::partition;
use crate::args::{CompactArgs, CompactCommand};
use crate::config::key_value;
use crate::context::Context;
use crate::import::load::{shown, snapshots};
use crate::output::Columns;

pub(super) async fn run(context: &Context, command: CompactCommand) -> Result<()> {
    match command {
        CompactCommand::Plan(args) => plan(context, &args).await,
        CompactCommand::Run(args) => compact(context, &args).await,
    }
}

async fn plan(context: &Context, args: &CompactArgs) -> Result<()> {
    let table = context.table(&args.table).await?;
    let partitions = partitions(&table, &args.partition)?;
    let plans = table.plan_compaction(partitions.as_deref(), args.full).await?;
    let names = plans.iter().map(|p| partition(&table, &p.partition)).collect::<Result<Vec<_>>>()?;
    let rewritten = |steps: &[Step]| steps.iter().filter(|s| matches!(s, Step::Rewrite(_))).count() as i64;
    Columns::new()
        .text("partition", names)
        .number("bucket", plans.iter().map(|p| i64::from(p.bucket)))
        .text("reason", plans.iter().map(|p| format!("{:?}", p.choice.reason)))
        .number("files", plans.iter().map(|p| p.choice.files.len() as i64))
        .number("bytes", plans.iter().map(|p| p.choice.files.iter().map(|f| f.file_size).sum::<i64>()))
        .number("rows", plans.iter().map(|p| p.choice.files.iter().map(|f| f.row_count).sum::<i64>()))
        .number("to_level", plans.iter().map(|p| i64::from(p.choice.output_level)))
        .number("rewrites", plans.iter().map(|p| rewritten(&p.steps)))
        .number("upgrades", plans.iter().map(|p| p.steps.len() as i64 - rewritten(&p.steps)))
        .show(context.output)
}

async fn compact(context: &Context, args: &CompactArgs) -> Result<()> {
    let table = context.table(&args.table).await?;
    let partitions = partitions(&table, &args.partition)?;
    let bar = context.progress.rows();
    let messages = table.compact(partitions.as_deref(), args.full).await;
    bar.finish_and_clear();
    let messages = messages?;
    let files = |side: fn(&linn::CommitMessage) -> usize| messages.iter().map(side).sum::<usize>();
    let (before, after) = (files(|m| m.compact_before.len()), files(|m| m.compact_after.len()));
    if messages.is_empty() {
        eprintln!("nothing in {} is due for compaction", table.name());
        return Ok(());
    }
    let buckets = messages.len();
    let committer = table.committer(table.env().ids.uuid());
    let made = snapshots(committer.commit(Commit::batch(messages)).await?)?;
    eprintln!("{before} files became {after} in {buckets} buckets of {} (snapshot {})", table.name(), shown(&made));
    Ok(())
}

/// Partitions from `key=value,key=value`; `None` means all.
fn partitions(table: &Table, specs: &[String]) -> Result<Option<Vec<BinaryRow>>> {
    if specs.is_empty() {
        return Ok(None);
    }
    let fields = table.schema().partition_fields();
    let one = |spec: &String| {
        let values = spec
            .split(',')
            .map(|pair| key_value(pair).map(|(key, value)| (key.to_owned(), value.to_owned())))
            .collect::<Result<Vec<_>>>()?;
        partition_from_values(&values, &fields, table.options().partition_default_name())
            .map_err(|e| e.with("partition", spec))
    };
    specs.iter().map(one).collect::<Result<Vec<_>>>().map(Some)
}
