//! The files of tags (spec: format.md C.2). Changing one never leaves a moment without it: a new name is written before the old
//! one goes.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use chrono::NaiveDateTime;
use linn_format::snapshot::{Snapshot, SuccessFile, Tag};
use linn_format::{Error, ErrorKind, Result, ResultExt, SnapshotId};

use super::mark::mark;
use crate::seam::Storage;
use crate::table::Table;

/// A snapshot with the tags that are of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Tagged {
    /// The snapshot as its first tag holds it.
    pub snapshot: Snapshot,
    /// The names of its tags, in order.
    pub names: Vec<String>,
}

/// The tags of one table.
#[derive(Debug, Clone)]
pub struct Tags {
    table: Table,
    dir: String,
}

impl Tags {
    /// The tags of the table's branch.
    pub fn new(table: &Table) -> Self {
        Self { table: table.clone(), dir: table.tag_dir() }
    }

    pub(crate) fn path(&self, name: &str) -> String {
        format!("{}/tag-{name}", self.dir)
    }

    fn storage(&self) -> &dyn Storage {
        &**self.table.storage()
    }

    /// The names of all tags, in order.
    pub async fn list(&self) -> Result<Vec<String>> {
        let entries = self.storage().list(&self.dir).await?;
        let name = |path: &str| path.rsplit('/').next()?.strip_prefix("tag-").map(str::to_owned);
        Ok(entries.iter().filter(|entry| !entry.is_dir()).filter_map(|entry| name(&entry.path)).collect())
    }

