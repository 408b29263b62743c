//! Reading splits: raw files one after the other, overlapping files through the merge.
//!
//! Filters are exact: only rows for which the filter is true come out. Below a merge only what cannot change its result
//! is filtered, key columns and files whose keys nothing else has (cases: M15); everything else is filtered after it.

mod change;
mod compare;
mod count;
mod difference;
mod prefetch;
mod rows;
mod spelling;
mod waiting;

use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use futures::{StreamExt, TryStreamExt};
use linn_format::file::resolve::Resolution;
use linn_format::file::{DataFileMeta, key_value_batch_fields};
use linn_format::predicate::Predicate;
use linn_format::schema::Bucketing;
use linn_format::types::{DataField, arrow_schema};
use linn_format::{BatchStream, Error, Result, ResultExt};

pub use change::kinds_of;
pub(crate) use prefetch::has_huge_rows;
pub use prefetch::prefetch;
pub use rows::limit;

use crate::file::{FileQuery, Tolerance, check_blobs, matching, read_file, read_group, row_groups};
use crate::merge::{
    Columns, KeyOrder, LeveledStream, MergeSpec, SizedRun, SpillLimit, bounded, merge_levels, sections,
};
use crate::scan::{Content, DeletionFile, Split};
use crate::table::Table;

/// The column with the kind of a row: `+I`, `-U`, `+U` or `-D`.
pub const ROW_KIND: &str = "rowkind";

/// How many files of a split are opened ahead of the one being read.
const OPEN_AHEAD: usize = 2;

impl Table {
    /// Starts to describe a read of this table's rows.
    pub fn read(&self) -> ReadBuilder {
        ReadBuilder {
            table: self.clone(),
            fields: self.schema().fields.clone(),
            filter: None,
            limit: None,
            sequence_numbers: false,
            unmatched: Unmatched::Dropped,
            pairs: false,
            strict: false,
        }
    }
}

/// What to read of every split.
#[derive(Debug)]
pub struct ReadBuilder {
    table: Table,
    fields: Vec<DataField>,
    filter: Option<Predicate>,
    limit: Option<usize>,
    sequence_numbers: bool,
    unmatched: Unmatched,
    pairs: bool,
    strict: bool,
}

/// What becomes of a change whose row the filter does not let through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unmatched {
    /// It is dropped: what the row was before is a change of its own.
    Dropped,
    /// It becomes a deletion, as far as the key lets it through: before it the row may have matched (cases: R9).
    Deleted,
}

impl ReadBuilder {
    /// Only these columns of the table, in this order.
    #[must_use]
    pub fn fields(mut self, fields: Vec<DataField>) -> Self {
        self.fields = fields;
        self
    }

    /// Only these columns by name.
    ///
    /// # Errors
    /// `NotFound` naming a column that the table does not have.
    pub fn project<S: AsRef<str>>(mut self, names: &[S]) -> Result<Self> {
        self.fields = names
            .iter()
            .map(|name| {
                let name = name.as_ref();
                self.table.schema().field(name).cloned().ok_or_else(|| {
                    let all: Vec<&str> = self.table.schema().fields.iter().map(|f| f.name.as_str()).collect();
                    Error::not_found("the table has no such column")
                        .with("table", self.table.name())
                        .with("column", name)
                        .with_hint(format!("its columns are {}", all.join(", ")))
                })
            })
            .collect::<Result<_>>()?;
        Ok(self)
    }

    /// Only rows for which this is true.
    #[must_use]
    pub fn filter(mut self, filter: Option<Predicate>) -> Self {
        self.filter = filter;
        self
    }

    /// At most so many rows of every split.
    #[must_use]
    pub fn limit(mut self, limit: Option<usize>) -> Self {
        self.limit = limit;
        self
    }

    /// Changes come with the sequence number of the record that made them; see [`Read::changes`].
    #[must_use]
    pub fn sequence_numbers(mut self) -> Self {
        self.sequence_numbers = true;
        self
    }

