//! Columns that change while a stream goes on. A stream keeps those that it began with, as the reference's do: columns that were
//! added since are not told, renamed ones keep their old names. Where one that is read was dropped or has another type since, it
//! would tell nulls or cut values, and ends instead.

use linn_format::schema::TableSchema;
use linn_format::snapshot::Snapshot;
use linn_format::types::DataField;
use linn_format::{Error, Result, SchemaId};

use crate::schema::Schemas;
use crate::table::Table;

/// What a stream knows of the columns of its table.
#[derive(Debug)]
pub(super) struct Columns {
    /// Ids of the columns that are read.
    read: Vec<i32>,
    /// The newest schema that was looked at.
    seen: SchemaId,
}

impl Columns {
    pub(super) fn new(table: &Table, read: &[DataField]) -> Self {
        Self { read: read.iter().map(|field| field.id).collect(), seen: table.schema().id }
    }

    /// Looks at the columns of a snapshot.
    ///
    /// # Errors
    /// `Invalid` naming the first column that is read and is not what it was.
    pub(super) async fn check(&mut self, table: &Table, snapshot: &Snapshot) -> Result<()> {
        if snapshot.schema_id <= self.seen {
            return Ok(());
        }
        let now = Schemas::new(table).get(snapshot.schema_id).await?;
        if let Some(what) = self.changed(table.schema(), &now) {
            return Err(Error::invalid(format!("{what} since this stream began"))
                .with("table", table.name())
                .with("snapshot", snapshot.id)
                .with_hint("open the table again and continue from this snapshot"));
        }
        tracing::warn!(
            table = table.name(),
            snapshot = snapshot.id.0,
            "the table was altered; the stream continues with the columns that it started with"
        );
        self.seen = snapshot.schema_id;
        Ok(())
    }

    /// The first of the columns that are read and are gone or of another type.
    fn changed(&self, before: &TableSchema, now: &TableSchema) -> Option<String> {
        let field = |schema: &TableSchema, id: i32| schema.fields.iter().find(|field| field.id == id).cloned();
        self.read.iter().find_map(|&id| {
            let old = field(before, id)?;
            match field(now, id) {
                None => Some(format!("column {:?} was dropped", old.name)),
                Some(new) if new.data_type.kind != old.data_type.kind => {
                    Some(format!("column {:?} was made {} from {}", old.name, new.data_type, old.data_type))
                }
                Some(_) => None,
            }
        })
    }
}
