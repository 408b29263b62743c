//! `linn-bench`: measures Linn against what plain Parquet costs on the same machine in the same run.
//!
//! Every phase runs in a process of its own, so that its peak memory is its own; the parent adds ratios and prints one
//! JSON line per measurement.

mod data;
mod measure;
mod metadata;
mod plain;
mod tree;

use std::path::PathBuf;

use anyhow::Result;
use clap::{Parser, Subcommand};
use serde_json::Value;

use measure::{Runner, ratio};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[derive(Parser)]
#[command(about = "Measures Linn against plain Parquet")]
struct Cli {
    #[command(subcommand)]
    bench: Bench,
    /// Rows in a commit
    #[arg(long, global = true, default_value_t = 1_000_000)]
    rows: usize,
    /// Commits
    #[arg(long, global = true, default_value_t = 5)]
    commits: usize,
    /// Folder for the tables, on the disk to measure; a temporary one unless given
    #[arg(long, global = true)]
    dir: Option<PathBuf>,
}

#[derive(Subcommand)]
enum Bench {
    /// Writing a primary-key table
    Ingest,
    /// Reading it before compaction
    MergeRead,
    /// Compacting it completely
    Compact,
    /// Planning tables of many files from a cold start, and 500 small commits
    Plan {
        /// Numbers of files
        #[arg(long, value_delimiter = ',', default_values_t = [10_000, 100_000])]
        files: Vec<usize>,
        /// Small commits
        #[arg(long, default_value_t = 500)]
        small: usize,
    },
    /// One phase, in this process
    #[command(hide = true)]
    Phase {
        #[command(subcommand)]
        phase: Phase,
    },
}

#[derive(Subcommand)]
enum Phase {
    PlainWrite,
    PlainScan {
        columns: String,
    },
    PlainRewrite,
    Ingest {
        buckets: usize,
        #[arg(action = clap::ArgAction::Set)]
        write_only: bool,
    },
    Read {
        columns: String,
    },
    Compact,
    Manifests {
        files: usize,
    },
    ColdPlan,
    Commits {
        count: usize,
    },
}

fn main() -> Result<()> {
    let cli = Cli::parse();
    if let Bench::Phase { phase } = &cli.bench {
        println!("{}", run_phase(&cli, phase)?);
        return Ok(());
    }
    let held = tempfile::tempdir()?;
    let root = cli.dir.clone().unwrap_or_else(|| held.path().to_owned());
    let runner = Runner { root, rows: cli.rows, commits: cli.commits };
    match &cli.bench {
        Bench::Ingest => ingest(&runner),
        Bench::MergeRead => merge_read(&runner),
        Bench::Compact => compact(&runner),
        Bench::Plan { files, small } => plan(&runner, files, *small),
        Bench::Phase { .. } => Ok(()),
    }
}

fn run_phase(cli: &Cli, phase: &Phase) -> Result<Value> {
    let dir = cli.dir.clone().unwrap_or_default();
    let size = data::Size { rows: cli.rows, commits: cli.commits };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    match phase {
        Phase::PlainWrite => plain::write(&dir, size),
        Phase::PlainScan { columns } => plain::scan(&dir, columns),
        Phase::PlainRewrite => plain::rewrite(&dir),
        Phase::Ingest { buckets, write_only } => runtime.block_on(tree::ingest(&dir, size, *buckets, *write_only)),
        Phase::Read { columns } => runtime.block_on(tree::read(&dir, columns)),
        Phase::Compact => runtime.block_on(tree::compact(&dir)),
        Phase::Manifests { files } => runtime.block_on(metadata::fill(&dir, *files)),
        Phase::ColdPlan => runtime.block_on(metadata::plan(&dir)),
        Phase::Commits { count } => runtime.block_on(metadata::commits(&dir, *count)),
    }
}

const BUCKETS: [&str; 2] = ["1", "4"];

fn ingest(runner: &Runner) -> Result<()> {
    let plain = runner.measure("plain", "ingest baseline: plain Parquet", &["plain-write"], None)?;
    for buckets in BUCKETS {
        for (write_only, how) in [("true", "write-only"), ("false", "with compaction")] {
            let name = format!("ingest, {buckets} bucket(s), {how}");
            let dir = format!("t{buckets}{write_only}");
            runner.measure(&dir, &name, &["ingest", buckets, write_only], Some(&plain))?;
        }
    }
    Ok(())
}

fn merge_read(runner: &Runner) -> Result<()> {
    runner.quiet("plain", &["plain-write"])?;
    for buckets in BUCKETS {
        runner.quiet(buckets, &["ingest", buckets, "true"])?;
    }
    for (columns, how) in [("all", "all columns"), ("c1,c7", "2 columns")] {
        let name = format!("scan baseline: plain Parquet, {how}");
        let plain = runner.measure("plain", &name, &["plain-scan", columns], None)?;
        for buckets in BUCKETS {
            let name = format!("merge-read, {buckets} bucket(s), {how}");
            runner.measure(buckets, &name, &["read", columns], Some(&plain))?;
        }
    }
    Ok(())
}

fn compact(runner: &Runner) -> Result<()> {
    runner.quiet("plain", &["plain-write"])?;
    let plain = runner.measure("plain", "compact baseline: Parquet read and write", &["plain-rewrite"], None)?;
    for buckets in BUCKETS {
        runner.quiet(buckets, &["ingest", buckets, "true"])?;
        runner.measure(buckets, &format!("full compaction, {buckets} bucket(s)"), &["compact"], Some(&plain))?;
    }
    Ok(())
}

fn plan(runner: &Runner, files: &[usize], small: usize) -> Result<()> {
    let mut first: Option<Value> = None;
    for count in files {
        let (dir, count) = (format!("files{count}"), count.to_string());
        runner.measure(&dir, &format!("commit {count} files"), &["manifests", &count], None)?;
        let mut plan = runner.quiet(&dir, &["cold-plan"])?;
        plan["name"] = format!("cold plan of {count} files").into();
        if let Some(first) = &first {
            plan["cost_per_file_ratio"] = ratio(&plan["seconds_per_row"], &first["seconds_per_row"]);
        }
        println!("{plan}");
        first.get_or_insert(plan);
    }
    runner.measure("commits", &format!("{small} small commits"), &["commits", &small.to_string()], None)?;
    Ok(())
}
