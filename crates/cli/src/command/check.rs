//! `linn check`: whether tables keep their promises; `linn doctor`: whether the store does.

use linn::core::Env;
use linn::core::invariants::{Depth, check};
use linn::core::storage::{judge, open, probe};
use linn::{Error, Options, Result, ResultExt};

use super::compact::targets;
use crate::args::CheckArgs;
use crate::context::Context;
use crate::output::{Columns, count};

/// `linn check`.
///
/// # Errors
/// `Corrupt` when a promise is broken.
pub(super) async fn run(context: &Context, args: &CheckArgs) -> Result<()> {
    let catalog = context.catalog()?;
    let depth = if args.deep { Depth::Deep } else { Depth::Metadata };
    let (mut names, mut findings, mut broken) = (Vec::new(), Vec::new(), Vec::new());
    for id in targets(catalog.as_ref(), &args.targets).await? {
        let table = catalog.table(&id).await?;
        let report = check(&table, depth).await?;
        let read = if args.deep { format!(", {}", count(report.rows, "row")) } else { String::new() };
        eprintln!(
            "{id}: {}, {}, {}{read}: {}",
            count(report.snapshots, "snapshot"),
            count(report.manifests, "manifest"),
            count(report.files, "file"),
            match report.findings.len() {
                0 => "nothing is wrong".to_owned(),
                found => count(found, "finding"),
            }
        );
        if report.has_faults() {
            broken.push(id.to_string());
        }
        names.extend(report.findings.iter().map(|_| id.to_string()));
        findings.extend(report.findings);
    }
    if !findings.is_empty() {
        Columns::new()
            .text("table", names)
            .text("severity", findings.iter().map(|f| f.severity.as_str()))
            .text("rule", findings.iter().map(|f| f.rule.as_str()))
            .text("where", findings.iter().map(|f| &f.place))
            .text("what", findings.iter().map(|f| &f.what))
            .text("advice", findings.iter().map(|f| &f.advice))
            .show(context.output)?;
    }
    match broken.is_empty() {
        true => Ok(()),
        false => Err(Error::corrupt("tables break their promises").with("tables", broken.join(", "))),
    }
}

/// `linn doctor`.
///
/// # Errors
/// `Unsupported` when the store cannot hold tables.
pub(super) async fn doctor(context: &Context) -> Result<()> {
    let mut options = Options::new();
    for (key, value, _) in context.config.iter() {
        options.set(key, value);
    }
    let warehouse = context.config.get("warehouse").unwrap_or("./warehouse");
    let env = Env::system(open(warehouse, &options).context("warehouse", warehouse)?)?;
    let origin = context.config.iter().find(|(key, ..)| *key == "warehouse");
    let origin = origin.map_or("default".to_owned(), |(.., origin)| origin.to_string());
    let trials = probe(&env, "").await;
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut rows = vec![
        ("linn", "pass", format!("version {}, {threads} threads", env!("CARGO_PKG_VERSION"))),
        ("warehouse", "pass", format!("{} ({origin})", env.storage.root())),
        ("settings", "pass", format!("{}; `linn config show` lists them", context.config.iter().count())),
    ];
    rows.extend(trials.iter().map(|trial| (trial.name, trial.verdict.as_str(), trial.detail.clone())));
    Columns::new()
        .text("check", rows.iter().map(|(name, ..)| name))
        .text("verdict", rows.iter().map(|(_, verdict, _)| verdict))
        .text("detail", rows.iter().map(|(.., detail)| detail))
        .show(context.output)?;
    judge(&trials).context("warehouse", warehouse)
}