    /// Changes between two states of a table with a primary key come in pairs: the row of before as `-U`, then that of after
    /// as `+U`. Otherwise only the row of after comes, with the kind of its last record.
    #[must_use]
    pub fn pairs(mut self) -> Self {
        self.pairs = true;
        self
    }

    /// What becomes of changes that the filter does not let through.
    #[must_use]
    pub(crate) fn unmatched(mut self, unmatched: Unmatched) -> Self {
        self.unmatched = unmatched;
        self
    }

    /// Whatever the options say of lost and corrupt files: what is read is written again, or relied on.
    #[must_use]
    pub(crate) fn strict(mut self) -> Self {
        self.strict = true;
        self
    }

    /// Checks the description.
    ///
    /// # Errors
    /// `Invalid` when the table's options contradict its schema, `Unsupported` naming the feature.
    pub fn build(self) -> Result<Read> {
        let Self { table, fields, filter, limit, sequence_numbers, unmatched, pairs, strict } = self;
        if sequence_numbers && !table.schema().is_primary_key_table() {
            return Err(
                Error::invalid("tables without a primary key have no sequence numbers").with("table", table.name())
            );
        }
        let (table, fields, spelling) = spelling::of(table, fields)?;
        let mut read_fields = fields.clone();
        let known: HashSet<i32> = fields.iter().map(|f| f.id).collect();
        let mut wanted: Vec<i32> = filter.as_ref().map(|f| f.field_ids().into_iter().collect()).unwrap_or_default();
        wanted.retain(|id| !known.contains(id));
        wanted.sort_unstable();
        for id in wanted {
            let field = table.schema().field_by_id(id).ok_or_else(|| {
                Error::invalid(format!("the filter is over field {id}, which the table does not have"))
                    .with("table", table.name())
            })?;
            read_fields.push(field.clone());
        }
        let merge = match table.schema().is_primary_key_table() {
            true => Some(Merge {
                spec: Arc::new(MergeSpec::of(table.schema(), &read_fields)?),
                order: KeyOrder::of(table.schema()),
                spill: SpillLimit::of(table.options())?,
            }),
            false => None,
        };
        check_blobs(&table, &read_fields)?;
        let batch_size = table.options().read_batch_size()?.max(MIN_BATCH);
        let schema = match &spelling {
            Some(spelling) => Arc::clone(spelling.schema()),
            None => arrow_schema(&fields)?,
        };
        let change = change::Shape::of(&schema, sequence_numbers, unmatched, pairs)?;
        let tolerance = if strict { Tolerance::default() } else { Tolerance::of(&table)? };
        let inner =
            Inner { table, fields, read_fields, spelling, filter, limit, merge, batch_size, tolerance, schema, change };
        Ok(Read { inner: Arc::new(inner) })
    }
}

/// Batches below this size cost more in bookkeeping than they save in memory.
const MIN_BATCH: usize = 8192;

/// Reads splits of one table. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Read {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    table: Table,
    /// What comes out, before wide timestamps are spelled.
    fields: Vec<DataField>,
    /// What is read: `fields`, then the columns that only the filter needs.
    read_fields: Vec<DataField>,
    /// How wide timestamps become text.
    spelling: Option<Resolution>,
    filter: Option<Predicate>,
    limit: Option<usize>,
    merge: Option<Merge>,
    batch_size: usize,
    tolerance: Tolerance,
    schema: SchemaRef,
    /// What changes look like.
    change: change::Shape,
}

impl Inner {
    /// Columns as the caller sees them.
    fn shown(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        match &self.spelling {
            Some(spelling) => spelling.apply(batch),
            None => Ok(batch.clone()),
        }
    }

    /// The part of the filter that is over the primary key alone: it holds for all records of a key or for none.
    fn key_filter(&self) -> Option<Predicate> {
        let keys: HashSet<i32> = self.table.schema().trimmed_primary_keys().iter().map(|f| f.id).collect();
        self.filter.clone().map(|f| f.split(|id| keys.contains(&id)).0)
    }

