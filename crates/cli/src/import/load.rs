//! Chunks of several files into one table: converted, written, committed once or every so many rows.

use std::collections::BTreeSet;

use arrow::record_batch::RecordBatch;
use indicatif::ProgressBar;
use linn::core::commit::{Commit, Overwrite};
use linn::core::job::Growth;
use linn::format::row::BinaryRow;
use linn::{CommitOutcome, Error, Result, ResultExt, SnapshotId, Table};

use super::ahead::Ahead;
use super::aside::OnReject;
use super::source::Source;
use super::target::Target;
use super::{Dialect, open};
use crate::interrupt::until_interrupted;
use crate::progress::Progress;

/// What is done with the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// They are added.
    Append,
    /// They replace what is there.
    Overwrite,
    /// They are only looked at.
    Check,
}

/// How rows are loaded.
#[derive(Debug)]
pub(crate) struct Load {
    /// What to do.
    pub(crate) mode: Mode,
    /// How files are read.
    pub(crate) dialect: Dialect,
    /// What happens to rows that do not fit.
    pub(crate) aside: OnReject,
    /// Rows in a commit; 0 commits once.
    pub(crate) commit_rows: u64,
}

/// What was loaded.
#[derive(Debug, Default)]
pub(crate) struct Loaded {
    /// Rows that fitted.
    pub(crate) rows: u64,
    /// Snapshots that were made.
    pub(crate) snapshots: Vec<SnapshotId>,
}

impl Load {
    /// Loads files into a table.
    ///
    /// # Errors
    /// `Invalid` for files and rows that do not fit, and what writing and committing yield; the error says which snapshots
    /// were made before.
    pub(crate) async fn run(&mut self, table: &Table, sources: &[Source], progress: &Progress) -> Result<Loaded> {
        let target = Target::new(table.visible_fields()?, self.dialect.unknown)?;
        let mut out = Out::new(table, self.mode).await?;
        let bar = progress.bytes(sources.iter().map(Source::size).sum());
        let fed = until_interrupted(self.feed(&target, sources, &mut out, &bar)).await;
        bar.finish_and_clear();
        match fed {
            Ok(()) => out.finish().await,
            Err(e) => Err(out.give_up(e).await),
        }
    }

    async fn feed(&mut self, target: &Target, sources: &[Source], out: &mut Out, bar: &ProgressBar) -> Result<()> {
        for source in sources {
            let (schema, chunks) = open(source, &self.dialect, target.wanted(), self.aside.keeps(), bar)?;
            let binding = target.bind(&schema).context("file", source.name())?;
            let mut chunks = Ahead::new(chunks);
            while let Some(chunk) = chunks.next().await.context("file", source.name())? {
                let (batch, bad) = binding.rows(chunk).context("file", source.name())?;
                self.aside.take(&source.name(), &bad)?;
                if out.loaded.rows == 0 {
                    tracing::debug!(file = source.name(), rows = batch.num_rows(), "first rows");
                }
                self.write(&batch, out).await.context("file", source.name())?;
                bar.set_message(format!("{} rows", out.loaded.rows));
            }
        }
        Ok(())
    }

    /// Writes rows, and commits as soon as there are enough.
    async fn write(&self, batch: &RecordBatch, out: &mut Out) -> Result<()> {
        let mut start = 0;
        while start < batch.num_rows() {
            let left = batch.num_rows() - start;
            let room = self.commit_rows.checked_sub(out.pending).filter(|_| self.commit_rows > 0);
            let taken = room.and_then(|room| usize::try_from(room).ok()).map_or(left, |room| room.min(left));
            out.write(&batch.slice(start, taken)).await?;
            start += taken;
            if self.commit_rows > 0 && out.pending >= self.commit_rows {
                out.commit(false).await?;
            }
        }
        Ok(())
    }
}

/// The writing side.
struct Out {
    table: Table,
    mode: Mode,
    user: String,
    /// None when rows are only looked at.
    sink: Option<Sink>,
    pending: u64,
    loaded: Loaded,
    /// Partitions with rows that may have to be compacted before they can be seen.
    hidden: BTreeSet<Vec<u8>>,
    /// What partitions got that were there.
    growth: Growth,
}

struct Sink {
    writer: linn::core::write::TableWriter,
    committer: linn::core::Committer,
    next: i64,
}

