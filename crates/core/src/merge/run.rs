//! The merge of sorted runs into one sorted stream.

use std::cmp::Ordering;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_row::Rows;
use futures::StreamExt;
use futures::stream::BoxStream;
use linn_format::file::BATCH_BYTES;
use linn_format::{BatchStream, Error, Result};

use super::assemble::{Assembler, Change, View};
use super::beside::Columns;
use super::changelog::Merged;
use super::key::{KeyColumn, KeyEncoder, KeyWidth, Keys};
use super::older::Older;
use super::retraction::Retractions;
use super::source::{Pick, Record, retain};
use super::spec::MergeSpec;
use super::tree::LoserTree;
use super::waiting::Waiting;

/// A sorted run whose batches come with the level of the file that they lie in.
pub(crate) type LeveledStream = BoxStream<'static, Result<(RecordBatch, i32)>>;

/// What a merge compares its rows with, to tell their changes.
#[derive(Clone, Default)]
pub(crate) enum Before {
    /// With nothing.
    #[default]
    NotCompared,
    /// With the records of this level, the highest, all of which are merged.
    Level(i32),
    /// With the records above level 0, or where none is merged with those of files below. Only keys with a record of
    /// level 0 are looked up.
    Older(Arc<futures::lock::Mutex<dyn Older>>),
}

/// How runs are merged.
#[derive(Clone)]
pub(crate) struct MergeOptions {
    /// What it sees, and what comes out of it.
    pub(crate) view: View,
    /// Rows of a batch.
    pub(crate) batch_size: usize,
    /// What was before.
    pub(crate) before: Before,
    /// Whether changes come out, and in which columns an update must differ to be told.
    pub(crate) changes: Option<Option<Vec<usize>>>,
    /// How the columns are made.
    pub(crate) columns: Columns,
}

/// Merges runs of key-value batches into one stream of key-value batches with one row per key, sorted by key.
///
/// Every run is sorted by (key, user sequence, sequence number) and its batches have [`MergeSpec::input_schema`].
/// `runs` come newest first, as the levels of a bucket do: of two records that agree in key, user sequence and
/// sequence number, the one of the run named earlier counts as the later one. With `keep_deletes` false only
/// additions come out. Batches have [`MergeSpec::output_schema`] and at most `batch_size` rows, apart from ranges
/// that pass through as they are.
///
/// # Errors
/// `Corrupt` when a run is not sorted, `Invalid` when the merge engine refuses a record, and whatever the runs yield.
pub fn merge(runs: Vec<BatchStream>, spec: Arc<MergeSpec>, keep_deletes: bool, batch_size: usize) -> BatchStream {
    let runs = runs.into_iter().map(|run| run.map(|batch| Ok((batch?, 0))).boxed()).collect();
    merge_levels(runs, spec, keep_deletes, batch_size, Columns::InTurn)
}

/// As [`merge`], of files whose levels matter: in a table whose compactions look older records up, that of the lowest
/// level above 0 holds everything below it already (cases: S3).
pub(crate) fn merge_levels(
    runs: Vec<LeveledStream>,
    spec: Arc<MergeSpec>,
    keep_deletes: bool,
    batch_size: usize,
    columns: Columns,
) -> BatchStream {
    let retractions = if keep_deletes { Retractions::All } else { Retractions::None };
    let how = MergeOptions {
        view: View::whole(retractions),
        batch_size,
        before: Before::NotCompared,
        changes: None,
        columns,
    };
    let rows = merge_changes(runs, spec, how).filter_map(|merged| async move { merged.map(|m| m.rows).transpose() });
    rows.boxed()
}

