//! A table without a primary key whose rows say where they stand, so that they can be deleted there.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use datafusion::arrow::array::{ArrayRef, Int32Array, RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::error::Result as DfResult;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
use futures::{StreamExt, TryStreamExt};
use linn::core::append::RowDeletion;
use linn::core::file::row_position_field;
use linn::core::read::Read;
use linn::format::snapshot::Snapshot;
use linn::format::types::arrow_schema;
use linn::{Error, Result, Split, Table};

use super::filter::all;
use super::partition::{Pushdown, Taken};
use crate::error::theirs;

/// The name under which a statement reads the rows that it changes.
pub(crate) const TARGET: &str = "__linn_target";
/// Column with the number of a row's file among those that were read.
pub(crate) const FILE: &str = "__linn_file";
/// Column with a row's position in its file.
pub(crate) const POSITION: &str = "__linn_position";

/// A table at its latest snapshot with two more columns, [`FILE`] and [`POSITION`].
pub(crate) struct PlacedTable {
    table: Table,
    snapshot: Option<Arc<Snapshot>>,
    schema: SchemaRef,
    /// The files that were read, each as a split of its own.
    files: Mutex<Vec<Split>>,
}

impl fmt::Debug for PlacedTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlacedTable").field("table", &self.table.name()).finish_non_exhaustive()
    }
}

impl PlacedTable {
    /// The table as it is now.
    ///
    /// # Errors
    /// What reading the latest snapshot yields.
    pub(crate) async fn open(table: Table) -> Result<Self> {
        let snapshot = linn::core::Snapshots::new(&table).latest().await?;
        let mut fields: Vec<Arc<Field>> = arrow_schema(&table.visible_fields()?)?.fields().iter().cloned().collect();
        fields.push(Arc::new(Field::new(FILE, DataType::Int32, false)));
        fields.push(Arc::new(Field::new(POSITION, DataType::Int64, false)));
        let schema = Arc::new(Schema::new(fields));
        Ok(Self { table, snapshot, schema, files: Mutex::default() })
    }

    /// The snapshot that is read; `None` when the table is empty.
    pub(crate) fn snapshot(&self) -> Option<&Arc<Snapshot>> {
        self.snapshot.as_ref()
    }

    /// Marks a row that was read.
    ///
    /// # Errors
    /// `Internal` when it was not.
    pub(crate) fn mark(&self, deletion: &mut RowDeletion, file: i32, position: i64) -> Result<()> {
        let none = || Error::internal("a row to be changed was not read");
        let file = usize::try_from(file).map_err(|_| none())?;
        let position = u64::try_from(position).map_err(|_| none())?;
        let files = self.files();
        deletion.mark(files.get(file).ok_or_else(none)?, 0, position)
    }

    fn files(&self) -> MutexGuard<'_, Vec<Split>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn plan(&self, projection: Vec<usize>, taken: Taken, target: usize) -> Result<Vec<Arc<dyn PartitionStream>>> {
        let known = &self.table.schema().fields;
        let mut fields: Vec<_> = projection.iter().filter_map(|&column| known.get(column)).cloned().collect();
        let columns = fields.len();
        fields.push(row_position_field());
        let read = self.table.read().fields(fields).filter(all(taken.rows)).build()?;
        let mut scan = self.table.scan();
        if let Some(filter) = all(taken.scan) {
            scan = scan.filter(filter);
        }
        let splits = match &self.snapshot {
            Some(snapshot) => scan.snapshot(Arc::clone(snapshot)).plan().await?.splits,
            None => Vec::new(),
        };
        let mut partitions: Vec<Vec<(i32, Split)>> = vec![Vec::new(); target.max(1)];
        let mut files = self.files();
        for split in splits {
            for (at, file) in split.files.iter().enumerate() {
                let deletion = split.deletion_files.get(at).cloned().flatten();
                let one =
                    Split { files: vec![Arc::clone(file)].into(), deletion_files: vec![deletion], ..split.clone() };
                let number = i32::try_from(files.len()).map_err(|_| Error::unsupported("a table of so many files"))?;
                files.push(one.clone());
                let partition = files.len() % partitions.len();
                if let Some(partition) = partitions.get_mut(partition) {
                    partition.push((number, one));
                }
            }
        }
        drop(files);
        let schema = Arc::new(self.schema.project(&projection)?);
        let file_column = known.len();
        let stream = |files| -> Arc<dyn PartitionStream> {
            let (read, schema) = (read.clone(), Arc::clone(&schema));
            Arc::new(Files { read, schema, files, projection: projection.clone(), columns, file_column })
        };
        Ok(partitions.into_iter().map(stream).collect())
    }
}

#[async_trait]
impl TableProvider for PlacedTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        _limit: Option<usize>,
    ) -> DfResult<Arc<dyn ExecutionPlan>> {
        let taken = Pushdown::of(&self.table).take(state, filters)?;
        let projection = projection.cloned().unwrap_or_else(|| (0..self.schema.fields().len()).collect());
        let schema = Arc::new(self.schema.project(&projection)?);
        let target = state.config().target_partitions();
        let partitions = self.plan(projection, taken, target).await.map_err(theirs)?;
        Ok(Arc::new(StreamingTableExec::try_new(schema, partitions, None, [], false, None)?))
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> DfResult<Vec<TableProviderFilterPushDown>> {
        Ok(Pushdown::of(&self.table).kinds(filters))
    }
}

/// Some files, one after the other.
#[derive(Debug)]
struct Files {
    read: Read,
    schema: SchemaRef,
    files: Vec<(i32, Split)>,
    /// Columns of the provider that come out.
    projection: Vec<usize>,
    /// How many of them are the table's; they are read in their order, the position comes after them.
    columns: usize,
    /// Number of the column [`FILE`].
    file_column: usize,
}

impl PartitionStream for Files {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let (read, schema) = (self.read.clone(), Arc::clone(&self.schema));
        let (projection, columns, file_column) = (self.projection.clone(), self.columns, self.file_column);
        let batches = futures::stream::iter(self.files.clone()).then(move |(number, split)| {
            let (read, schema, projection) = (read.clone(), Arc::clone(&schema), projection.clone());
            async move {
                let rows = read.stream(&split).await?;
                Ok::<_, Error>(
                    rows.map(move |batch| place(&batch?, number, &schema, &projection, columns, file_column)),
                )
            }
        });
        let batches = batches.try_flatten().map_err(theirs);
        Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), batches))
    }
}

/// The columns that are wanted, of a batch of `columns` columns of the table and the position.
fn place(
    batch: &RecordBatch,
    number: i32,
    schema: &SchemaRef,
    projection: &[usize],
    columns: usize,
    file_column: usize,
) -> Result<RecordBatch> {
    let mut read = batch.columns().iter().take(columns);
    let mut placed: Vec<ArrayRef> = Vec::with_capacity(projection.len());
    for &column in projection {
        let lacking = || Error::internal("a read returned too few columns");
        placed.push(match column {
            c if c < file_column => Arc::clone(read.next().ok_or_else(lacking)?),
            c if c == file_column => Arc::new(Int32Array::from_value(number, batch.num_rows())),
            _ => Arc::clone(batch.columns().get(columns).ok_or_else(lacking)?),
        });
    }
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    Ok(RecordBatch::try_new_with_options(Arc::clone(schema), placed, &options)?)
}
