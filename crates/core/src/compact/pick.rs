//! What to compact next: universal compaction with the reference's exact picks (spec: features.md B5; cases: K1).
//!
//! Everything here is pure: levels, options and the time in, a choice out.

use std::sync::Arc;

use linn_format::Result;
use linn_format::file::DataFileMeta;
use linn_format::options::Options;
use linn_format::options::table::compaction;

use super::levels::{Levels, Run};

/// The options that decide picks.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    /// `compaction.max-size-amplification-percent`.
    pub max_size_amplification: i64,
    /// `compaction.size-ratio`, percent.
    pub size_ratio: i64,
    /// `num-sorted-run.compaction-trigger`.
    pub trigger: usize,
    /// Triggers of an early full compaction.
    pub early_full: EarlyFull,
    /// `compaction.offpeak.*`.
    pub off_peak: Option<OffPeak>,
    /// Whether level 0 is always taken up: `compaction.force-up-level-0`, or lookup with `lookup-compact=RADICAL`.
    pub force_up_level_0: bool,
}

/// Triggers of an early full compaction; none is set by default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EarlyFull {
    /// `compaction.optimization-interval` in milliseconds.
    pub interval_millis: Option<i64>,
    /// `compaction.total-size-threshold` in bytes.
    pub total_size: Option<i64>,
    /// `compaction.incremental-size-threshold` in bytes.
    pub incremental_size: Option<i64>,
}

/// Hours during which runs are compacted more readily.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OffPeak {
    /// First hour, 0 to 23.
    pub start_hour: i64,
    /// Hour after the last one, 0 to 23; less than `start_hour` when the hours run over midnight.
    pub end_hour: i64,
    /// Percent added to the size ratio.
    pub ratio: i64,
}

/// What the policy looks at beside the levels.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Moment {
    /// Milliseconds since the epoch.
    pub now_millis: i64,
    /// Hour of the local day, 0 to 23.
    pub hour: i64,
    /// When the last full compaction was, milliseconds since the epoch.
    pub last_full_millis: Option<i64>,
}

/// Why a choice was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// Asked for.
    Full,
    /// One of the early triggers.
    EarlyFull,
    /// The newer runs are large against the oldest.
    SizeAmplification,
    /// A run is about as large as the newer ones together.
    SizeRatio,
    /// Too many runs.
    RunCount,
    /// Level 0 must not stay.
    ForceUpLevel0,
    /// Small files of an append table.
    SmallFiles,
    /// Rows wait for a bucket.
    Postponed,
}

/// Runs to compact into one level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// Level of the result.
    pub output_level: i32,
    /// Files to compact.
    pub files: Vec<Arc<DataFileMeta>>,
    /// Why.
    pub reason: Reason,
}

impl Policy {
    /// The policy that a table's options ask for.
    ///
    /// # Errors
    /// `Invalid` for a bad value, naming the option.
    pub fn of(options: &Options) -> Result<Self> {
        let long = |v: Option<u64>| v.map(|v| i64::try_from(v).unwrap_or(i64::MAX));
        let start_hour = i64::from(options.require(&compaction::COMPACTION_OFFPEAK_START_HOUR)?);
        let end_hour = i64::from(options.require(&compaction::COMPACTION_OFFPEAK_END_HOUR)?);
        let ratio = i64::from(options.require(&compaction::COMPACTION_OFFPEAK_RATIO)?).max(0);
        let interval = options.optimization_interval()?;
        Ok(Self {
            max_size_amplification: i64::from(options.max_size_amplification()?),
            size_ratio: i64::from(options.size_ratio()?),
            trigger: options.compaction_trigger()?,
            early_full: EarlyFull {
                interval_millis: interval.map(|d| i64::try_from(d.as_millis()).unwrap_or(i64::MAX)),
                total_size: long(options.total_size_threshold()?),
                incremental_size: long(options.incremental_size_threshold()?),
            },
            off_peak: (start_hour != -1 && end_hour != -1 && start_hour != end_hour).then_some(OffPeak {
                start_hour,
                end_hour,
                ratio,
            }),
            force_up_level_0: options.force_up_level_0()?
                || (options.need_lookup()? && options.lookup_compact_radical()?),
        })
    }

    /// What to compact now, if anything.
    pub fn pick(&self, levels: &Levels, moment: Moment) -> Option<Choice> {
        let runs = levels.runs();
        let max_level = levels.max_level();
        let choice = self.universal(&runs, max_level, moment);
        let choice = match choice {
            None if self.force_up_level_0 => self.force_up(&runs, max_level, moment),
            choice => choice,
        }?;
        // A single file that stays where it is is no work.
        match choice.files.as_slice() {
            [] => None,
            [one] if one.level == choice.output_level => None,
            _ => Some(choice),
        }
    }