/// As [`merge_levels`], with the changes that the merge makes.
pub(crate) fn merge_changes(
    runs: Vec<LeveledStream>,
    spec: Arc<MergeSpec>,
    how: MergeOptions,
) -> BoxStream<'static, Result<Merged>> {
    let start = move || {
        let encoder = spec.key_encoder()?;
        Ok(match encoder.width() {
            KeyWidth::U64 => Merger::<Vec<u64>>::new(runs, spec, encoder, how)?.into_stream(),
            KeyWidth::U128 => Merger::<Vec<u128>>::new(runs, spec, encoder, how)?.into_stream(),
            KeyWidth::Rows => Merger::<Rows>::new(runs, spec, encoder, how)?.into_stream(),
        })
    };
    match start() {
        Ok(stream) => stream,
        Err(e) => futures::stream::iter([Err::<Merged, Error>(e)]).boxed(),
    }
}

/// Where a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Head {
    /// Its next batch has not been read.
    NeedsBatch,
    /// At a row of a source.
    At { source: usize, row: usize, len: usize },
    /// At its end.
    Done,
}

/// What a source needs for comparisons, beside its columns.
pub(super) struct Order<C> {
    pub(super) keys: C,
    pub(super) sequence: Option<Keys>,
    /// Whether no two rows have the same key.
    pub(super) unique: bool,
    /// Bytes of a row, on average.
    pub(super) row_bytes: usize,
}

pub(super) struct Merger<C: KeyColumn> {
    /// Oldest run first, so that the run number is the last tie-break.
    pub(super) runs: Vec<LeveledStream>,
    pub(super) heads: Vec<Head>,
    pub(super) spec: Arc<MergeSpec>,
    pub(super) encoder: KeyEncoder,
    pub(super) sequence_encoder: Option<KeyEncoder>,
    pub(super) orders: Vec<Order<C>>,
    tree: Option<LoserTree>,
    pub(super) assembler: Assembler,
    group: Vec<Record>,
    batch_size: usize,
    /// Bytes of the rows that were merged since the last batch, about.
    bytes: usize,
    pub(super) before: Before,
    /// Groups whose older records have not been looked up.
    pub(super) waiting: Waiting,
    /// A group with its older record; only there to be used again.
    pub(super) joined: Vec<Record>,
}

enum Step {
    /// The next batch of a run is needed.
    Read(usize),
    /// A batch is full.
    Full,
    /// All runs are at their end.
    Done,
}

impl<C: KeyColumn> Merger<C> {
    fn new(mut runs: Vec<LeveledStream>, spec: Arc<MergeSpec>, encoder: KeyEncoder, how: MergeOptions) -> Result<Self> {
        runs.reverse();
        let mut assembler = Assembler::new(spec.clone(), how.view, how.columns)?;
        if let Some(compared) = how.changes {
            assembler.tell_changes(compared);
        }
        Ok(Self {
            heads: vec![Head::NeedsBatch; runs.len()],
            runs,
            encoder,
            sequence_encoder: spec.sequence_encoder()?,
            orders: Vec::new(),
            spec,
            tree: None,
            assembler,
            group: Vec::new(),
            batch_size: how.batch_size.max(1),
            bytes: 0,
            before: how.before,
            waiting: Waiting::default(),
            joined: Vec::new(),
        })
    }

