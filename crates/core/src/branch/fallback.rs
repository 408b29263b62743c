//! Reads over two branches: partitions that one does not have come from the other (`scan.fallback-branch`,
//! `scan.primary-branch`; spec: features.md B14).

use std::collections::HashSet;

use linn_format::options::table::scan::{SCAN_FALLBACK_BRANCH, SCAN_PRIMARY_BRANCH};
use linn_format::row::BinaryRow;
use linn_format::{Error, Result};

use super::Branches;
use crate::snapshot::Snapshots;
use crate::table::Table;

/// A table that is read, and which of its partitions.
#[derive(Debug, Clone)]
pub struct Layer {
    /// The table, pinned to one snapshot.
    pub table: Table,
    /// The partitions; all of them without.
    pub partitions: Option<Vec<BinaryRow>>,
}

impl Table {
    /// What a read of this table reads: the table itself, pinned to one snapshot, and as its options say the partitions of
    /// another branch that it lacks, or its own partitions that the other branch lacks. All have the same columns.
    ///
    /// # Errors
    /// As [`Table::pinned`]; `Invalid` when the columns of the branches differ.
    pub async fn layers(&self) -> Result<Vec<Layer>> {
        let option = |def| self.options().text(def).filter(|name| !name.trim().is_empty());
        let (name, fallback) = match (option(&SCAN_FALLBACK_BRANCH), option(&SCAN_PRIMARY_BRANCH)) {
            (Some(name), _) => (name, true),
            (None, Some(name)) => (name, false),
            (None, None) => return Ok(vec![Layer { table: self.pinned().await?, partitions: None }]),
        };
        let branches = Branches::new(self);
        if self.branch() == Some(name) || !branches.exists(name).await? {
            tracing::debug!(table = self.name(), branch = name, "there is no other branch to read");
            return Ok(vec![Layer { table: self.pinned().await?, partitions: None }]);
        }
        let other = self.as_of(branches.table(name).await?).await?;
        let own = self.pinned().await?;
        self.check_columns(&own, &other, name)?;
        let (first, second) = if fallback { (own, other) } else { (other, own) };
        let have: HashSet<BinaryRow> = first.scan().every_level().partition_rows().await?.into_iter().collect();
        let mut rest = second.scan().every_level().partition_rows().await?;
        rest.retain(|partition| !have.contains(partition));
        let mut layers = vec![Layer { table: first, partitions: None }];
        if !rest.is_empty() {
            layers.push(Layer { table: second, partitions: Some(rest) });
        }
        Ok(layers)
    }

    /// The other branch, pinned to where it was when this table was at the snapshot that its options travel to.
    async fn as_of(&self, other: Table) -> Result<Table> {
        let Some(at) = Snapshots::new(self).resolve(self.options()).await? else { return other.pinned().await };
        let millis = [("scan.timestamp-millis", at.time_millis.to_string())].into_iter().collect();
        let then = other.with_options(&millis)?;
        match Snapshots::new(&other).at_or_before_time(at.time_millis).await? {
            Some(_) => then.pinned().await,
            // It was empty then; what it began with is nearest.
            None => match Snapshots::new(&other).earliest_id().await? {
                Some(id) => {
                    let first = [("scan.snapshot-id", id.to_string())].into_iter().collect();
                    other.with_options(&first)?.pinned().await
                }
                None => other.pinned().await,
            },
        }
    }

    fn check_columns(&self, own: &Table, other: &Table, branch: &str) -> Result<()> {
        let (ours, theirs) = (&own.schema().fields, &other.schema().fields);
        let same = ours.len() == theirs.len()
            && ours.iter().zip(theirs).all(|(a, b)| a.name == b.name && a.data_type.kind == b.data_type.kind);
        let keys = own.schema().partition_keys == other.schema().partition_keys;
        if same && keys {
            return Ok(());
        }
        Err(Error::invalid("a branch that is read together with the table has other columns")
            .with("table", self.name())
            .with("branch", branch)
            .with_hint(
                "alter it so that both have the same columns, or remove scan.fallback-branch and scan.primary-branch",
            ))
    }
}
