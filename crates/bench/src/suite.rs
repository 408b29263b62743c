//! The benchmarks: which phases, in which order, compared with what.

use anyhow::Result;
use serde_json::Value;

use crate::data::Rows;
use crate::measure::{Baselines, Runner, ratio, tell};
use crate::tail::INTERVAL_MILLIS;

/// Files of the largest table that is made by commits.
const COMMITTED: usize = 100_000;
const BUCKETS: [&str; 2] = ["1", "4"];
const PLAIN: &str = "ratio";
const DEDUPLICATE: &str = "ratio_to_deduplicate";
const UNTOLD: &str = "ratio_to_no_changelog";
const ON_READ: &str = "ratio_to_merge_on_read";

/// Writing: what it costs to sort and merge rows, and to compact beside it.
pub(crate) fn ingest(runner: &Runner) -> Result<()> {
    let plain = runner.measure("plain", "ingest baseline: plain Parquet", &["plain-write", "narrow"], &[])?;
    for buckets in BUCKETS {
        for (write_only, how) in [("true", "write-only"), ("false", "with compaction")] {
            let name = format!("ingest, {buckets} bucket(s), {how}");
            let (dir, options) = (format!("t{buckets}{write_only}"), options(buckets, write_only));
            runner.measure(&dir, &name, &["ingest", "narrow", &options[0], &options[1]], &[(PLAIN, &plain)])?;
        }
    }
    Ok(())
}

/// Reading five runs that overlap.
pub(crate) fn merge_read(runner: &Runner) -> Result<()> {
    runner.quiet("plain", &["plain-write", "narrow"])?;
    for buckets in BUCKETS {
        let options = options(buckets, "true");
        runner.quiet(buckets, &["ingest", "narrow", &options[0], &options[1]])?;
    }
    for (columns, how) in [("all", "all columns"), ("c1,c7", "2 columns")] {
        let name = format!("scan baseline: plain Parquet, {how}");
        let plain = runner.measure("plain", &name, &["plain-scan", columns], &[])?;
        for buckets in BUCKETS {
            let name = format!("merge-read, {buckets} bucket(s), {how}");
            runner.measure(buckets, &name, &["read", columns], &[(PLAIN, &plain)])?;
        }
    }
    Ok(())
}

/// Putting them together.
pub(crate) fn compact(runner: &Runner) -> Result<()> {
    for buckets in BUCKETS {
        let options = options(buckets, "true");
        runner.quiet(buckets, &["ingest", "narrow", &options[0], &options[1]])?;
        rewritten(runner, buckets, &format!("full compaction, {buckets} bucket(s)"), true, &[])?;
    }
    Ok(())
}

/// One merge engine against deduplicate with the same rows, and both against plain Parquet.
pub(crate) fn engine(runner: &Runner, data: Rows, engine: &str) -> Result<()> {
    let rows = data.name();
    let plain =
        runner.measure("plain", &format!("{rows}, write baseline: plain Parquet"), &["plain-write", rows], &[])?;
    let name = |engine: &str, what: &str| format!("{rows}, {engine}, {what}");
    let ingest = |merged: bool| {
        let mut phase = vec!["ingest", rows];
        phase.extend(merged.then_some("--merged"));
        phase.extend(["bucket=1", "write-only=true"]);
        phase
    };
    let against = [(PLAIN, &plain)];
    let written = runner.measure("deduplicate", &name("deduplicate", "flush"), &ingest(false), &against)?;
    let against = [(PLAIN, &plain), (DEDUPLICATE, &written)];
    runner.measure("merged", &name(engine, "flush"), &ingest(true), &against)?;

    let scan = format!("{rows}, scan baseline: plain Parquet");
    let plain = runner.measure("plain", &scan, &["plain-scan", "all"], &[])?;
    let read =
        runner.measure("deduplicate", &name("deduplicate", "merge-read"), &["read", "all"], &[(PLAIN, &plain)])?;
    let against = [(PLAIN, &plain), (DEDUPLICATE, &read)];
    runner.measure("merged", &name(engine, "merge-read"), &["read", "all"], &against)?;

    let compacted = rewritten(runner, "deduplicate", &name("deduplicate", "full compaction"), true, &[])?;
    let against = [(DEDUPLICATE, &compacted)];
    rewritten(runner, "merged", &name(engine, "full compaction"), true, &against)?;
    ["plain", "deduplicate", "merged"].into_iter().try_for_each(|dir| runner.clear(dir))
}

