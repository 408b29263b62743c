//! Time travel: which snapshot the `scan.*` options ask for (spec: features.md B11).

use std::sync::Arc;

use chrono::{NaiveDate, NaiveDateTime};
use linn_format::options::{Options, ScanMode};
use linn_format::snapshot::Snapshot;
use linn_format::{Error, ErrorKind, Result, SnapshotId};

use super::{Snapshots, Tags};

pub(crate) const KEYS: [&str; 6] =
    ["scan.version", "scan.snapshot-id", "scan.tag-name", "scan.watermark", "scan.timestamp", "scan.timestamp-millis"];
const WATERMARK_PREFIX: &str = "watermark-";

/// Whether these options ask for something else than the rows of the latest snapshot.
///
/// # Errors
/// `Invalid` for a scan mode that is none.
pub(crate) fn travels(options: &Options) -> Result<bool> {
    Ok(options.scan_mode()? != ScanMode::LatestFull || KEYS.iter().any(|key| options.contains(key)))
}

/// The watermark of a snapshot; some writers that have none write the smallest number.
pub(crate) fn watermark_of(snapshot: &Snapshot) -> Option<i64> {
    snapshot.watermark.filter(|watermark| *watermark != i64::MIN)
}

impl Snapshots {
    /// The snapshot that the table's options travel to, or the latest one when they do not travel; `None` in an empty table.
    ///
    /// # Errors
    /// `Invalid` for options that contradict each other or cannot be read, `NotFound` with the range there is when there is
    /// no such snapshot.
    pub async fn travel(&self) -> Result<Option<Arc<Snapshot>>> {
        match self.resolve(self.table.options()).await? {
            Some(snapshot) => Ok(Some(snapshot)),
            None => self.latest().await,
        }
    }

    /// The snapshot that these options travel to; `None` when they do not travel.
    ///
    /// # Errors
    /// As [`travel`](Self::travel).
    pub async fn resolve(&self, options: &Options) -> Result<Option<Arc<Snapshot>>> {
        let mut given = KEYS.iter().filter_map(|key| options.raw(key).map(|value| (*key, value.trim())));
        let Some((key, value)) = given.next() else { return Ok(None) };
        if let Some((other, _)) = given.next() {
            return Err(Error::invalid(format!("{key} and {other} cannot both say where to travel")));
        }
        let number = || value.parse().map_err(|_| Error::invalid(format!("{key} is {value:?}, not a number")));
        let found = match key {
            "scan.version" => self.at_version(value).await,
            "scan.snapshot-id" => self.at_id(SnapshotId(number()?)).await,
            "scan.tag-name" => self.at_tag(value).await,
            "scan.watermark" => self.at_watermark(number()?).await,
            "scan.timestamp" => self.at_time(self.parse_time(value)?).await,
            _ => self.at_time(number()?).await,
        };
        found.map(Some)
    }

    async fn at_version(&self, version: &str) -> Result<Arc<Snapshot>> {
        if !version.is_empty()
            && !version.contains('/')
            && let Some(tag) = Tags::new(&self.table).find(version).await?
        {
            return Ok(Arc::new(tag.snapshot));
        }
        if let Some(watermark) = version.strip_prefix(WATERMARK_PREFIX) {
            let watermark = watermark.parse();
            return self
                .at_watermark(watermark.map_err(|_| Error::invalid(format!("{version:?} names no watermark")))?)
                .await;
        }
        match version.parse() {
            Ok(id) => self.at_id(SnapshotId(id)).await,
            Err(_) => self.at_tag(version).await,
        }
    }

    async fn at_tag(&self, name: &str) -> Result<Arc<Snapshot>> {
        Ok(Arc::new(Tags::new(&self.table).get(name).await?.snapshot))
    }

    async fn at_id(&self, id: SnapshotId) -> Result<Arc<Snapshot>> {
        match self.get(id).await {
            Err(e) if e.kind() == ErrorKind::NotFound => Err(self.out_of_range(e).await),
            result => result,
        }
    }

    pub(crate) async fn at_time(&self, millis: i64) -> Result<Arc<Snapshot>> {
        match self.at_or_before_time(millis).await? {
            Some(snapshot) => Ok(snapshot),
            None => {
                let e = Error::not_found(format!("no snapshot is as old as {}", show_time(millis)));
                Err(self.out_of_range(e.with("table", self.table.name())).await)
            }
        }
    }

    async fn at_watermark(&self, watermark: i64) -> Result<Arc<Snapshot>> {
        match self.at_or_after_watermark(watermark).await? {
            Some(snapshot) => Ok(snapshot),
            None => {
                let e = Error::not_found(format!("no snapshot has reached watermark {watermark}"));
                Err(self.out_of_range(e.with("table", self.table.name())).await)
            }
        }
    }

    /// The newest snapshot that was committed at this time (milliseconds since the epoch) or before.
    ///
    /// # Errors
    /// `Corrupt` or `Unavailable` from reading snapshots.
    pub async fn at_or_before_time(&self, millis: i64) -> Result<Option<Arc<Snapshot>>> {
        Ok(self.bisect(|s| Some(s.time_millis), |time| time <= millis).await?.0)
    }

