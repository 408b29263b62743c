//! `linn compact`: what a compaction would do, and doing it, once or as new snapshots come.

use linn::core::commit::Commit;
use linn::core::compact::Step;
use linn::core::job::CompactJob;
use linn::format::partition::partition_from_values;
use linn::format::row::BinaryRow;
use linn::{Catalog, Error, Identifier, Result, Table};

use super::files::partition;
use super::partition::spec;
use super::watch::Watch;
use crate::args::{CompactArgs, CompactCommand, CompactRunArgs};
use crate::context::{Context, DATABASE, identifier};
use crate::import::load::{shown, snapshots};
use crate::output::{Columns, count};
use crate::say::{always, say};

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

async fn compact(context: &Context, args: &CompactRunArgs) -> Result<()> {
    let catalog = context.catalog()?;
    let mut watch = Watch::new();
    loop {
        let tables = targets(catalog.as_ref(), &args.targets).await?;
        let mut failure = None;
        for id in &tables {
            if watch.is_stopped() {
                return Ok(());
            }
            match compact_one(context, catalog.as_ref(), args, id, &mut watch).await {
                Ok(()) => {}
                // Of several tables one that fails does not hold the others up.
                Err(e) if tables.len() > 1 || args.watch => {
                    always(format_args!("{id}: {e}"));
                    failure.get_or_insert(e);
                }
                Err(e) => return Err(e),
            }
        }
        if !args.watch {
            return failure.map_or(Ok(()), Err);
        }
        if !watch.pause(args.interval).await {
            say!("Stopped.");
            return Ok(());
        }
    }
}

/// Compacts a table, unless nothing has been committed since this was done last.
async fn compact_one(
    context: &Context,
    catalog: &dyn Catalog,
    args: &CompactRunArgs,
    id: &Identifier,
    watch: &mut Watch,
) -> Result<()> {
    let table = catalog.table(id).await?;
    let latest = linn::core::Snapshots::new(&table).latest_id().await?;
    if watch.has_seen(id, latest) {
        return Ok(());
    }
    let partitions = partitions(&table, &args.partition)?;
    let bar = context.progress.rows();
    let job = CompactJob { partitions: partitions.as_deref(), full: args.full, parallelism: args.parallelism };
    let messages = table.compact_job(job).await;
    bar.finish_and_clear();
    let messages = messages?;
    let files = |side: fn(&linn::CommitMessage) -> usize| messages.iter().map(side).sum::<usize>();
    let (before, after) = (files(|m| m.compact_before.len()), files(|m| m.compact_after.len()));
    if messages.is_empty() {
        watch.saw(id, latest);
        if !args.watch {
            say!("Nothing in {} is due for compaction.", table.name());
        }
        return Ok(());
    }
    let buckets = messages.len();
    let committer = table.committer(table.new_user());
    let made = snapshots(committer.commit(Commit::batch(messages)).await?)?;
    match made.as_slice() {
        [] => say!("Another job compacted {} first; nothing was done.", table.name()),
        made => {
            say!(
                "Compacted {} in {} of {} to {after} (snapshot {}).",
                count(before, "file"),
                count(buckets, "bucket"),
                table.name(),
                shown(made)
            );
        }
    }
    Ok(())
}

/// The tables that names and patterns mean: `db.table`, `table` of the default database, `db` or `db.*` for all tables of a
/// database, and `*` and `?` anywhere.
pub(super) async fn targets(catalog: &dyn Catalog, names: &[String]) -> Result<Vec<Identifier>> {
    let mut found = Vec::new();
    for name in names {
        let before = found.len();
        if name.contains(['*', '?']) {
            let (databases, tables) = name.split_once('.').unwrap_or((DATABASE, name));
            for database in catalog.list_databases().await?.iter().filter(|d| matches(databases, d)) {
                let listed = catalog.list_tables(database).await?;
                let chosen = listed.iter().filter(|table| matches(tables, table));
                found.extend(chosen.map(|table| Identifier::new(database, table)).collect::<Result<Vec<_>>>()?);
            }
        } else if !name.contains('.') && catalog.list_databases().await?.contains(name) {
            let listed = catalog.list_tables(name).await?;
            found.extend(listed.iter().map(|table| Identifier::new(name, table)).collect::<Result<Vec<_>>>()?);
        } else {
            found.push(identifier(name)?);
        }
        if found.len() == before {
            return Err(Error::not_found(format!("no table matches '{name}'"))
                .with_hint("`linn table list DATABASE` lists tables, `linn db list` databases"));
        }
    }
    let mut seen = std::collections::HashSet::new();
    found.retain(|id| seen.insert(id.clone()));
    Ok(found)
}

/// Whether a name is of a pattern: `*` stands for any characters, `?` for one.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    let mut rest = pattern.chars();
    match rest.next() {
        None => name.is_empty(),
        Some('*') => {
            let rest = rest.as_str();
            name.char_indices().map(|(at, _)| at).chain([name.len()]).any(|at| matches(rest, &name[at..]))
        }
        Some(c) => {
            let mut name = name.chars();
            name.next().is_some_and(|n| c == '?' || c == n) && matches(rest.as_str(), name.as_str())
        }
    }
}

/// Partitions from `key=value,key=value`; `None` means all.
fn partitions(table: &Table, specs: &[String]) -> Result<Option<Vec<BinaryRow>>> {
    if specs.is_empty() {
        return Ok(None);
    }
    let fields = table.schema().partition_fields();
    let one =
        |text: &String| partition_from_values(&spec(table, text)?, &fields).map_err(|e| e.with("partition", text));
    specs.iter().map(one).collect::<Result<Vec<_>>>().map(Some)
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns_match_whole_names() {
        for (pattern, name, expected) in [
            ("*", "orders", true),
            ("ord*", "orders", true),
            ("*s", "orders", true),
            ("o?d*s", "orders", true),
            ("ord", "orders", false),
            ("?", "ab", false),
            ("", "", true),
            ("a*b*c", "a1b2b3c", true),
            ("ä*", "äöü", true),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }
}
