//! Which rows of files outside of a compaction the records of level 0 in it supersede (spec: features.md B6, B8).
//!
//! With deletion vectors a key is alive in one file above level 0 at the most. A compaction of level 0 therefore finds
//! its keys in the files above its result and marks their rows there, at the positions that are still alive. Both sides
//! are sorted, so this is a merge join of key columns, and no row is looked up by itself.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use futures::StreamExt;
use linn_format::file::DataFileMeta;
use linn_format::options::MergeEngine;
use linn_format::schema::TableSchema;
use linn_format::types::DataField;
use linn_format::{BatchStream, Error, Result, ResultExt};
use roaring::RoaringTreemap;

use super::files::{BucketFiles, read_run};
use crate::merge::{KeyEncoder, KeyOrder, Keys, MergeSpec, Section, intersect, merge};
use crate::vector::BucketVectors;

/// Positions of rows by file.
pub(crate) type Marks = BTreeMap<String, RoaringTreemap>;

/// How the records of level 0 of one table find what they supersede.
#[derive(Debug)]
pub(crate) struct Superseding {
    /// The merge of the key columns alone.
    spec: Arc<MergeSpec>,
    keys: Vec<DataField>,
    order: KeyOrder,
    /// Whether what is superseded goes into the merge: the merge engine, or a sequence of the user's, looks at it.
    merges: bool,
}

/// The files above a compaction, as its bucket has them.
pub(crate) struct Above<'a> {
    /// The bucket's files.
    pub(crate) files: &'a Arc<dyn BucketFiles>,
    /// Those that lie above the result.
    pub(crate) above: &'a [Arc<DataFileMeta>],
    /// The bucket's vectors.
    pub(crate) vectors: &'a BucketVectors,
    /// Rows in a batch.
    pub(crate) batch_size: usize,
}

impl Superseding {
    /// The way of a table.
    ///
    /// # Errors
    /// `Invalid` when the table's options contradict its schema, `Unsupported` for keys without an order.
    pub(crate) fn of(schema: &TableSchema) -> Result<Self> {
        let keys: Vec<DataField> = schema.trimmed_primary_keys().into_iter().cloned().collect();
        let last_wins = schema.options.merge_engine()? == MergeEngine::Deduplicate;
        Ok(Self {
            spec: Arc::new(MergeSpec::of(schema, &keys)?),
            keys,
            order: KeyOrder::of(schema),
            merges: !last_wins || !schema.options.sequence_fields().is_empty(),
        })
    }

    /// Whether what is superseded must go into the merge.
    pub(crate) fn merges(&self) -> bool {
        self.merges
    }

    /// The rows that the records of level 0 in a section supersede.
    ///
    /// # Errors
    /// `Corrupt` for a file that is not sorted by key, and whatever reading yields.
    pub(crate) async fn find(&self, section: &Section, above: &Above<'_>) -> Result<Marks> {
        let mut marks = Marks::new();
        let mut cursors = self.cursors(section, above)?;
        if cursors.is_empty() {
            return Ok(marks);
        }
        let fields: Arc<[DataField]> = self.spec.read_fields().into();
        let level_0 = section.runs.iter().map(|run| run.iter().filter(|f| f.level == 0).cloned().collect::<Vec<_>>());
        let runs = level_0.filter(|run| !run.is_empty());
        let runs = runs.map(|run| read_run(above.files.clone(), run, fields.clone(), above.vectors)).collect();
        let mut keys = merge(runs, self.spec.clone(), true, above.batch_size);
        let encoder = KeyEncoder::new((0..self.keys.len()).collect(), &self.keys.iter().collect::<Vec<_>>(), false)?;
        while let Some(batch) = keys.next().await {
            let batch = batch?;
            let wanted = encoder.encode(batch.columns(), batch.num_rows())?;
            for cursor in &mut cursors {
                cursor.join(&wanted, &encoder, above, &self.keys, &mut marks).await?;
            }
        }
        Ok(marks)
    }

    /// The rows of `marks` as runs of a merge of `spec`, in the order of levels.
    pub(crate) fn rows(&self, marks: &Marks, spec: &MergeSpec, above: &Above<'_>) -> Result<Vec<BatchStream>> {
        let fields: Arc<[DataField]> = spec.read_fields().into();
        let marked = above.above.iter().filter(|file| marks.contains_key(&file.file_name)).cloned().collect();
        let mut runs = Vec::new();
        for run in self.runs(marked)? {
            let mut others = Vec::with_capacity(run.len());
            for file in run {
                let mut rest = RoaringTreemap::new();
                rest.insert_range(0..u64::try_from(file.row_count).unwrap_or(0));
                if let Some(positions) = marks.get(&file.file_name) {
                    rest -= positions;
                }
                others.push((file, (!rest.is_empty()).then(|| Arc::new(rest))));
            }
            let (files, fields) = (above.files.clone(), fields.clone());
            use futures::TryStreamExt;
            let rows = futures::stream::iter(others)
                .then(move |(file, rest)| {
                    let (files, fields) = (files.clone(), fields.clone());
                    async move { files.read(&file, &fields, rest).await }
                })
                .try_flatten();
            runs.push(rows.boxed());
        }
        Ok(runs)
    }

