//! Things of a table that have names: `tags`, `branches`, `consumers`.

use std::time::Duration;

use linn_format::snapshot::{Consumer, Tag};
use linn_format::{ErrorKind, Result, ResultExt};

use super::SystemRows;
use super::columns::{Column, rows};
use super::history::local;
use super::wanted::Wanted;
use crate::branch::{Branch, Branches};
use crate::snapshot::Tags;
use crate::table::Table;

pub(super) async fn tags(table: &Table, wanted: &Wanted) -> Result<SystemRows> {
    tag_rows(table, &Tags::new(table).all(|name| wanted.may_be("tag_name", name)).await?)
}

pub(super) fn tag_rows(table: &Table, all: &[(String, Tag)]) -> Result<SystemRows> {
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

pub(super) async fn branches(table: &Table, wanted: &Wanted) -> Result<SystemRows> {
    branch_rows(table, &Branches::new(table).all(|name| wanted.may_be("branch_name", name)).await?)
}

pub(super) fn branch_rows(table: &Table, all: &[Branch]) -> Result<SystemRows> {
    let created = |branch: &Branch| local(table, branch.created_millis.unwrap_or(0));
    rows([
        Column::text("branch_name", all.iter().map(|branch| Some(&branch.name))).required(),
        Column::time("create_time", all.iter().map(created)).required(),
    ])
}

pub(super) async fn consumers(table: &Table, wanted: &Wanted) -> Result<SystemRows> {
    let mut all = Vec::new();
    for entry in table.storage().list(&table.consumer_dir()).await? {
        let name = entry.path.rsplit('/').next().and_then(|name| name.strip_prefix("consumer-"));
        let Some(id) = name.filter(|id| wanted.may_be("consumer_id", id)) else { continue };
        match table.storage().read(&entry.path, None).await {
            Ok(bytes) => all.push((id.to_owned(), Consumer::from_json(&bytes).context("path", &entry.path)?)),
            // Expired since it was listed.
            Err(e) if e.kind() == ErrorKind::NotFound => {}
            Err(e) => return Err(e),
        }
    }
    consumer_rows(&all)
}

pub(super) fn consumer_rows(all: &[(String, Consumer)]) -> Result<SystemRows> {
    rows([
        Column::text("consumer_id", all.iter().map(|(id, _)| Some(id))).required(),
        Column::long("next_snapshot_id", all.iter().map(|(_, c)| Some(c.next_snapshot.0))).required(),
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