    /// What to read of a file whose rows need no merge.
    fn query(&self) -> FileQuery {
        FileQuery {
            fields: self.read_fields.clone(),
            filter: self.filter.clone(),
            exact_filter: true,
            batch_size: self.batch_size,
            tolerance: self.tolerance,
        }
    }
}

#[derive(Debug)]
struct Merge {
    spec: Arc<MergeSpec>,
    order: KeyOrder,
    spill: SpillLimit,
}

impl Read {
    /// Schema of the batches: the columns asked for, nothing else.
    pub fn schema(&self) -> &SchemaRef {
        &self.inner.schema
    }

    /// The rows of a split. Rows of a merge tree come in key order within a section; of a split of changes come the rows
    /// that they add.
    ///
    /// # Errors
    /// `NotFound` when a file is gone (the snapshot has expired), `Corrupt` with the path.
    pub async fn stream(&self, split: &Split) -> Result<BatchStream> {
        let inner = &self.inner;
        let rows = match (&split.content, &inner.merge) {
            (Content::Rows | Content::Partition(_), Some(merge)) if !split.raw_convertible => {
                self.merged(merge, split, false)?
            }
            (Content::Rows, _) => self.unmerged(split)?,
            _ => self.additions(split)?,
        };
        let columns = inner.fields.len();
        let this = Arc::clone(inner);
        let shown = move |batch: Result<RecordBatch>| {
            let batch = batch.and_then(|batch| this.shown(&rows::take_columns(&batch, columns)?));
            batch.context("table", this.table.name())
        };
        let rows = rows.map(shown).boxed();
        Ok(match inner.limit {
            Some(limit) => rows::limit(rows, limit),
            None => rows,
        })
    }

    /// Files that need no merge, of a table with or without a primary key.
    fn unmerged(&self, split: &Split) -> Result<BatchStream> {
        Ok(match self.inner.table.data_evolves()? {
            true => self.side_by_side(split),
            false => self.raw(split),
        })
    }

    /// Files that need no merge: all filters go down to the pages.
    fn raw(&self, split: &Split) -> BatchStream {
        let this = Arc::clone(&self.inner);
        let files = files_with_vectors(split);
        let (partition, bucket) = (split.partition.clone(), split.bucket);
        futures::stream::iter(files)
            .map(move |(file, deletion)| {
                let this = Arc::clone(&this);
                let partition = partition.clone();
                async move { read_file(&this.table, &partition, bucket, &file, deletion.as_ref(), this.query()).await }
            })
            .buffered(OPEN_AHEAD)
            .try_flatten()
            .boxed()
    }

    /// Files that hold different columns of the same rows, joined by their place.
    fn side_by_side(&self, split: &Split) -> BatchStream {
        let this = Arc::clone(&self.inner);
        let (partition, bucket) = (split.partition.clone(), split.bucket);
        futures::stream::iter(row_groups(&split.files))
            .then(move |group| {
                let this = Arc::clone(&this);
                let partition = partition.clone();
                async move { read_group(&this.table, &partition, bucket, &group, this.query()).await }
            })
            .try_flatten()
            .boxed()
    }

    /// Key-value batches of the columns that are read, sorted by key within a section, with or without what is deleted.
    fn merged(&self, merge: &Merge, split: &Split, keep_deletes: bool) -> Result<BatchStream> {
        if split.bucket == Bucketing::POSTPONED {
            return self.with_waiting(merge, split, keep_deletes);
        }
        let mut streams = Vec::new();
        for section in sections(&split.files, &merge.order)? {
            streams.push(match section.runs.len() {
                1 => self.single(section.runs.into_iter().flatten().collect(), split, keep_deletes),
                _ => self.section(merge, section.runs, split, keep_deletes),
            });
        }
        Ok(futures::stream::iter(streams).flatten().boxed())
    }

