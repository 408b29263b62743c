//! What happened to a table: `snapshots`, `schemas`, `options`.

use std::sync::Arc;

use futures::{StreamExt, TryStreamExt, stream};
use linn_format::datum::Datum;
use linn_format::schema::TableSchema;
use linn_format::snapshot::Snapshot;
use linn_format::types::DataField;
use linn_format::{BatchStream, Error, ErrorKind, Result, SnapshotId};
use serde_json::{Map, Value};

use super::SystemRows;
use super::columns::{Column, rows};
use super::wanted::Wanted;
use crate::schema::Schemas;
use crate::snapshot::Snapshots;
use crate::table::Table;

/// Snapshots in a batch.
const CHUNK: usize = 512;
/// Snapshots that are read at once.
const PARALLEL: usize = 8;

/// Milliseconds since the epoch as those of the local wall clock.
pub(super) fn local(table: &Table, millis: i64) -> Option<i64> {
    Some(table.env().clock.local_millis(millis))
}

pub(super) async fn snapshots(table: &Table, wanted: Wanted) -> Result<BatchStream> {
    let snapshots = Snapshots::new(table);
    let ids: Vec<SnapshotId> =
        snapshots.list().await?.into_iter().filter(|id| wanted.may(&[("snapshot_id", Datum::BigInt(id.0))])).collect();
    let chunks: Vec<Vec<SnapshotId>> = ids.chunks(CHUNK).map(<[_]>::to_vec).collect();
    let table = table.clone();
    let batches = stream::iter(chunks).then(move |ids| {
        let (table, snapshots) = (table.clone(), snapshots.clone());
        async move {
            let rows = snapshot_rows(&table, &load(&snapshots, ids).await?)?;
            Ok::<_, Error>(stream::iter(rows.batches.into_iter().map(Ok)))
        }
    });
    Ok(batches.try_flatten().boxed())
}

/// The snapshots of these numbers; those that expired since they were listed are left out.
async fn load(snapshots: &Snapshots, ids: Vec<SnapshotId>) -> Result<Vec<Arc<Snapshot>>> {
    let reads = ids.into_iter().map(|id| {
        let snapshots = snapshots.clone();
        async move { snapshots.get(id).await }
    });
    let mut reads = stream::iter(reads).buffered(PARALLEL);
    let mut found = Vec::new();
    while let Some(read) = reads.next().await {
        match read {
            Ok(snapshot) => found.push(snapshot),
            Err(e) if e.kind() == ErrorKind::NotFound => {}
            Err(e) => return Err(e),
        }
    }
    Ok(found)
}

pub(super) fn snapshot_rows(table: &Table, found: &[Arc<Snapshot>]) -> Result<SystemRows> {
    let all = || found.iter().map(|snapshot| &**snapshot);
    rows([
        Column::long("snapshot_id", all().map(|s| Some(s.id.0))).required(),
        Column::long("schema_id", all().map(|s| Some(s.schema_id.0))).required(),
        Column::text("commit_user", all().map(|s| Some(&s.commit_user))).required(),
        Column::long("commit_identifier", all().map(|s| Some(s.commit_identifier))).required(),
        Column::text("commit_kind", all().map(|s| Some(s.commit_kind.as_str()))).required(),
        Column::time("commit_time", all().map(|s| local(table, s.time_millis))).required(),
        Column::text("base_manifest_list", all().map(|s| Some(&s.base_manifest_list))).required(),
        Column::text("delta_manifest_list", all().map(|s| Some(&s.delta_manifest_list))).required(),
        Column::text("changelog_manifest_list", all().map(|s| s.changelog_manifest_list.as_ref())),
        Column::long("total_record_count", all().map(|s| s.total_record_count)),
        Column::long("delta_record_count", all().map(|s| s.delta_record_count)),
        Column::long("changelog_record_count", all().map(|s| s.changelog_record_count)),
        Column::long("watermark", all().map(|s| s.watermark)),
        Column::long("next_row_id", all().map(|s| s.next_row_id)),
        Column::text("operation", all().map(|s| s.operation.as_ref())),
        Column::text("writer_version", all().map(|s| s.writer_version.as_ref())),
    ])
}

pub(super) async fn schemas(table: &Table, wanted: &Wanted) -> Result<SystemRows> {
    let schemas = Schemas::new(table);
    let mut all = Vec::new();
    for id in schemas.list().await?.into_iter().filter(|id| wanted.may(&[("schema_id", Datum::BigInt(id.0))])) {
        all.push(schemas.get(id).await?);
    }
    schema_rows(table, &all)
}

pub(super) fn schema_rows(table: &Table, all: &[Arc<TableSchema>]) -> Result<SystemRows> {
    let names = |keys: &[String]| Some(keys.iter().map(String::as_str).collect::<Value>().to_string());
    let fields = |fields: &[DataField]| Some(fields.iter().map(DataField::to_json).collect::<Value>().to_string());
    let options = |options: &linn_format::options::Options| {
        let object: Map<String, Value> = options.iter().map(|(k, v)| (k.to_owned(), v.into())).collect();
        Some(Value::Object(object).to_string())
    };
    rows([
        Column::long("schema_id", all.iter().map(|s| Some(s.id.0))).required(),
        Column::text("fields", all.iter().map(|s| fields(&s.fields))).required(),
        Column::text("partition_keys", all.iter().map(|s| names(&s.partition_keys))).required(),
        Column::text("primary_keys", all.iter().map(|s| names(&s.primary_keys))).required(),
        Column::text("options", all.iter().map(|s| options(&s.options))).required(),
        Column::text("comment", all.iter().map(|s| s.comment.as_ref())),
        Column::time("update_time", all.iter().map(|s| local(table, s.time_millis))).required(),
    ])
}

/// The options of the newest schema; what one caller has set for itself is not among them.
pub(super) async fn options(table: &Table) -> Result<SystemRows> {
    let latest = Schemas::new(table).latest().await?;
    let pairs: Vec<(&str, &str)> = latest.iter().flat_map(|schema| schema.options.iter()).collect();
    option_rows(&pairs)
}

pub(super) fn option_rows(pairs: &[(&str, &str)]) -> Result<SystemRows> {
    rows([
        Column::text("key", pairs.iter().map(|(key, _)| Some(key))).required(),
        Column::text("value", pairs.iter().map(|(_, value)| Some(value))).required(),
    ])
}
