//! What stays and may share files with what goes: tags, and the other branches, whose data lies in the same folders (cases: E3).
//!
//! Consecutive snapshots hand files on, so a file that a snapshot removes can only be in the tags of the snapshots just before
//! it. What is here but cannot be read is an error, never a reason to take its files for unused.

use std::collections::HashSet;
use std::sync::Arc;

use futures::{StreamExt, TryStreamExt};
use linn_format::manifest::{ManifestMeta, StatsColumns};
use linn_format::options::ChangelogProducer;
use linn_format::snapshot::{CommitKind, Snapshot};
use linn_format::{ErrorKind, Result, ResultExt};

use super::candidates::Candidates;
use super::removal::at_once;
use crate::manifest::{ListName, Manifests};
use crate::schema::is_made;
use crate::snapshot::{Changelogs, Snapshots, Tags};
use crate::table::Table;

/// Snapshots whose files stay.
#[derive(Debug, Clone, Default)]
pub(crate) struct Guard {
    /// Everything that these have stays.
    pub(crate) whole: Vec<Arc<Snapshot>>,
    /// What these have added stays; the rest is in one of the others.
    pub(crate) added: Vec<Arc<Snapshot>>,
    /// What is there of these stays, but nothing of it must be there: they are of branches whose making was cut off, or changelogs of
    /// what branches begin with.
    pub(crate) begun: Vec<Arc<Snapshot>>,
    /// Changelogs without files of their own: what these have added stays, as far as their lists are there, and the lists do.
    pub(crate) as_changelog: Vec<Arc<Snapshot>>,
    /// Changelogs whose lists tell what goes with them: the lists stay, as far as they are there.
    pub(crate) lists: Vec<Arc<Snapshot>>,
}

impl Guard {
    /// Whether it keeps nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.whole.is_empty() && self.added.is_empty() && self.begun.is_empty() && self.as_changelog.is_empty()
    }

    /// Takes the files that stay out of `candidates`.
    ///
    /// # Errors
    /// `NotFound` or `Corrupt` with the path of a manifest that cannot be read: then nothing may be deleted.
    pub(crate) async fn spare(&self, table: &Table, candidates: &mut Candidates) -> Result<()> {
        let manifests = Manifests::new(table);
        let mut done = HashSet::new();
        for snapshot in &self.whole {
            if candidates.is_empty() {
                return Ok(());
            }
            // Several tags of one snapshot.
            if !done.insert((&snapshot.base_manifest_list, &snapshot.delta_manifest_list)) {
                continue;
            }
            let all = manifests.of_snapshot(snapshot).await.context("snapshot", snapshot.id)?;
            each(table, &manifests, &all, candidates, Candidates::follow).await.context("snapshot", snapshot.id)?;
            candidates.keep_there();
        }
        for snapshot in &self.begun {
            for list in ListName::of_data(snapshot) {
                for meta in there(manifests.peek_list(list).await)?.unwrap_or_default() {
                    if let Some(batch) = there(manifests.manifest_of(&meta, StatsColumns::Keys).await)? {
                        candidates.keep_added(&batch);
                    }
                }
            }
        }
        let as_changelog = self.as_changelog.iter().map(|snapshot| (snapshot, false));
        for (snapshot, must_be) in self.added.iter().map(|snapshot| (snapshot, true)).chain(as_changelog) {
            if candidates.is_empty() {
                return Ok(());
            }
            let [base, delta] = ListName::of_data(snapshot);
            let mut all = match manifests.peek_list(delta).await {
                // Nobody can read it as a changelog without that.
                Err(e) if !must_be && e.kind() == ErrorKind::NotFound => continue,
                result => result?,
            };
            if all.is_empty() && snapshot.commit_kind == CommitKind::Overwrite {
                // It replaced the manifests as a whole.
                all = manifests.peek_list(base).await?;
            }
            if let Some(list) = ListName::of_changelog(snapshot) {
                all.extend(manifests.peek_list(list).await?);
            }
            each(table, &manifests, &all, candidates, Candidates::keep_added).await.context("snapshot", snapshot.id)?;
        }
        Ok(())
    }

    /// Names of the metadata files and index files that stay.
    ///
    /// # Errors
    /// As [`spare`](Self::spare).
    pub(crate) async fn names(&self, table: &Table) -> Result<HashSet<String>> {
        let mut names = HashSet::new();
        let manifests = Manifests::new(table);
        for snapshot in self.whole.iter().chain(&self.added) {
            for list in ListName::of_data(snapshot) {
                if names.insert(list.name.to_owned()) {
                    names.extend(manifests.peek_list(list).await?.into_iter().map(|manifest| manifest.file_name));
                }
            }
            if let Some(index) = &snapshot.index_manifest
                && names.insert(index.clone())
            {
                names.extend(manifests.read_index(index).await?.into_iter().map(|line| line.file_name));
            }
            names.extend(snapshot.statistics.clone());
        }
        for snapshot in &self.begun {
            for list in ListName::of_data(snapshot) {
                let metas = there(manifests.peek_list(list).await)?.unwrap_or_default();
                names.extend(metas.into_iter().map(|manifest| manifest.file_name).chain([list.name.to_owned()]));
            }
            if let Some(index) = &snapshot.index_manifest {
                let lines = there(manifests.read_index(index).await)?.unwrap_or_default();
                names.extend(lines.into_iter().map(|line| line.file_name).chain([index.clone()]));
            }
            names.extend(snapshot.statistics.clone());
        }
        for changelog in self.as_changelog.iter().chain(&self.lists) {
            names.extend(names_that_are_there(table, changelog).await?);
        }
        // The changelog of a snapshot goes with it, whatever tags there are.
        for list in self.added.iter().filter_map(|snapshot| ListName::of_changelog(snapshot)) {
            if names.insert(list.name.to_owned()) {
                names.extend(manifests.peek_list(list).await?.into_iter().map(|manifest| manifest.file_name));
            }
        }
        Ok(names)
    }
}

