//! Merging by key: what a branch changed of a table with a primary key is done to the other one as well.
//!
//! Three states are looked at: the one where both parted, that of the branch, and that of the other. A key that both changed,
//! and not alike, is a conflict, which somebody has to settle. The changes of the branch are held in memory; those of the other
//! one, which may be many more, stream by.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int8Type;
use arrow_array::{ArrayRef, BooleanArray, Int8Array, RecordBatch, StringArray, UInt32Array};
use arrow_buffer::BooleanBuffer;
use arrow_row::{Row, RowConverter, SortField};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use arrow_select::concat::concat_batches;
use arrow_select::filter::filter_record_batch;
use arrow_select::take::take_record_batch;
use futures::TryStreamExt;
use linn_format::datum::one_nan;
use linn_format::options::MergeEngine;
use linn_format::snapshot::Snapshot;
use linn_format::types::RowKind;
use linn_format::{BatchStream, Error, Result, SnapshotId};

use super::start::Start;
use super::store::Branches;
use crate::merge::equal_rows;
use crate::read::ROW_KIND;
use crate::snapshot::Snapshots;
use crate::table::Table;

/// Whose row a key gets that both changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prefer {
    /// That of the branch that is merged into.
    Ours,
    /// That of the branch that is merged.
    Theirs,
}

/// How a branch differs by key from one that it is to be merged into.
#[derive(Debug)]
pub struct KeyChanges {
    pub(super) into: Table,
    /// The snapshot where both parted; none where one of them began empty.
    pub base: Option<SnapshotId>,
    /// The state that the branch is to be merged into.
    pub(super) ours: Option<Arc<Snapshot>>,
    /// What the branch changed, and did not change alike in the other one: its columns, and the kind of each row last.
    rows: RecordBatch,
    /// Whether a row's key was changed in both.
    disputed: Vec<bool>,
    /// Which rows are disputed, and the other branch's rows of these keys.
    conflicts: Vec<(u32, RecordBatch)>,
}

/// What a merge by key will have done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct KeyCounts {
    /// Rows that are new or other ones.
    pub written: usize,
    /// Rows that go.
    pub deleted: usize,
    /// Keys that both branches changed.
    pub conflicts: usize,
}

fn is_delete(kind: i8) -> bool {
    kind == RowKind::Delete as i8 || kind == RowKind::UpdateBefore as i8
}

impl Branches {
    /// How `source` differs by key from `target`, since they parted; `main` names the table itself.
    ///
    /// # Errors
    /// `NotFound` when there is no such branch; `Invalid` when it cannot be told any more where they parted, or when their columns
    /// differ; `Unsupported` for tables whose merge engine does not simply keep the last row of a key.
    pub async fn key_changes(&self, source: &str, target: &str) -> Result<KeyChanges> {
        if source == target {
            return Err(self.refused(format!("branch {source:?} cannot be merged into itself")));
        }
        let (from, into) = (self.named(source).await?, self.named(target).await?);
        self.check_keyed(&from, &into)?;
        let start = self.start_of(&from, &into).await?;
        let (theirs, ours) = (Snapshots::new(&from).latest().await?, Snapshots::new(&into).latest().await?);
        let rows: Vec<RecordBatch> = changes(&from, &start, theirs.as_ref()).await?.try_collect().await?;
        let schema = from.read().build()?.changes_schema().clone();
        let rows = concat_batches(&schema, &rows)?;
        let mut found = Compared::new(&into, &rows)?;
        let mut stream = changes(&into, &start, ours.as_ref()).await?;
        while let Some(batch) = stream.try_next().await? {
            found.see(&batch)?;
        }
        let base = match start {
            Start::At(snapshot) => Some(snapshot.id),
            Start::Empty => None,
        };
        let Left { rows, disputed, conflicts } = found.left()?;
        Ok(KeyChanges { into, base, ours, rows, disputed, conflicts })
    }

    fn check_keyed(&self, from: &Table, into: &Table) -> Result<()> {
        if from.schema().fields != into.schema().fields
            || from.schema().partition_keys != into.schema().partition_keys
            || from.schema().primary_keys != into.schema().primary_keys
        {
            return Err(self
                .refused("the branches have different columns or keys".to_owned())
                .with_hint("alter one of them so that both have the same"));
        }
        let options = into.options();
        let engine = options.merge_engine()?;
        let unsupported = |what: String| Err(Error::unsupported(what).with("table", self.table.name()));
        if engine != MergeEngine::Deduplicate {
            let error = Error::unsupported(format!("merging branches by key with merge engine {engine}"));
            return Err(error.with("table", self.table.name()).with_hint(
                "only deduplicate takes the row of a branch as it is; what another engine would make of it is a different row",
            ));
        }
        if options.rowkind_field().is_some() || options.ignore_delete()? {
            return unsupported("merging branches by key with 'rowkind.field' or 'ignore-delete'".to_owned());
        }
        Ok(())
    }
}

