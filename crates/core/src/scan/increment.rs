//! Which changes a batch read is asked for: between snapshots, tags or times, read from files or by comparing two states
//! (spec: features.md B11).
//!
//! The start is exclusive, the end inclusive; without an end it is the latest snapshot. What is asked for is there as a whole,
//! or it is an error.

use std::sync::Arc;

use linn_format::options::{ChangelogProducer, IncrementalSource, ScanMode};
use linn_format::snapshot::Snapshot;
use linn_format::{Error, ErrorKind, Result, SnapshotId};

use super::Scan;
use super::plan::Part;
use crate::snapshot::{History, Since, Snapshots, Tags, automatic_pair};

/// What a batch read reads that is not simply a snapshot.
#[derive(Debug)]
pub(super) enum Increment {
    /// Nothing.
    Nothing,
    /// The files of some part of the snapshots after `from`, up to `to`.
    Files { from: SnapshotId, to: SnapshotId, part: Part },
    /// How the rows of `to` differ from those of `from`, or from none before the first snapshot.
    Difference { from: Option<Arc<Snapshot>>, to: Arc<Snapshot> },
    /// The rows of a snapshot, only of files made since.
    Rows { snapshot: Arc<Snapshot>, made_since: Option<i64> },
}

impl Scan {
    /// What the options ask for; `None` when it is a snapshot that they travel to, or the latest.
    pub(super) async fn increment(&self) -> Result<Option<Increment>> {
        let options = self.table.options();
        let history = History::new(&self.table)?;
        let found = match options.scan_mode()? {
            ScanMode::Incremental => self.between(&history.snapshots).await?,
            ScanMode::LatestDelta => match history.snapshots.latest_id().await? {
                Some(latest) => Increment::Files { from: SnapshotId(latest.0 - 1), to: latest, part: Part::Delta },
                None => Increment::Nothing,
            },
            ScanMode::CompactedFull => rows(history.compacted(options.full_compaction_commits()?).await?, None),
            ScanMode::FromFileCreationTime => {
                let since = options.scan_file_creation_millis()?;
                rows(history.snapshots.travel().await?, since)
            }
            ScanMode::FromCreationTimestamp => {
                let Some(millis) = options.scan_creation_millis()? else { return Ok(None) };
                match history.since(millis).await? {
                    Since::From(id) if history.find(id).await?.is_some() => {
                        rows(Some(history.snapshots.get(id).await?), None)
                    }
                    _ => rows(history.snapshots.latest().await?, Some(millis)),
                }
            }
            _ => return Ok(None),
        };
        Ok(Some(found))
    }

    async fn between(&self, snapshots: &Snapshots) -> Result<Increment> {
        let options = self.table.options();
        if let Some(text) = options.incremental_between() {
            let (from, to) = pair("incremental-between", text)?;
            return self.between_points(snapshots, from, to).await;
        }
        if let Some(text) = options.incremental_between_timestamp() {
            let (from, to) = pair("incremental-between-timestamp", text)?;
            let time = |text: &str| text.parse().map_or_else(|_| snapshots.parse_time(text), Ok);
            let end = if to.is_empty() { i64::MAX } else { time(to)? };
            return self.between_times(snapshots, time(from)?, end).await;
        }
        match options.incremental_to_auto_tag() {
            Some(name) => Ok(match automatic_pair(&self.table, name.trim()).await? {
                Some((from, to)) => Increment::Difference { from: Some(Arc::new(from)), to: Arc::new(to) },
                None => Increment::Nothing,
            }),
            None => Err(Error::invalid("scan.mode is 'incremental', but no range is given")
                .with("table", self.table.name())
                .with_hint("set incremental-between, incremental-between-timestamp or incremental-to-auto-tag")),
        }
    }

    async fn between_points(&self, snapshots: &Snapshots, from: &str, to: &str) -> Result<Increment> {
        let options = self.table.options();
        let (start, end) = match (self.point(from).await?, self.end(snapshots, to).await?) {
            (Some(start), Some(end)) => (start, end),
            (Some(_), None) if to.is_empty() => return Ok(Increment::Nothing),
            _ => return Err(self.no_points(from, to).await?),
        };
        if end.id() < start.id() {
            let what = format!("incremental-between ends with {end} before it starts with {start}");
            return Err(self.invalid(what));
        }
        if start.id() == end.id() || (start.is_id() && end.is_id() && snapshots.earliest_id().await?.is_none()) {
            return Ok(Increment::Nothing);
        }
        let by_files = match start.is_id() && end.is_id() {
            true => options.incremental_source()? != IncrementalSource::Diff,
            false => options.incremental_tag_to_snapshot()?,
        };
        if by_files {
            return self.files(snapshots, start.id(), end.id()).await;
        }
        let from = match start {
            // Before the first snapshot there was nothing.
            Point::Id(SnapshotId(0)) if snapshots.earliest_id().await? == Some(SnapshotId::FIRST) => None,
            start => Some(start.snapshot(snapshots).await?),
        };
        Ok(Increment::Difference { from, to: end.snapshot(snapshots).await? })
    }

