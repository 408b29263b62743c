//! The walk along a table's snapshots: the first rows, then change after change, waiting where there are none yet.

use std::sync::Arc;

use arrow_array::RecordBatch;
use linn_format::snapshot::Snapshot;
use linn_format::{Result, SnapshotId};
use tokio::sync::watch;

use super::Changes;
use super::columns::Columns;
use super::follow::Follow;
use super::part::Reading;
use super::position::{Part, Position, Within};
use super::range::{explain, may_come};
use super::readers::Member;
use super::start::{Start, made_since, start};
use crate::read::Read;
use crate::scan::{Plan, Scan};
use crate::snapshot::History;
use crate::table::Table;

/// Looks for a snapshot that is not there until the range of snapshots is looked at once more.
const RANGE_LOOKS: u32 = 16;

/// How a reader goes on, as the table's options say.
#[derive(Debug)]
pub(super) struct Pace {
    /// Between looks at the table.
    pub(super) interval_millis: u64,
    /// How far behind the clock it stays.
    pub(super) delay_millis: Option<i64>,
    /// The watermark behind which it ends.
    pub(super) bound: Option<i64>,
    /// Whether it waits for what is not there yet.
    pub(super) waits: bool,
}

pub(super) struct Walk {
    pub(super) table: Table,
    pub(super) columns: Columns,
    pub(super) scan: Scan,
    pub(super) read: Read,
    pub(super) follow: Follow,
    pub(super) pace: Pace,
    /// Where it goes on; before anything was read where it was told to, if it was.
    pub(super) position: Option<Position>,
    /// The latest snapshot when it began, where it ends there.
    pub(super) last: Option<SnapshotId>,
    pub(super) news: watch::Receiver<u64>,
    pub(super) reading: Option<Reading>,
    /// The snapshot that is read, and when it was committed.
    pub(super) committed: Option<(SnapshotId, i64)>,
    pub(super) schema: arrow_schema::SchemaRef,
    /// The position that was delivered last.
    pub(super) told: Option<Position>,
    /// Looks at a snapshot that was not there.
    pub(super) looks: u32,
    pub(super) ended: bool,
    /// Its place among several readers.
    pub(super) member: Option<Arc<Member>>,
}

/// What became of a look for the next thing to read.
enum Look {
    /// There is something to read, or the position has moved.
    Moved,
    /// There is nothing yet; to be looked for again after so many milliseconds.
    Wait(u64),
    /// There will be nothing more.
    End,
}