/// What happened to the rows of a branch since it parted from another: the new row of a key, or a deletion.
async fn changes(branch: &Table, start: &Start, latest: Option<&Arc<Snapshot>>) -> Result<BatchStream> {
    let read = branch.read().strict().build()?;
    let Some(latest) = latest else { return Ok(Box::pin(futures::stream::empty())) };
    let splits = match start {
        Start::At(base) if base.id == latest.id => Vec::new(),
        Start::At(base) => branch.scan().plan_difference(Some(base), latest).await?.splits,
        Start::Empty => branch.scan().every_level().snapshot(Arc::clone(latest)).plan().await?.splits,
    };
    let all_new = matches!(start, Start::Empty);
    let streams = futures::stream::iter(splits.into_iter().map(move |split| match all_new {
        true => read.insertions(&split),
        false => read.changes(&split),
    }));
    Ok(Box::pin(streams.try_flatten()))
}

/// The changes of one branch, compared with those of the other while these come.
struct Compared<'r> {
    rows: &'r RecordBatch,
    keys: Keys,
    /// The rows by their keys.
    index: HashMap<Box<[u8]>, u32>,
    alike: Vec<bool>,
    disputed: Vec<bool>,
    conflicts: Vec<(u32, RecordBatch)>,
}

/// Keys as bytes.
struct Keys {
    at: Vec<usize>,
    converter: RowConverter,
}

impl Keys {
    fn of(&self, rows: &RecordBatch) -> Result<arrow_row::Rows> {
        let columns = self.at.iter().filter_map(|&at| rows.columns().get(at)).map(one_nan);
        Ok(self.converter.convert_columns(&columns.collect::<Result<Vec<ArrayRef>>>()?)?)
    }
}

fn kinds(rows: &RecordBatch) -> Result<&Int8Array> {
    let kinds = rows.columns().last().and_then(|column| column.as_primitive_opt::<Int8Type>());
    kinds.ok_or_else(|| Error::internal("changes without their kinds"))
}

impl<'r> Compared<'r> {
    fn new(table: &Table, rows: &'r RecordBatch) -> Result<Self> {
        let schema = table.schema();
        let at: Vec<usize> = schema.primary_keys.iter().filter_map(|name| schema.index_of(name)).collect();
        let columns = at.iter().filter_map(|&at| rows.schema_ref().fields().get(at));
        let fields = columns.map(|field| SortField::new(field.data_type().clone())).collect();
        let keys = Keys { at, converter: RowConverter::new(fields)? };
        let encoded = keys.of(rows)?;
        let bytes = |row: Row<'_>| Box::<[u8]>::from(row.as_ref());
        let index = (0..).zip(encoded.iter()).map(|(number, row)| (bytes(row), number)).collect();
        let none = vec![false; rows.num_rows()];
        Ok(Self { rows, keys, index, alike: none.clone(), disputed: none, conflicts: Vec::new() })
    }

    /// Changes of the other branch.
    fn see(&mut self, batch: &RecordBatch) -> Result<()> {
        let encoded = self.keys.of(batch)?;
        let found = (0_u32..).zip(encoded.iter());
        let pairs: Vec<(u32, u32)> =
            found.filter_map(|(ours, row)| Some((*self.index.get(row.as_ref())?, ours))).collect();
        if pairs.is_empty() {
            return Ok(());
        }
        let (theirs, ours): (Vec<u32>, Vec<u32>) = pairs.into_iter().unzip();
        let old = take_record_batch(batch, &UInt32Array::from(ours))?;
        let new = take_record_batch(self.rows, &UInt32Array::from(theirs.clone()))?;
        let same = alike(&new, &old)?;
        for (pair, &row) in theirs.iter().enumerate() {
            let of = |marks: &mut Vec<bool>| {
                if let Some(mark) = marks.get_mut(row as usize) {
                    *mark = true;
                }
            };
            if same.value(pair) {
                of(&mut self.alike);
            } else {
                of(&mut self.disputed);
                self.conflicts.push((row, old.slice(pair, 1)));
            }
        }
        Ok(())
    }
}

/// The changes of one branch that the other did not make alike.
struct Left {
    rows: RecordBatch,
    disputed: Vec<bool>,
    conflicts: Vec<(u32, RecordBatch)>,
}

