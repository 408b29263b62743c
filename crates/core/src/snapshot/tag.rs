//! Tags: names that keep a snapshot (spec: format.md C.2). A tag holds the whole snapshot, so it outlives it.

use std::time::Duration;

use bytes::Bytes;
use linn_format::snapshot::{Snapshot, Tag};
use linn_format::{Error, ErrorKind, Result, ResultExt};

use crate::table::Table;

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

    fn path(&self, name: &str) -> String {
        format!("{}/tag-{name}", self.dir)
    }

    /// The names of all tags, in order.
    pub async fn list(&self) -> Result<Vec<String>> {
        let entries = self.table.storage().list(&self.dir).await?;
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
        match self.table.storage().read(&path, None).await {
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

    /// Tags a snapshot. A tag with a time to be retained also notes when it was made; one without is readable by the oldest
    /// readers too.
    ///
    /// # Errors
    /// `AlreadyExists` when the name is taken, `Invalid` for a name that cannot be one.
    pub async fn create(&self, name: &str, snapshot: &Snapshot, time_retained: Option<Duration>) -> Result<()> {
        check_name(name)?;
        let clock = &self.table.env().clock;
        let local = clock.now_millis().saturating_add(clock.local_offset_millis());
        let create_time =
            time_retained.and_then(|_| chrono::DateTime::from_timestamp_millis(local)).map(|t| t.naive_utc());
        let tag = Tag { snapshot: snapshot.clone(), create_time, time_retained };
        let result = self.table.storage().create(&self.path(name), Bytes::from(tag.to_json()?)).await;
        match result {
            Err(e) if e.kind() == ErrorKind::AlreadyExists => {
                Err(Error::already_exists(format!("tag {name:?}")).with("table", self.table.name()).with_source(e))
            }
            result => result,
        }
    }

    /// Removes a tag; its files stay until expiry or orphan cleaning finds that nothing else needs them.
    ///
    /// # Errors
    /// `NotFound` when there is none of this name.
    pub async fn delete(&self, name: &str) -> Result<()> {
        self.get(name).await?;
        self.table.storage().delete(&self.path(name)).await
    }
}

fn check_name(name: &str) -> Result<()> {
    if name.trim().is_empty() || name.contains('/') {
        return Err(Error::invalid(format!("{name:?} cannot be the name of a tag")));
    }
    Ok(())
}
