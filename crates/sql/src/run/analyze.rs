//! ANALYZE.

use linn::Result;
use linn::core::analyze::AnalyzeColumns;

use crate::parse::Analyzed;
use crate::provider::open_table;
use crate::session::{Output, Session};

pub(super) async fn run(session: &Session, table: &[String], columns: Analyzed) -> Result<Output> {
    let table = open_table(session.catalog(), &session.identifier(table)?, None).await?;
    let columns = match columns {
        Analyzed::None => AnalyzeColumns::None,
        Analyzed::All => AnalyzeColumns::All,
        Analyzed::Named(names) => AnalyzeColumns::Named(names),
    };
    Ok(Output::done(match table.analyze(columns).await? {
        Some(found) => format!(
            "Analyzed {} rows and {} columns.",
            found.merged_record_count.unwrap_or_default(),
            found.col_stats.0.len()
        ),
        None => "The table is empty; nothing was analyzed.".to_owned(),
    }))
}