/// Compactions with and without changelog: of the last two commits, which lie at level 0 over all others at the highest level;
/// of everything; and after each commit.
pub(crate) fn changelog(runner: &Runner) -> Result<()> {
    // What lies below is larger than both, or it would be compacted with them.
    let (below, all) = (runner.commits, runner.commits + 2);
    let few = ("compaction of the last two commits", "false");
    let full = ("full compaction", "true");
    let kinds = [(few, ["none", "lookup"].as_slice()), (full, ["none", "lookup", "full-compaction"].as_slice())];
    let of = |commits| Runner { root: runner.root.clone(), rows: runner.rows, commits };
    let (few, all) = (of(below), of(all));
    for ((what, full), producers) in kinds {
        let mut untold = None;
        for producer in producers {
            let options = changelog_options(producer);
            let mut phase = vec!["ingest", "narrow", "write-only=true"];
            phase.extend(options.iter().map(String::as_str));
            few.quiet(producer, &phase)?;
            few.quiet(producer, &["compact", "true"])?;
            all.quiet(producer, &["ingest", "narrow", "--first", &below.to_string()])?;
            let against: Vec<_> = untold.iter().map(|untold| (UNTOLD, untold)).collect();
            let name = format!("{what}, changelog {producer}");
            let measured = rewritten(runner, producer, &name, full == "true", &against)?;
            untold.get_or_insert(measured);
            runner.clear(producer)?;
        }
    }
    let mut untold = None;
    for producer in ["none", "lookup"] {
        let options = changelog_options(producer);
        let mut phase = vec!["ingest", "narrow"];
        phase.extend(options.iter().map(String::as_str));
        let against: Vec<_> = untold.iter().map(|untold| (UNTOLD, untold)).collect();
        let name = format!("writing, compacted after each commit, changelog {producer}");
        let measured = runner.measure(producer, &name, &phase, &against)?;
        untold.get_or_insert(measured);
        runner.clear(producer)?;
    }
    Ok(())
}

fn changelog_options(producer: &str) -> [String; 3] {
    // Without a changelog nothing else would have files leave level 0.
    ["bucket=1".to_owned(), "compaction.force-up-level-0=true".to_owned(), format!("changelog-producer={producer}")]
}

/// What large rows and many buckets hold in memory while they are written and compacted.
pub(crate) fn memory(runner: &Runner, data: Rows, buckets: &str) -> Result<()> {
    let rows = data.name();
    let options = options(buckets, "true");
    let name = |what: &str| format!("{rows} rows, {buckets} bucket(s), {what}");
    runner.measure(rows, &name("flush"), &["ingest", rows, &options[0], &options[1]], &[])?;
    runner.measure(rows, &name("merge-read"), &["read", "all"], &[])?;
    runner.measure(rows, &name("full compaction"), &["compact", "true"], &[])?;
    runner.clear(rows)
}

/// Writing with deletion vectors against writing without, and reading with them against merging.
pub(crate) fn vectors(runner: &Runner) -> Result<()> {
    let plain = runner.measure("plain", "vectors, write baseline: plain Parquet", &["plain-write", "narrow"], &[])?;
    let name = "vectors, write-only, merge-on-read";
    let options = options("1", "true");
    let phase = ["ingest", "narrow", &options[0], &options[1]];
    runner.measure("on-read", name, &phase, &[(PLAIN, &plain)])?;
    let name = "vectors, write with compaction, no vectors";
    let without = runner.measure("without", name, &["ingest", "narrow", "bucket=1"], &[(PLAIN, &plain)])?;
    let name = "vectors, write with compaction that is waited for";
    let phase = ["ingest", "narrow", "bucket=1", "deletion-vectors.enabled=true"];
    runner.measure("vectors", name, &phase, &[(PLAIN, &plain), ("ratio_to_no_vectors", &without)])?;
    for (columns, how) in [("all", "all columns"), ("c1,c7", "2 columns")] {
        let name = format!("vectors, scan baseline: plain Parquet, {how}");
        let plain = runner.measure("plain", &name, &["plain-scan", columns], &[])?;
        let name = format!("vectors, merge-on-read of {} runs, {how}", runner.commits);
        let on_read = runner.measure("on-read", &name, &["read", columns], &[(PLAIN, &plain)])?;
        let against = [(PLAIN, &plain), (ON_READ, &on_read)];
        runner.measure("without", &format!("vectors, read after compaction, {how}"), &["read", columns], &against)?;
        runner.measure("vectors", &format!("vectors, merge-on-write read, {how}"), &["read", columns], &against)?;
    }
    Ok(())
}

