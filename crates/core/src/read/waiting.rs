//! Rows that wait for a bucket, merged with those of their partition that have one (`postpone.merge-on-read`).
//!
//! They are what a compaction that runs now would place: the newest records of their keys, in the order in which they came.
//! Memory is bounded: what waits is sorted in parts, which are spilled when there are several.

use std::sync::Arc;

use arrow_array::{Int64Array, RecordBatch};
use futures::{StreamExt, TryStreamExt};
use linn_format::file::{DataFileMeta, key_value_batch_fields};
use linn_format::options::table::write::SORT_SPILL_BUFFER_SIZE;
use linn_format::predicate::Predicate;
use linn_format::schema::Bucketing;
use linn_format::{BatchStream, Error, Result};

use super::{Inner, Merge, Read, bucket_of};
use crate::file::{FileQuery, matching, read_file};
use crate::merge::{
    Columns, LeveledStream, MergeSpec, Ranks, SizedRun, SortedBuffer, View, bounded, merge_levels, sections,
};
use crate::scan::Split;
use crate::spill::{Spill, spill_compression};

/// Sequence numbers of rows that wait begin here, above those of all rows that have a bucket.
const FIRST_SEQUENCE: i64 = i64::MAX / 2;

impl Read {
    /// The rows of a split that holds files of a partition: those of its buckets, then those that wait, in their order.
    pub(super) fn with_waiting(&self, merge: &Merge, split: &Split, keep_deletes: bool) -> Result<BatchStream> {
        let (waiting, placed): (Vec<_>, Vec<_>) =
            split.files.iter().cloned().partition(|file| bucket_of(split, file) == Bucketing::POSTPONED);
        let filter = self.inner.key_filter();
        let fields = key_value_batch_fields(merge.spec.read_fields());
        let mut ages: Vec<Vec<Arc<DataFileMeta>>> = Vec::new();
        for section in sections(&placed, &merge.order)? {
            for (age, files) in section.runs.into_iter().enumerate() {
                match ages.get_mut(age) {
                    Some(run) => run.extend(files),
                    None => ages.push(files),
                }
            }
        }
        let older: Vec<SizedRun> = ages
            .into_iter()
            .map(|files| {
                let bytes = files.iter().map(|file| u64::try_from(file.file_size).unwrap_or(0)).sum();
                SizedRun { stream: self.chain(files, split, fields.clone(), filter.clone(), false), bytes }
            })
            .collect();
        let (this, spec, spill) = (Arc::clone(&self.inner), Arc::clone(&merge.spec), merge.spill);
        let split = split.clone();
        let merged = async move {
            let mut runs = sorted(&this, &spec, &split, waiting, filter).await?;
            runs.extend(older);
            let (batch_size, of_merge) = (this.batch_size, Arc::clone(&spec));
            let merged = bounded(this.table.env(), spill, runs, &spec, move |runs| {
                merge_levels(runs, of_merge, keep_deletes, batch_size, Columns::Beside)
            });
            Ok::<_, Error>(match this.filter.clone() {
                Some(filter) => {
                    let fields = this.read_fields.clone();
                    merged.map(move |batch| matching(&batch?, &filter, &fields)).boxed()
                }
                None => merged,
            })
        };
        Ok(futures::stream::once(merged).try_flatten().boxed())
    }
}

/// What waits as sorted runs, newest first.
async fn sorted(
    this: &Inner,
    spec: &Arc<MergeSpec>,
    split: &Split,
    waiting: Vec<Arc<DataFileMeta>>,
    filter: Option<Predicate>,
) -> Result<Vec<SizedRun>> {
    // A part is merged into rows that are merged again: they must have all that the merge reads.
    let whole = Arc::new(MergeSpec::of(this.table.schema(), spec.read_fields())?);
    let most = this.table.options().require(&SORT_SPILL_BUFFER_SIZE)?;
    let (mut runs, mut part, mut bytes) = (Vec::new(), Vec::new(), 0u64);
    let mut next = FIRST_SEQUENCE;
    for file in waiting {
        let query = FileQuery {
            fields: key_value_batch_fields(spec.read_fields()),
            filter: filter.clone(),
            exact_filter: false,
            batch_size: this.batch_size,
            tolerance: this.tolerance,
        };
        let mut batches = read_file(&this.table, &split.partition, Bucketing::POSTPONED, &file, None, query).await?;
        while let Some(batch) = batches.next().await.transpose()? {
            let batch = renumbered(&batch, &mut next)?;
            bytes += batch.get_array_memory_size() as u64;
            part.push(batch);
            if bytes >= most {
                runs.push(on_disk(this, &whole, &std::mem::take(&mut part))?);
                bytes = 0;
            }
        }
    }
    if !part.is_empty() {
        let rows = SortedBuffer::new(&part, whole, View::part(Ranks::Together), this.batch_size)?;
        let rows = rows.rows().map(|batch| Ok((batch?, 0)));
        runs.push(SizedRun { stream: futures::stream::iter(rows).boxed(), bytes });
    }
    runs.reverse();
    Ok(runs)
}

fn on_disk(this: &Inner, spec: &Arc<MergeSpec>, part: &[RecordBatch]) -> Result<SizedRun> {
    let compression = spill_compression(this.table.options())?;
    let rows = SortedBuffer::new(part, Arc::clone(spec), View::part(Ranks::Together), this.batch_size)?.rows();
    let spill = Spill::write(this.table.env(), spec.input_schema(), compression, rows)?;
    let bytes = spill.bytes();
    let rows = spill.read()?;
    let stream: LeveledStream = rows
        .map(move |batch| {
            // The file lasts as long as what reads it.
            let _kept = &spill;
            Ok((batch?, 0))
        })
        .boxed();
    Ok(SizedRun { stream, bytes })
}

/// The batch with sequence numbers that go on from `next`.
fn renumbered(batch: &RecordBatch, next: &mut i64) -> Result<RecordBatch> {
    let mut columns = batch.columns().to_vec();
    let at = columns.len().checked_sub(2).ok_or_else(|| Error::internal("a waiting file without sequence numbers"))?;
    let end = next.saturating_add(i64::try_from(batch.num_rows()).unwrap_or(i64::MAX));
    columns[at] = Arc::new(Int64Array::from_iter_values(*next..end));
    *next = end;
    Ok(RecordBatch::try_new(batch.schema(), columns)?)
}
