//! `linn check`: whether tables are intact; `linn doctor`: whether the store can hold tables.

use linn::core::Env;
use linn::core::invariants::{Depth, Finding, Report, check};
use linn::core::storage::{judge, open, probe};
use linn::{Error, Options, Result, ResultExt};
use serde_json::json;

use super::compact::targets;
use crate::args::{CheckArgs, OutputFormat};
use crate::context::Context;
use crate::output::{Columns, Document, count};
use crate::say::say;

/// `linn check`.
///
/// # Errors
/// `Corrupt` when a table is damaged.
pub(super) async fn run(context: &Context, args: &CheckArgs) -> Result<()> {
    let catalog = context.catalog()?;
    let depth = if args.deep { Depth::Deep } else { Depth::Metadata };
    let mut reports = Vec::new();
    for id in targets(catalog.as_ref(), &args.targets).await? {
        let table = catalog.table(&id).await?;
        let report = check(&table, depth).await?;
        let read = if args.deep { format!(", {}", count(report.rows, "row")) } else { String::new() };
        say!(
            "{id}: {}, {}, {}{read}: {}",
            count(report.snapshots, "snapshot"),
            count(report.manifests, "manifest"),
            count(report.files, "file"),
            match report.findings.len() {
                0 => "OK".to_owned(),
                found => count(found, "finding"),
            }
        );
        reports.push((id.to_string(), report));
    }
    show(context, &reports)?;
    let broken: Vec<&str> =
        reports.iter().filter(|(_, report)| report.has_faults()).map(|(name, _)| name.as_str()).collect();
    match broken.as_slice() {
        [] => Ok(()),
        names => Err(Error::corrupt(format!("integrity check failed: {} damaged", count(names.len(), "table")))
            .with("table", names.join(", "))
            .with_hint("each finding above says what can be done about it")),
    }
}

fn show(context: &Context, reports: &[(String, Report)]) -> Result<()> {
    if matches!(context.output, OutputFormat::Json | OutputFormat::Ndjson) {
        let finding = |f: &Finding| {
            json!({"severity": f.severity.as_str(), "rule": f.rule.as_str(), "where": f.place, "what": f.what,
                   "advice": f.advice})
        };
        let table = |(name, report): &(String, Report)| {
            json!({"table": name, "ok": !report.has_faults(), "snapshots": report.snapshots,
                   "manifests": report.manifests, "files": report.files, "rows": report.rows,
                   "findings": report.findings.iter().map(finding).collect::<Vec<_>>()})
        };
        return Document { json: reports.iter().map(table).collect(), text: String::new() }.show(context.output);
    }
    let found: Vec<(&str, &Finding)> =
        reports.iter().flat_map(|(name, report)| report.findings.iter().map(|f| (name.as_str(), f))).collect();
    if found.is_empty() {
        return Ok(());
    }
    Columns::new()
        .text("table", found.iter().map(|(name, _)| name))
        .text("severity", found.iter().map(|(_, f)| f.severity.as_str()))
        .text("rule", found.iter().map(|(_, f)| f.rule.as_str()))
        .text("where", found.iter().map(|(_, f)| &f.place))
        .text("what", found.iter().map(|(_, f)| &f.what))
        .text("advice", found.iter().map(|(_, f)| &f.advice))
        .show(context.output)
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
