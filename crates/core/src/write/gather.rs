//! Rows that replace the partitions that they are in, in a table whose keys may be in any partition. Which partitions stay, and so
//! where the rows' keys are looked for, is known when all rows are there; until then they wait on local disk.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int8Type;
use arrow_array::{Int8Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use linn_format::row::BinaryRow;
use linn_format::{BatchStream, Error, Result};

use super::writer::TableWriter;
use crate::assign::Router;
use crate::spill::{Spill, SpillWriter, spill_compression};
use crate::table::Table;

/// Name of the column of kinds, which no table has.
const KIND: &str = "_LINN_KIND";

/// What the rows of a writer replace, when they replace the partitions that they are in.
#[derive(Default)]
pub(super) enum Replaces {
    /// They do not.
    #[default]
    NotAsked,
    /// Rows wait until it is known which partitions these are.
    Gathering(Box<Gathering>),
    /// These partitions.
    Known(Arc<HashSet<BinaryRow>>),
}

impl Replaces {
    /// The partitions, once they are known.
    pub(super) fn partitions(&self) -> Option<Arc<HashSet<BinaryRow>>> {
        match self {
            Self::Known(partitions) => Some(Arc::clone(partitions)),
            Self::NotAsked | Self::Gathering(_) => None,
        }
    }
}

/// Rows that wait.
pub(super) struct Gathering {
    table: Table,
    user: String,
    router: Router,
    spill: Option<(SchemaRef, SpillWriter)>,
    partitions: HashSet<BinaryRow>,
}

impl Gathering {
    /// For rows that `user` will write.
    ///
    /// # Errors
    /// As [`Router::new`].
    pub(super) fn new(table: &Table, user: &str) -> Result<Self> {
        let router = Router::new(table.schema())?;
        Ok(Self { table: table.clone(), user: user.to_owned(), router, spill: None, partitions: HashSet::new() })
    }

    /// Takes rows.
    ///
    /// # Errors
    /// `Unavailable` when the local disk fails; what was taken before cannot be relied on then.
    pub(super) fn push(&mut self, rows: &RecordBatch, kinds: &Int8Array) -> Result<()> {
        if rows.num_rows() == 0 {
            return Ok(());
        }
        self.partitions.extend(self.router.partitions(rows)?.rows);
        let (schema, spill) = match &mut self.spill {
            Some(spill) => spill,
            empty => {
                let kind = Arc::new(Field::new(KIND, DataType::Int8, false));
                let schema = rows.schema();
                let fields: Vec<_> = schema.fields().iter().cloned().chain([kind]).collect();
                let schema: SchemaRef = Arc::new(Schema::new(fields));
                let compression = spill_compression(self.table.options())?;
                let writer = Spill::start(self.table.env(), &schema, compression)?;
                empty.insert((schema, writer))
            }
        };
        let columns = rows.columns().iter().cloned().chain([Arc::new(kinds.clone()) as _]).collect();
        spill.write(&RecordBatch::try_new(Arc::clone(schema), columns)?)
    }

    /// A writer that knows which partitions go, these, and the rows that are to be written.
    ///
    /// # Errors
    /// `Unavailable` when the local disk fails, and those of making the writer.
    pub(super) fn end(self) -> Result<Gathered> {
        let partitions = Arc::new(self.partitions);
        let writer = self.table.replacing_writer(&self.user, &partitions)?;
        let spill = self.spill.map(|(_, spill)| spill.finish()).transpose()?;
        Ok(Gathered { writer, partitions, spill })
    }
}

/// All rows, and what becomes of them.
pub(super) struct Gathered {
    pub(super) writer: TableWriter,
    pub(super) partitions: Arc<HashSet<BinaryRow>>,
    spill: Option<Spill>,
}

impl Gathered {
    /// The rows, each batch with a column of kinds behind the others; see [`apart`].
    ///
    /// # Errors
    /// `Unavailable` when the local disk fails.
    pub(super) fn rows(&self) -> Result<BatchStream> {
        match &self.spill {
            Some(spill) => spill.read(),
            None => Ok(Box::pin(futures::stream::empty())),
        }
    }
}

/// Rows and their kinds.
///
/// # Errors
/// `Internal` when there are no kinds.
pub(super) fn apart(batch: &RecordBatch) -> Result<(RecordBatch, Int8Array)> {
    let last = batch.num_columns().saturating_sub(1);
    let kinds = batch.columns().get(last).and_then(|column| column.as_primitive_opt::<Int8Type>()).cloned();
    let kinds = kinds.ok_or_else(|| Error::internal("rows that waited have no kinds"))?;
    let rows = batch.project(&(0..last).collect::<Vec<_>>())?;
    Ok((rows, kinds))
}
