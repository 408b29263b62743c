//! What stands beside the history: tags, changelogs, consumers, statistics.

use linn_format::snapshot::{Consumer, Snapshot};
use linn_format::{ErrorKind, Result, ResultExt, SnapshotId};

use super::history::{Walk, sized};
use super::live::{Live, Wanted, note};
use super::report::{Report, Rule};
use crate::snapshot::{Changelogs, Tags};
use crate::table::Table;

pub(super) async fn check(table: &Table, walk: &mut Walk<'_>, report: &mut Report) -> Result<()> {
    tags(table, walk, report).await?;
    changelogs(table, walk, report).await?;
    consumers(table, walk, report).await?;
    let Some(latest) = walk.latest.clone() else { return Ok(()) };
    if let Some(name) = &latest.statistics {
        let path = table.statistics_path(name);
        let Some(bytes) = report.read(table.storage().read(&path, None).await, &path)? else { return Ok(()) };
        if serde_json::from_slice::<serde_json::Value>(&bytes).is_err() {
            let advice = "run ANALYZE TABLE again; reads work without";
            report.warn(Rule::Readable, &path, "is not JSON").advise(advice).until(latest.id);
        }
    }
    Ok(())
}

async fn tags(table: &Table, walk: &mut Walk<'_>, report: &mut Report) -> Result<()> {
    let tags = Tags::new(table);
    for name in tags.list().await? {
        let place = format!("tag {name}");
        let before = report.findings.len();
        if let Some(Some(tag)) = report.read(tags.find(&name).await, &place)? {
            let found = report.findings.len();
            if walk.earliest.is_none_or(|earliest| tag.snapshot.id < earliest) {
                whole(table, walk, &tag.snapshot, report).await?;
            }
            for finding in report.findings.iter_mut().skip(found) {
                finding.place = format!("{place}: {}", finding.place);
                // It does not end with the snapshot.
                finding.snapshot = None;
            }
        }
        if report.findings.len() > before && matches!(tags.find(&name).await, Ok(None)) {
            report.findings.truncate(before);
        }
    }
    Ok(())
}

/// A snapshot by itself.
async fn whole(table: &Table, walk: &mut Walk<'_>, snapshot: &Snapshot, report: &mut Report) -> Result<()> {
    let id = snapshot.id;
    let (mut live, mut wanted) = (Live::default(), Wanted::new());
    for (list, size) in [
        (&snapshot.base_manifest_list, snapshot.base_manifest_list_size),
        (&snapshot.delta_manifest_list, snapshot.delta_manifest_list_size),
    ] {
        for meta in walk.metadata.list(list, size, id, report).await?.unwrap_or_default() {
            let path = table.manifest_path(&meta.file_name);
            let Some(batch) = walk.metadata.entries(&meta, id, report).await? else { continue };
            let applied = live.apply(&batch, id, &path, report);
            report.read(applied, &path)?;
            report.read(note(table, &batch, id, &mut wanted), &path)?;
        }
    }
    for (path, (size, last)) in wanted {
        if last >= id {
            report.files += 1;
            sized(&mut walk.disk, &path, size, id, report).await?;
        }
    }
    if let Some(name) = &snapshot.index_manifest {
        let lines = walk.metadata.index(name, id, report).await?.unwrap_or_default();
        for line in &lines {
            let Some(path) = report.read(table.index_file_path(line), &line.file_name)? else { continue };
            sized(&mut walk.disk, &path, Some(line.file_size), id, report).await?;
        }
        super::index::check(table, &lines, Some(&live), id, report)?;
    }
    Ok(())
}

async fn changelogs(table: &Table, walk: &mut Walk<'_>, report: &mut Report) -> Result<()> {
    let changelogs = Changelogs::new(table);
    let mut last: Option<SnapshotId> = None;
    for id in changelogs.list().await? {
        let path = changelogs.path(id);
        let before = report.findings.len();
        let Some(Some(changelog)) = report.read(changelogs.find(id).await, &path)? else { continue };
        if last.is_some_and(|last| last.next() != id) {
            let what = format!("follows changelog {}: those between are missing", last.map_or(0, |last| last.0));
            report.fault(Rule::Changelog, &path, what).advise("expire the changelogs before the gap");
        }
        last = Some(id);
        if let Some(list) = &changelog.changelog_manifest_list {
            let size = changelog.changelog_manifest_list_size;
            let mut wanted = Wanted::new();
            for meta in walk.metadata.list(list, size, id, report).await?.unwrap_or_default() {
                if let Some(batch) = walk.metadata.entries(&meta, id, report).await? {
                    report.read(note(table, &batch, id, &mut wanted), &path)?;
                }
            }
            for (path, (size, _)) in wanted {
                report.files += 1;
                sized(&mut walk.disk, &path, size, id, report).await?;
            }
        }
        for finding in report.findings.iter_mut().skip(before) {
            finding.snapshot = None;
        }
        if report.findings.len() > before && changelogs.find(id).await.is_ok_and(|found| found.is_none()) {
            report.findings.truncate(before);
        }
    }
    if let (Some(last), Some(earliest)) = (last, walk.earliest)
        && last.next() < earliest
    {
        let what = format!("end with {last}, but snapshots begin with {earliest}: changes between are lost to readers");
        report.warn(Rule::Changelog, table.changelog_dir(), what).advise("expire all changelogs with delete_all");
    }
    Ok(())
}

async fn consumers(table: &Table, walk: &Walk<'_>, report: &mut Report) -> Result<()> {
    for entry in table.storage().list(&table.consumer_dir()).await? {
        let is_consumer = entry.path.rsplit('/').next().is_some_and(|name| name.starts_with("consumer-"));
        if !is_consumer {
            continue;
        }
        let bytes = match table.storage().read(&entry.path, None).await {
            Err(e) if e.kind() == ErrorKind::NotFound => continue,
            result => result?,
        };
        let consumer = Consumer::from_json(&bytes).context("path", &entry.path);
        let Some(consumer) = report.read(consumer, &entry.path)? else { continue };
        let next = consumer.next_snapshot;
        let advice = "reset or clear the consumer";
        match (walk.earliest, &walk.latest) {
            (Some(earliest), _) if next < earliest => {
                let what = format!("waits for snapshot {next}, which has expired; the earliest is {earliest}");
                report.warn(Rule::Readers, &entry.path, what).advise(advice);
            }
            (_, Some(latest)) if next > latest.id.next() => {
                let what = format!("waits for snapshot {next}, but the latest is {}", latest.id);
                report.warn(Rule::Readers, &entry.path, what).advise(advice);
            }
            _ => {}
        }
    }
    Ok(())
}
