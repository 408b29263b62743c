//! Time, memory and sizes of one phase, and phases as child processes.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

/// Starts a stopwatch.
#[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
pub(crate) fn start() -> Instant {
    Instant::now()
}

/// One measurement of this process, with its peak resident memory so far.
pub(crate) fn record(rows: usize, bytes: u64, time: Duration) -> Value {
    let seconds = time.as_secs_f64();
    let per_row = seconds / rows.max(1) as f64;
    json!({
        "rows": rows, "bytes": bytes, "seconds": seconds, "seconds_per_row": per_row,
        "rows_per_second": (1.0 / per_row).round(), "peak_rss_bytes": peak_memory(),
    })
}

/// The high-water mark of this process's own memory; `ru_maxrss` would start from that of the parent.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches("kB").trim().parse::<u64>().ok().map(|kib| kib * 1024)
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

/// Runs phases as children of this process.
pub(crate) struct Runner {
    pub(crate) root: PathBuf,
    pub(crate) rows: usize,
    pub(crate) commits: usize,
}

impl Runner {
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

    /// Runs a phase and prints its measurement under a name, with the ratio of its time to that of a baseline.
    pub(crate) fn measure(&self, dir: &str, name: &str, phase: &[&str], baseline: Option<&Value>) -> Result<Value> {
        let mut measured = self.quiet(dir, phase)?;
        measured["name"] = name.into();
        if let Some(baseline) = baseline {
            measured["ratio"] = ratio(&measured["seconds"], &baseline["seconds"]);
            if let Some(sort) = baseline["sort_seconds"].as_f64().zip(baseline["seconds"].as_f64()) {
                measured["ratio_with_sort"] = ratio(&measured["seconds"], &json!(sort.0 + sort.1));
            }
        }
        println!("{measured}");
        Ok(measured)
    }
}
