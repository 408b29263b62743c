//! The history in order: every change applies to what was there, counts add up, and the latest snapshot is the sum of all.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use linn_format::manifest::{EntryBatch, FileKind, IndexManifestEntry, ManifestMeta};
use linn_format::snapshot::{CommitKind, Snapshot, parse_hint};
use linn_format::{ErrorKind, Result, SchemaId, SnapshotId};

use super::disk::Disk;
use super::live::{Live, Wanted, note};
use super::metadata::Metadata;
use super::report::{Report, Rule};
use super::{bucket, index};
use crate::schema::Schemas;
use crate::snapshot::Snapshots;
use crate::table::Table;

/// Differences that are named one by one.
const NAMED: usize = 5;

/// A history as far as it was followed.
pub(super) struct Walk<'t> {
    table: &'t Table,
    snapshots: Snapshots,
    pub(super) schemas: BTreeSet<SchemaId>,
    pub(super) metadata: Metadata<'t>,
    pub(super) disk: Disk<'t>,
    /// The oldest and the newest snapshot that could be read.
    pub(super) earliest: Option<SnapshotId>,
    pub(super) latest: Option<Arc<Snapshot>>,
    /// The files of the newest one; `None` when they are not known.
    pub(super) live: Option<Live>,
    pub(super) lines: Vec<IndexManifestEntry>,
    wanted: Wanted,
    commits: HashMap<(String, i64, CommitKind), SnapshotId>,
}

impl<'t> Walk<'t> {
    pub(super) fn new(table: &'t Table) -> Self {
        Self {
            table,
            snapshots: Snapshots::new(table),
            schemas: BTreeSet::new(),
            metadata: Metadata::new(table),
            disk: Disk::new(table),
            earliest: None,
            latest: None,
            live: None,
            lines: Vec::new(),
            wanted: Wanted::new(),
            commits: HashMap::new(),
        }
    }

    pub(super) async fn run(&mut self, report: &mut Report) -> Result<()> {
        let schemas = Schemas::new(self.table);
        for id in schemas.list().await? {
            if report.read(schemas.get(id).await, format!("{}/schema-{id}", self.table.schema_dir()))?.is_some() {
                self.schemas.insert(id);
            }
        }
        if self.schemas.is_empty() {
            report.fault(Rule::Schemas, self.table.schema_dir(), "holds no schema that can be read");
        }
        let ids = self.snapshots.list().await?;
        self.hints(&ids, report).await?;
        for id in ids {
            let snapshot = match self.snapshots.get(id).await {
                // Expired or rolled back meanwhile.
                Err(e) if e.kind() == ErrorKind::NotFound => continue,
                result => report.read(result, self.snapshots.path(id))?,
            };
            match snapshot {
                Some(snapshot) => self.step(snapshot, report).await?,
                // What follows cannot be compared with what was before.
                None => (self.live, self.latest) = (None, None),
            }
        }
        self.sum(report).await?;
        self.files(report).await
    }