impl Out {
    async fn new(table: &Table, mode: Mode) -> Result<Self> {
        let user = table.new_user();
        let sink = match mode {
            Mode::Check => None,
            Mode::Overwrite => {
                Some(Sink { writer: table.batch_overwriter(&user).await?, committer: table.committer(&user), next: 1 })
            }
            Mode::Append => {
                Some(Sink { writer: table.batch_writer(&user).await?, committer: table.committer(&user), next: 1 })
            }
        };
        Ok(Self {
            table: table.clone(),
            mode,
            user,
            sink,
            pending: 0,
            loaded: Loaded::default(),
            hidden: BTreeSet::new(),
            growth: Growth::default(),
        })
    }

    async fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let rows = batch.num_rows();
        if let Some(sink) = &mut self.sink
            && rows > 0
        {
            sink.writer.write(batch, None).await?;
        }
        self.pending += rows as u64;
        self.loaded.rows += rows as u64;
        Ok(())
    }

    /// Commits what was written since the last commit; the `last` one waits for compactions.
    async fn commit(&mut self, last: bool) -> Result<()> {
        let Some(sink) = &mut self.sink else { return Ok(()) };
        let messages = sink.writer.prepare_commit(last).await?;
        let changed: Vec<Vec<u8>> = messages.iter().map(|m| m.partition.to_serialized().to_vec()).collect();
        self.growth.note(&messages);
        let mut commit = Commit::streaming(sink.next, messages);
        sink.next += 1;
        let outcome = match self.mode {
            Mode::Overwrite => {
                commit.operation = Some("OVERWRITE".into());
                sink.committer.overwrite(Overwrite::Dynamic, commit).await?
            }
            _ => sink.committer.commit(commit).await?,
        };
        let lost = matches!(outcome, CommitOutcome::CompactionLost { .. });
        sink.writer.settle(&outcome).await?;
        self.loaded.snapshots.extend(snapshots(outcome)?);
        self.pending = 0;
        if lost || self.mode == Mode::Overwrite {
            self.hidden.extend(changed);
        }
        Ok(())
    }

    async fn finish(mut self) -> Result<Loaded> {
        if let Err(e) = self.commit(true).await {
            return Err(self.give_up(e).await);
        }
        if let Some(sink) = self.sink.take() {
            sink.writer.close().await?;
        }
        let hidden = std::mem::take(&mut self.hidden).into_iter().map(BinaryRow::from_serialized);
        self.table.show_level_0(&hidden.collect::<Result<Vec<_>>>()?).await?;
        if self.mode == Mode::Append
            && let Err(e) = self.table.enlarge(&self.growth).await
        {
            tracing::warn!(error = %e, "the rows are committed, but the number of buckets of their partitions could not be increased");
        }
        tracing::debug!(table = self.table.name(), user = self.user, rows = self.loaded.rows, "loaded");
        Ok(self.loaded)
    }

    /// Deletes what was written and not committed, and says what was.
    async fn give_up(mut self, mut e: Error) -> Error {
        if let Some(sink) = self.sink.take()
            && let Err(other) = sink.writer.close().await
        {
            tracing::warn!(error = %other, "files of the import are left over");
        }
        if !self.loaded.snapshots.is_empty() {
            let rows = self.loaded.rows - self.pending;
            e = e.with("committed before", format!("{rows} rows in {}", shown(&self.loaded.snapshots)));
        }
        e.with("table", self.table.name())
    }
}

/// The snapshots of a commit.
///
/// # Errors
/// `Conflict` and `UnknownOutcome` when it was not, or perhaps not, committed.
pub(crate) fn snapshots(outcome: CommitOutcome) -> Result<Vec<SnapshotId>> {
    match outcome {
        CommitOutcome::Committed(snapshots) => Ok(snapshots),
        CommitOutcome::CompactionLost { snapshots, why } => {
            tracing::warn!(why, "the rows are committed, but the compaction is not");
            Ok(snapshots)
        }
        CommitOutcome::Conflict(why) => {
            Err(Error::conflict(format!("another commit came first: {why}")).with_hint("run the command again"))
        }
        CommitOutcome::Unknown(why) => {
            Err(Error::unknown_outcome(why).with_hint("check `linn snapshot list` before running the command again"))
        }
    }
}

/// Numbers of snapshots for messages.
pub(crate) fn shown(snapshots: &[SnapshotId]) -> String {
    let follow = |pair: &[SnapshotId]| matches!(pair, [one, next] if one.next() == *next);
    match snapshots {
        [one] => format!("snapshot {one}"),
        [first, .., last] if snapshots.len() > 2 && snapshots.windows(2).all(follow) => {
            format!("snapshots {first} to {last}")
        }
        _ => format!("snapshots {}", snapshots.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
    }
}
