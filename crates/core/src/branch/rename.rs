//! Giving a branch another name. Where the store cannot move folders everything is copied, schemas last and the newest at the end, so
//! that there is no branch of the new name before it is whole; then the old one goes, schemas first. Nobody may write to it meanwhile.

use linn_format::{Error, ErrorKind, Result};

use super::store::{Branches, MAIN, check_name};
use crate::schema::{Schemas, is_made};

impl Branches {
    /// Gives a branch another name. What is left under the new one of a making or renaming that was cut off is made anew; a renaming
    /// that was cut off later leaves both.
    ///
    /// # Errors
    /// `NotFound` when there is none of this name, `AlreadyExists` when the new name is taken.
    pub async fn rename(&self, name: &str, to: &str) -> Result<()> {
        if name == MAIN {
            return Err(Error::invalid("the main branch cannot be renamed").with("table", self.table.name()));
        }
        check_name(to)?;
        self.require(name).await?;
        if self.exists(to).await? {
            if is_made(&self.of(to)?).await? {
                return Err(Error::already_exists(format!("branch {to:?}"))
                    .with("table", self.table.name())
                    .with_hint("if a rename was interrupted, delete one of the two"));
            }
            self.storage().delete_dir(&self.path(to)).await?;
        }
        match self.storage().rename_dir(&self.path(name), &self.path(to)).await {
            Err(e) if e.kind() == ErrorKind::Unsupported => {
                self.copy(name, to).await?;
                self.remove(name).await
            }
            result => result,
        }
    }

    async fn copy(&self, name: &str, to: &str) -> Result<()> {
        let (from, into) = (self.path(name), self.path(to));
        let (ours, theirs) = (Schemas::new(&self.of(name)?), Schemas::new(&self.of(to)?));
        let schemas = ours.list().await?;
        let of_schemas: Vec<String> = schemas.iter().map(|id| ours.path(*id)).collect();
        let mut folders = vec![from.clone()];
        while let Some(folder) = folders.pop() {
            for entry in self.storage().list(&folder).await? {
                if entry.is_dir() {
                    folders.push(entry.path.trim_end_matches('/').to_owned());
                } else if !of_schemas.contains(&entry.path) {
                    let rest = entry.path.strip_prefix(from.as_str()).unwrap_or_default();
                    let bytes = self.storage().read(&entry.path, None).await?;
                    self.storage().put(&format!("{into}{rest}"), bytes).await?;
                }
            }
        }
        for id in schemas {
            self.copy_schema(&ours, &theirs, id).await?;
        }
        Ok(())
    }
}