    fn universal(&self, runs: &[Run], max_level: i32, moment: Moment) -> Option<Choice> {
        if self.early_full.applies(runs, max_level, moment) {
            return Some(all(runs, max_level, Reason::EarlyFull));
        }
        if self.is_amplified(runs) {
            return Some(all(runs, max_level, Reason::SizeAmplification));
        }
        if runs.len() >= self.trigger
            && let Some(choice) = self.by_ratio(runs, max_level, 1, Reason::SizeRatio, moment)
        {
            return Some(choice);
        }
        if runs.len() > self.trigger {
            let count = runs.len() - self.trigger + 1;
            return self.by_ratio(runs, max_level, count, Reason::RunCount, moment);
        }
        None
    }

    fn force_up(&self, runs: &[Run], max_level: i32, moment: Moment) -> Option<Choice> {
        let count = runs.iter().take_while(|r| r.level == 0).count();
        if count == 0 { None } else { self.by_ratio(runs, max_level, count, Reason::ForceUpLevel0, moment) }
    }

    fn is_amplified(&self, runs: &[Run]) -> bool {
        let Some((last, newer)) = runs.split_last() else { return false };
        let newer: i64 = newer.iter().map(Run::size).sum();
        runs.len() >= self.trigger
            && newer.saturating_mul(100) > self.max_size_amplification.saturating_mul(last.size())
    }

    /// Grows the first `count` runs by the ones after them as long as those are not larger than the whole so far. Once
    /// triggered, a run of level 1 is always taken in.
    fn by_ratio(&self, runs: &[Run], max_level: i32, count: usize, reason: Reason, moment: Moment) -> Option<Choice> {
        let mut count = count.min(runs.len());
        let mut size: i64 = runs.iter().take(count).map(Run::size).sum();
        let mut triggered = count > 1 || reason == Reason::ForceUpLevel0;
        let percent = 100.0 + self.size_ratio as f64 + self.off_peak_ratio(moment) as f64;
        while let Some(next) = runs.get(count) {
            if size as f64 * percent / 100.0 < next.size() as f64 && (!triggered || next.level > 1) {
                break;
            }
            size += next.size();
            count += 1;
            triggered = true;
        }
        triggered.then(|| choose(runs, max_level, count, reason))
    }

    fn off_peak_ratio(&self, moment: Moment) -> i64 {
        match self.off_peak {
            Some(hours) if hours.contains(moment.hour) => hours.ratio,
            _ => 0,
        }
    }
}

impl EarlyFull {
    fn applies(&self, runs: &[Run], max_level: i32, moment: Moment) -> bool {
        if runs.len() <= 1 {
            return false;
        }
        let due = |interval: i64| moment.last_full_millis.is_none_or(|last| moment.now_millis - last > interval);
        let total: i64 = runs.iter().map(Run::size).sum();
        let incremental: i64 = runs.iter().filter(|r| r.level != max_level).map(Run::size).sum();
        self.interval_millis.is_some_and(due)
            || self.total_size.is_some_and(|t| total < t)
            || self.incremental_size.is_some_and(|t| incremental > t)
    }
}

impl OffPeak {
    fn contains(&self, hour: i64) -> bool {
        if self.start_hour <= self.end_hour {
            hour >= self.start_hour && hour < self.end_hour
        } else {
            hour >= self.start_hour || hour < self.end_hour
        }
    }
}

fn all(runs: &[Run], output_level: i32, reason: Reason) -> Choice {
    Choice { output_level, files: runs.iter().flat_map(|r| r.files.iter().cloned()).collect(), reason }
}

/// The first `count` runs, into the level below the next run; never into level 0.
fn choose(runs: &[Run], max_level: i32, mut count: usize, reason: Reason) -> Choice {
    let mut output_level = match runs.get(count) {
        None => max_level,
        Some(next) => (next.level - 1).max(0),
    };
    if output_level == 0 {
        while let Some(next) = runs.get(count) {
            count += 1;
            if next.level != 0 {
                output_level = next.level;
                break;
            }
        }
    }
    if count == runs.len() {
        output_level = max_level;
    }
    all(&runs[..count], output_level, reason)
}

/// A full compaction: everything into the highest level. When everything is there already, only the files for which
/// `must_rewrite` holds are taken.
pub fn pick_full(levels: &Levels, must_rewrite: impl Fn(&DataFileMeta) -> bool) -> Option<Choice> {
    let runs = levels.runs();
    let max_level = levels.max_level();
    match runs.as_slice() {
        [] => None,
        [one] if one.level == max_level => {
            let files: Vec<_> = one.files.iter().filter(|f| must_rewrite(f)).cloned().collect();
            (!files.is_empty()).then_some(Choice { output_level: max_level, files, reason: Reason::Full })
        }
        runs => Some(all(runs, max_level, Reason::Full)),
    }
}

/// Whether a compaction may drop retractions: nothing older lies below its output.
pub fn drops_deletes(levels: &Levels, output_level: i32, deletion_vectors: bool) -> bool {
    output_level != 0 && (output_level >= levels.highest_used() || deletion_vectors)
}

#[cfg(test)]
mod tests;
