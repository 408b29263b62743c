//! What is drawn: runs of buckets, snapshots with their sizes, and histograms.

use std::sync::Arc;

use linn::core::Snapshots;
use linn::format::datum::Datum;
use linn::format::snapshot::Snapshot;
use linn::{ErrorKind, Result, SnapshotId, Table};
use serde_json::{Value, json};

use super::runs::{self, Bucket};
use crate::args::PictureArgs;
use crate::command::files;
use crate::output::time;

/// Snapshots whose files are counted.
const SNAPSHOTS: usize = 16;
/// Bars of a histogram of keys.
const BARS: usize = 16;

/// Everything that is drawn of a table.
#[derive(Debug, Default)]
pub(super) struct Picture {
    pub(super) table: String,
    pub(super) snapshot: Option<SnapshotId>,
    pub(super) files: usize,
    pub(super) bytes: i64,
    pub(super) rows: i64,
    /// Buckets with the most runs first.
    pub(super) buckets: Vec<Bucket>,
    /// Buckets that are not drawn.
    pub(super) hidden: usize,
    pub(super) growth: Vec<Point>,
    /// Files by their size.
    pub(super) sizes: Vec<Bar>,
    /// Rows by the first column of their key, where it is a number or a time.
    pub(super) keys: Vec<Bar>,
    pub(super) key: Option<String>,
}

/// A snapshot.
#[derive(Debug)]
pub(super) struct Point {
    pub(super) snapshot: SnapshotId,
    pub(super) time: String,
    pub(super) files: usize,
    pub(super) bytes: i64,
    pub(super) rows: i64,
}

/// A bar of a histogram.
#[derive(Debug, PartialEq)]
pub(super) struct Bar {
    pub(super) name: String,
    pub(super) count: f64,
}

/// Collects what is drawn.
pub(super) async fn collect(
    table: &Table,
    id: Option<SnapshotId>,
    all: &[files::Bucket],
    args: &PictureArgs,
) -> Result<Picture> {
    let wanted = |bucket: &&files::Bucket| {
        args.bucket.is_none_or(|number| number == bucket.bucket)
            && args.partition.as_ref().is_none_or(|prefix| bucket.partition.starts_with(prefix.as_str()))
    };
    let chosen: Vec<&files::Bucket> = all.iter().filter(wanted).collect();
    let mut buckets = chosen.iter().map(|bucket| runs::of(table, bucket)).collect::<Result<Vec<_>>>()?;
    buckets.sort_by_key(|bucket| std::cmp::Reverse(bucket.runs.len()));
    let hidden = buckets.len().saturating_sub(args.limit);
    buckets.truncate(args.limit);
    let files: Vec<_> = chosen.iter().flat_map(|bucket| &bucket.files).collect();
    let first = table.schema().trimmed_primary_keys().first().map(|field| field.name.clone());
    let keys = key_bars(table, &chosen)?;
    Ok(Picture {
        table: table.name().to_owned(),
        snapshot: id,
        files: files.len(),
        bytes: files.iter().map(|file| file.file_size).sum(),
        rows: files.iter().map(|file| file.row_count).sum(),
        buckets,
        hidden,
        growth: growth(table).await?,
        sizes: size_bars(files.iter().map(|file| file.file_size)),
        key: first.filter(|_| !keys.is_empty()),
        keys,
    })
}

/// Some snapshots from the first to the latest one, with the files that they have.
async fn growth(table: &Table) -> Result<Vec<Point>> {
    let snapshots = Snapshots::new(table);
    let ids = snapshots.list().await?;
    let mut points = Vec::new();
    for id in spread(&ids, SNAPSHOTS) {
        let snapshot: Arc<Snapshot> = match snapshots.get(id).await {
            Ok(snapshot) => snapshot,
            // Expired meanwhile.
            Err(e) if e.kind() == ErrorKind::NotFound => continue,
            Err(e) => return Err(e),
        };
        let splits = match table.scan().snapshot(Arc::clone(&snapshot)).every_level().plan().await {
            Ok(plan) => plan.splits,
            Err(e) if e.kind() == ErrorKind::NotFound => continue,
            Err(e) => return Err(e),
        };
        points.push(Point {
            snapshot: id,
            time: time(snapshot.time_millis),
            files: splits.iter().map(|split| split.files.len()).sum(),
            bytes: splits.iter().map(|split| split.files.bytes()).sum(),
            rows: splits.iter().map(linn::Split::row_count).sum(),
        });
    }
    Ok(points)
}

