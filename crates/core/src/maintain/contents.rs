//! What a table's folder holds, for whoever is about to take it away: counted by listing, so damaged metadata hides nothing.

use std::collections::BTreeMap;

use futures::{StreamExt, TryStreamExt};
use linn_format::Result;

use crate::reclaim::at_once;
use crate::table::Table;

/// Folders of metadata; everything else in a table's folder is data.
const METADATA: [&str; 9] =
    ["branch", "changelog", "consumer", "index", "manifest", "schema", "snapshot", "statistics", "tag"];
/// How data is called, which lies in the folders of partitions and buckets.
const DATA: &str = "data";

/// Files of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contents {
    /// `data`, or the folder of metadata such as `manifest`; `branch` is the metadata of all branches.
    pub kind: String,
    /// How many files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// The files below a table's folder by kind, in the order of the kinds. Files that lie elsewhere, such as those at external
/// paths, are not among them.
///
/// # Errors
/// `Unavailable` when the store fails.
pub async fn contents(table: &Table) -> Result<Vec<Contents>> {
    let mut found: BTreeMap<String, Contents> = BTreeMap::new();
    let mut folders = vec![(None, table.path().to_owned())];
    while !folders.is_empty() {
        let list = |(kind, folder): (Option<String>, String)| async move {
            Ok::<_, linn_format::Error>((kind, table.storage().list(&folder).await?))
        };
        let lists: Vec<_> = futures::stream::iter(std::mem::take(&mut folders).into_iter().map(list))
            .buffered(at_once(table)?)
            .try_collect()
            .await?;
        for (kind, entries) in lists {
            for entry in entries {
                let kind = kind.clone().unwrap_or_else(|| kind_of(&entry.path));
                if entry.is_dir() {
                    folders.push((Some(kind), entry.path.trim_end_matches('/').to_owned()));
                    continue;
                }
                let new = || Contents { kind: kind.clone(), files: 0, bytes: 0 };
                let contents = found.entry(kind.clone()).or_insert_with(new);
                contents.files += 1;
                contents.bytes = contents.bytes.saturating_add(entry.size);
            }
        }
    }
    Ok(found.into_values().collect())
}

/// The kind of what lies at the top of a table's folder.
fn kind_of(path: &str) -> String {
    let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    if METADATA.contains(&name) { name } else { DATA }.to_owned()
}