/// Shows the candidates the entries of manifests, in order, reading ahead.
async fn each(
    table: &Table,
    manifests: &Manifests,
    list: &[ManifestMeta],
    candidates: &mut Candidates,
    show: fn(&mut Candidates, &linn_format::manifest::EntryBatch),
) -> Result<()> {
    let wanted: Vec<ManifestMeta> = list.iter().filter(|m| candidates.may_be_in(m)).cloned().collect();
    let read = |meta: ManifestMeta| async move { manifests.manifest_of(&meta, StatsColumns::Keys).await };
    let mut batches = futures::stream::iter(wanted.into_iter().map(read)).buffered(at_once(table)?);
    while let Some(batch) = batches.try_next().await? {
        show(candidates, &batch);
    }
    Ok(())
}

/// What is there of something of which nothing must be there.
fn there<T>(result: Result<T>) -> Result<Option<T>> {
    match result {
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
        result => result.map(Some),
    }
}

/// Names of the lists of a changelog, and of what they name, as far as they are there still.
///
/// # Errors
/// `Corrupt` with the path of a list that cannot be read.
pub(crate) async fn names_that_are_there(table: &Table, changelog: &Snapshot) -> Result<HashSet<String>> {
    let manifests = Manifests::new(table);
    let mut names = HashSet::new();
    for list in ListName::of_data(changelog).into_iter().chain(ListName::of_changelog(changelog)) {
        if let Some(metas) = there(manifests.peek_list(list).await)? {
            names.extend(metas.into_iter().map(|meta| meta.file_name).chain([list.name.to_owned()]));
        }
    }
    Ok(names)
}

/// The snapshots of all tags, by number, with the names of the tags.
///
/// # Errors
/// `Corrupt` with the path of a tag that cannot be read.
pub(crate) async fn tags(table: &Table) -> Result<Vec<(String, Arc<Snapshot>)>> {
    let tags = Tags::new(table);
    let find = |name: String| {
        let tags = tags.clone();
        // One that is gone by now is no tag.
        async move { Ok::<_, linn_format::Error>(tags.find(&name).await?.map(|tag| (name, Arc::new(tag.snapshot)))) }
    };
    let names = tags.list().await?;
    let found: Vec<Option<(String, Arc<Snapshot>)>> =
        futures::stream::iter(names.into_iter().map(find)).buffered(at_once(table)?).try_collect().await?;
    let mut found: Vec<_> = found.into_iter().flatten().collect();
    found.sort_by_key(|(_, snapshot)| snapshot.id);
    Ok(found)
}

/// Those of the tagged snapshots, which are in order, that can have files of snapshots from `begin` to before `end`: all
/// between them, and the last one not after `begin`.
pub(crate) fn tags_around(tagged: &[Arc<Snapshot>], begin: i64, end: i64) -> Vec<Arc<Snapshot>> {
    let from = tagged.iter().rposition(|snapshot| snapshot.id.0 <= begin).unwrap_or(0);
    tagged.iter().skip(from).filter(|snapshot| snapshot.id.0 < end).cloned().collect()
}