impl Walk {
    /// The next rows, or the position of a reader that has nothing more to read for now; `None` at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Changes>> {
        loop {
            if let Some(reading) = &mut self.reading {
                let (snapshot, part) = reading.what();
                let (rows, position) = match reading.next().await {
                    Ok(next) => next,
                    Err(e) => return Err(explain(&self.table, part, snapshot, e).await),
                };
                if position.within.is_none() {
                    self.reading = None;
                }
                self.position = Some(position.clone());
                if let Some(rows) = rows {
                    return Ok(Some(self.deliver(rows, snapshot, position)));
                }
                continue;
            }
            if self.ended {
                return Ok(self.heartbeat());
            }
            // Others wait for what this reader saves.
            if self.member.is_some()
                && let Some(heartbeat) = self.heartbeat()
            {
                return Ok(Some(heartbeat));
            }
            self.news.mark_unchanged();
            match self.look().await? {
                Look::Moved => {}
                Look::End => self.ended = true,
                Look::Wait(_) if !self.pace.waits => self.ended = true,
                Look::Wait(millis) => match self.heartbeat() {
                    Some(heartbeat) => return Ok(Some(heartbeat)),
                    None => self.wait(millis).await,
                },
            }
        }
    }

    fn deliver(&mut self, rows: RecordBatch, snapshot: SnapshotId, position: Position) -> Changes {
        self.told = Some(position.clone());
        let committed = self.committed.filter(|(id, _)| *id == snapshot);
        Changes { rows, snapshot, commit_millis: committed.map(|(_, millis)| millis), position }
    }

    /// No rows, but a position that nobody was told of yet.
    fn heartbeat(&mut self) -> Option<Changes> {
        let position = self.position.clone().filter(|position| self.told.as_ref() != Some(position))?;
        let snapshot = SnapshotId(position.next_snapshot.0.saturating_sub(1));
        let rows = RecordBatch::new_empty(Arc::clone(&self.schema));
        Some(self.deliver(rows, snapshot, position))
    }

    /// Until there is news, or for so long.
    async fn wait(&mut self, millis: u64) {
        let clock = Arc::clone(&self.table.env().clock);
        tokio::select! {
            biased;
            // An error says that no commit of this process can come any more; others may.
            Ok(()) = self.news.changed() => {}
            () = clock.sleep(millis) => {}
        }
    }

    async fn look(&mut self) -> Result<Look> {
        let Some(position) = self.position.clone() else { return self.begin().await };
        let Position { next_snapshot: id, within } = position;
        let history = History::new(&self.table)?;
        if let Some(last) = self.last.filter(|last| id > *last) {
            if id > last.next() {
                may_come(&self.table, &history, id).await?;
            }
            return Ok(Look::End);
        }
        if let Some(within) = within.clone().filter(|within| within.part == Part::Rows) {
            let snapshot = match history.snapshots.get(id).await {
                Ok(snapshot) => snapshot,
                Err(e) => return Err(explain(&self.table, Part::Rows, id, e).await),
            };
            return self.rows_of(&snapshot, made_since(&self.table)?, Some(within)).await;
        }
        let Some(snapshot) = history.find(id).await? else {
            if self.looks.is_multiple_of(RANGE_LOOKS) {
                may_come(&self.table, &history, id).await?;
            }
            self.looks = self.looks.wrapping_add(1);
            return Ok(Look::Wait(self.pace.interval_millis));
        };
        self.looks = 0;
        if self.is_behind_bound(&snapshot) {
            return Ok(Look::End);
        }
        if let Some(delay) = self.pace.delay_millis {
            let due = snapshot.time_millis.saturating_add(delay);
            let left = due.saturating_sub(self.table.env().clock.now_millis());
            if left > 0 {
                return Ok(Look::Wait(u64::try_from(left).unwrap_or(0).min(self.pace.interval_millis)));
            }
        }
        if let Some(member) = &self.member {
            member.turn(id).await;
        }
        self.columns.check(&self.table, &snapshot).await?;
        self.committed = Some((snapshot.id, snapshot.time_millis));
        let plan = match self.follow.plan(&self.scan, &snapshot).await {
            Ok(plan) => plan,
            Err(e) => return Err(explain(&self.table, Part::Changes, id, e).await),
        };
        match plan {
            Some(plan) => self.open((id, Part::Changes), plan, within)?,
            None => self.position = Some(Position::at(id.next())),
        }
        Ok(Look::Moved)
    }

    async fn begin(&mut self) -> Result<Look> {
        let start = match &self.member {
            Some(member) => member.begin(&self.table).await?,
            None => start(&self.table).await?,
        };
        match start {
            Start::Later => Ok(Look::Wait(self.pace.interval_millis)),
            Start::Rows { snapshot, made_since } => self.rows_of(&snapshot, made_since, None).await,
            Start::Changes(id) => {
                self.position = Some(Position::at(id));
                // What a bound rules out may be over before the first change.
                let before = History::new(&self.table)?.find(SnapshotId(id.0 - 1)).await?;
                Ok(match before {
                    Some(snapshot) if self.is_behind_bound(&snapshot) => Look::End,
                    _ => Look::Moved,
                })
            }
        }
    }

    async fn rows_of(&mut self, snapshot: &Arc<Snapshot>, since: Option<i64>, after: Option<Within>) -> Result<Look> {
        self.columns.check(&self.table, snapshot).await?;
        self.committed = Some((snapshot.id, snapshot.time_millis));
        let scan = self.scan.clone().snapshot(Arc::clone(snapshot)).begins_stream().made_since(since);
        let plan = match scan.plan().await {
            Ok(plan) => plan,
            Err(e) => return Err(explain(&self.table, Part::Rows, snapshot.id, e).await),
        };
        self.open((snapshot.id, Part::Rows), plan, after)?;
        self.ended = self.is_behind_bound(snapshot);
        Ok(Look::Moved)
    }

    fn open(&mut self, what: (SnapshotId, Part), mut plan: Plan, after: Option<Within>) -> Result<()> {
        if let Some(member) = &self.member {
            let bucketed = self.table.schema().is_primary_key_table() || self.table.options().bucket()? != -1;
            plan.splits.retain(|split| member.reads(split, bucketed));
        }
        self.reading = Some(Reading::new(&self.table, &self.read, what, plan.splits, after)?);
        Ok(())
    }

    fn is_behind_bound(&self, snapshot: &Snapshot) -> bool {
        self.pace.bound.zip(snapshot.watermark).is_some_and(|(bound, watermark)| watermark > bound)
    }
}
