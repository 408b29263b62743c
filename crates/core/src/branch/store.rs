//! The branches there are, making and removing them.

use bytes::Bytes;
use linn_format::options::Options;
use linn_format::options::table::scan::{SCAN_FALLBACK_BRANCH, SCAN_PRIMARY_BRANCH};
use linn_format::schema::TableSchema;
use linn_format::{Error, ErrorKind, Result, ResultExt, SchemaId};

use crate::schema::{Schemas, is_made};
use crate::seam::Storage;
use crate::snapshot::Snapshots;
use crate::snapshot::Tags;
use crate::table::Table;

const PREFIX: &str = "branch-";
pub(super) const MAIN: &str = "main";

/// A branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Branch {
    /// Its name.
    pub name: String,
    /// When it was made or last renamed, milliseconds since the epoch, where the store tells.
    pub created_millis: Option<i64>,
}

/// The branches of one table.
#[derive(Debug, Clone)]
pub struct Branches {
    pub(super) table: Table,
}

impl Branches {
    /// The branches of a table. New ones begin with what the branch of `table` has, mostly the main one.
    pub fn new(table: &Table) -> Self {
        Self { table: table.clone() }
    }

    pub(super) fn storage(&self) -> &dyn Storage {
        &**self.table.storage()
    }

    fn dir(&self) -> String {
        format!("{}/branch", self.table.path())
    }

    pub(super) fn path(&self, name: &str) -> String {
        format!("{}/{PREFIX}{name}", self.dir())
    }

    /// The names of all branches but the main one, in order.
    ///
    /// # Errors
    /// `Unavailable` when the store fails.
    pub async fn list(&self) -> Result<Vec<String>> {
        let entries = self.storage().list(&self.dir()).await?;
        let name = |path: &str| path.trim_end_matches('/').rsplit('/').next()?.strip_prefix(PREFIX).map(str::to_owned);
        Ok(entries.iter().filter(|entry| entry.is_dir()).filter_map(|entry| name(&entry.path)).collect())
    }

    /// The branches for which `wanted`, with when they were made.
    ///
    /// # Errors
    /// As [`list`](Self::list).
    pub async fn all(&self, wanted: impl Fn(&str) -> bool) -> Result<Vec<Branch>> {
        let mut all = Vec::new();
        for name in self.list().await?.into_iter().filter(|name| wanted(name)) {
            let created_millis = match self.storage().stat(&self.path(&name)).await {
                Ok(entry) if entry.modified_millis.is_some() => entry.modified_millis,
                // Stores without folders tell no time of them; their first file was made with them.
                Ok(_) => self.first_file(&name).await?,
                Err(e) if e.kind() == ErrorKind::NotFound => self.first_file(&name).await?,
                Err(e) => return Err(e),
            };
            all.push(Branch { name, created_millis });
        }
        Ok(all)
    }

    async fn first_file(&self, name: &str) -> Result<Option<i64>> {
        let files = self.storage().list(&format!("{}/schema", self.path(name))).await?;
        Ok(files.iter().filter_map(|entry| entry.modified_millis).min())
    }

    /// Whether there is a branch of this name.
    ///
    /// # Errors
    /// As [`list`](Self::list).
    pub async fn exists(&self, name: &str) -> Result<bool> {
        Ok(self.list().await?.iter().any(|branch| branch == name))
    }

    /// The table on a branch, at the newest schema of that branch.
    ///
    /// # Errors
    /// `NotFound` when there is no such branch, or when its making was cut off.
    pub async fn table(&self, name: &str) -> Result<Table> {
        let options: Options = [("branch", name)].into_iter().collect();
        let table = self.of(name)?;
        if !is_made(&table).await? {
            return Err(self.absent(name).await);
        }
        match Schemas::new(&table).latest().await? {
            Some(schema) => table.with_schema((*schema).clone()).with_options(&options),
            None => Err(self.absent(name).await),
        }
    }

    pub(super) async fn absent(&self, name: &str) -> Error {
        let error = Error::not_found(format!("branch {name:?}")).with("table", self.table.name());
        match self.list().await {
            Ok(names) if names.is_empty() => error.with_hint("the table has no branches"),
            Ok(names) if names.iter().any(|branch| branch == name) => {
                Error::not_found(format!("the creation of branch {name:?} was interrupted, so it cannot be read"))
                    .with("table", self.table.name())
                    .with_hint("create it again, or delete it")
            }
            Ok(names) => error.with_hint(format!("the branches are {}", names.join(", "))),
            Err(_) => error,
        }
    }