/// At most so many of a list, the first and the last among them.
fn spread<T: Copy>(all: &[T], most: usize) -> Vec<T> {
    if all.len() <= most {
        return all.to_vec();
    }
    let last = all.len() - 1;
    (0..most).filter_map(|at| all.get(at * last / (most - 1)).copied()).collect()
}

/// Files by powers of four.
fn size_bars(sizes: impl Iterator<Item = i64>) -> Vec<Bar> {
    let mut counts: Vec<usize> = Vec::new();
    for size in sizes {
        let class = (0..16).find(|class| size < 1024i64 << (2 * class)).unwrap_or(16);
        if counts.len() <= class {
            counts.resize(class + 1, 0);
        }
        if let Some(count) = counts.get_mut(class) {
            *count += 1;
        }
    }
    let name = |class: usize| match class {
        0 => "< 1 KiB".to_owned(),
        class => format!("{} –", crate::output::size(1024i64 << (2 * (class - 1)))),
    };
    let first = counts.iter().position(|count| *count > 0).unwrap_or(0);
    let bar = |(class, count): (usize, usize)| Bar { name: name(class), count: count as f64 };
    counts.into_iter().enumerate().skip(first).map(bar).collect()
}

/// Rows by the first column of the key; each file's are spread evenly between its least and greatest key.
fn key_bars(table: &Table, buckets: &[&files::Bucket]) -> Result<Vec<Bar>> {
    let keys = table.schema().trimmed_primary_keys();
    let Some(first) = keys.first() else { return Ok(Vec::new()) };
    let mut ranges = Vec::new();
    for file in buckets.iter().flat_map(|bucket| &bucket.files).filter(|file| file.min_key.arity() > 0) {
        let ends = [&file.min_key, &file.max_key].map(|key| key.datum(0, &first.data_type));
        let [Ok(Some(low)), Ok(Some(high))] = ends else { return Ok(Vec::new()) };
        let (Some(low), Some(high)) = (number(&low), number(&high)) else { return Ok(Vec::new()) };
        ranges.push((low, high, file.row_count as f64));
    }
    Ok(bars(ranges, &first.data_type))
}

/// Rows over the line of their keys. Each whole number has a place of its own, so that there are no more bars than numbers.
fn bars(mut ranges: Vec<(f64, f64, f64)>, data_type: &linn::format::types::DataType) -> Vec<Bar> {
    use linn::format::types::Kind;
    let whole = matches!(data_type.kind, Kind::TinyInt | Kind::SmallInt | Kind::Int | Kind::BigInt | Kind::Date);
    if whole {
        ranges.iter_mut().for_each(|range| range.1 += 1.0);
    }
    let low = ranges.iter().map(|range| range.0).fold(f64::INFINITY, f64::min);
    let high = ranges.iter().map(|range| range.1).fold(f64::NEG_INFINITY, f64::max);
    if !(low.is_finite() && high.is_finite()) || low >= high {
        return Vec::new();
    }
    let step = (high - low) / BARS as f64;
    let step = if whole { step.ceil() } else { step };
    let bar = |at: usize| {
        let (from, to) = (low + step * at as f64, low + step * (at + 1) as f64);
        let count = ranges.iter().map(|range| share(*range, from, to, at + 1 == BARS)).sum();
        (from < high).then(|| Bar { name: format!("{} –", label(from, data_type)), count })
    };
    (0..BARS).map_while(bar).collect()
}

/// How many rows of a file are between two keys.
fn share((low, high, rows): (f64, f64, f64), from: f64, to: f64, last: bool) -> f64 {
    if low >= high {
        return if low >= from && (low < to || last) { rows } else { 0.0 };
    }
    rows * ((high.min(to) - low.max(from)).max(0.0) / (high - low))
}

