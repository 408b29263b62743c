//! What `ANALYZE` found: `statistics`.

use linn_format::Result;
use linn_format::snapshot::Statistics;

use super::SystemRows;
use super::columns::{Column, rows};
use crate::snapshot::Snapshots;
use crate::table::Table;

pub(super) async fn statistics(table: &Table) -> Result<SystemRows> {
    let Some(snapshot) = Snapshots::new(table).travel().await? else { return rows_of(None) };
    rows_of(crate::analyze::statistics_of(table, &snapshot).await?.as_ref())
}

pub(super) fn rows_of(found: Option<&Statistics>) -> Result<SystemRows> {
    let all = || found.into_iter();
    let columns = found.map(|s| s.columns_json()).transpose()?;
    rows([
        Column::long("snapshot_id", all().map(|s| Some(s.snapshot_id.0))).required(),
        Column::long("schema_id", all().map(|s| Some(s.schema_id.0))).required(),
        Column::long("mergedRecordCount", all().map(|s| s.merged_record_count)),
        Column::long("mergedRecordSize", all().map(|s| s.merged_record_size)),
        Column::text("colstat", columns.into_iter().map(Some)),
    ])
}
