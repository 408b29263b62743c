//! Changes: rows with what happened to them.
//!
//! Batches have the columns that were asked for, `_SEQUENCE_NUMBER` where asked for, and `_VALUE_KIND` last. Records of a
//! changelog are read as they were written, one file after the other; nothing is merged, so their order is kept.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int8Array, RecordBatch};
use arrow_schema::{Field, Schema, SchemaRef};
use arrow_select::concat::concat_batches;
use futures::StreamExt;
use linn_format::file::{key_value_batch_fields, sequence_number_field};
use linn_format::predicate::Predicate;
use linn_format::types::{RowKind, VALUE_KIND, arrow_type};
use linn_format::{BatchStream, Error, Result};

use super::difference::Told;
use super::rows::{kinds, without_retractions};
use super::{Inner, Merge, Read, Unmatched};
use crate::file::matching;
use crate::scan::{Before, Content, Split};

/// What the batches of changes look like.
#[derive(Debug)]
pub(super) struct Shape {
    schema: SchemaRef,
    sequence_numbers: bool,
    unmatched: Unmatched,
    /// Whether changes of compared states come with the row of before.
    pairs: bool,
}

impl Shape {
    pub(super) fn of(rows: &SchemaRef, sequence_numbers: bool, unmatched: Unmatched, pairs: bool) -> Result<Self> {
        let mut fields: Vec<Arc<Field>> = rows.fields().iter().cloned().collect();
        if sequence_numbers {
            let field = sequence_number_field();
            fields.push(Arc::new(Field::new(&field.name, arrow_type(&field.data_type)?, false)));
        }
        fields.push(Arc::new(Field::new(VALUE_KIND, arrow_schema::DataType::Int8, false)));
        Ok(Self { schema: Arc::new(Schema::new(fields)), sequence_numbers, unmatched, pairs })
    }
}

/// The row kinds of a batch of changes, as the bytes of [`RowKind`].
///
/// # Errors
/// `Internal` for a batch that is none.
pub fn kinds_of(batch: &RecordBatch) -> Result<&Int8Array> {
    kinds(batch)
}

impl Read {
    /// Schema of the batches of [`changes`](Self::changes).
    pub fn changes_schema(&self) -> &SchemaRef {
        &self.inner.change.schema
    }

    /// What a split says as changes: the records of a changelog as they are; of a split of rows each row with the kind of its
    /// last record, deleted ones too. No batch ends with a `-U` whose `+U` is in the next one. A limit of rows does not hold.
    ///
    /// # Errors
    /// `NotFound` when a file is gone (the snapshot has expired), `Corrupt` with the path.
    pub fn changes(&self, split: &Split) -> Result<BatchStream> {
        let this = Arc::clone(&self.inner);
        let changes = self.records(split, true)?.map(move |batch| this.change(&batch?)).boxed();
        Ok(match split.content {
            Content::Changes if self.inner.merge.is_some() => in_pairs(changes),
            _ => changes,
        })
    }

    /// The rows of a split that are there, as changes that add them.
    ///
    /// # Errors
    /// As [`changes`](Self::changes).
    pub(crate) fn insertions(&self, split: &Split) -> Result<BatchStream> {
        let this = Arc::clone(&self.inner);
        let rows = match (&split.content, &self.inner.merge) {
            (Content::Rows | Content::Partition(_), Some(merge)) => self.merged(merge, split, false)?,
            _ => self.records(split, true)?,
        };
        let inserts = matches!(split.content, Content::Rows | Content::Partition(_));
        let rows = rows.map(move |batch| {
            let batch = this.change(&batch?)?;
            if inserts { of_kind(&batch, RowKind::Insert) } else { Ok(batch) }
        });
        Ok(rows.boxed())
    }

    /// Key-value batches of the rows that changes add, or plain batches in a table without a primary key.
    pub(super) fn additions(&self, split: &Split) -> Result<BatchStream> {
        let records = self.records(split, false)?;
        Ok(match self.inner.merge {
            Some(_) => records.map(|batch| without_retractions(&batch?)).boxed(),
            None => records,
        })
    }

    /// Key-value batches of what is read; in a table without a primary key plain batches, of compared states with kinds.
    fn records(&self, split: &Split, keep_deletes: bool) -> Result<BatchStream> {
        let told = match keep_deletes {
            false => Told::Additions,
            true if self.inner.change.pairs => Told::Pairs,
            true => Told::Changes,
        };
        let Some(merge) = &self.inner.merge else {
            return match &split.content {
                Content::Rows | Content::Changes => self.unmerged(split),
                Content::Compared(sides) => self.counted(sides, told),
                _ => Err(Error::internal("tables without a primary key cannot be compared by key")),
            };
        };
        match &split.content {
            Content::Rows | Content::Partition(_) => self.merged(merge, split, keep_deletes),
            Content::Changes => Ok(self.written(split)),
            Content::Replaced(before) => self.replaced(merge, split, before),
            Content::Compared(sides) => self.compared(sides, told),
        }
    }

    /// Records as they were written. Keys are filtered in the files, values afterwards.
    fn written(&self, split: &Split) -> BatchStream {
        let this = Arc::clone(&self.inner);
        let fields = key_value_batch_fields(&this.read_fields);
        let records = self.chain(split.files.to_vec(), split, fields, this.key_filter(), true);
        records.map(move |batch| this.let_through(batch?.0)).boxed()
    }