/// Planning, and the table of the files. Tables of more files than `COMMITTED` are laid down as metadata.
pub(crate) fn plan(runner: &Runner, files: &[usize], small: usize) -> Result<()> {
    let mut first: Option<Value> = None;
    for files in files {
        let (dir, count) = (format!("files{files}"), files.to_string());
        if *files > COMMITTED {
            runner.measure(&dir, &format!("{count} files laid down"), &["lay", &count, "0"], &[])?;
        } else {
            runner.measure(&dir, &format!("commit {count} files"), &["manifests", &count], &[])?;
        }
        let mut plan = runner.quiet(&dir, &["cold-plan"])?;
        plan["name"] = format!("cold plan of {count} files").into();
        if let Some(first) = &first {
            plan["cost_per_file_ratio"] = ratio(&plan["seconds_per_row"], &first["seconds_per_row"]);
        }
        println!("{plan}");
        first.get_or_insert(plan);
        runner.measure(&dir, &format!("$files of {count} files, streamed"), &["system-files"], &[])?;
    }
    runner.measure("commits", &format!("{small} small commits"), &["commits", &small.to_string()], &[])?;
    Ok(())
}

/// Planning with a comparison of the partition column, and with expressions over it.
pub(crate) fn partitions(runner: &Runner, count: usize) -> Result<()> {
    let count = count.to_string();
    runner.measure("days", &format!("{count} partitions committed"), &["lay-partitions", &count], &[])?;
    let month = "dt BETWEEN DATE '2001-03-01' AND DATE '2001-03-31'";
    let name = |condition: &str| format!("plan of {count} partitions, {condition}");
    let plain = runner.measure("days", &name(month), &["plan-partitions", month], &[])?;
    for condition in [
        "date_format(dt, 'yyyy-MM') = '2001-03'",
        "date_trunc('month', dt) = DATE '2001-03-01'",
        "substr(cast(dt AS STRING), 1, 7) = '2001-03' OR (year(dt) = 2300 AND v + 0 > 5)",
    ] {
        let mut measured = runner.quiet("days", &["plan-partitions", condition])?;
        measured["warm_ratio_to_comparison"] = ratio(&measured["warm_seconds"], &plain["warm_seconds"]);
        tell(measured, &name(condition), &[("ratio_to_comparison", &plain)]);
    }
    Ok(())
}

/// One statement set against one INSERT of the same values.
pub(crate) fn sets(runner: &Runner, sources: usize, columns: usize) -> Result<()> {
    let (sources, columns) = (sources.to_string(), columns.to_string());
    runner.measure("sets", "sources laid down", &["lay-sources", &sources, &columns], &[])?;
    let name = format!("one INSERT of {sources} x {columns} columns");
    let plain = runner.measure("sets", &name, &["fill", &sources, &columns], &[])?;
    let name = format!("statement set of {sources} INSERTs of {columns} columns");
    runner.measure("sets", &name, &["fill", &sources, &columns, "--set"], &[("ratio_to_one_insert", &plain)])?;
    Ok(())
}

/// Expiring a history.
pub(crate) fn expire(runner: &Runner, files: usize, snapshots: usize) -> Result<()> {
    let history = ["lay", &files.to_string(), &snapshots.to_string()];
    runner.measure("history", &format!("{files} files and {snapshots} snapshots laid down"), &history, &[])?;
    runner.measure("history", &format!("expiry of {snapshots} snapshots"), &["expire"], &[])?;
    Ok(())
}

/// From commit to delivery.
pub(crate) fn tail(runner: &Runner, count: usize) -> Result<()> {
    let count = count.to_string();
    runner.measure("same", "commit to delivered, same process", &["tail", &count], &[])?;
    let name = format!("commit to delivered, another reader that looks every {INTERVAL_MILLIS} ms");
    runner.measure("apart", &name, &["tail", &count, "--apart"], &[])?;
    Ok(())
}

/// A compaction, against reading and writing the same bytes as plain Parquet and against `others`.
fn rewritten(runner: &Runner, dir: &str, name: &str, full: bool, others: Baselines<'_>) -> Result<Value> {
    let measured = runner.quiet(dir, &["compact", if full { "true" } else { "false" }])?;
    let baseline = format!("{name}: baseline, the same bytes read and written as plain Parquet");
    let plain = runner.measure(dir, &baseline, &["rewrite"], &[])?;
    let against: Vec<_> = std::iter::once((PLAIN, &plain)).chain(others.iter().copied()).collect();
    Ok(tell(measured, name, &against))
}

fn options(buckets: &str, write_only: &str) -> [String; 2] {
    [format!("bucket={buckets}"), format!("write-only={write_only}")]
}
