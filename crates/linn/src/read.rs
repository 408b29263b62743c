//! Reading a table.

use std::sync::Arc;

use arrow_array::RecordBatch;
use futures::{StreamExt, TryStreamExt, stream};
use linn_core::read::{Read, collect, limit};
use linn_core::{Split, Table};
use linn_format::options::Options;
use linn_format::predicate::Predicate;
use linn_format::{BatchStream, Result, SnapshotId};

use crate::filter::Filter;

/// What is read of a table: all rows and columns of its latest snapshot, unless more is said.
#[derive(Debug, Clone)]
pub struct TableRead {
    table: Table,
    columns: Option<Vec<String>>,
    filter: Option<Filter>,
    limit: Option<usize>,
    travel: Options,
}

/// The rows of one branch, planned.
struct Planned {
    read: Arc<Read>,
    splits: Vec<Split>,
}

impl TableRead {
    pub(crate) fn new(table: Table) -> Self {
        Self { table, columns: None, filter: None, limit: None, travel: Options::new() }
    }

    /// Only these columns, in this order.
    #[must_use]
    pub fn columns<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.columns = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Only rows for which this is true. Given again, both must be true.
    #[must_use]
    pub fn filter(mut self, filter: Filter) -> Self {
        self.filter = Some(match self.filter {
            Some(before) => before.and(filter),
            None => filter,
        });
        self
    }

    /// At most so many rows.
    #[must_use]
    pub fn limit(mut self, rows: usize) -> Self {
        self.limit = Some(rows);
        self
    }

    /// The table as of a snapshot.
    #[must_use]
    pub fn snapshot(mut self, id: SnapshotId) -> Self {
        self.travel.set("scan.snapshot-id", id.0.to_string());
        self
    }

    /// The table as of a tag.
    #[must_use]
    pub fn tag(mut self, name: &str) -> Self {
        self.travel.set("scan.tag-name", name);
        self
    }

    /// The table as of a time, milliseconds since the epoch: the latest snapshot that is not younger.
    #[must_use]
    pub fn timestamp_millis(mut self, millis: i64) -> Self {
        self.travel.set("scan.timestamp-millis", millis.to_string());
        self
    }

    /// The rows, batch by batch. Splits are read one after the other; memory does not grow with the rows.
    ///
    /// # Errors
    /// `Invalid` for columns and conditions that the table does not have, `NotFound` for a snapshot or tag that does not exist,
    /// and what planning yields. What reading yields is in the stream.
    pub async fn stream(self) -> Result<BatchStream> {
        let planned = self.planned().await?;
        let rows = stream::iter(planned)
            .flat_map(|part| {
                let read = part.read;
                stream::iter(part.splits).map(move |split| (Arc::clone(&read), split))
            })
            .then(|(read, split)| async move { read.stream(&split).await })
            .try_flatten();
        Ok(match self.limit {
            Some(most) => limit(rows.boxed(), most),
            None => rows.boxed(),
        })
    }

    /// All rows at once.
    ///
    /// # Errors
    /// As [`stream`](Self::stream), and what reading yields.
    pub async fn collect(self) -> Result<Vec<RecordBatch>> {
        collect(self.stream().await?).await
    }

    async fn planned(&self) -> Result<Vec<Planned>> {
        let table = match self.travel.is_empty() {
            true => self.table.clone(),
            false => self.table.with_options(&self.travel)?,
        };
        let filter = self.filter.as_ref().map(|filter| filter.bind(&table.schema().fields)).transpose()?;
        let mut planned = Vec::new();
        // Partitions may come from another branch.
        for layer in table.layers().await? {
            let mut scan = layer.table.scan().filter(filter.clone().unwrap_or(Predicate::Constant(true)));
            if let Some(partitions) = layer.partitions {
                scan = scan.partitions(partitions);
            }
            if let Some(limit) = self.limit {
                scan = scan.limit(limit as u64);
            }
            let mut read = layer.table.read();
            if let Some(columns) = &self.columns {
                read = read.project(columns)?;
            }
            let read = Arc::new(read.filter(filter.clone()).limit(self.limit).build()?);
            planned.push(Planned { read, splits: scan.plan().await?.splits });
        }
        Ok(planned)
    }
}
