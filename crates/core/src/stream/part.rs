//! The splits of one snapshot as one stream, with the place after every batch.

use arrow_array::RecordBatch;
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use linn_format::{BatchStream, Error, Result, SnapshotId};

use super::position::{Part, Position, Within};
use crate::read::{Read, prefetch};
use crate::scan::{Content, Split};
use crate::table::Table;

/// Splits that are opened at once: the one that is delivered, and the next.
const OPEN: usize = 2;

/// What is left of the rows or the changes of a snapshot.
pub(super) struct Reading {
    snapshot: SnapshotId,
    part: Part,
    batches: BoxStream<'static, Result<(String, RecordBatch)>>,
    /// The batch that comes next: with it one knows which batch is the last.
    ahead: Option<(String, RecordBatch)>,
    place: Within,
}

impl Reading {
    /// Begins to read splits, which come in the order of their plan, behind a place that was delivered before.
    ///
    /// # Errors
    /// `Invalid` when the place is not among the splits.
    pub(super) fn new(
        table: &Table,
        read: &Read,
        (snapshot, part): (SnapshotId, Part),
        mut splits: Vec<Split>,
        after: Option<Within>,
    ) -> Result<Self> {
        let place = after.unwrap_or(Within { part, split: None, rows: 0 });
        if let Some(file) = &place.split {
            let at = splits.iter().position(|split| name(split) == *file).filter(|_| place.part == part);
            let Some(at) = at else {
                return Err(Error::invalid("the position is not one of this read")
                    .with("table", table.name())
                    .with("snapshot", snapshot)
                    .with_hint("continue with the options, the filter and the reader number that it was saved with"));
            };
            splits.drain(..at);
        }
        let (read, env) = (read.clone(), table.env().clone());
        let batches = futures::stream::iter(splits)
            .map(move |split| {
                let rows: Result<BatchStream> = match part {
                    Part::Rows => read.insertions(&split),
                    Part::Changes => read.changes(&split),
                };
                let env = env.clone();
                async move {
                    let name = name(&split).to_owned();
                    Ok::<_, Error>(prefetch(&env, rows?).map_ok(move |batch| (name.clone(), batch)))
                }
            })
            .buffered(OPEN)
            .try_flatten()
            .boxed();
        let skipped = (place.split.clone(), place.rows);
        let batches = behind(batches, skipped);
        Ok(Self { snapshot, part, batches, ahead: None, place })
    }

    /// The next batch, and the position after it; a position without rows at the end. Then this must not be called again.
    pub(super) async fn next(&mut self) -> Result<(Option<RecordBatch>, Position)> {
        let current = match self.ahead.take() {
            Some(current) => Some(current),
            None => self.batches.next().await.transpose()?,
        };
        let Some((split, batch)) = current else { return Ok((None, self.end())) };
        self.ahead = self.batches.next().await.transpose()?;
        if self.ahead.is_none() {
            return Ok((Some(batch), self.end()));
        }
        if self.place.split.as_ref() != Some(&split) {
            self.place = Within { part: self.part, split: Some(split), rows: 0 };
        }
        self.place.rows += batch.num_rows() as u64;
        Ok((Some(batch), Position { next_snapshot: self.snapshot, within: Some(self.place.clone()) }))
    }

    fn end(&self) -> Position {
        Position::at(self.snapshot.next())
    }

    /// The snapshot, and what of it is read.
    pub(super) fn what(&self) -> (SnapshotId, Part) {
        (self.snapshot, self.part)
    }
}

/// The name by which a position knows a split.
fn name(split: &Split) -> &str {
    let earlier = match &split.content {
        Content::Replaced(before) => before.files.first(),
        Content::Compared(sides) => sides.before.first().and_then(|split| split.files.first()),
        _ => None,
    };
    split.files.first().or(earlier).map_or("", |file| &file.file_name)
}

/// Leaves out the first rows of the split of this name.
fn behind(
    batches: BoxStream<'static, Result<(String, RecordBatch)>>,
    (split, mut rows): (Option<String>, u64),
) -> BoxStream<'static, Result<(String, RecordBatch)>> {
    let Some(split) = split else { return batches };
    let kept = batches.try_filter_map(move |(name, batch)| {
        let count = batch.num_rows();
        let skip = if name == split { usize::try_from(rows).unwrap_or(usize::MAX).min(count) } else { 0 };
        rows -= skip as u64;
        let rest = (skip < count).then(|| (name, batch.slice(skip, count - skip)));
        std::future::ready(Ok(rest))
    });
    kept.boxed()
}