impl Compared<'_> {
    /// What is left when all changes of the other branch were seen.
    fn left(self) -> Result<Left> {
        let Self { rows, alike, mut disputed, mut conflicts, .. } = self;
        // Rows that go change the numbers of those behind them.
        let mut next = 0;
        let mut numbers = Vec::with_capacity(alike.len());
        for alike in &alike {
            numbers.push(next);
            next += u32::from(!alike);
        }
        for (row, _) in &mut conflicts {
            *row = numbers.get(*row as usize).copied().unwrap_or_default();
        }
        let mut gone = alike.iter();
        disputed.retain(|_| !gone.next().copied().unwrap_or_default());
        let keep: BooleanArray = alike.iter().map(|alike| Some(!alike)).collect();
        Ok(Left { rows: filter_record_batch(rows, &keep)?, disputed, conflicts })
    }
}

/// Whether changes of the same keys come to the same.
fn alike(a: &RecordBatch, b: &RecordBatch) -> Result<BooleanBuffer> {
    let values = a.num_columns().saturating_sub(1);
    let mut equal = BooleanBuffer::new_set(a.num_rows());
    for (a, b) in a.columns().iter().zip(b.columns()).take(values) {
        equal = &equal & &equal_rows(a, b)?;
    }
    let (a, b) = (kinds(a)?, kinds(b)?);
    let deleted = |kinds: &Int8Array| BooleanBuffer::collect_bool(kinds.len(), |row| is_delete(kinds.value(row)));
    let (a, b) = (deleted(a), deleted(b));
    // Deleted rows are alike whatever they were.
    let both = &a & &b;
    let neither = &!&a & &!&b;
    Ok(&both | &(&neither & &equal))
}

impl KeyChanges {
    /// What merging would do with conflicts settled so; without, what it would do if there were none.
    pub fn counts(&self, prefer: Option<Prefer>) -> KeyCounts {
        let mut counts = KeyCounts { conflicts: self.conflicts.len(), ..KeyCounts::default() };
        let Ok(kinds) = kinds(&self.rows) else { return counts };
        for (kind, disputed) in kinds.values().iter().zip(&self.disputed) {
            if *disputed && prefer != Some(Prefer::Theirs) {
                continue;
            }
            match is_delete(*kind) {
                true => counts.deleted += 1,
                false => counts.written += 1,
            }
        }
        counts
    }

    /// Both rows of each key that both branches changed: the column `side` (`ours` or `theirs`), the kind of the change, and
    /// the columns of the table; at most so many keys.
    ///
    /// # Errors
    /// `Internal` when the rows are none.
    pub fn conflicts(&self, keys: usize) -> Result<RecordBatch> {
        let fields = self.rows.schema_ref().fields();
        let values = fields.len().saturating_sub(1);
        let mut shown = vec![
            Arc::new(Field::new("side", DataType::Utf8, false)),
            Arc::new(Field::new(ROW_KIND, DataType::Utf8, false)),
        ];
        shown.extend(fields.iter().take(values).map(|f| Arc::new(f.as_ref().clone().with_nullable(true))));
        let schema: SchemaRef = Arc::new(Schema::new(shown));
        let (mut sides, mut rows) = (Vec::new(), Vec::new());
        for (row, ours) in self.conflicts.iter().take(keys) {
            sides.extend(["ours", "theirs"]);
            rows.push(ours.clone());
            rows.push(take_record_batch(&self.rows, &UInt32Array::from(vec![*row]))?);
        }
        let rows = concat_batches(self.rows.schema_ref(), &rows)?;
        let kind = |kind: &i8| RowKind::from_byte(kind.cast_unsigned()).map(RowKind::short);
        let kinds = kinds(&rows)?.values().iter().map(kind).collect::<Result<Vec<_>>>()?;
        let mut columns: Vec<ArrayRef> = vec![Arc::new(StringArray::from(sides)), Arc::new(StringArray::from(kinds))];
        columns.extend(rows.columns().iter().take(values).cloned());
        Ok(RecordBatch::try_new(schema, columns)?)
    }

    /// The rows that are to be written, with the kind of each, where conflicts are settled so.
    pub(super) fn settled(&self, prefer: Option<Prefer>) -> Result<(RecordBatch, Int8Array)> {
        let wanted = |disputed: &bool| Some(!*disputed || prefer == Some(Prefer::Theirs));
        let keep: BooleanArray = self.disputed.iter().map(wanted).collect();
        let rows = filter_record_batch(&self.rows, &keep)?;
        let values: Vec<usize> = (0..rows.num_columns().saturating_sub(1)).collect();
        Ok((rows.project(&values)?, kinds(&rows)?.clone()))
    }
}