/// The table at every branch but its own.
///
/// # Errors
/// `Unavailable` when the store cannot be listed.
pub(crate) async fn other_branches(table: &Table) -> Result<Vec<Table>> {
    let entries = table.storage().list(&format!("{}/branch", table.path())).await?;
    let names = entries.iter().filter(|entry| entry.is_dir());
    let names = names.filter_map(|entry| entry.path.trim_end_matches('/').rsplit('/').next()?.strip_prefix("branch-"));
    let mut names: Vec<&str> = names.filter(|name| Some(*name) != table.branch()).collect();
    if table.branch().is_some() {
        names.push("main");
    }
    names.into_iter().map(|name| table.with_options(&[("branch", name)].into_iter().collect())).collect()
}

/// What the other branches have: of each the oldest snapshot, what the later ones and its changelogs added, and its tags. Of those
/// whose making was cut off, what is there.
///
/// # Errors
/// `Corrupt` with the path of what cannot be read.
pub(crate) async fn of_branches(table: &Table) -> Result<Guard> {
    of_new_branches(table, &HashSet::new()).await.map(|(guard, _)| guard)
}

/// As [`of_branches`], of those that are not `known` by now, and the names of all.
///
/// # Errors
/// As [`of_branches`].
pub(crate) async fn of_new_branches(table: &Table, known: &HashSet<String>) -> Result<(Guard, HashSet<String>)> {
    let (mut guard, mut names) = (Guard::default(), HashSet::new());
    for branch in other_branches(table).await? {
        let name = branch.branch().unwrap_or_default().to_owned();
        let is_new = !known.contains(&name);
        names.insert(name);
        if !is_new {
            continue;
        }
        let is_made = is_made(&branch).await?;
        let tagged = tags(&branch).await?.into_iter().map(|(_, snapshot)| snapshot);
        if is_made {
            guard.whole.extend(tagged)
        } else {
            guard.begun.extend(tagged)
        }
        let snapshots = Snapshots::new(&branch);
        let mut first = true;
        for id in snapshots.list().await? {
            match snapshots.get(id).await {
                Ok(snapshot) if !is_made => guard.begun.push(snapshot),
                Ok(snapshot) if std::mem::take(&mut first) => {
                    // It may be that of a tag, whose changelog went with the snapshot that was tagged.
                    guard.begun.extend(snapshot.changelog_manifest_list.as_ref().map(|_| only_changelog(&snapshot)));
                    guard.whole.push(snapshot);
                }
                Ok(snapshot) => guard.added.push(snapshot),
                Err(e) if e.kind() == ErrorKind::NotFound => {}
                Err(e) => return Err(e),
            }
        }
        let changelogs = Changelogs::new(&branch);
        for id in changelogs.list().await? {
            // Of a changelog only that part has to be there which it was kept for.
            if let Some(changelog) = changelogs.find(id).await?
                && changelog.changelog_manifest_list.is_some()
            {
                guard.added.push(only_changelog(&changelog));
            }
        }
    }
    Ok((guard, names))
}

/// Changelogs that have no files of their own. Without a producer the new files of commits stay for readers of changes, and so
/// do the lists of compactions, which tell what goes with them. With a producer nobody reads new files as changes, and the lists
/// went with their snapshots.
///
/// # Errors
/// `Corrupt` with the path of a changelog that cannot be read.
pub(crate) async fn without_files(table: &Table) -> Result<Guard> {
    let (mut guard, changelogs) = (Guard::default(), Changelogs::new(table));
    if table.options().changelog_producer()? != ChangelogProducer::None {
        return Ok(guard);
    }
    for id in changelogs.list().await? {
        match changelogs.find(id).await? {
            Some(changelog) if changelog.changelog_manifest_list.is_some() => {}
            Some(changelog) if changelog.commit_kind == CommitKind::Compact => guard.lists.push(changelog),
            Some(changelog) => guard.as_changelog.push(changelog),
            None => {}
        }
    }
    Ok(guard)
}

/// A changelog whose lists of data are gone with its snapshot.
fn only_changelog(changelog: &Snapshot) -> Arc<Snapshot> {
    let (list, size) =
        (changelog.changelog_manifest_list.clone().unwrap_or_default(), changelog.changelog_manifest_list_size);
    let lists = Snapshot { base_manifest_list: list.clone(), delta_manifest_list: list, ..changelog.clone() };
    let lists = Snapshot { base_manifest_list_size: size, delta_manifest_list_size: size, ..lists };
    Arc::new(Snapshot { changelog_manifest_list: None, index_manifest: None, statistics: None, ..lists })
}
