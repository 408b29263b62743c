//! Everything that is used: by all branches, and in each by all snapshots, tags and changelogs.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use futures::{StreamExt, TryStreamExt};
use linn_format::manifest::{EntryBatch, FileKind, StatsColumns};
use linn_format::snapshot::Snapshot;
use linn_format::{Error, ErrorKind, Result, SnapshotId};

use super::super::guard::other_branches;
use super::super::removal::{Doomed, at_once};
use crate::file::place_of;
use crate::manifest::Manifests;
use crate::schema::Schemas;
use crate::snapshot::{Changelogs, Snapshots, Tags};
use crate::table::Table;

/// How often the histories are listed until nothing new is there.
const ROUNDS: usize = 100;

/// One thing that uses files.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum User {
    Snapshot(String, SnapshotId),
    Changelog(String, SnapshotId),
    Tag(String, String),
}

/// Takes the files that are used out of the candidates. How many things use any.
///
/// # Errors
/// `NotFound` or `Corrupt` with the path of what is there but cannot be read, `Unavailable` when commits come so fast that
/// their history never holds still.
pub(super) async fn spare(table: &Table, candidates: &mut HashMap<String, Doomed>) -> Result<usize> {
    let mut read: HashSet<User> = HashSet::new();
    let mut used = Used { table, manifests: Manifests::new(table), lists: HashSet::new(), names: HashSet::new() };
    for _ in 0..ROUNDS {
        let mut new = false;
        for branch in other_branches(table).await?.into_iter().chain([table.clone()]) {
            for (user, snapshot) in users(&branch, &read).await? {
                used.spare(&branch, &user, &snapshot, candidates).await?;
                read.insert(user);
                new = true;
            }
        }
        if !new {
            return Ok(read.len());
        }
    }
    Err(Error::unavailable("the history of the table does not hold still").with("table", table.name()))
}

/// What uses files of a branch and was not read yet. What is gone when it is read is not there at the next look.
async fn users(branch: &Table, read: &HashSet<User>) -> Result<Vec<(User, Arc<Snapshot>)>> {
    let name = branch.branch().unwrap_or_default().to_owned();
    if Schemas::new(branch).list().await?.is_empty() {
        return Err(Error::corrupt("a branch has no schema, so what it uses is not known")
            .with("path", branch.schema_dir())
            .with_hint("delete the branch if it is not wanted"));
    }
    let mut found = Vec::new();
    let snapshots = Snapshots::new(branch);
    // Where a hint tells of snapshots and there are none, this is an error.
    snapshots.latest_id().await?;
    for id in snapshots.list().await? {
        let user = User::Snapshot(name.clone(), id);
        if !read.contains(&user) {
            match snapshots.get(id).await {
                Ok(snapshot) => found.push((user, snapshot)),
                Err(e) if e.kind() == ErrorKind::NotFound => {}
                Err(e) => return Err(e),
            }
        }
    }
    let changelogs = Changelogs::new(branch);
    for id in changelogs.list().await? {
        let user = User::Changelog(name.clone(), id);
        if !read.contains(&user) {
            found.extend(changelogs.find(id).await?.map(|changelog| (user, changelog)));
        }
    }
    let tags = Tags::new(branch);
    for tag in tags.list().await? {
        let user = User::Tag(name.clone(), tag.clone());
        if !read.contains(&user) {
            found.extend(tags.find(&tag).await?.map(|tag| (user, Arc::new(tag.snapshot))));
        }
    }
    Ok(found)
}

struct Used<'t> {
    table: &'t Table,
    manifests: Manifests,
    /// Lists that were read.
    lists: HashSet<String>,
    /// Manifests that were read.
    names: HashSet<String>,
}