    async fn hints(&self, ids: &[SnapshotId], report: &mut Report) -> Result<()> {
        let first = ids.first().copied();
        for name in ["LATEST", "EARLIEST"] {
            let path = format!("{}/{name}", self.table.snapshot_dir());
            let bytes = match self.table.storage().read(&path, None).await {
                Err(e) if e.kind() == ErrorKind::NotFound => continue,
                result => result?,
            };
            let Some(hint) = parse_hint(&bytes) else {
                report.warn(Rule::Hint, &path, "is not a number").advise("delete the file; it only saves a listing");
                continue;
            };
            match (name, first) {
                ("LATEST", None) if hint.0 > 0 => {
                    let advice = "restore the snapshots; without the file LATEST beside them the table is empty";
                    report.fault(Rule::History, &path, "points to snapshots, but there are none").advise(advice);
                }
                ("EARLIEST", Some(first)) if first < hint && ids.contains(&hint) => {
                    let what = format!(
                        "snapshots from {first} on are older than the earliest, {hint}: an expiry was interrupted"
                    );
                    report.warn(Rule::Hint, &path, what).advise("run `linn snapshot expire` to finish it").until(first);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// One snapshot more.
    async fn step(&mut self, snapshot: Arc<Snapshot>, report: &mut Report) -> Result<()> {
        report.snapshots += 1;
        let (id, path) = (snapshot.id, self.snapshots.path(snapshot.id));
        self.earliest.get_or_insert(id);
        self.successor(&snapshot, &path, report);
        let Some(delta) = self.list(&snapshot, false, report).await? else {
            (self.live, self.latest) = (None, Some(snapshot));
            return Ok(());
        };
        // One that only replaces the manifests says what it holds by its base.
        let replaced = snapshot.commit_kind == CommitKind::Overwrite && delta.is_empty();
        let next = !replaced && self.latest.as_ref().is_some_and(|last| last.id.next() == id);
        let mut live = self.live.take().filter(|_| next);
        let base = self.list(&snapshot, true, report).await?;
        match (&live, base) {
            (Some(_), Some(base)) => self.there(&base, id, report).await?,
            (None, Some(base)) => live = self.begin(&base, id, report).await?,
            (_, None) => live = None,
        }
        if let Some(before) = live.take()
            && let Some((after, grown)) = self.apply(before, &delta, id, report).await?
        {
            for (said, is, what) in [
                (snapshot.delta_record_count, grown, "changes the rows by"),
                (snapshot.total_record_count, after.rows, "has rows:"),
            ] {
                if let Some(said) = said.filter(|said| *said != is) {
                    report.fault(Rule::Counts, &path, format!("{what} {is}, not {said}")).until(id);
                }
            }
            live = Some(after);
        }
        self.changelog(&snapshot, &path, report).await?;
        self.index(&snapshot, live.as_ref(), report).await?;
        if let Some(live) = &live {
            bucket::check(self.table, live, &self.schemas, id, report)?;
        }
        (self.live, self.latest) = (live, Some(snapshot));
        Ok(())
    }

    /// Compares a snapshot with the one before it.
    fn successor(&mut self, snapshot: &Snapshot, path: &str, report: &mut Report) {
        let id = snapshot.id;
        if !self.schemas.contains(&snapshot.schema_id) {
            report
                .fault(Rule::Schemas, path, format!("has schema {}, which does not exist", snapshot.schema_id))
                .until(id);
        }
        let identifier = snapshot.commit_identifier;
        if identifier != i64::MAX && matches!(snapshot.commit_kind, CommitKind::Append | CommitKind::Compact) {
            let commit = (snapshot.commit_user.clone(), identifier, snapshot.commit_kind);
            if let Some(other) = self.commits.insert(commit, id) {
                let what = format!("is commit {identifier} of user {}, as snapshot {other} is", snapshot.commit_user);
                report.fault(Rule::Once, path, what).advise("the rows of a commit exist twice; roll back").until(other);
            }
        }
        let Some(last) = &self.latest else { return };
        if last.id.next() != id {
            let what = format!("follows snapshot {}: those between are missing", last.id);
            report.fault(Rule::History, path, what).advise("expire the snapshots before the gap").until(last.id);
            return;
        }
        if snapshot.time_millis < last.time_millis {
            let what = format!("is {} ms older than the one before", last.time_millis - snapshot.time_millis);
            report.warn(Rule::History, path, what).advise("check the clocks of the writers").until(last.id);
        }
        if last.watermark.is_some() && snapshot.watermark < last.watermark {
            report.warn(Rule::History, path, "has a watermark before that of the snapshot before").until(last.id);
        }
    }

    async fn list(
        &mut self,
        snapshot: &Snapshot,
        base: bool,
        report: &mut Report,
    ) -> Result<Option<Vec<ManifestMeta>>> {
        let (name, size) = match base {
            true => (&snapshot.base_manifest_list, snapshot.base_manifest_list_size),
            false => (&snapshot.delta_manifest_list, snapshot.delta_manifest_list_size),
        };
        self.metadata.list(name, size, snapshot.id, report).await
    }

    /// Applies manifests in order, and takes down which files they want. `None` when one of them cannot be read; the other part
    /// is by how much the rows grew.
    async fn apply(
        &mut self,
        live: Live,
        manifests: &[ManifestMeta],
        id: SnapshotId,
        report: &mut Report,
    ) -> Result<Option<(Live, i64)>> {
        let mut sum = Sum::new(live);
        for meta in manifests {
            let path = self.table.manifest_path(&meta.file_name);
            if let Some(batch) = self.metadata.entries(meta, id, report).await? {
                sum.add(&batch, id, &path, report)?;
                report.read(note(self.table, &batch, id, &mut self.wanted), &path)?;
            } else {
                sum.whole = false;
            }
        }
        Ok(sum.done())
    }

    /// Applies the manifests of a whole table. What they both add and remove is wanted by no snapshot that is left on their account:
    /// they tell of files that went long ago.
    async fn begin(&mut self, base: &[ManifestMeta], id: SnapshotId, report: &mut Report) -> Result<Option<Live>> {
        let before = std::mem::take(&mut self.wanted);
        let applied = self.apply(Live::default(), base, id, report).await;
        let held = std::mem::replace(&mut self.wanted, before);
        let applied = applied?;
        let is_live = |last: SnapshotId| last == SnapshotId(i64::MAX);
        if applied.is_some() {
            for (path, (_, last)) in self.wanted.iter_mut().filter(|(_, (_, last))| is_live(*last)) {
                if !held.get(path).is_some_and(|(_, last)| is_live(*last)) {
                    *last = SnapshotId(id.0 - 1);
                }
            }
        }
        self.wanted.extend(held.into_iter().filter(|(_, (_, last))| is_live(*last)));
        Ok(applied.map(|(live, _)| live))
    }

    /// Manifests that were not read must be there all the same.
    async fn there(&mut self, manifests: &[ManifestMeta], id: SnapshotId, report: &mut Report) -> Result<()> {
        for meta in manifests.iter().filter(|meta| !self.metadata.has_seen(&meta.file_name)) {
            let path = self.table.manifest_path(&meta.file_name);
            sized(&mut self.disk, &path, Some(meta.file_size), id, report).await?;
        }
        Ok(())
    }

    async fn changelog(&mut self, snapshot: &Snapshot, path: &str, report: &mut Report) -> Result<()> {
        let Some(list) = &snapshot.changelog_manifest_list else { return Ok(()) };
        let id = snapshot.id;
        let size = snapshot.changelog_manifest_list_size;
        let Some(metas) = self.metadata.list(list, size, id, report).await? else { return Ok(()) };
        let (mut rows, mut whole) = (0_i64, true);
        for meta in metas {
            let Some(batch) = self.metadata.entries(&meta, id, report).await? else {
                whole = false;
                continue;
            };
            let added = (0..batch.len()).filter(|i| batch.kind(*i) == FileKind::Add);
            rows = added.map(|i| batch.row_count(i)).fold(rows, i64::saturating_add);
            let mut wanted = Wanted::new();
            report.read(note(self.table, &batch, id, &mut wanted), self.table.manifest_path(&meta.file_name))?;
            // A changelog file goes with its snapshot.
            wanted.values_mut().for_each(|(_, last)| *last = id);
            self.wanted.extend(wanted);
        }
        if let Some(said) = snapshot.changelog_record_count.filter(|said| whole && *said != rows) {
            report.fault(Rule::Counts, path, format!("has a changelog of {rows} rows, not {said}")).until(id);
        }
        Ok(())
    }

    async fn index(&mut self, snapshot: &Snapshot, live: Option<&Live>, report: &mut Report) -> Result<()> {
        let id = snapshot.id;
        let last = self.latest.as_ref().and_then(|last| last.index_manifest.as_ref());
        if snapshot.index_manifest.as_ref() != last || snapshot.index_manifest.is_none() {
            self.lines = match &snapshot.index_manifest {
                Some(name) => self.metadata.index(name, id, report).await?.unwrap_or_default(),
                None => Vec::new(),
            };
            for line in &self.lines {
                let Some(path) = report.read(self.table.index_file_path(line), &line.file_name)? else { continue };
                sized(&mut self.disk, &path, Some(line.file_size), id, report).await?;
            }
        }
        index::check(self.table, &self.lines, live, id, report)
    }

    /// The latest snapshot read by itself must be what the changes came to.
    async fn sum(&mut self, report: &mut Report) -> Result<()> {
        let (Some(latest), Some(live)) = (self.latest.clone(), self.live.take()) else { return Ok(()) };
        if self.earliest == Some(latest.id) {
            self.live = Some(live);
            return Ok(());
        }
        let base = self.list(&latest, true, report).await?;
        let delta = self.list(&latest, false, report).await?;
        let (Some(mut all), Some(delta)) = (base, delta) else { return Ok(()) };
        all.extend(delta);
        // Which snapshots need which files is known from the walk: these manifests still tell of files that went before it.
        let mut whole = Sum::new(Live::default());
        for meta in &all {
            match self.metadata.entries(meta, latest.id, report).await? {
                Some(batch) => whole.add(&batch, latest.id, &self.table.manifest_path(&meta.file_name), report)?,
                None => whole.whole = false,
            }
        }
        let Some((whole, _)) = whole.done() else { return Ok(()) };
        let path = self.snapshots.path(latest.id);
        let lost: Vec<_> = live.files.iter().filter(|(key, facts)| whole.files.get(key) != Some(*facts)).collect();
        let made: Vec<_> = whole.files.iter().filter(|(key, _)| !live.files.contains_key(key)).collect();
        for (files, what) in [(lost, "lacks"), (made, "should not have")] {
            for (key, _) in files.iter().take(NAMED) {
                report.fault(Rule::Files, &path, format!("{what} file {} of bucket {}", key.name, key.bucket));
            }
            if files.len() > NAMED {
                report.fault(Rule::Files, &path, format!("{what} {} more files", files.len() - NAMED));
            }
        }
        self.live = Some(whole);
        Ok(())
    }

    /// Looks for the files.
    async fn files(&mut self, report: &mut Report) -> Result<()> {
        let Some(earliest) = self.earliest else { return Ok(()) };
        let latest = self.latest.as_ref().map_or(earliest, |latest| latest.id);
        let mut wanted: Vec<(String, (Option<i64>, SnapshotId))> = self.wanted.drain().collect();
        wanted.sort_unstable();
        for (path, (size, last)) in wanted.into_iter().filter(|(_, (_, last))| *last >= earliest) {
            report.files += 1;
            sized(&mut self.disk, &path, size, last.min(latest), report).await?;
        }
        Ok(())
    }

    /// Takes back what was found about snapshots that have expired, or were rolled back, since.
    pub(super) async fn forgive(&self, report: &mut Report) -> Result<()> {
        let mut there = HashMap::new();
        for id in report.findings.iter().filter_map(|finding| finding.snapshot).collect::<BTreeSet<_>>() {
            there.insert(id, self.snapshots.exists(id).await?);
        }
        report.findings.retain(|finding| finding.snapshot.is_none_or(|id| there.get(&id) != Some(&false)));
        Ok(())
    }
}

/// Files as manifests in a row add and remove them.
struct Sum {
    live: Live,
    /// By how much the rows grew.
    grown: i64,
    /// Whether all manifests could be applied.
    whole: bool,
}

impl Sum {
    fn new(live: Live) -> Self {
        Self { live, grown: 0, whole: true }
    }

    fn add(&mut self, batch: &EntryBatch, id: SnapshotId, path: &str, report: &mut Report) -> Result<()> {
        let applied = self.live.apply(batch, id, path, report);
        match report.read(applied, path)? {
            Some(more) => self.grown = self.grown.saturating_add(more),
            None => self.whole = false,
        }
        Ok(())
    }

    fn done(self) -> Option<(Live, i64)> {
        self.whole.then_some((self.live, self.grown))
    }
}

/// Looks for a file in its size.
pub(super) async fn sized(
    disk: &mut Disk<'_>,
    path: &str,
    size: Option<i64>,
    at: SnapshotId,
    report: &mut Report,
) -> Result<()> {
    let advice = "restore the file, roll back to before it was made, or call sys.remove_unexisting_files to go on without its rows";
    match (disk.size(path).await?, size) {
        (None, _) => drop(report.fault(Rule::Reachable, path, "is missing").advise(advice).until(at)),
        (Some(is), Some(said)) if i64::try_from(is) != Ok(said) => {
            report.fault(Rule::Reachable, path, format!("has {is} bytes, not {said}")).advise(advice).until(at);
        }
        _ => {}
    }
    Ok(())
}