    /// The files above whose keys overlap those of level 0 in a section, a cursor for each level.
    fn cursors(&self, section: &Section, above: &Above<'_>) -> Result<Vec<Cursor>> {
        let bound = |row| self.order.bound(row);
        let mut range = None;
        for file in section.files().filter(|f| f.level == 0) {
            let (min, max) = (bound(&file.min_key)?, bound(&file.max_key)?);
            range = Some(match range {
                None => (min, max),
                Some((a, b)) => (std::cmp::min(a, min), std::cmp::max(b, max)),
            });
        }
        let Some((min, max)) = range else { return Ok(Vec::new()) };
        let mut overlapping = Vec::new();
        for file in above.above {
            if bound(&file.min_key)? <= max && bound(&file.max_key)? >= min {
                overlapping.push(file.clone());
            }
        }
        Ok(self.runs(overlapping)?.into_iter().map(Cursor::new).collect())
    }

    /// Files by level, each level in key order.
    fn runs(&self, files: Vec<Arc<DataFileMeta>>) -> Result<Vec<Vec<Arc<DataFileMeta>>>> {
        let mut levels: BTreeMap<i32, Vec<_>> = BTreeMap::new();
        for file in files {
            let min = self.order.bound(&file.min_key).context("file", &file.file_name)?;
            levels.entry(file.level).or_default().push((min, file));
        }
        let sorted = |mut level: Vec<(_, Arc<DataFileMeta>)>| {
            level.sort_by(|(a, _), (b, _): &(crate::merge::KeyBound, _)| a.cmp(b));
            level.into_iter().map(|(_, file)| file).collect()
        };
        Ok(levels.into_values().map(sorted).collect())
    }
}

/// Where the join stands in the files of one level.
struct Cursor {
    waiting: VecDeque<Arc<DataFileMeta>>,
    open: Option<Open>,
}

struct Open {
    file: Arc<DataFileMeta>,
    dead: Option<Arc<RoaringTreemap>>,
    rows: BatchStream,
    keys: Option<Keys>,
    /// Position of the first row of `keys` in the file.
    start: u64,
    at: usize,
}

impl Cursor {
    fn new(files: Vec<Arc<DataFileMeta>>) -> Self {
        Self { waiting: files.into(), open: None }
    }

    /// Marks the rows whose keys are wanted, up to the last of them.
    async fn join(
        &mut self,
        wanted: &Keys,
        encoder: &KeyEncoder,
        above: &Above<'_>,
        fields: &[DataField],
        marks: &mut Marks,
    ) -> Result<()> {
        let mut at = 0;
        while at < wanted.len() {
            let Some(open) = &mut self.open else {
                let Some(file) = self.waiting.pop_front() else { return Ok(()) };
                let rows = above.files.read(&file, fields, None).await?;
                let dead = above.vectors.get(&file.file_name).cloned();
                self.open = Some(Open { file, dead, rows, keys: None, start: 0, at: 0 });
                continue;
            };
            if open.at >= open.keys.as_ref().map_or(0, Keys::len) && !open.advance(encoder).await? {
                self.open = None;
                continue;
            }
            open.intersect(wanted, &mut at, marks);
        }
        Ok(())
    }
}

impl Open {
    /// Goes on to the next batch of the file; whether there is one.
    async fn advance(&mut self, encoder: &KeyEncoder) -> Result<bool> {
        let Some(batch) = self.rows.next().await else { return Ok(false) };
        let batch = batch?;
        let keys = encoder.encode(batch.columns(), batch.num_rows())?;
        let follows = self.keys.as_ref().is_none_or(|last| match last.len() {
            0 => true,
            len => keys.len() == 0 || last.compare(len - 1, &keys, 0).is_lt(),
        });
        if !follows || !(1..keys.len()).all(|row| keys.compare(row - 1, &keys, row).is_lt()) {
            return Err(Error::corrupt("a file is not sorted by key").with("file", &self.file.file_name));
        }
        self.start += self.keys.as_ref().map_or(0, Keys::len) as u64;
        self.keys = Some(keys);
        self.at = 0;
        Ok(true)
    }

    fn intersect(&mut self, wanted: &Keys, at: &mut usize, marks: &mut Marks) {
        let Some(keys) = &self.keys else { return };
        let mut found = Vec::new();
        let (start, dead) = (self.start, self.dead.as_deref());
        intersect(wanted, at, keys, &mut self.at, |row| {
            let position = start + row as u64;
            if dead.is_none_or(|dead| !dead.contains(position)) {
                found.push(position);
            }
        });
        if !found.is_empty() {
            marks.entry(self.file.file_name.clone()).or_default().extend(found);
        }
    }
}
