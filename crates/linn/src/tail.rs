//! Following a table.

use linn_core::Table;
use linn_core::stream::{ChangeStream, Position};
use linn_format::options::Options;
use linn_format::{Result, ResultExt, SnapshotId};

use crate::filter::{Filter, field};

/// What is followed: all columns and changes, from the table's current rows on, unless more is said.
#[derive(Debug, Clone)]
pub struct TableTail {
    table: Table,
    columns: Option<Vec<String>>,
    filter: Option<Filter>,
    position: Option<Position>,
    options: Options,
    until_now: bool,
}

impl TableTail {
    pub(crate) fn new(table: Table) -> Self {
        Self { table, columns: None, filter: None, position: None, options: Options::new(), until_now: false }
    }

    /// Only these columns, in this order.
    #[must_use]
    pub fn columns<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.columns = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Only changes of rows for which this is true.
    #[must_use]
    pub fn filter(mut self, filter: Filter) -> Self {
        self.filter = Some(filter);
        self
    }

    /// From the changes of this snapshot on, without the rows before it.
    #[must_use]
    pub fn from_snapshot(mut self, id: SnapshotId) -> Self {
        self.options.set("scan.mode", "from-snapshot");
        self.options.set("scan.snapshot-id", id.0.to_string());
        self
    }

    /// Only changes that are committed from now on.
    #[must_use]
    pub fn latest(mut self) -> Self {
        self.options.set("scan.mode", "latest");
        self
    }

    /// Behind what was delivered before: the position that came with the last rows, which a program keeps together with them.
    #[must_use]
    pub fn position(mut self, position: Position) -> Self {
        self.position = Some(position);
        self
    }

    /// Ends behind the snapshot that is the latest one now, rather than waiting for others.
    #[must_use]
    pub fn until_now(mut self) -> Self {
        self.until_now = true;
        self
    }

    /// Opens the stream: batches whose last column `_VALUE_KIND` has the [kinds](linn_format::types::RowKind) of the rows, each with
    /// the position behind it.
    ///
    /// # Errors
    /// `Invalid` for columns, conditions and a start that the table does not have, `Unsupported` naming the feature.
    pub async fn stream(self) -> Result<ChangeStream> {
        let table = match self.options.is_empty() {
            true => self.table,
            false => self.table.with_options(&self.options)?,
        };
        let fields = &table.schema().fields;
        let mut changes = table.changes().position(self.position);
        if let Some(filter) = self.filter {
            changes = changes.filter(Some(filter.bind(fields)?));
        }
        if let Some(names) = &self.columns {
            let found = names.iter().map(|name| field(name, fields).cloned()).collect::<Result<Vec<_>>>();
            changes = changes.fields(found.context("table", table.name())?);
        }
        if self.until_now { changes.until_now().open().await } else { changes.open().await }
    }
}