    /// A tag or a snapshot; `None` for text that names neither.
    async fn point(&self, text: &str) -> Result<Option<Point>> {
        if text.is_empty() {
            return Ok(None);
        }
        if let Some(tag) = Tags::new(&self.table).find(text).await? {
            return Ok(Some(Point::Tag(text.to_owned(), Arc::new(tag.snapshot))));
        }
        Ok(text.parse().ok().map(|id| Point::Id(SnapshotId(id))))
    }

    /// The same of an end, which is the latest snapshot when nothing is said.
    async fn end(&self, snapshots: &Snapshots, text: &str) -> Result<Option<Point>> {
        match text.is_empty() {
            true => Ok(snapshots.latest_id().await?.map(Point::Id)),
            false => self.point(text).await,
        }
    }

    async fn no_points(&self, from: &str, to: &str) -> Result<Error> {
        let what = format!("incremental-between is \"{from},{to}\", which does not name two tags or snapshots");
        let names = Tags::new(&self.table).list().await?.join(", ");
        Ok(self.invalid(what).with_hint(match names.is_empty() {
            true => "the table has no tags".to_owned(),
            false => format!("the tags are {names}"),
        }))
    }

    async fn between_times(&self, snapshots: &Snapshots, from: i64, to: i64) -> Result<Increment> {
        let (Some(earliest), Some(latest)) = (snapshots.earliest().await?, snapshots.latest().await?) else {
            return Ok(Increment::Nothing);
        };
        if to < from {
            return Err(self.invalid(format!("incremental-between-timestamp ends at {to}, before it starts at {from}")));
        }
        if from == to || from > latest.time_millis || to < earliest.time_millis {
            return Ok(Increment::Nothing);
        }
        let start = snapshots.at_or_before_time(from).await?;
        let end = snapshots.at_or_before_time(to).await?.unwrap_or(latest);
        if self.table.options().incremental_source()? == IncrementalSource::Diff {
            let from = start.or_else(|| (earliest.id != SnapshotId::FIRST).then_some(earliest));
            return Ok(Increment::Difference { from, to: end });
        }
        let from = start.map_or(SnapshotId(earliest.id.0 - 1), |start| start.id);
        Ok(Increment::Files { from, to: end.id, part: self.part()? })
    }

    /// The files between two snapshots, all of which must be there.
    async fn files(&self, snapshots: &Snapshots, from: SnapshotId, to: SnapshotId) -> Result<Increment> {
        let (earliest, latest) = (snapshots.earliest_id().await?, snapshots.latest_id().await?);
        let inside = |id: SnapshotId| earliest.is_some_and(|e| e <= id) && latest.is_some_and(|l| id <= l);
        if from != to && !(inside(from.next()) && inside(to)) {
            let e = Error::not_found(format!("some changes from snapshot {} to {to} have expired", from.next()));
            return Err(snapshots.out_of_range(e.with("table", self.table.name())).await);
        }
        Ok(Increment::Files { from, to, part: self.part()? })
    }

    fn part(&self) -> Result<Part> {
        let options = self.table.options();
        match options.incremental_source()? {
            IncrementalSource::Auto if options.changelog_producer()? == ChangelogProducer::None => Ok(Part::Delta),
            IncrementalSource::Delta => Ok(Part::Delta),
            IncrementalSource::Auto | IncrementalSource::Changelog => Ok(Part::Changelog),
            IncrementalSource::Diff => {
                Err(self
                    .invalid("incremental-between-scan-mode 'diff' compares states, not the snapshots between tags"))
            }
        }
    }

    fn invalid(&self, what: impl Into<String>) -> Error {
        Error::invalid(what).with("table", self.table.name())
    }
}

/// Where changes start or end.
enum Point {
    Tag(String, Arc<Snapshot>),
    Id(SnapshotId),
}

impl Point {
    fn id(&self) -> SnapshotId {
        match self {
            Self::Tag(_, snapshot) => snapshot.id,
            Self::Id(id) => *id,
        }
    }

    fn is_id(&self) -> bool {
        matches!(self, Self::Id(_))
    }

    async fn snapshot(self, snapshots: &Snapshots) -> Result<Arc<Snapshot>> {
        let id = match self {
            Self::Tag(_, snapshot) => return Ok(snapshot),
            Self::Id(id) => id,
        };
        match snapshots.get(id).await {
            Err(e) if e.kind() == ErrorKind::NotFound => Err(snapshots.out_of_range(e).await),
            result => result,
        }
    }
}

impl std::fmt::Display for Point {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Tag(name, snapshot) => write!(f, "tag '{name}' of snapshot {}", snapshot.id),
            Self::Id(id) => write!(f, "snapshot {id}"),
        }
    }
}

fn rows(snapshot: Option<Arc<Snapshot>>, made_since: Option<i64>) -> Increment {
    snapshot.map_or(Increment::Nothing, |snapshot| Increment::Rows { snapshot, made_since })
}

/// The two points of an option.
fn pair<'t>(key: &str, text: &'t str) -> Result<(&'t str, &'t str)> {
    match text.split(',').collect::<Vec<_>>().as_slice() {
        [from, to] if !from.trim().is_empty() => Ok((from.trim(), to.trim())),
        _ => Err(Error::invalid(format!("{key} is {text:?}, not a start and an end")).with_hint(format!(
            "such as '{key}'='5,10', or '5,' up to the latest; changes of the start itself are not read"
        ))),
    }
}