    /// One tag, if there is one of this name.
    ///
    /// # Errors
    /// `Corrupt` with the path when it cannot be read as one.
    pub async fn find(&self, name: &str) -> Result<Option<Tag>> {
        check_name(name)?;
        let path = self.path(name);
        match self.storage().read(&path, None).await {
            Ok(bytes) => Tag::from_json(&bytes).context("path", path).map(Some),
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// One tag.
    ///
    /// # Errors
    /// `NotFound` naming the tags there are, `Corrupt` with the path when it cannot be read as one.
    pub async fn get(&self, name: &str) -> Result<Tag> {
        match self.find(name).await? {
            Some(tag) => Ok(tag),
            None => Err(self.absent(name).await),
        }
    }

    async fn absent(&self, name: &str) -> Error {
        let error = Error::not_found(format!("tag {name:?}")).with("table", self.table.name());
        match self.list().await {
            Ok(names) if names.is_empty() => error.with_hint("the table has no tags"),
            Ok(names) => error.with_hint(format!("the tags are {}", names.join(", "))),
            Err(_) => error,
        }
    }

    /// The tags whose names `wanted` takes, in order; one that is deleted meanwhile is left out.
    ///
    /// # Errors
    /// `Corrupt` with the path when one cannot be read.
    pub async fn all(&self, wanted: impl Fn(&str) -> bool) -> Result<Vec<(String, Tag)>> {
        let mut names = self.list().await?;
        names.sort_unstable();
        let mut all = Vec::new();
        for name in names.into_iter().filter(|name| wanted(name)) {
            if let Some(tag) = self.find(&name).await? {
                all.push((name, tag));
            }
        }
        Ok(all)
    }

    /// The snapshots that tags hold.
    ///
    /// # Errors
    /// As [`all`](Self::all).
    pub async fn snapshots(&self) -> Result<BTreeMap<SnapshotId, Tagged>> {
        let mut snapshots: BTreeMap<SnapshotId, Tagged> = BTreeMap::new();
        for (name, Tag { snapshot, .. }) in self.all(|_| true).await? {
            let tagged = snapshots.entry(snapshot.id).or_insert_with(|| Tagged { snapshot, names: Vec::new() });
            tagged.names.push(name);
        }
        Ok(snapshots)
    }

    /// Where the mark of a tag lies, with `tag.create-success-file`.
    fn mark_path(&self, name: &str) -> String {
        format!("{}/tag-success-file/{name}{}", self.dir, SuccessFile::NAME)
    }

    /// Marks a tag that was made, where the options ask for it. The tag is there by then, so a failure is only said.
    async fn mark(&self, name: &str) {
        let marked = async {
            match self.table.options().tag_success_file()? {
                true => mark(&self.table, &self.mark_path(name)).await,
                false => Ok(()),
            }
        };
        if let Err(e) = marked.await {
            tracing::warn!(table = self.table.name(), tag = name, error = %e, "the success file of a tag is not written");
        }
    }

    /// Removes a tag's file, and then its mark.
    async fn remove(&self, name: &str) -> Result<()> {
        self.storage().delete(&self.path(name)).await?;
        if self.table.options().tag_success_file().unwrap_or(false)
            && let Err(e) = self.storage().delete(&self.mark_path(name)).await
        {
            tracing::warn!(table = self.table.name(), tag = name, error = %e, "the success file of a tag is left over");
        }
        Ok(())
    }

    /// Tags a snapshot. A tag with a time to be retained also notes when it was made; one without is readable by the oldest
    /// readers too.
    ///
    /// # Errors
    /// `AlreadyExists` when the name is taken, `Invalid` for a name that cannot be one.
    pub async fn create(&self, name: &str, snapshot: &Snapshot, time_retained: Option<Duration>) -> Result<()> {
        check_name(name)?;
        let bytes = self.bytes(snapshot, time_retained)?;
        let created = match self.storage().create(&self.path(name), bytes.clone()).await {
            Err(e) if e.kind() == ErrorKind::AlreadyExists => {
                Err(Error::already_exists(format!("tag {name:?}")).with("table", self.table.name()).with_source(e))
            }
            // Our bytes under the name mean that it is ours.
            Err(e) if e.kind() == ErrorKind::UnknownOutcome => {
                match self.storage().read(&self.path(name), None).await {
                    Ok(there) if there == bytes => Ok(()),
                    _ => Err(e),
                }
            }
            result => result,
        };
        if created.is_ok() {
            self.mark(name).await;
        }
        created
    }

    fn bytes(&self, snapshot: &Snapshot, time_retained: Option<Duration>) -> Result<Bytes> {
        let create_time = time_retained.and_then(|_| local_time(&self.table));
        let tag = Tag { snapshot: snapshot.clone(), create_time, time_retained };
        tag.to_json().map(Bytes::from)
    }

    /// Makes a tag be of another snapshot.
    ///
    /// # Errors
    /// `NotFound` when there is none of this name.
    pub async fn replace(&self, name: &str, snapshot: &Snapshot, time_retained: Option<Duration>) -> Result<()> {
        self.get(name).await?;
        self.storage().put(&self.path(name), self.bytes(snapshot, time_retained)?).await
    }

    /// Gives a tag another name. Both are there for a moment, and stay if that is when it ends.
    ///
    /// # Errors
    /// `NotFound` when there is none of this name, `AlreadyExists` when the new name is taken.
    pub async fn rename(&self, name: &str, to: &str) -> Result<()> {
        check_name(to)?;
        let tag = self.get(name).await?;
        match self.storage().create(&self.path(to), Bytes::from(tag.to_json()?)).await {
            Err(e) if e.kind() == ErrorKind::AlreadyExists => {
                Err(Error::already_exists(format!("tag {to:?}")).with("table", self.table.name()).with_source(e))
            }
            Err(e) => Err(e),
            Ok(()) => {
                self.mark(to).await;
                self.remove(name).await
            }
        }
    }

    /// Removes a tag; its files stay until expiry or orphan cleaning finds that nothing else needs them.
    ///
    /// # Errors
    /// `NotFound` when there is none of this name.
    pub async fn delete(&self, name: &str) -> Result<()> {
        // One that cannot be read can still be deleted.
        match self.find(name).await {
            Ok(None) => Err(self.absent(name).await),
            Ok(Some(_)) => self.remove(name).await,
            Err(e) if e.kind() == ErrorKind::Corrupt => self.remove(name).await,
            Err(e) => Err(e),
        }
    }
}

/// The wall clock of this machine.
pub(crate) fn local_time(table: &Table) -> Option<NaiveDateTime> {
    let clock = &table.env().clock;
    let millis = clock.local_millis(clock.now_millis());
    chrono::DateTime::from_timestamp_millis(millis).map(|time| time.naive_utc())
}

fn check_name(name: &str) -> Result<()> {
    let why = match name {
        _ if name.trim().is_empty() => "it is empty",
        _ if name.contains('/') => "it has a '/'",
        _ => return Ok(()),
    };
    Err(Error::invalid(format!("{name:?} cannot be the name of a tag: {why}")))
}
