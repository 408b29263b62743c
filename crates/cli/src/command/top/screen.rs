//! The states of tables as text.

use std::cmp::Reverse;

use comfy_table::{CellAlignment, ContentArrangement, Table};
use linn::format::snapshot::CommitKind;

use super::state::State;
use crate::output::{count, size, thousands, time};
use crate::theme::{self, Role};

/// Draws all tables, and so many buckets, consumers and commits of them.
pub(super) fn draw(all: &[State], limit: usize, now: i64) -> String {
    let due: usize = all.iter().map(State::due).sum();
    let mut text = format!("{}  {}, {} due\n", time(now), count(all.len(), "table"), count(due, "compaction"));
    section(&mut text, "", &tables(all, now));
    section(&mut text, "BUCKETS WITH MOST RUNS", &buckets(all, limit));
    section(&mut text, "CONSUMERS", &consumers(all, limit, now));
    section(&mut text, "COMMITS", &commits(all, limit, now));
    text
}

/// Rows below their headings.
struct Rows {
    head: Vec<&'static str>,
    /// The columns from this one on are numbers.
    numbers: std::ops::Range<usize>,
    rows: Vec<Vec<String>>,
}

fn section(text: &mut String, title: &str, rows: &Rows) {
    if rows.rows.is_empty() {
        return;
    }
    let mut table = Table::new();
    table.load_preset(comfy_table::presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(rows.head.iter().copied());
    for row in &rows.rows {
        table.add_row(row);
    }
    for at in rows.numbers.clone() {
        if let Some(column) = table.column_mut(at) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    text.push('\n');
    if !title.is_empty() {
        text.push_str(&format!("{}\n", theme::stdout().paint(Role::Head, title)));
    }
    for line in table.lines() {
        text.push_str(line.trim_end());
        text.push('\n');
    }
}

fn tables(all: &[State], now: i64) -> Rows {
    let row = |state: &State| {
        let (commits, rows) = state.rates(now);
        let (most, average) = state.runs();
        let last = state.recent.first();
        let lag = state.consumers.iter().map(|consumer| consumer.behind).max();
        vec![
            state.table.clone(),
            state.latest.map_or_else(|| "-".to_owned(), |id| id.to_string()),
            last.map_or_else(|| "-".to_owned(), |snapshot| age(now - snapshot.time_millis)),
            format!("{commits:.1}"),
            format!("{rows:.1}"),
            thousands(usize::try_from(state.records).unwrap_or(0)),
            state.buckets.len().to_string(),
            format!("{most} ({average:.1})"),
            state.buckets.iter().map(|bucket| bucket.files).sum::<usize>().to_string(),
            size(state.buckets.iter().map(|bucket| bucket.bytes).sum()),
            state.due().to_string(),
            lag.map_or_else(|| "-".to_owned(), |lag| lag.to_string()),
        ]
    };
    let head = vec![
        "TABLE",
        "SNAPSHOT",
        "AGE",
        "COMMITS/MIN",
        "ROWS/S",
        "RECORDS",
        "BUCKETS",
        "RUNS MAX (AVG)",
        "FILES",
        "SIZE",
        "DUE",
        "LAG",
    ];
    Rows { head, numbers: 1..12, rows: all.iter().map(row).collect() }
}

fn buckets(all: &[State], limit: usize) -> Rows {
    let mut found: Vec<_> =
        all.iter().flat_map(|state| state.buckets.iter().map(move |bucket| (&state.table, bucket))).collect();
    found.sort_by_key(|(_, bucket)| Reverse((bucket.due.is_some(), bucket.runs, bucket.files)));
    let rows = found.into_iter().take(limit).map(|(table, bucket)| {
        vec![
            table.clone(),
            bucket.name.clone(),
            bucket.runs.to_string(),
            bucket.level0.to_string(),
            bucket.files.to_string(),
            size(bucket.bytes),
            bucket.due.clone().unwrap_or_default(),
        ]
    });
    let head = vec!["TABLE", "BUCKET", "RUNS", "LEVEL 0", "FILES", "SIZE", "COMPACTION DUE"];
    Rows { head, numbers: 2..6, rows: rows.collect() }
}

fn consumers(all: &[State], limit: usize, now: i64) -> Rows {
    let mut found: Vec<_> =
        all.iter().flat_map(|state| state.consumers.iter().map(move |consumer| (&state.table, consumer))).collect();
    found.sort_by_key(|(_, consumer)| Reverse(consumer.behind));
    let rows = found.into_iter().take(limit).map(|(table, consumer)| {
        vec![
            table.clone(),
            consumer.id.clone(),
            consumer.next.to_string(),
            consumer.behind.to_string(),
            consumer.since.map_or_else(|| "-".to_owned(), |since| age(now - since)),
        ]
    });
    let head = vec!["TABLE", "CONSUMER", "NEXT SNAPSHOT", "BEHIND", "LAG"];
    Rows { head, numbers: 2..5, rows: rows.collect() }
}

fn commits(all: &[State], limit: usize, now: i64) -> Rows {
    let mut found: Vec<_> =
        all.iter().flat_map(|state| state.recent.iter().map(move |snapshot| (&state.table, snapshot))).collect();
    found.sort_by_key(|(_, snapshot)| Reverse(snapshot.time_millis));
    let rows = found.into_iter().take(limit).map(|(table, snapshot)| {
        let changed = match snapshot.commit_kind {
            CommitKind::Compact => String::new(),
            _ => snapshot.delta_record_count.map(|n| n.to_string()).unwrap_or_default(),
        };
        vec![
            table.clone(),
            snapshot.id.to_string(),
            age(now - snapshot.time_millis),
            snapshot.commit_kind.as_str().to_owned(),
            changed,
            snapshot.commit_user.chars().take(24).collect(),
        ]
    });
    let head = vec!["TABLE", "SNAPSHOT", "AGE", "KIND", "RECORDS", "USER"];
    Rows { head, numbers: 1..3, rows: rows.collect() }
}

/// A time span in its largest unit: `12 s`, `3 min`, `5 h`, `2 d`.
fn age(millis: i64) -> String {
    let seconds = (millis / 1000).max(0);
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds / 60),
        7_200..172_800 => format!("{} h", seconds / 3600),
        _ => format!("{} d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_have_one_unit() {
        assert_eq!([0, 119_000, 120_000, 7_200_000, 400_000_000].map(age), ["0 s", "119 s", "2 min", "2 h", "4 d"]);
    }

    #[test]
    fn no_tables_are_a_line() {
        let text = draw(&[], 8, 0);
        assert_eq!(text, "1970-01-01 00:00:00.000Z  0 tables, 0 compactions due\n");
    }
}