    /// The rows that went away as deletions, then the rows that came.
    fn replaced(&self, merge: &Merge, split: &Split, before: &Before) -> Result<BatchStream> {
        let gone = self.merged(merge, &earlier(split, before), false)?;
        let gone = gone.map(|batch| of_kind(&batch?, RowKind::Delete));
        Ok(gone.chain(self.merged(merge, split, false)?).boxed())
    }
}

/// The same rows; a `-U` at the end of a batch goes to the beginning of the next one.
fn in_pairs(changes: BatchStream) -> BatchStream {
    futures::stream::unfold((changes, None::<RecordBatch>), |(mut changes, held)| async move {
        let mut held = held;
        loop {
            let batch = match changes.next().await {
                Some(Ok(batch)) => batch,
                Some(Err(e)) => return Some((Err(e), (changes, None))),
                None => return held.take().map(|held| (Ok(held), (changes, None))),
            };
            let batch = match held.take() {
                Some(held) => match concat_batches(&batch.schema(), [&held, &batch]) {
                    Ok(batch) => batch,
                    Err(e) => return Some((Err(e.into()), (changes, None))),
                },
                None => batch,
            };
            let rows = batch.num_rows();
            let last = kinds(&batch).ok().and_then(|kinds| kinds.values().last().copied());
            if last != Some(RowKind::UpdateBefore as i8) {
                return Some((Ok(batch), (changes, None)));
            }
            held = Some(batch.slice(rows - 1, 1));
            if rows > 1 {
                return Some((Ok(batch.slice(0, rows - 1)), (changes, held)));
            }
        }
    })
    .boxed()
}

/// The files of before as a split of rows.
fn earlier(split: &Split, before: &Before) -> Split {
    Split {
        files: before.files.clone().into(),
        deletion_files: before.deletion_files.clone(),
        raw_convertible: false,
        content: Content::Rows,
        ..split.clone()
    }
}

impl Inner {
    /// The records that the filter lets through, or all that its keys let through with others as deletions.
    fn let_through(&self, batch: RecordBatch) -> Result<RecordBatch> {
        let Some(filter) = self.filter.as_ref().filter(|filter| **filter != Predicate::Constant(true)) else {
            return Ok(batch);
        };
        if self.change.unmatched == Unmatched::Dropped {
            return matching(&batch, filter, &self.read_fields);
        }
        let mask = filter.mask(&batch, &self.read_fields)?;
        let old = kinds(&batch)?;
        let kind = |row: usize| if mask.value(row) { old.value(row) } else { RowKind::Delete as i8 };
        let changed = Int8Array::from_iter_values((0..old.len()).map(kind));
        with_kinds(&batch, Arc::new(changed))
    }

    /// A batch as the caller sees it.
    fn change(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let columns: Vec<usize> = (0..self.fields.len()).collect();
        let mut shown = self.shown(&batch.project(&columns)?)?.columns().to_vec();
        if self.merge.is_some() {
            let system = batch.columns().get(self.read_fields.len()..).unwrap_or_default();
            shown.extend(system.iter().skip(usize::from(!self.change.sequence_numbers)).cloned());
        } else {
            let kinds = batch.columns().get(self.read_fields.len()).cloned();
            let inserts = || -> ArrayRef { Arc::new(Int8Array::from_value(RowKind::Insert as i8, batch.num_rows())) };
            shown.push(kinds.unwrap_or_else(inserts));
        }
        Ok(RecordBatch::try_new(Arc::clone(&self.change.schema), shown)?)
    }
}

/// The same rows, all of one kind.
fn of_kind(batch: &RecordBatch, kind: RowKind) -> Result<RecordBatch> {
    with_kinds(batch, Arc::new(Int8Array::from_value(kind as i8, batch.num_rows())))
}

/// The same rows with other kinds.
pub(super) fn with_kinds(batch: &RecordBatch, kinds: ArrayRef) -> Result<RecordBatch> {
    let mut columns = batch.columns().to_vec();
    if let Some(last) = columns.last_mut() {
        *last = kinds;
    }
    Ok(RecordBatch::try_new(batch.schema(), columns)?)
}

#[cfg(test)]
mod tests {
    use arrow_array::Int32Array;
    use arrow_array::cast::AsArray;
    use arrow_array::types::Int32Type;
    use futures::TryStreamExt;

    use super::*;

    fn batch(rows: &[(i32, i8)]) -> RecordBatch {
        let values: ArrayRef = Arc::new(Int32Array::from_iter_values(rows.iter().map(|r| r.0)));
        let kinds: ArrayRef = Arc::new(Int8Array::from_iter_values(rows.iter().map(|r| r.1)));
        RecordBatch::try_from_iter([("v", values), ("k", kinds)]).unwrap()
    }

    #[tokio::test]
    async fn updates_are_not_torn() {
        let batches = [
            batch(&[(1, 0), (2, 1)]),
            batch(&[(3, 2), (4, 3), (5, 1)]),
            batch(&[(6, 2)]),
            batch(&[(7, 1)]),
            batch(&[(8, 1)]),
        ];
        let stream = futures::stream::iter(batches.map(Ok)).boxed();
        let found: Vec<RecordBatch> = in_pairs(stream).try_collect().await.unwrap();
        let found: Vec<Vec<i32>> =
            found.iter().map(|b| b.column(0).as_primitive::<Int32Type>().values().to_vec()).collect();
        assert_eq!(found, [vec![1], vec![2, 3, 4], vec![5, 6], vec![7], vec![8]]);
    }
}
