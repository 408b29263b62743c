//! Pinning: a table that stays at one snapshot, so that all parts of one query see the same rows.

use linn_format::options::{Options, ScanMode};
use linn_format::{Result, SnapshotId};

use crate::schema::Schemas;
use crate::snapshot::{History, KEYS, Since, Snapshots};
use crate::table::Table;

impl Table {
    /// This table at the snapshot that its options travel to, with the schema of that snapshot, else at the latest one,
    /// with the schema it has. An empty table stays as it is, and so does one whose changes between two points are asked for.
    ///
    /// # Errors
    /// As [`Snapshots::travel`]; `NotFound` or `Corrupt` for the schema of the snapshot.
    pub async fn pinned(&self) -> Result<Self> {
        let snapshots = Snapshots::new(self);
        if let Some(pinned) = self.pinned_by_mode(&snapshots).await? {
            return Ok(pinned);
        }
        let Some(snapshot) = snapshots.resolve(self.options()).await? else {
            return match snapshots.latest().await? {
                Some(latest) => self.with_options(&[("scan.snapshot-id", latest.id.to_string())].into_iter().collect()),
                None => Ok(self.clone()),
            };
        };
        let mut schema = match snapshot.schema_id == self.schema().id {
            true => self.schema().clone(),
            false => (*Schemas::new(self).get(snapshot.schema_id).await?).clone(),
        };
        schema.options = self.options().clone();
        // The snapshot of a tag may have expired; then the tag is what pins it.
        if snapshots.exists(snapshot.id).await? {
            for key in KEYS {
                schema.options.remove(key);
            }
            schema.options.set("scan.snapshot-id", snapshot.id.to_string());
        }
        Ok(self.with_schema(schema))
    }

    /// As a scan mode says that is more than a snapshot to travel to.
    async fn pinned_by_mode(&self, snapshots: &Snapshots) -> Result<Option<Self>> {
        let mut options = self.options().clone();
        let latest = snapshots.latest_id().await?;
        let history = History::new(self)?;
        match (options.scan_mode()?, latest) {
            (ScanMode::Incremental, latest) => {
                if let Some(latest) = latest {
                    close(&mut options, snapshots, latest).await?;
                }
            }
            (ScanMode::LatestDelta, Some(latest)) => {
                options.set("scan.mode", "incremental");
                options.set("incremental-between", format!("{},{latest}", latest.0 - 1));
                options.set("incremental-between-scan-mode", "delta");
            }
            (ScanMode::CompactedFull, Some(_)) => {
                let Some(found) = history.compacted(options.full_compaction_commits()?).await? else { return Ok(None) };
                options.remove("scan.mode");
                options.set("scan.snapshot-id", found.id.to_string());
            }
            (ScanMode::FromFileCreationTime, Some(latest)) if !options.contains("scan.snapshot-id") => {
                options.set("scan.mode", "from-file-creation-time");
                options.set("scan.snapshot-id", latest.to_string());
            }
            (ScanMode::FromCreationTimestamp, Some(latest)) => {
                let Some(millis) = options.scan_creation_millis()? else { return Ok(None) };
                options.remove("scan.creation-time-millis");
                match history.since(millis).await? {
                    Since::From(id) if snapshots.exists(id).await? => {
                        options.remove("scan.mode");
                        options.set("scan.snapshot-id", id.to_string());
                    }
                    _ => {
                        options.set("scan.mode", "from-file-creation-time");
                        options.set("scan.file-creation-time-millis", millis.to_string());
                        options.set("scan.snapshot-id", latest.to_string());
                    }
                }
            }
            (ScanMode::FromFileCreationTime, Some(_)) => return Ok(Some(self.clone())),
            _ => return Ok(None),
        }
        let mut schema = self.schema().clone();
        schema.options = options;
        Ok(Some(self.with_schema(schema)))
    }
}

/// Ends changes that have no end at the latest snapshot.
async fn close(options: &mut Options, snapshots: &Snapshots, latest: SnapshotId) -> Result<()> {
    let open = |text: Option<&str>| Some(text?.trim().strip_suffix(',')?.to_owned()).filter(|from| !from.contains(','));
    if let Some(from) = open(options.incremental_between()) {
        options.set("incremental-between", format!("{from},{latest}"));
    }
    if let Some(from) = open(options.incremental_between_timestamp()) {
        let end = snapshots.get(latest).await?.time_millis;
        options.set("incremental-between-timestamp", format!("{from},{end}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commit::Commit;
    use crate::fixture::{added, memory, schema, table};
    use crate::snapshot::Tags;

    #[tokio::test]
    async fn a_pinned_table_does_not_move() {
        let table = table(memory(), schema(false, false, &[("bucket", "-1")])).await;
        assert_eq!(table.pinned().await.unwrap().options(), table.options());
        let commit = |identifier, name| {
            let table = table.clone();
            async move { table.committer("u").commit(Commit::streaming(identifier, vec![added(&[name])])).await.unwrap() }
        };
        commit(1, "a").await;
        let first = table.pinned().await.unwrap();
        commit(2, "b").await;
        let count = async |table: &Table| {
            table.scan().plan().await.unwrap().splits.iter().map(|s| s.files.len()).sum::<usize>()
        };
        assert_eq!((count(&first).await, count(&table).await), (1, 2));
        assert_eq!(first.pinned().await.unwrap().options().raw("scan.snapshot-id"), Some("1"));
    }

    #[tokio::test]
    async fn a_tag_is_pinned_by_its_snapshot_or_by_itself() {
        let table = table(memory(), schema(false, false, &[("bucket", "-1")])).await;
        table.committer("u").commit(Commit::streaming(1, vec![added(&["a"])])).await.unwrap();
        let snapshot = Snapshots::new(&table).latest().await.unwrap().unwrap();
        Tags::new(&table).create("t", &snapshot, None).await.unwrap();
        let tagged = table.with_options(&[("scan.tag-name", "t")].into_iter().collect()).unwrap();
        let pinned = tagged.pinned().await.unwrap();
        assert_eq!(
            (pinned.options().raw("scan.tag-name"), pinned.options().raw("scan.snapshot-id")),
            (None, Some("1"))
        );
        table.committer("u").commit(Commit::streaming(2, vec![added(&["b"])])).await.unwrap();
        table.storage().delete(&Snapshots::new(&table).path(snapshot.id)).await.unwrap();
        let pinned = tagged.pinned().await.unwrap();
        assert_eq!(pinned.options().raw("scan.tag-name"), Some("t"));
        assert_eq!(pinned.scan().plan().await.unwrap().snapshot_id, Some(snapshot.id));
    }
}
