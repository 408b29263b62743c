//! Merges of many runs: those above `sort-spill-threshold` go to local disk first, the smallest ones, in small batches, so
//! that not all of them hold a decoded batch and an open file at a time. The merge sees the same runs either way.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_ipc::CompressionType;
use futures::StreamExt;
use futures::stream::BoxStream;
use linn_format::Result;
use linn_format::options::Options;
use linn_format::options::table::write;

use super::{LeveledStream, MergeSpec};
use crate::seam::Env;
use crate::spill::{Spill, spill_compression};

/// Rows of a spilled run in a batch at the least.
const MIN_ROWS: usize = 16;

/// When a merge spills.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SpillLimit {
    /// `sort-spill-threshold`: runs that may be merged as they are.
    threshold: usize,
    /// `sort-spill-buffer-size`: bytes of batches that all spilled runs together may hold.
    buffer: u64,
    compression: Option<CompressionType>,
}

impl SpillLimit {
    /// The limit of a table: one run more than there can be before writers wait, by default.
    ///
    /// # Errors
    /// `Invalid` for a bad option value.
    pub(crate) fn of(options: &Options) -> Result<Self> {
        let threshold = match options.get(&write::SORT_SPILL_THRESHOLD)? {
            Some(runs) => usize::try_from(runs).unwrap_or(0).max(2),
            None => options.stop_trigger()?.saturating_add(1),
        };
        Ok(Self {
            threshold,
            buffer: options.require(&write::SORT_SPILL_BUFFER_SIZE)?,
            compression: spill_compression(options)?,
        })
    }
}

/// A run of a merge, and about how many bytes it has.
pub(crate) struct SizedRun {
    /// The run.
    pub(crate) stream: LeveledStream,
    /// Bytes of its files.
    pub(crate) bytes: u64,
}

/// The stream that `merge` makes of these runs, of which no more than the limit's number are unspilled.
pub(crate) fn bounded<T: Send + 'static>(
    env: &Env,
    limit: SpillLimit,
    runs: Vec<SizedRun>,
    spec: &Arc<MergeSpec>,
    merge: impl FnOnce(Vec<LeveledStream>) -> BoxStream<'static, Result<T>> + Send + 'static,
) -> BoxStream<'static, Result<T>> {
    if runs.len() <= limit.threshold {
        return merge(runs.into_iter().map(|run| run.stream).collect());
    }
    let (env, spec) = (env.clone(), Arc::clone(spec));
    let start = async move {
        match spilled(&env, limit, runs, &spec).await {
            Ok(runs) => merge(runs),
            Err(e) => futures::stream::iter([Err(e)]).boxed(),
        }
    };
    futures::stream::once(start).flatten().boxed()
}

/// The same runs, of which the smallest are read from local disk: what is spilled is written once more.
async fn spilled(env: &Env, limit: SpillLimit, runs: Vec<SizedRun>, spec: &MergeSpec) -> Result<Vec<LeveledStream>> {
    let mut smallest: Vec<(u64, usize)> = runs.iter().enumerate().map(|(at, run)| (run.bytes, at)).collect();
    smallest.sort_unstable();
    smallest.truncate(runs.len().saturating_sub(limit.threshold));
    let share = limit.buffer / u64::try_from(smallest.len().max(1)).unwrap_or(1);
    let mut streams = Vec::with_capacity(runs.len());
    for (at, run) in runs.into_iter().enumerate() {
        streams.push(match smallest.iter().any(|&(_, small)| small == at) {
            true => to_disk(env, limit, run.stream, spec, share).await?,
            false => run.stream,
        });
    }
    Ok(streams)
}

async fn to_disk(
    env: &Env,
    limit: SpillLimit,
    mut run: LeveledStream,
    spec: &MergeSpec,
    share: u64,
) -> Result<LeveledStream> {
    let mut writer = Spill::start(env, spec.input_schema(), limit.compression)?;
    let mut levels = Vec::new();
    while let Some(batch) = run.next().await {
        let (batch, level) = batch?;
        let rows = rows_within(&batch, share);
        for from in (0..batch.num_rows()).step_by(rows) {
            writer.write(&batch.slice(from, rows.min(batch.num_rows() - from)))?;
            levels.push(level);
        }
    }
    let spill = writer.finish()?;
    let batches = spill.read()?.zip(futures::stream::iter(levels));
    Ok(batches
        .map(move |(batch, level)| {
            // The file lasts as long as what reads it.
            let _kept = &spill;
            Ok((batch?, level))
        })
        .boxed())
}

/// How many of a batch's rows take about so many bytes.
fn rows_within(batch: &RecordBatch, bytes: u64) -> usize {
    let row = (batch.get_array_memory_size() as u64 / batch.num_rows().max(1) as u64).max(1);
    usize::try_from(bytes / row).unwrap_or(usize::MAX).max(MIN_ROWS)
}