    pub(super) async fn require(&self, name: &str) -> Result<()> {
        if self.exists(name).await? { Ok(()) } else { Err(self.absent(name).await) }
    }

    /// Makes a branch: empty, or with the snapshot of a tag. What is left of one whose making was cut off is made anew.
    ///
    /// # Errors
    /// `AlreadyExists` when the name is taken, `NotFound` for a tag that is not there, `Invalid` for a name that cannot be
    /// one.
    pub async fn create(&self, name: &str, tag: Option<&str>) -> Result<()> {
        check_name(name)?;
        let branch = self.of(name)?;
        let schemas = Schemas::new(&self.table);
        if self.exists(name).await? {
            if is_made(&branch).await? {
                return Err(Error::already_exists(format!("branch {name:?}")).with("table", self.table.name()));
            }
            self.storage().delete_dir(&self.path(name)).await?;
        }
        let newest = match tag {
            Some(tag) => {
                let found = Tags::new(&self.table).get(tag).await?;
                self.put(&Tags::new(&branch).path(tag), found.to_json()?).await?;
                let (id, snapshots) = (found.snapshot.id, Snapshots::new(&branch));
                self.put(&snapshots.path(id), found.snapshot.to_json()?).await?;
                found.snapshot.schema_id
            }
            None => match schemas.list().await?.pop() {
                Some(id) => id,
                None => return Err(Error::not_found("no table").with("table", self.table.name())),
            },
        };
        let mut ids = schemas.list().await?;
        ids.retain(|id| *id <= newest);
        // The schema of the snapshot comes last, when everything else is there. Without one nothing needs those before the newest.
        if tag.is_none() {
            ids.reverse();
        }
        for id in ids {
            self.copy_schema(&schemas, &Schemas::new(&branch), id).await?;
        }
        Ok(())
    }

    pub(super) async fn put(&self, path: &str, bytes: Vec<u8>) -> Result<()> {
        self.storage().put(path, Bytes::from(bytes)).await
    }

    /// Copies a schema file as it is; one that comes back cut off is not handed on.
    pub(super) async fn copy_schema(&self, from: &Schemas, to: &Schemas, id: SchemaId) -> Result<()> {
        let bytes = self.storage().read(&from.path(id), None).await?;
        TableSchema::from_json(&bytes).context("path", from.path(id))?;
        self.storage().put(&to.path(id), bytes).await
    }

    /// Deletes a branch, its schemas first: cut off there, it is none any more. Files that only it needs stay until orphan cleaning
    /// finds them.
    ///
    /// # Errors
    /// `NotFound` when there is none of this name, `Invalid` when the table's reads use it.
    pub async fn delete(&self, name: &str) -> Result<()> {
        if name == MAIN {
            return Err(Error::invalid("the main branch cannot be deleted").with("table", self.table.name()));
        }
        self.require(name).await?;
        for def in [&SCAN_FALLBACK_BRANCH, &SCAN_PRIMARY_BRANCH] {
            if self.table.options().text(def) == Some(name) {
                return Err(Error::invalid(format!("branch {name:?} is the table's {}", def.key))
                    .with("table", self.table.name())
                    .with_hint(format!("remove the option {} first", def.key)));
            }
        }
        self.remove(name).await
    }

    /// Removes the folder of a branch, its schemas first.
    pub(super) async fn remove(&self, name: &str) -> Result<()> {
        self.storage().delete_dir(&format!("{}/schema", self.path(name))).await?;
        self.storage().delete_dir(&self.path(name)).await
    }

    /// The table where the files of a branch are, with its own schema still.
    pub(super) fn of(&self, name: &str) -> Result<Table> {
        self.table.with_options(&[("branch", name)].into_iter().collect())
    }
}

/// A branch's name becomes part of a folder's, and must not look like a number.
pub(super) fn check_name(name: &str) -> Result<()> {
    let bad = |why: &str| Err(Error::invalid(format!("{name:?} cannot be the name of a branch: {why}")));
    if name == MAIN {
        return bad("it is that of the main one");
    }
    if name.trim().is_empty() || name == "." || name == ".." {
        return bad("it is empty");
    }
    if name.chars().all(|c| c.is_ascii_digit()) {
        return bad("it is a number");
    }
    if name.chars().any(|c| matches!(c, '/' | '\\' | '$' | '\0') || c.is_control()) {
        return bad("it has '/', '\\', '$' or a control character");
    }
    Ok(())
}
