//! `linn table analyze`: statistics of rows and columns.

use linn::Result;
use linn::core::analyze::AnalyzeColumns;

use crate::context::Context;
use crate::output::{Columns, count, size};
use crate::say::say;

pub(super) async fn run(context: &Context, table: &str, columns: Vec<String>, all: bool) -> Result<()> {
    let table = context.table(table).await?;
    let columns = match (all, columns.is_empty()) {
        (true, _) => AnalyzeColumns::All,
        (false, true) => AnalyzeColumns::None,
        (false, false) => AnalyzeColumns::Named(columns),
    };
    let Some(found) = table.analyze(columns).await? else {
        say!("Table {} is empty; there is nothing to analyze.", table.name());
        return Ok(());
    };
    say!(
        "Analyzed snapshot {} of {}: {}, about {}.",
        found.snapshot_id,
        table.name(),
        count(found.merged_record_count.unwrap_or_default(), "row"),
        size(found.merged_record_size.unwrap_or_default()),
    );
    let all = &found.col_stats.0;
    if all.is_empty() {
        return Ok(());
    }
    Columns::new()
        .text("column", all.iter().map(|(name, _)| name))
        .number("distinct", all.iter().map(|(_, s)| s.distinct_count))
        .number("nulls", all.iter().map(|(_, s)| s.null_count))
        .text("min", all.iter().map(|(_, s)| s.min.clone().unwrap_or_default()))
        .text("max", all.iter().map(|(_, s)| s.max.clone().unwrap_or_default()))
        .number("avg_len", all.iter().map(|(_, s)| s.avg_len))
        .number("max_len", all.iter().map(|(_, s)| s.max_len))
        .show(context.output)
}
