//! `ANALYZE`: what the rows of a table are like, looked at once and kept in a file that a snapshot of its own brings (spec:
//! format.md C.15). Later snapshots carry the file on as long as the schema stays.

mod column;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt, stream};
use linn_format::snapshot::{ColumnStatistics, Snapshot, Statistics};
use linn_format::types::{DataField, Kind};
use linn_format::{Error, Result, ResultExt};

use crate::commit::CommitOutcome;
use crate::seam::Pool;
use crate::snapshot::Snapshots;
use crate::table::Table;
use column::Looked;

/// Which columns are looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnalyzeColumns {
    /// None: rows are only counted.
    None,
    /// All whose values can be compared.
    All,
    /// These.
    Named(Vec<String>),
}

/// The statistics that a snapshot carries, if any.
///
/// # Errors
/// `NotFound` or `Corrupt` with the path.
pub(crate) async fn statistics_of(table: &Table, snapshot: &Snapshot) -> Result<Option<Statistics>> {
    let Some(name) = &snapshot.statistics else { return Ok(None) };
    let path = table.statistics_path(name);
    let bytes = table.storage().read(&path, None).await?;
    Statistics::from_json(&bytes).context("path", path).map(Some)
}

impl Table {
    /// Reads the latest snapshot, and commits what its rows are like. `None` for an empty table, where nothing is committed.
    ///
    /// # Errors
    /// `NotFound` for a column that is not there, `Unsupported` for one whose values cannot be compared, and what reading and
    /// committing can give.
    pub async fn analyze(&self, columns: AnalyzeColumns) -> Result<Option<Statistics>> {
        let fields = self.analyzed(columns)?;
        let Some(snapshot) = Snapshots::new(self).latest().await? else { return Ok(None) };
        let statistics = self.look(&snapshot, fields).await?;
        let name = format!("stat-{}-0", self.env().ids.uuid());
        let path = self.statistics_path(&name);
        self.storage().put(&path, Bytes::from(statistics.to_json()?)).await?;
        let result = match self.committer(self.new_user()).statistics(name).await {
            Ok(CommitOutcome::Committed(_)) => return Ok(Some(statistics)),
            Ok(CommitOutcome::Unknown(why)) => return Err(Error::unknown_outcome(why).with("table", self.name())),
            Ok(CommitOutcome::Conflict(why) | CommitOutcome::CompactionLost { why, .. }) => Error::conflict(why),
            Err(e) => e,
        };
        if let Err(e) = self.storage().delete(&path).await {
            tracing::warn!(table = self.name(), path, error = %e, "a statistics file without a snapshot is left over");
        }
        Err(result.with("table", self.name()))
    }

    fn analyzed(&self, columns: AnalyzeColumns) -> Result<Vec<DataField>> {
        let fields = &self.schema().fields;
        match columns {
            AnalyzeColumns::None => Ok(Vec::new()),
            AnalyzeColumns::All => {
                Ok(fields.iter().filter(|field| comparable(&field.data_type.kind)).cloned().collect())
            }
            AnalyzeColumns::Named(names) => {
                let field = |name: &String| {
                    let field = self.schema().field(name).ok_or_else(|| {
                        let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
                        Error::not_found(format!("column {name:?}"))
                            .with("table", self.name())
                            .with_hint(format!("the columns are {}", names.join(", ")))
                    })?;
                    match comparable(&field.data_type.kind) {
                        true => Ok(field.clone()),
                        false => Err(Error::unsupported(format!("statistics of type {}", field.data_type))
                            .with("table", self.name())
                            .with("column", name)),
                    }
                };
                names.iter().map(field).collect()
            }
        }
    }

    /// Reads some columns of a snapshot, several splits at once.
    async fn look(&self, snapshot: &Arc<Snapshot>, fields: Vec<DataField>) -> Result<Statistics> {
        let scan = self.scan().snapshot(Arc::clone(snapshot));
        let bytes: i64 = scan.clone().every_level().plan().await?.splits.iter().map(|split| split.files.bytes()).sum();
        let read = self.read().fields(fields.clone()).build()?;
        let at_once = self.env().spawn.parallelism(Pool::Work).max(1);
        let splits = scan.plan().await?.splits;
        let looks = splits.into_iter().map(|split| {
            let (read, fields) = (read.clone(), fields.clone());
            crate::manifest::run(self.env(), Pool::Work, async move {
                let mut batches = read.stream(&split).await?;
                let mut looked = Looked::new(&fields)?;
                while let Some(batch) = batches.try_next().await? {
                    looked.add(&batch)?;
                }
                Ok(looked)
            })
        });
        let looked = stream::iter(looks)
            .buffer_unordered(at_once)
            .try_fold(Looked::new(&fields)?, |mut all, one| async move {
                all.merge(one)?;
                Ok(all)
            })
            .await?;
        let rows = looked.rows();
        let physical = snapshot.total_record_count.unwrap_or(0).max(rows);
        let size = if physical == 0 { 0 } else { i128::from(bytes) * i128::from(rows) / i128::from(physical) };
        Ok(Statistics {
            snapshot_id: snapshot.id,
            schema_id: self.schema().id,
            merged_record_count: Some(rows),
            merged_record_size: Some(i64::try_from(size).unwrap_or(i64::MAX)),
            col_stats: ColumnStatistics(looked.finish()?),
        })
    }
}

/// Whether values of a type have an order, and statistics a text for them.
fn comparable(kind: &Kind) -> bool {
    matches!(
        kind,
        Kind::Boolean
            | Kind::TinyInt
            | Kind::SmallInt
            | Kind::Int
            | Kind::BigInt
            | Kind::Float
            | Kind::Double
            | Kind::Decimal { .. }
            | Kind::Date
            | Kind::Time(_)
            | Kind::Timestamp(_)
            | Kind::LocalZonedTimestamp(_)
            | Kind::Char(_)
            | Kind::Varchar(_)
            | Kind::Binary(_)
            | Kind::Varbinary(_)
    )
}
