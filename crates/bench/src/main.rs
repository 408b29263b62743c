//! `linn-bench`: measures Linn against what plain Parquet costs on the same machine in the same run.
//!
//! Every phase runs in a process of its own, so that its peak memory is its own; the parent adds ratios and prints one
//! JSON line per measurement.

mod data;
mod functions;
mod history;
mod measure;
mod metadata;
mod plain;
mod session;
mod suite;
mod tail;
mod tree;
mod values;
mod wide;

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};
use serde_json::Value;

use data::Rows;
use measure::Runner;

/// Rows of each source of a statement set, unless given.
const SET_ROWS: usize = 5000;

#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

#[derive(Parser)]
#[command(about = "Measures Linn against plain Parquet")]
struct Cli {
    #[command(subcommand)]
    bench: Bench,
    /// Rows in a commit; a million unless given, fewer where they have many columns
    #[arg(long, global = true)]
    rows: Option<usize>,
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
    /// partial-update: 200 columns from four sources, written, read and compacted
    Wide,
    /// aggregation: twenty columns with functions, written, read and compacted
    Aggregation,
    /// Compactions that tell their changes
    Changelog,
    /// Deletion vectors: writing them, and reading with them
    Vectors,
    /// Large rows, and many buckets: what writing and compacting them holds in memory
    Memory,
    /// Planning tables of many files from a cold start, and 500 small commits
    Plan {
        /// Numbers of files
        #[arg(long, value_delimiter = ',', default_values_t = [10_000, 100_000, 1_000_000])]
        files: Vec<usize>,
        /// Small commits
        #[arg(long, default_value_t = 500)]
        small: usize,
    },
    /// Expiring a long history of a table of many files
    Expire {
        /// Files of the table
        #[arg(long, default_value_t = 1_000_000)]
        files: usize,
        /// Snapshots
        #[arg(long, default_value_t = 10_000)]
        snapshots: usize,
    },
    /// From a commit to who follows the table
    Tail {
        /// Commits
        #[arg(long, default_value_t = 200)]
        count: usize,
    },
    /// Planning queries of many partitions
    Partitions {
        /// Partitions
        #[arg(long, default_value_t = 100_000)]
        count: usize,
    },
    /// Filling a wide table from many sources by one statement set
    Sets {
        /// Sources
        #[arg(long, default_value_t = 12)]
        sources: usize,
        /// Columns of each source
        #[arg(long, default_value_t = 300)]
        columns: usize,
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
    PlainWrite {
        data: Rows,
    },
    PlainScan {
        columns: String,
    },
    Rewrite,
    Ingest {
        data: Rows,
        /// With the merge engine of these rows instead of deduplicate
        #[arg(long)]
        merged: bool,
        /// First commit that is written
        #[arg(long, default_value_t = 0)]
        first: usize,
        /// Options of the table
        options: Vec<String>,
    },
    Read {
        columns: String,
    },
    Compact {
        #[arg(action = clap::ArgAction::Set)]
        full: bool,
    },
    Manifests {
        files: usize,
    },
    Lay {
        files: usize,
        snapshots: usize,
    },
    ColdPlan,
    SystemFiles,
    Expire,
    Commits {
        count: usize,
    },
    LayPartitions {
        count: usize,
    },
    PlanPartitions {
        condition: String,
    },
    LaySources {
        sources: usize,
        columns: usize,
    },
    Fill {
        sources: usize,
        columns: usize,
        /// By one statement set
        #[arg(long)]
        set: bool,
    },
    Tail {
        count: usize,
        /// Through another handle, as another process
        #[arg(long)]
        apart: bool,
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
    let runner = |data: Rows| Runner::for_rows(root.clone(), data, cli.rows, cli.commits);
    match &cli.bench {
        Bench::Ingest => suite::ingest(&runner(Rows::Narrow)),
        Bench::MergeRead => suite::merge_read(&runner(Rows::Narrow)),
        Bench::Compact => suite::compact(&runner(Rows::Narrow)),
        Bench::Wide => [Rows::Sources, Rows::Wide]
            .into_iter()
            .try_for_each(|data| suite::engine(&runner(data), data, "partial-update")),
        Bench::Aggregation => [Rows::Scalars, Rows::Functions]
            .into_iter()
            .try_for_each(|data| suite::engine(&runner(data), data, "aggregation")),
        Bench::Changelog => suite::changelog(&runner(Rows::Narrow)),
        Bench::Vectors => suite::vectors(&runner(Rows::Narrow)),
        Bench::Memory => [(Rows::Huge, "1"), (Rows::Big, "1"), (Rows::Big, "256")]
            .into_iter()
            .try_for_each(|(data, buckets)| suite::memory(&runner(data), data, buckets)),
        Bench::Plan { files, small } => suite::plan(&runner(Rows::Narrow), files, *small),
        Bench::Expire { files, snapshots } => suite::expire(&runner(Rows::Narrow), *files, *snapshots),
        Bench::Tail { count } => suite::tail(&runner(Rows::Narrow), *count),
        Bench::Partitions { count } => suite::partitions(&runner(Rows::Narrow), *count),
        Bench::Sets { sources, columns } => {
            let rows = Some(cli.rows.unwrap_or(SET_ROWS));
            suite::sets(&Runner::for_rows(root.clone(), Rows::Wide, rows, cli.commits), *sources, *columns)
        }
        Bench::Phase { .. } => Ok(()),
    }
}

fn run_phase(cli: &Cli, phase: &Phase) -> Result<Value> {
    let dir = cli.dir.clone().unwrap_or_default();
    let rows = cli.rows.unwrap_or(Rows::Narrow.per_commit());
    let size = data::Size { rows, first: 0, commits: cli.commits };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    match phase {
        Phase::PlainWrite { data } => plain::write(&dir, *data, size),
        Phase::PlainScan { columns } => plain::scan(&dir, columns),
        Phase::Rewrite => plain::rewrite(&dir),
        Phase::Ingest { data, merged, first, options } => {
            let mut all = if *merged { data.engine() } else { Vec::new() };
            for option in options {
                let (key, value) = option.split_once('=').context("an option is KEY=VALUE")?;
                all.push((key.to_owned(), value.to_owned()));
            }
            runtime.block_on(tree::ingest(&dir, *data, data::Size { first: *first, ..size }, &all))
        }
        Phase::Read { columns } => runtime.block_on(tree::read(&dir, columns)),
        Phase::Compact { full } => runtime.block_on(tree::compact(&dir, *full)),
        Phase::Manifests { files } => runtime.block_on(metadata::fill(&dir, *files)),
        Phase::Lay { files, snapshots } => runtime.block_on(history::lay(&dir, *files, *snapshots)),
        Phase::ColdPlan => runtime.block_on(metadata::plan(&dir)),
        Phase::SystemFiles => runtime.block_on(history::system_files(&dir)),
        Phase::Expire => runtime.block_on(history::expire(&dir)),
        Phase::Tail { count, apart } => runtime.block_on(tail::tail(&dir, *count, *apart)),
        Phase::LayPartitions { count } => runtime.block_on(session::lay_partitions(&dir, *count)),
        Phase::PlanPartitions { condition } => runtime.block_on(session::plan(&dir, condition)),
        Phase::LaySources { sources, columns } => {
            runtime.block_on(session::lay_sources(&dir, *sources, *columns, rows))
        }
        Phase::Fill { sources, columns, set } => runtime.block_on(session::fill(&dir, *sources, *columns, *set)),
        Phase::Commits { count } => runtime.block_on(metadata::commits(&dir, *count)),
    }
}