/// A value as a place on a line.
fn number(datum: &Datum) -> Option<f64> {
    Some(match datum {
        Datum::TinyInt(n) => f64::from(*n),
        Datum::SmallInt(n) => f64::from(*n),
        Datum::Int(n) | Datum::Date(n) | Datum::Time(n) => f64::from(*n),
        Datum::BigInt(n) => *n as f64,
        Datum::Timestamp { millis, .. } => *millis as f64,
        Datum::Float(n) => f64::from(*n),
        Datum::Double(n) => *n,
        Datum::Decimal { unscaled, scale, .. } => *unscaled as f64 / 10f64.powi(i32::from(*scale)),
        _ => return None,
    })
}

/// A place on the line as a value.
fn label(place: f64, data_type: &linn::format::types::DataType) -> String {
    use linn::format::types::Kind;
    match data_type.kind {
        Kind::Date => time((place * 86_400_000.0) as i64).chars().take(10).collect(),
        Kind::Timestamp(_) | Kind::LocalZonedTimestamp(_) => time(place as i64).chars().take(19).collect(),
        _ => format!("{place:.0}"),
    }
}

/// The picture as data.
pub(super) fn json(picture: &Picture) -> Value {
    let bars = |bars: &[Bar]| bars.iter().map(|bar| json!({"from": bar.name, "count": bar.count})).collect::<Vec<_>>();
    let point = |p: &Point| json!({"snapshot": p.snapshot.0, "time": p.time, "files": p.files, "bytes": p.bytes, "rows": p.rows});
    json!({
        "table": picture.table,
        "snapshot": picture.snapshot.map(|id| id.0),
        "files": picture.files, "bytes": picture.bytes, "rows": picture.rows,
        "buckets": picture.buckets.iter().map(runs::json).collect::<Vec<_>>(),
        "growth": picture.growth.iter().map(point).collect::<Vec<_>>(),
        "file_sizes": bars(&picture.sizes),
        "key": picture.key,
        "keys": bars(&picture.keys),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_are_among_those_that_are_chosen() {
        assert_eq!(spread(&[1, 2, 3], 16), [1, 2, 3]);
        let chosen = spread(&(0..1000).collect::<Vec<_>>(), 5);
        assert_eq!((chosen.len(), chosen[0], chosen[4]), (5, 0, 999));
    }

    #[test]
    fn files_are_counted_by_size() {
        let bars = size_bars([10, 2000, 3000, 20_000].into_iter());
        let shown: Vec<(&str, f64)> = bars.iter().map(|bar| (bar.name.as_str(), bar.count)).collect();
        assert_eq!(shown, [("< 1 KiB", 1.0), ("1.0 KiB –", 2.0), ("4.0 KiB –", 0.0), ("16.0 KiB –", 1.0)]);
        assert_eq!(size_bars(std::iter::empty()), []);
    }

    #[test]
    fn there_are_no_more_bars_than_whole_numbers() {
        let int = linn::format::types::DataType::parse("BIGINT").unwrap();
        let shown = |ranges: Vec<(f64, f64, f64)>| -> Vec<(String, f64)> {
            bars(ranges, &int).into_iter().map(|bar| (bar.name, bar.count)).collect()
        };
        let expected = [("1 –", 1.0), ("2 –", 1.5), ("3 –", 0.5)].map(|(name, count)| (name.to_owned(), count));
        assert_eq!(shown(vec![(1.0, 2.0, 2.0), (2.0, 3.0, 1.0)]), expected);
        assert_eq!(shown(vec![(7.0, 7.0, 3.0)]), [("7 –".to_owned(), 3.0)]);
        let many = shown(vec![(0.0, 99.0, 100.0)]);
        assert_eq!((many.len(), many[0].1.round(), many[14].clone()), (15, 7.0, ("98 –".to_owned(), 2.0)));
    }

    #[test]
    fn rows_are_spread_over_their_range() {
        assert_eq!(share((0.0, 10.0, 100.0), 0.0, 5.0, false), 50.0);
        assert_eq!(share((0.0, 10.0, 100.0), 20.0, 25.0, false), 0.0);
        assert_eq!(share((5.0, 5.0, 7.0), 0.0, 5.0, true), 7.0);
    }
}
