//! Which files there are, listed a folder at a time.

use std::collections::HashMap;

use linn_format::Result;

use crate::table::Table;

/// What the folders hold that were looked into.
#[derive(Debug)]
pub(super) struct Disk<'t> {
    table: &'t Table,
    folders: HashMap<String, HashMap<String, u64>>,
}

impl<'t> Disk<'t> {
    pub(super) fn new(table: &'t Table) -> Self {
        Self { table, folders: HashMap::new() }
    }

    /// The size of a file, if it is there. A file that came after its folder was listed is looked for by itself.
    pub(super) async fn size(&mut self, path: &str) -> Result<Option<u64>> {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        if !self.folders.contains_key(folder) {
            let entries = self.table.storage().list(folder).await?;
            let files = entries.into_iter().filter(|entry| !entry.is_dir());
            let named = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
            let files = files.map(|entry| (named(&entry.path), entry.size)).collect();
            self.folders.insert(folder.to_owned(), files);
        }
        if let Some(size) = self.folders.get(folder).and_then(|files| files.get(name)) {
            return Ok(Some(*size));
        }
        match self.table.storage().stat(path).await {
            Ok(entry) => Ok(Some(entry.size)),
            Err(e) if e.kind() == linn_format::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(e),
        }
    }
}