    /// The oldest snapshot that was committed at this time (milliseconds since the epoch) or later.
    ///
    /// # Errors
    /// As [`at_or_before_time`](Self::at_or_before_time).
    pub async fn at_or_after_time(&self, millis: i64) -> Result<Option<Arc<Snapshot>>> {
        Ok(self.bisect(|s| Some(s.time_millis), |time| time < millis).await?.1)
    }

    /// The newest snapshot with this watermark or an earlier one.
    ///
    /// # Errors
    /// As [`at_or_before_time`](Self::at_or_before_time).
    pub async fn at_or_before_watermark(&self, watermark: i64) -> Result<Option<Arc<Snapshot>>> {
        Ok(self.bisect(watermark_of, |w| w <= watermark).await?.0)
    }

    /// The oldest snapshot whose watermark has reached this one.
    ///
    /// # Errors
    /// As [`at_or_before_time`](Self::at_or_before_time).
    pub async fn at_or_after_watermark(&self, watermark: i64) -> Result<Option<Arc<Snapshot>>> {
        Ok(self.bisect(watermark_of, |w| w < watermark).await?.1)
    }

    /// Where `holds` ends, which holds of the values of older snapshots: the last snapshot for which it does and the first for
    /// which it does not. Snapshots without a value, or that expire meanwhile, are as if they were not there, wherever they
    /// stand; each step halves what is left, so the search ends.
    async fn bisect(
        &self,
        value: impl Fn(&Snapshot) -> Option<i64>,
        holds: impl Fn(i64) -> bool,
    ) -> Result<(Option<Arc<Snapshot>>, Option<Arc<Snapshot>>)> {
        let Some(latest) = self.latest().await? else { return Ok((None, None)) };
        let Some(earliest) = self.earliest_id().await? else { return Ok((None, None)) };
        self.remember(Arc::clone(&latest));
        let (mut low, mut high) = (earliest.0, latest.id.0);
        let (mut before, mut after) = (None, None);
        while low <= high {
            let middle = low + (high - low) / 2;
            // The nearest one at or before the middle that has a value.
            let mut at = middle;
            let found = loop {
                match self.get(SnapshotId(at)).await {
                    Ok(snapshot) => {
                        if let Some(value) = value(&snapshot) {
                            break Some((snapshot, value));
                        }
                    }
                    Err(e) if e.kind() == ErrorKind::NotFound => {}
                    Err(e) => return Err(e),
                }
                if at <= low {
                    break None;
                }
                at -= 1;
            };
            match found {
                None => low = middle + 1,
                Some((snapshot, value)) if holds(value) => {
                    before = Some(snapshot);
                    low = middle + 1;
                }
                Some((snapshot, _)) => {
                    high = snapshot.id.0 - 1;
                    after = Some(snapshot);
                }
            }
        }
        Ok((before, after))
    }

    /// Adds what there is to an error about what there is not.
    pub(crate) async fn out_of_range(&self, error: Error) -> Error {
        let ends = async { Ok::<_, Error>((self.earliest().await?, self.latest().await?)) };
        match ends.await {
            Ok((Some(first), Some(last))) => error.with_hint(format!(
                "there are snapshots {} ({}) to {} ({})",
                first.id,
                show_time(first.time_millis),
                last.id,
                show_time(last.time_millis)
            )),
            Ok(_) => error.with_hint("the table has no snapshots"),
            Err(_) => error,
        }
    }

    /// A local time such as `2024-01-01 12:30:00.5`, in milliseconds since the epoch.
    pub(crate) fn parse_time(&self, text: &str) -> Result<i64> {
        let time = wall_time(text)
            .ok_or_else(|| Error::invalid(format!("scan.timestamp is {text:?}, not yyyy-MM-dd HH:mm:ss")))?;
        Ok(self.table.env().clock.instant_millis(time.and_utc().timestamp_millis()))
    }
}

/// A time such as `2024-01-01 12:30:00.5` or `2024-01-01`.
pub(crate) fn wall_time(text: &str) -> Option<NaiveDateTime> {
    ["%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M"]
        .iter()
        .find_map(|format| NaiveDateTime::parse_from_str(text, format).ok())
        .or_else(|| NaiveDate::parse_from_str(text, "%Y-%m-%d").ok()?.and_hms_opt(0, 0, 0))
}

/// The last of the snapshots `low` to `high` for which `holds`, when it holds for a prefix of them.
pub(super) async fn last_holding<F>(
    mut low: i64,
    mut high: i64,
    get: impl Fn(SnapshotId) -> F,
    holds: impl Fn(&Snapshot) -> bool,
) -> Result<Option<Arc<Snapshot>>>
where
    F: Future<Output = Result<Arc<Snapshot>>>,
{
    let mut found = None;
    while low <= high {
        let middle = low + (high - low) / 2;
        match get(SnapshotId(middle)).await {
            Ok(snapshot) if holds(&snapshot) => {
                found = Some(snapshot);
                low = middle + 1;
            }
            Ok(_) => high = middle - 1,
            // Expired while we searched: only younger ones can answer.
            Err(e) if e.kind() == ErrorKind::NotFound => low = middle + 1,
            Err(e) => return Err(e),
        }
    }
    Ok(found)
}

fn show_time(millis: i64) -> String {
    match chrono::DateTime::from_timestamp_millis(millis) {
        Some(time) => time.format("%Y-%m-%dT%H:%M:%S%.3fZ").to_string(),
        None => millis.to_string(),
    }
}
