//! Deletes that stay in the highest level for a while, so that what comes late after them does not come back
//! (`linn.delete.retention-time`).
//!
//! Nothing in a record says when it was written. The files do: all of the records up to the last sequence number of a file
//! were written when the file was made. A compaction makes files anew, so what it knew of the age of its retractions is put
//! beside them, in a file of lines `sequence number, milliseconds`. Others see deletes in a file, which they leave out as in
//! any other level, and a file beside it that they have no use for.

use std::sync::Arc;

use bytes::Bytes;
use linn_format::Result;
use linn_format::file::DataFileMeta;
use linn_format::types::RowKind;

use crate::file::BucketFiles;
use crate::merge::{Lasting, MergeSpec, Retractions};
use crate::seam::{Clock, Env};

/// What ends the name of a file of ages.
const SUFFIX: &str = ".ages";

/// Steps of a retention that are told apart: a delete stays at most by so much of it longer.
const STEPS: i64 = 32;

/// How long retractions stay.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Retention {
    /// `linn.delete.retention-time` in milliseconds; 0 where nothing orders them.
    pub(crate) millis: i64,
    /// The time.
    pub(crate) now_millis: i64,
}

impl Retention {
    /// What was written until then need not stay.
    fn start(self) -> i64 {
        self.now_millis.saturating_sub(self.millis)
    }

    /// Whether a file of the highest level has retractions that need not stay any more.
    pub(crate) fn has_passed(self, file: &DataFileMeta, clock: &dyn Clock) -> bool {
        let made = file.creation_time.map(|local| clock.instant_millis(local));
        file.delete_row_count.is_some_and(|n| n > 0) && made.is_none_or(|made| made <= self.start())
    }
}

/// Until when records were written: those up to a sequence number before a time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Ages {
    /// Sequence number and milliseconds since the epoch, both ascending.
    known: Vec<(i64, i64)>,
    retention: Retention,
}

impl Ages {
    /// Of the files of a compaction.
    pub(super) async fn of(
        env: &Env,
        files: &dyn BucketFiles,
        retention: Retention,
        inputs: impl Iterator<Item = &Arc<DataFileMeta>>,
    ) -> Result<Self> {
        if retention.millis == 0 {
            return Ok(Self { known: Vec::new(), retention });
        }
        let mut known = Vec::new();
        for file in inputs {
            // Creation times are local wall-clock times.
            known.extend(file.creation_time.map(|local| (file.max_sequence_number, env.clock.instant_millis(local))));
            for name in file.extra_files.iter().filter(|name| name.ends_with(SUFFIX)) {
                known.extend(parse(&files.read_extra(file, name).await?));
            }
        }
        Ok(Self { known: thinned(known, retention), retention })
    }

    /// Which retractions come out of a compaction that leaves nothing older.
    pub(super) fn retractions(&self, spec: &MergeSpec) -> Retractions {
        let lasting = Lasting {
            updates: spec.owes(RowKind::UpdateBefore as i8),
            deletes: spec.owes(RowKind::Delete as i8),
            after: if self.retention.millis > 0 { self.written_before() } else { i64::MAX },
        };
        match lasting {
            Lasting { updates: false, deletes: false, after: i64::MAX } => Retractions::None,
            lasting => Retractions::Lasting(lasting),
        }
    }

    /// The last sequence number that is known to be older than the retention.
    fn written_before(&self) -> i64 {
        let since = self.retention.start();
        let old = |(_, millis): &&(i64, i64)| *millis <= since;
        self.known.iter().filter(old).map(|(sequence, _)| *sequence).max().unwrap_or(i64::MIN)
    }

    /// Puts what is known beside a file that holds retractions; its metadata names it then.
    pub(super) async fn attach(&self, files: &dyn BucketFiles, file: Arc<DataFileMeta>) -> Result<Arc<DataFileMeta>> {
        if self.known.is_empty() || file.delete_row_count == Some(0) {
            return Ok(file);
        }
        let name = format!("{}{SUFFIX}", file.file_name);
        let text: String = self.known.iter().map(|(sequence, millis)| format!("{sequence} {millis}\n")).collect();
        let mut named = DataFileMeta::clone(&file);
        named.extra_files.push(name.clone());
        files.write_extra(&named, &name, Bytes::from(text)).await?;
        Ok(Arc::new(named))
    }
}

/// Lines that cannot be read say nothing: deletes stay longer then.
fn parse(bytes: &Bytes) -> Vec<(i64, i64)> {
    let text = String::from_utf8_lossy(bytes);
    let pair = |line: &str| {
        let (sequence, millis) = line.split_once(' ')?;
        Some((sequence.parse().ok()?, millis.parse().ok()?))
    };
    text.lines().filter_map(pair).collect()
}

/// The same, as few as the steps of a retention need: the earliest time of each sequence number, and of what is older than
/// the retention only the last.
fn thinned(mut known: Vec<(i64, i64)>, retention: Retention) -> Vec<(i64, i64)> {
    known.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut kept: Vec<(i64, i64)> = Vec::new();
    let step = (retention.millis / STEPS).max(1);
    let old = retention.start();
    for (sequence, millis) in known {
        match kept.last() {
            Some((_, newer)) if *newer <= old || millis > newer.saturating_sub(step) && millis > old => {}
            _ => kept.push((sequence, millis)),
        }
    }
    kept.reverse();
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Retention = Retention { millis: 3200, now_millis: 10_000 };

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(parse(&Bytes::from_static(b"-3 5\n7 1700000000000\n")), [(-3, 5), (7, 1_700_000_000_000)]);
        assert_eq!(parse(&Bytes::from_static(b"\xff\n1\n1 x\n2 3")), [(2, 3)]);
    }

    #[test]
    fn few_ages_say_the_same_within_a_step() {
        let known: Vec<(i64, i64)> = (0..1000).map(|n| (n, n * 10)).collect();
        let kept = thinned(known, DAY);
        assert!(kept.len() <= 34, "{}", kept.len());
        assert!(kept.windows(2).all(|w| w[0].0 < w[1].0 && w[0].1 < w[1].1));
        // Written at 6800 and before.
        let cut = Ages { known: kept.clone(), retention: DAY }.written_before();
        assert_eq!(cut, 680);
        let later = Retention { now_millis: 11_050, ..DAY };
        let cut = Ages { known: kept, retention: later }.written_before();
        assert!((775..=785).contains(&cut), "{cut}");
        // A file that was made later says less of the same records.
        assert_eq!(thinned(vec![(5, 9_000), (5, 8_000), (4, 9_500)], DAY), [(5, 8_000)]);
    }
}