    fn into_stream(self) -> BoxStream<'static, Result<Merged>> {
        futures::stream::unfold(Some(self), |state| async move {
            let mut merger = state?;
            match merger.next_batch().await {
                Ok(Some(merged)) => Some((Ok(merged), Some(merger))),
                Ok(None) => None,
                Err(e) => Some((Err(e), None)),
            }
        })
        .boxed()
    }

    async fn next_batch(&mut self) -> Result<Option<Merged>> {
        if self.tree.is_none() {
            self.start().await?;
            let tree = LoserTree::new(self.runs.len(), |a, b| self.less(a, b));
            self.tree = Some(tree);
        }
        loop {
            match self.advance()? {
                Step::Read(run) => {
                    self.read(run).await?;
                    self.replay();
                }
                Step::Full => {
                    let merged = self.take_merged().await?;
                    self.drop_sources();
                    if merged.is_some() {
                        return Ok(merged);
                    }
                }
                Step::Done => return self.take_merged().await,
            }
        }
    }

    async fn take_merged(&mut self) -> Result<Option<Merged>> {
        self.look_up().await?;
        let merged = self.assembler.take()?;
        self.bytes = 0;
        Ok((!merged.is_empty()).then_some(merged))
    }

    /// Whether the record at the head of run `a` comes before that of run `b`.
    #[inline]
    fn less(&self, a: usize, b: usize) -> bool {
        let (Head::At { source: sa, row: ra, .. }, Head::At { source: sb, row: rb, .. }) =
            (self.heads[a], self.heads[b])
        else {
            return self.heads[b] == Head::Done && (self.heads[a] != Head::Done || a < b);
        };
        match self.orders[sa].keys.key(ra).cmp(&self.orders[sb].keys.key(rb)) {
            Ordering::Less => true,
            Ordering::Greater => false,
            Ordering::Equal => self.comes_earlier((a, sa, ra), (b, sb, rb)),
        }
    }

    /// The order among records of one key: user sequence, sequence number, run.
    fn comes_earlier(&self, (a, sa, ra): (usize, usize, usize), (b, sb, rb): (usize, usize, usize)) -> bool {
        self.sequence_order((sa, ra), (sb, rb)).then(a.cmp(&b)) == Ordering::Less
    }

    /// The order among records of one key that two rows of sources name: user sequence, sequence number.
    pub(super) fn sequence_order(&self, (sa, ra): (usize, usize), (sb, rb): (usize, usize)) -> Ordering {
        let user = match (&self.orders[sa].sequence, &self.orders[sb].sequence) {
            (Some(x), Some(y)) => x.compare(ra, y, rb),
            _ => Ordering::Equal,
        };
        let sources = self.assembler.sources();
        user.then_with(|| sources[sa].sequence[ra].cmp(&sources[sb].sequence[rb]))
    }

    fn winner(&self) -> usize {
        self.tree.as_ref().map_or(0, LoserTree::winner)
    }

    fn replay(&mut self) {
        if let Some(mut tree) = self.tree.take() {
            tree.replay(|a, b| self.less(a, b));
            self.tree = Some(tree);
        }
    }

    /// Merges until a batch is full, a run must be read, or all is done.
    fn advance(&mut self) -> Result<Step> {
        if self.runs.is_empty() {
            return Ok(Step::Done);
        }
        loop {
            let run = self.winner();
            let Head::At { source, row, len } = self.heads[run] else {
                self.close_group()?;
                return Ok(Step::Done);
            };
            if row == len {
                return Ok(Step::Read(run));
            }
            if !self.group.is_empty() {
                if self.in_group(source, row) {
                    if let Some(step) = self.take(run, source, row, len) {
                        return Ok(step);
                    }
                    continue;
                }
                self.close_group()?;
            }
            if self.is_full() {
                return Ok(Step::Full);
            }
            let end = self.pass_through(run, source, row, len);
            if end > row {
                self.pass(source, row, end);
                self.heads[run] = Head::At { source, row: end, len };
                self.replay();
            } else if let Some(step) = self.take(run, source, row, len) {
                return Ok(step);
            }
        }
    }

    /// A batch is also given out when its rows are large, and when many sources have piled up without yielding rows.
    fn is_full(&self) -> bool {
        self.bytes >= BATCH_BYTES
            || self.assembler.pending() + self.waiting.rows() >= self.batch_size
            || self.orders.len() > 3 * self.runs.len() + 2
    }

    fn in_group(&self, source: usize, row: usize) -> bool {
        self.group.last().is_some_and(|r| {
            let of_group = self.orders[r.pick.source as usize].keys.key(r.pick.row as usize);
            of_group == self.orders[source].keys.key(row)
        })
    }

    /// The end of the rows from `row` on that are alone with their keys: they come before every other run's head.
    /// The last row of a batch never is among them, as the next batch may begin with its key.
    fn pass_through(&self, run: usize, source: usize, row: usize, len: usize) -> usize {
        let order = &self.orders[source];
        if !order.unique || row + 1 >= len {
            return row;
        }
        let challenger = self.tree.as_ref().and_then(|t| t.challenger(|a, b| self.less(a, b)));
        debug_assert_ne!(challenger, Some(run));
        match challenger.map(|c| self.heads[c]) {
            Some(Head::At { source: other, row: at, len: other_len }) if at < other_len => {
                let bound = self.orders[other].keys.key(at);
                gallop(row, len - 1, |r| order.keys.key(r) < bound)
            }
            _ => len - 1,
        }
    }

    /// Takes the winner's record into the group.
    fn take(&mut self, run: usize, source: usize, row: usize, len: usize) -> Option<Step> {
        let kind = self.assembler.sources()[source].kinds[row];
        let pick = Pick { source: source as u32, row: row as u32 };
        self.group.push(Record { pick, kind });
        self.heads[run] = Head::At { source, row: row + 1, len };
        if row + 1 == len {
            return Some(Step::Read(run));
        }
        self.replay();
        None
    }

    /// Rows that are alone with their keys.
    fn pass(&mut self, source: usize, start: usize, end: usize) {
        self.bytes += (end - start) * self.orders[source].row_bytes;
        match &self.before {
            Before::NotCompared => self.assembler.range(source, start, end, false),
            Before::Level(level) => {
                let new = self.assembler.sources()[source].level != *level;
                self.assembler.range(source, start, end, new);
            }
            Before::Older(_) => self.waiting.range(source, start, end),
        }
    }

    fn close_group(&mut self) -> Result<()> {
        if self.group.is_empty() {
            return Ok(());
        }
        self.bytes += self.group.iter().map(|r| self.orders[r.pick.source as usize].row_bytes).max().unwrap_or(0);
        if self.spec.folds_levels() {
            keep_lowest(&mut self.group, |r| self.assembler.sources()[r.pick.source as usize].level);
        }
        match &self.before {
            Before::NotCompared => self.assembler.group(&self.group, Change::Unreported)?,
            Before::Level(level) => {
                let sources = self.assembler.sources();
                let old = self.group.iter().find(|r| sources[r.pick.source as usize].level == *level).copied();
                let stays = old.is_some() && self.group.len() == 1;
                self.assembler.group(&self.group, if stays { Change::Unreported } else { Change::From(old) })?;
            }
            Before::Older(_) => self.waiting.group(&self.group),
        }
        self.group.clear();
        Ok(())
    }

    /// Lets go of the sources that no head stands in; no group is open.
    fn drop_sources(&mut self) {
        let mut keep: Vec<usize> = self
            .heads
            .iter()
            .filter_map(|h| match h {
                Head::At { source, .. } => Some(*source),
                _ => None,
            })
            .collect();
        keep.sort_unstable();
        for head in &mut self.heads {
            if let Head::At { source, .. } = head {
                *source = keep.partition_point(|&k| k < *source);
            }
        }
        self.assembler.retain_sources(&keep);
        retain(&mut self.orders, &keep);
    }
}

/// Of the records above level 0 only that of the lowest level stays, as it holds the others.
fn keep_lowest(group: &mut Vec<Record>, level: impl Fn(&Record) -> i32) {
    if let Some(lowest) = group.iter().map(&level).filter(|l| *l > 0).min() {
        group.retain(|r| level(r) <= 0 || level(r) == lowest);
    }
}

/// The first of the rows from `start` to `end` for which `holds` is false, which it is for all that follow. The search
/// widens from the start, as most ranges are short.
pub(crate) fn gallop(start: usize, end: usize, holds: impl Fn(usize) -> bool) -> usize {
    let mut low = start;
    let mut step = 1;
    while low < end && holds(low + step.min(end - low) - 1) {
        low += step.min(end - low);
        step *= 2;
    }
    let (mut low, mut high) = (low, (low + step).min(end));
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}