    /// One run: every key is there once, so only retractions have to go.
    fn single(&self, files: Vec<Arc<DataFileMeta>>, split: &Split, keep_deletes: bool) -> BatchStream {
        let fields = key_value_batch_fields(&self.inner.read_fields);
        let rows = self.chain(files, split, fields, self.inner.filter.clone(), true);
        let kept = move |batch: RecordBatch| match keep_deletes {
            true => Ok(batch),
            false => rows::without_retractions(&batch),
        };
        rows.map(move |batch| kept(batch?.0)).boxed()
    }

    fn section(
        &self,
        merge: &Merge,
        runs: Vec<Vec<Arc<DataFileMeta>>>,
        split: &Split,
        keep_deletes: bool,
    ) -> BatchStream {
        let inner = &self.inner;
        let key_filter = inner.key_filter();
        let fields = key_value_batch_fields(merge.spec.read_fields());
        let env = inner.table.env();
        let run = |files: Vec<Arc<DataFileMeta>>| {
            let bytes = files.iter().map(|f| u64::try_from(f.file_size).unwrap_or(0)).sum();
            let ahead = !files.iter().any(|file| has_huge_rows(file));
            let rows = self.chain(files, split, fields.clone(), key_filter.clone(), false);
            let stream = if ahead { prefetch(env, rows) } else { rows };
            SizedRun { stream, bytes }
        };
        let runs = runs.into_iter().map(run).collect();
        let (spec, batch_size) = (Arc::clone(&merge.spec), inner.batch_size);
        let merged = bounded(env, merge.spill, runs, &merge.spec, move |runs| {
            merge_levels(runs, spec, keep_deletes, batch_size, Columns::Beside)
        });
        let Some(filter) = inner.filter.clone() else { return merged };
        let read_fields = inner.read_fields.clone();
        merged.map(move |batch| matching(&batch?, &filter, &read_fields)).boxed()
    }

    /// Files of one run as one stream of key-value batches, with the level of the file that each lies in.
    fn chain(
        &self,
        files: Vec<Arc<DataFileMeta>>,
        split: &Split,
        fields: Vec<DataField>,
        filter: Option<Predicate>,
        exact_filter: bool,
    ) -> LeveledStream {
        let this = Arc::clone(&self.inner);
        let partition = split.partition.clone();
        let places: Vec<(i32, Option<DeletionFile>)> =
            files.iter().map(|file| (bucket_of(split, file), vector_of(split, file))).collect();
        futures::stream::iter(files.into_iter().zip(places))
            .then(move |(file, (bucket, deletion))| {
                let this = Arc::clone(&this);
                let partition = partition.clone();
                let query = FileQuery {
                    fields: fields.clone(),
                    filter: filter.clone(),
                    exact_filter,
                    batch_size: this.batch_size,
                    tolerance: this.tolerance,
                };
                let level = file.level;
                async move {
                    let rows = read_file(&this.table, &partition, bucket, &file, deletion.as_ref(), query).await?;
                    Ok::<_, Error>(rows.map_ok(move |batch| (batch, level)))
                }
            })
            .try_flatten()
            .boxed()
    }
}

fn files_with_vectors(split: &Split) -> Vec<(Arc<DataFileMeta>, Option<DeletionFile>)> {
    split.files.iter().map(|file| (Arc::clone(file), vector_of(split, file))).collect()
}

/// The bucket that a file of a split lies in.
fn bucket_of(split: &Split, file: &Arc<DataFileMeta>) -> i32 {
    let Content::Partition(buckets) = &split.content else { return split.bucket };
    let at = split.files.iter().position(|f| Arc::ptr_eq(f, file));
    at.and_then(|at| buckets.get(at).copied()).unwrap_or(split.bucket)
}

fn vector_of(split: &Split, file: &Arc<DataFileMeta>) -> Option<DeletionFile> {
    let at = split.files.iter().position(|f| Arc::ptr_eq(f, file))?;
    split.deletion_files.get(at).cloned().flatten()
}

/// Collects a stream, for small results.
///
/// # Errors
/// The first error of the stream.
pub async fn collect(stream: BatchStream) -> Result<Vec<RecordBatch>> {
    stream.try_collect().await
}
