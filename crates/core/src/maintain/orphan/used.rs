//! Everything that is used: by all branches, and in each by all snapshots, tags and changelogs. A branch whose making was cut off
//! uses what it names as far as that is there; nobody can read it, so nothing of it must be.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use futures::{StreamExt, TryStreamExt};
use linn_format::manifest::{EntryBatch, FileKind, ManifestMeta, StatsColumns};
use linn_format::snapshot::Snapshot;
use linn_format::{Error, ErrorKind, Result, SnapshotId};

use crate::file::place_of;
use crate::manifest::{ListName, Manifests};
use crate::reclaim::{RemovedFile, at_once, guard::other_branches};
use crate::schema::is_made;
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
pub(super) async fn spare(table: &Table, candidates: &mut HashMap<String, RemovedFile>) -> Result<usize> {
    let mut read: HashSet<User> = HashSet::new();
    let mut used = Used { table, manifests: Manifests::new(table), lists: HashSet::new(), names: HashSet::new() };
    for _ in 0..ROUNDS {
        let mut new = false;
        for at in other_branches(table).await?.into_iter().chain([table.clone()]) {
            let branch = Branch { is_made: is_made(&at).await?, table: at };
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
    Err(Error::unavailable("the history of the table keeps changing").with("table", table.name()))
}

/// A branch, and whether its making came to its end.
struct Branch {
    table: Table,
    is_made: bool,
}

/// What uses files of a branch and was not read yet. What is gone when it is read is not there at the next look.
async fn users(Branch { table: branch, is_made }: &Branch, read: &HashSet<User>) -> Result<Vec<(User, Arc<Snapshot>)>> {
    if branch.branch().is_none() && !is_made {
        return Err(Error::corrupt("the table has no schema, so the files it uses are not known")
            .with("path", branch.schema_dir())
            .with_hint("`linn check` shows what is broken"));
    }
    let name = branch.branch().unwrap_or_default().to_owned();
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
        branch: &Branch,
        user: &User,
        snapshot: &Snapshot,
        candidates: &mut HashMap<String, RemovedFile>,
    ) -> Result<()> {
        // Of a changelog that has a list of its own, the others went with its snapshot; of a tag the changelog did.
        let own: Vec<ListName<'_>> = ListName::of_changelog(snapshot).into_iter().collect();
        let both = ListName::of_data(snapshot).to_vec();
        let (needed, perhaps) = match user {
            User::Snapshot(..) if branch.table.branch().is_none() => ([both, own].concat(), vec![]),
            // A branch may begin with the snapshot of a tag.
            User::Snapshot(..) | User::Tag(..) => (both, own),
            // The reference takes the lists of some that have none of their own along with their snapshots, too.
            User::Changelog(..) if own.is_empty() => (vec![], both),
            User::Changelog(..) => (own, both),
        };
        let (mut wanted, mut listed) = (Vec::new(), Vec::new());
        let needed = needed.into_iter().map(|list| (list, true));
        for (list, must) in needed.chain(perhaps.into_iter().map(|list| (list, false))) {
            match self.list(list, candidates).await {
                Ok(manifests) => {
                    wanted.extend(manifests.into_iter().map(|manifest| (manifest, must)));
                    listed.push(list.name.to_owned());
                }
                Err(e) if !must && e.kind() == ErrorKind::NotFound => {}
                Err(e) => self.unless_gone(branch, user, e).await?,
            }
        }
        let manifests = self.manifests.clone();
        let read = |(meta, must): (ManifestMeta, bool)| {
            let manifests = manifests.clone();
            async move {
                let batch = manifests.peek_manifest(&meta, StatsColumns::Keys).await;
                Ok::<_, Error>((batch, meta.file_name, must))
            }
        };
        let mut batches = futures::stream::iter(wanted.into_iter().map(read)).buffered(at_once(self.table)?);
        let (mut errors, mut all_read) = (Vec::new(), true);
        while let Some((batch, name, must)) = batches.try_next().await? {
            match batch {
                Ok(batch) => {
                    spare_files(self.table, &batch, candidates)?;
                    self.names.insert(name);
                }
                // Who takes a list away and its manifests may be cut off between the two.
                Err(e) if !must && e.kind() == ErrorKind::NotFound => all_read = false,
                Err(e) => errors.push(e),
            }
        }
        // Lists whose manifests are all read are done with; of others, whoever names them must find them readable.
        if all_read && errors.is_empty() {
            self.lists.extend(listed);
        }
        for e in errors {
            self.unless_gone(branch, user, e).await?;
        }
        candidates.remove(snapshot.statistics.as_deref().unwrap_or_default());
        self.index(branch, user, snapshot, candidates).await
    }

    /// Notes a manifest list; the manifests of it that were not read yet.
    async fn list(
        &mut self,
        list: ListName<'_>,
        candidates: &mut HashMap<String, RemovedFile>,
    ) -> Result<Vec<ManifestMeta>> {
        candidates.remove(list.name);
        if self.lists.contains(list.name) {
            return Ok(Vec::new());
        }
        let manifests = self.manifests.peek_list(list).await?;
        let mut new = Vec::new();
        for meta in manifests {
            candidates.remove(&meta.file_name);
            if !self.names.contains(&meta.file_name) {
                new.push(meta);
            }
        }
        Ok(new)
    }

    async fn index(
        &mut self,
        branch: &Branch,
        user: &User,
        snapshot: &Snapshot,
        candidates: &mut HashMap<String, RemovedFile>,
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
    async fn unless_gone(&self, Branch { table: branch, is_made }: &Branch, user: &User, error: Error) -> Result<()> {
        if error.kind() == ErrorKind::NotFound && !is_made {
            return Ok(());
        }
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
fn spare_files(table: &Table, batch: &EntryBatch, candidates: &mut HashMap<String, RemovedFile>) -> Result<()> {
    let mut scratch = String::new();
    for i in (0..batch.len()).filter(|i| batch.kind(*i) == FileKind::Add) {
        let name = batch.file_name(i).in_one(&mut scratch);
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