impl Used<'_> {
    async fn spare(
        &mut self,
        branch: &Table,
        user: &User,
        snapshot: &Snapshot,
        candidates: &mut HashMap<String, Doomed>,
    ) -> Result<()> {
        // Of a changelog that has a list of its own, the others went with its snapshot; of a tag the changelog did.
        let own = snapshot.changelog_manifest_list.iter().collect::<Vec<_>>();
        let both = vec![&snapshot.base_manifest_list, &snapshot.delta_manifest_list];
        let (needed, perhaps) = match user {
            User::Snapshot(..) => ([both, own].concat(), vec![]),
            User::Tag(..) => (both, own),
            // The reference takes the lists of some that have none of their own along with their snapshots, too.
            User::Changelog(..) if own.is_empty() => (vec![], both),
            User::Changelog(..) => (own, both),
        };
        let (mut wanted, mut listed) = (Vec::new(), Vec::new());
        for list in needed {
            match self.list(list, candidates).await {
                Ok(manifests) => {
                    wanted.extend(manifests);
                    listed.push(list.clone());
                }
                Err(e) => self.unless_gone(branch, user, e).await?,
            }
        }
        for list in perhaps {
            match self.list(list, candidates).await {
                Ok(manifests) => {
                    wanted.extend(manifests);
                    listed.push(list.clone());
                }
                Err(e) if e.kind() == ErrorKind::NotFound => {}
                Err(e) => return Err(e),
            }
        }
        let manifests = self.manifests.clone();
        let read = |name: String| {
            let manifests = manifests.clone();
            async move { Ok::<_, Error>((manifests.peek_manifest(&name, StatsColumns::Keys).await, name)) }
        };
        let mut batches = futures::stream::iter(wanted.into_iter().map(read)).buffered(at_once(self.table)?);
        let mut errors = Vec::new();
        while let Some((batch, name)) = batches.try_next().await? {
            match batch {
                Ok(batch) => {
                    spare_files(self.table, &batch, candidates)?;
                    self.names.insert(name);
                }
                Err(e) => errors.push(e),
            }
        }
        // Lists whose manifests are all read are done with; of others, whoever names them must find them readable.
        if errors.is_empty() {
            self.lists.extend(listed);
        }
        for e in errors {
            self.unless_gone(branch, user, e).await?;
        }
        candidates.remove(snapshot.statistics.as_deref().unwrap_or_default());
        self.index(branch, user, snapshot, candidates).await
    }

    /// Notes a manifest list; the manifests of it that were not read yet.
    async fn list(&mut self, name: &str, candidates: &mut HashMap<String, Doomed>) -> Result<Vec<String>> {
        candidates.remove(name);
        if self.lists.contains(name) {
            return Ok(Vec::new());
        }
        let manifests = self.manifests.peek_list(name).await?;
        let mut new = Vec::new();
        for meta in manifests {
            candidates.remove(&meta.file_name);
            if !self.names.contains(&meta.file_name) {
                new.push(meta.file_name);
            }
        }
        Ok(new)
    }

    async fn index(
        &mut self,
        branch: &Table,
        user: &User,
        snapshot: &Snapshot,
        candidates: &mut HashMap<String, Doomed>,
    ) -> Result<()> {
        let Some(name) = &snapshot.index_manifest else { return Ok(()) };
        candidates.remove(name);
        if self.lists.contains(name) {
            return Ok(());
        }
        match self.manifests.read_index(name).await {
            Ok(lines) => {
                for line in lines {
                    candidates.remove(&line.file_name);
                }
                self.lists.insert(name.clone());
                Ok(())
            }
            // Index files are not part of a changelog.
            Err(e) if e.kind() == ErrorKind::NotFound && matches!(user, User::Changelog(..)) => Ok(()),
            Err(e) => self.unless_gone(branch, user, e).await,
        }
    }

    /// An error, unless what it is about has been removed since it was listed: what others share with it, they name too.
    async fn unless_gone(&self, branch: &Table, user: &User, error: Error) -> Result<()> {
        let there = match user {
            User::Snapshot(_, id) => Snapshots::new(branch).exists(*id).await?,
            User::Changelog(_, id) => Changelogs::new(branch).find(*id).await?.is_some(),
            User::Tag(_, name) => Tags::new(branch).find(name).await?.is_some(),
        };
        if error.kind() == ErrorKind::NotFound && !there {
            return Ok(());
        }
        let what = match user {
            User::Snapshot(_, id) => format!("snapshot {id}"),
            User::Changelog(_, id) => format!("changelog {id}"),
            User::Tag(_, name) => format!("tag {name}"),
        };
        Err(error.with("used by", what).with_hint("nothing was deleted; `linn check` shows what is broken"))
    }
}

/// Takes out the files that entries add, with what belongs to them.
fn spare_files(table: &Table, batch: &EntryBatch, candidates: &mut HashMap<String, Doomed>) -> Result<()> {
    for i in (0..batch.len()).filter(|i| batch.kind(*i) == FileKind::Add) {
        let name = batch.file_name(i);
        candidates.remove(name);
        let entry = batch.entry(i)?;
        entry.file.extra_files.iter().for_each(|extra| drop(candidates.remove(extra)));
        if name.contains('$') {
            // Parts of one file have names of their own.
            let path = place_of(table, &entry.partition, entry.bucket, &entry.file)?.path;
            candidates.remove(path.rsplit('/').next().unwrap_or_default());
        }
    }
    Ok(())
}
