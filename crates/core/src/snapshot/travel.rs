//! Time travel: which snapshot the `scan.*` options ask for (spec: features.md B11).

use std::sync::Arc;

use chrono::{NaiveDate, NaiveDateTime};
use linn_format::options::Options;
use linn_format::snapshot::Snapshot;
use linn_format::{Error, ErrorKind, Result, SnapshotId};

use super::{Snapshots, Tags};

pub(super) const KEYS: [&str; 6] =
    ["scan.version", "scan.snapshot-id", "scan.tag-name", "scan.watermark", "scan.timestamp", "scan.timestamp-millis"];
const WATERMARK_PREFIX: &str = "watermark-";

/// Watermarks of snapshots whose writers had none.
const NO_WATERMARK: i64 = i64::MIN;

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
        let mut given = KEYS.iter().filter_map(|key| options.get(key).map(|value| (*key, value.trim())));
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

    /// The newest snapshot that is not younger than `millis`.
    async fn at_time(&self, millis: i64) -> Result<Arc<Snapshot>> {
        let found = self.last_where(|snapshot| snapshot.time_millis <= millis).await?;
        match found {
            Some(snapshot) => Ok(snapshot),
            None => {
                let e = Error::not_found(format!("no snapshot is as old as {}", show_time(millis)));
                Err(self.out_of_range(e.with("table", self.table.name())).await)
            }
        }
    }

    /// The first snapshot whose watermark has reached `watermark`. Every commit carries the watermark on, so snapshots without
    /// one stand at the beginning, and watermarks never go back.
    async fn at_watermark(&self, watermark: i64) -> Result<Arc<Snapshot>> {
        let before = self.last_where(|s| s.watermark.is_none_or(|w| w == NO_WATERMARK || w < watermark)).await?;
        let next = match &before {
            Some(snapshot) => Some(snapshot.id.next()),
            None => self.earliest_id().await?,
        };
        if let Some(id) = next {
            match self.get(id).await {
                Err(e) if e.kind() == ErrorKind::NotFound => {}
                result => return result,
            }
        }
        let e = Error::not_found(format!("no snapshot has reached watermark {watermark}"));
        Err(self.out_of_range(e.with("table", self.table.name())).await)
    }

    /// The last snapshot for which `holds`, when it holds for a prefix of them.
    async fn last_where(&self, holds: impl Fn(&Snapshot) -> bool) -> Result<Option<Arc<Snapshot>>> {
        let Some(latest) = self.latest().await? else { return Ok(None) };
        if holds(&latest) {
            return Ok(Some(latest));
        }
        let Some(earliest) = self.earliest_id().await? else { return Ok(None) };
        let (mut low, mut high, mut found) = (earliest.0, latest.id.0 - 1, None);
        while low <= high {
            let middle = low + (high - low) / 2;
            match self.get(SnapshotId(middle)).await {
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

    /// Adds what there is to an error about what there is not.
    async fn out_of_range(&self, error: Error) -> Error {
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
    fn parse_time(&self, text: &str) -> Result<i64> {
        let time = ["%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M"]
            .iter()
            .find_map(|format| NaiveDateTime::parse_from_str(text, format).ok())
            .or_else(|| NaiveDate::parse_from_str(text, "%Y-%m-%d").ok()?.and_hms_opt(0, 0, 0));
        let time =
            time.ok_or_else(|| Error::invalid(format!("scan.timestamp is {text:?}, not yyyy-MM-dd HH:mm:ss")))?;
        Ok(time.and_utc().timestamp_millis().saturating_sub(self.table.env().clock.local_offset_millis()))
    }
}

fn show_time(millis: i64) -> String {
    match chrono::DateTime::from_timestamp_millis(millis) {
        Some(time) => time.format("%Y-%m-%dT%H:%M:%S%.3fZ").to_string(),
        None => millis.to_string(),
    }
}
