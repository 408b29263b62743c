//! Time, memory and sizes of one phase, and phases as child processes.

use std::iter::Sum;
use std::ops::AddAssign;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::data::Rows;

/// Processor time is told in hundredths of a second.
const TICK_MILLIS: u64 = 10;

/// Measures time on the wall and of the processor, over all threads.
pub(crate) struct Stopwatch {
    start: Instant,
    processor: Duration,
}

/// What something took.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Spent {
    pub(crate) time: Duration,
    pub(crate) processor: Duration,
}

/// Starts a stopwatch.
#[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
pub(crate) fn start() -> Stopwatch {
    Stopwatch { processor: processor_time(), start: Instant::now() }
}

/// The time, to tell how long something took.
#[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

impl Stopwatch {
    /// What was spent since the start.
    pub(crate) fn elapsed(&self) -> Spent {
        Spent { time: self.start.elapsed(), processor: processor_time().saturating_sub(self.processor) }
    }
}

impl AddAssign for Spent {
    fn add_assign(&mut self, other: Self) {
        self.time += other.time;
        self.processor += other.processor;
    }
}

impl Sum for Spent {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::default(), |mut sum, spent| {
            sum += spent;
            sum
        })
    }
}

/// One measurement of this process, with its peak resident memory so far.
pub(crate) fn record(rows: usize, bytes: u64, spent: Spent) -> Value {
    let seconds = spent.time.as_secs_f64();
    let per_row = seconds / rows.max(1) as f64;
    json!({
        "rows": rows, "bytes": bytes, "seconds": seconds, "processor_seconds": spent.processor.as_secs_f64(),
        "seconds_per_row": per_row, "rows_per_second": (1.0 / per_row).round(), "peak_rss_bytes": peak_memory(),
    })
}

/// The high-water mark of this process's own memory; `ru_maxrss` would start from that of the parent.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches("kB").trim().parse::<u64>().ok().map(|kib| kib * 1024)
}

/// User and system time of all threads of this process so far.
fn processor_time() -> Duration {
    let ticks = || {
        let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
        // The name of the program may hold blanks; what follows it does not.
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
        Some(fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?)
    };
    Duration::from_millis(ticks().unwrap_or(0) * TICK_MILLIS)
}

/// Bytes of all files below a folder.
pub(crate) fn size_of(dir: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        let meta = entry.metadata()?;
        bytes += if meta.is_dir() { size_of(&entry.path())? } else { meta.len() };
    }
    Ok(bytes)
}

/// One number by another, where both are there.
pub(crate) fn ratio(a: &Value, b: &Value) -> Value {
    a.as_f64().zip(b.as_f64()).map_or(Value::Null, |(a, b)| json!(a / b))
}

/// What a measurement is compared with: `ratio` with plain Parquet, `ratio_to_…` with something else.
pub(crate) type Baselines<'a> = &'a [(&'a str, &'a Value)];

/// Runs phases as children of this process.
pub(crate) struct Runner {
    pub(crate) root: PathBuf,
    pub(crate) rows: usize,
    pub(crate) commits: usize,
}

impl Runner {
    /// The same for rows of many columns, of which there are fewer unless it is said how many.
    pub(crate) fn for_rows(root: PathBuf, data: Rows, rows: Option<usize>, commits: usize) -> Self {
        Self { root, rows: rows.unwrap_or(data.per_commit()), commits }
    }

    /// Runs a phase in a folder of its own and returns its measurement.
    pub(crate) fn quiet(&self, dir: &str, phase: &[&str]) -> Result<Value> {
        let dir = self.root.join(dir);
        std::fs::create_dir_all(&dir)?;
        let output = Command::new(std::env::current_exe()?)
            .args(["--rows", &self.rows.to_string(), "--commits", &self.commits.to_string(), "--dir"])
            .arg(&dir)
            .arg("phase")
            .args(phase)
            .stderr(Stdio::inherit())
            .output()?;
        ensure!(output.status.success(), "phase {phase:?} failed");
        serde_json::from_slice(&output.stdout).with_context(|| format!("phase {phase:?} printed no measurement"))
    }

    /// Runs a phase and prints its measurement under a name, with the ratios of its times to those of baselines.
    pub(crate) fn measure(&self, dir: &str, name: &str, phase: &[&str], baselines: Baselines<'_>) -> Result<Value> {
        let measured = self.quiet(dir, phase)?;
        Ok(tell(measured, name, baselines))
    }

    /// Deletes what the phases of a folder made.
    pub(crate) fn clear(&self, dir: &str) -> Result<()> {
        Ok(std::fs::remove_dir_all(self.root.join(dir))?)
    }
}

/// Prints a measurement under a name, with the ratios of its times to those of baselines, also by row and by byte where it is
/// known how many were moved.
pub(crate) fn tell(mut measured: Value, name: &str, baselines: Baselines<'_>) -> Value {
    measured["name"] = name.into();
    for (ratio_name, baseline) in baselines {
        measured[*ratio_name] = ratio(&measured["seconds"], &baseline["seconds"]);
        let of_processor = ratio(&measured["processor_seconds"], &baseline["processor_seconds"]);
        measured[format!("processor_{ratio_name}")] = of_processor;
        for (unit, moved) in [("row", "moved_rows"), ("byte", "moved_bytes")] {
            let more = ratio(&measured[moved], &baseline[moved]);
            if !more.is_null() {
                measured[format!("{ratio_name}_per_{unit}")] = ratio(&measured[*ratio_name], &more);
            }
        }
        if let Some(sort) = baseline["sort_seconds"].as_f64().zip(baseline["seconds"].as_f64()) {
            measured[format!("{ratio_name}_with_sort")] = ratio(&measured["seconds"], &json!(sort.0 + sort.1));
        }
    }
    println!("{measured}");
    measured
}
