//! What happened to a table: `snapshots`, `schemas`, `options`, `tags`.

use std::time::Duration;

use linn_format::types::DataField;
use linn_format::{ErrorKind, Result};
use serde_json::{Map, Value};

use super::SystemRows;
use super::columns::{Column, rows};
use crate::schema::Schemas;
use crate::snapshot::{Snapshots, Tags};
use crate::table::Table;

/// Milliseconds since the epoch as those of the local wall clock.
fn local(table: &Table, millis: i64) -> Option<i64> {
    Some(millis.saturating_add(table.env().clock.local_offset_millis()))
}

pub(super) async fn snapshots(table: &Table) -> Result<SystemRows> {
    let snapshots = Snapshots::new(table);
    let mut found = Vec::new();
    for id in snapshots.list().await? {
        match snapshots.get(id).await {
            Ok(snapshot) => found.push(snapshot),
            // Expired since it was listed.
            Err(e) if e.kind() == ErrorKind::NotFound => {}
            Err(e) => return Err(e),
        }
    }
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

pub(super) async fn schemas(table: &Table) -> Result<SystemRows> {
    let schemas = Schemas::new(table);
    let mut all = Vec::new();
    for id in schemas.list().await? {
        all.push(schemas.get(id).await?);
    }
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
    rows([
        Column::text("key", pairs.iter().map(|(key, _)| Some(key))).required(),
        Column::text("value", pairs.iter().map(|(_, value)| Some(value))).required(),
    ])
}

pub(super) async fn tags(table: &Table) -> Result<SystemRows> {
    let tags = Tags::new(table);
    let mut names = tags.list().await?;
    names.sort_unstable();
    let mut all = Vec::new();
    for name in names {
        if let Some(tag) = tags.find(&name).await? {
            all.push((name, tag));
        }
    }
    rows([
        Column::text("tag_name", all.iter().map(|(name, _)| Some(name))).required(),
        Column::long("snapshot_id", all.iter().map(|(_, t)| Some(t.snapshot.id.0))).required(),
        Column::long("schema_id", all.iter().map(|(_, t)| Some(t.snapshot.schema_id.0))).required(),
        Column::time("commit_time", all.iter().map(|(_, t)| local(table, t.snapshot.time_millis))).required(),
        Column::long("record_count", all.iter().map(|(_, t)| t.snapshot.total_record_count)),
        Column::time("create_time", all.iter().map(|(_, t)| t.create_time.map(|at| at.and_utc().timestamp_millis()))),
        Column::text("time_retained", all.iter().map(|(_, t)| t.time_retained.map(iso_duration))),
    ])
}

/// `PT26H3M4.5S`: hours, minutes and seconds, those that are zero left out.
fn iso_duration(duration: Duration) -> String {
    let (seconds, nanos) = (duration.as_secs(), duration.subsec_nanos());
    let (hours, minutes, seconds) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    let mut text = String::from("PT");
    if hours > 0 {
        text.push_str(&format!("{hours}H"));
    }
    if minutes > 0 {
        text.push_str(&format!("{minutes}M"));
    }
    if nanos > 0 {
        let fraction = format!("{nanos:09}");
        text.push_str(&format!("{seconds}.{}S", fraction.trim_end_matches('0')));
    } else if seconds > 0 || text.len() == 2 {
        text.push_str(&format!("{seconds}S"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_look_as_java_prints_them() {
        let cases =
            [(0, 0, "PT0S"), (8_640_000_000, 0, "PT2400000H"), (93_784, 500_000_000, "PT26H3M4.5S"), (60, 0, "PT1M")];
        for (seconds, nanos, text) in cases {
            assert_eq!(iso_duration(Duration::new(seconds, nanos)), text);
        }
    }
}
