//! Picks as the reference executed them (cases: K1).

use bytes::Bytes;
use linn_format::SchemaId;
use linn_format::row::BinaryRow;
use linn_format::stats::SimpleStats;

use super::*;

fn file(level: i32, size: i64, sequence: i64) -> Arc<DataFileMeta> {
    let stats = SimpleStats { min: BinaryRow::empty(), max: BinaryRow::empty(), null_counts: Vec::new() };
    Arc::new(DataFileMeta {
        file_name: format!("data-{level}-{sequence}.parquet"),
        file_size: size,
        row_count: 1,
        min_key: BinaryRow::empty(),
        max_key: BinaryRow::empty(),
        key_stats: stats.clone(),
        value_stats: stats,
        min_sequence_number: sequence,
        max_sequence_number: sequence,
        schema_id: SchemaId(0),
        level,
        extra_files: Vec::new(),
        creation_time: None,
        delete_row_count: Some(0),
        embedded_index: None::<Bytes>,
        file_source: None,
        value_stats_cols: None,
        external_path: None,
        first_row_id: None,
        write_cols: None,
        write_cols_sequences: None,
    })
}

fn policy(trigger: usize) -> Policy {
    Policy {
        max_size_amplification: 200,
        size_ratio: 1,
        trigger,
        early_full: EarlyFull::default(),
        off_peak: None,
        force_up_level_0: false,
    }
}

/// Levels of `(level, size)` runs given newest first.
fn levels(runs: &[(i32, i64)], num_levels: usize) -> Levels {
    let newest = runs.len() as i64;
    Levels::new(runs.iter().enumerate().map(|(i, (l, s))| file(*l, *s, newest - i as i64)).collect(), num_levels)
}

fn check(policy: &Policy, runs: &[(i32, i64)], num_levels: usize, expected: Option<(usize, i32)>) {
    check_at(policy, runs, num_levels, Moment::default(), expected);
}

fn check_at(policy: &Policy, runs: &[(i32, i64)], num_levels: usize, at: Moment, expected: Option<(usize, i32)>) {
    let choice = policy.pick(&levels(runs, num_levels), at);
    assert_eq!(choice.map(|c| (c.files.len(), c.output_level)), expected, "{runs:?}");
}

#[test]
fn level_1_is_always_absorbed_once_triggered() {
    check(&policy(3), &[(0, 10), (0, 20), (1, 97), (2, 100)], 3, Some((4, 2)));
    let forced = Policy { force_up_level_0: true, ..policy(5) };
    check(&forced, &[(0, 1), (1, 99), (2, 100)], 3, Some((3, 2)));
    check(&forced, &[(0, 1), (1, 99), (2, 102)], 3, Some((2, 1)));
}

#[test]
fn six_levels_with_trigger_5() {
    let policy = policy(5);
    check(&policy, &[(0, 1), (0, 1), (0, 1), (0, 1)], 6, None);
    check(&policy, &[(0, 1), (0, 1), (0, 1), (0, 1), (0, 1)], 6, Some((5, 5)));
    check(&policy, &[(0, 1), (0, 1), (0, 1), (0, 1), (5, 100)], 6, Some((4, 4)));
    check(&policy, &[(0, 1), (0, 1), (0, 1), (0, 1), (5, 1)], 6, Some((5, 5)));
    check(&policy, &[(0, 100), (0, 200), (0, 400), (0, 800), (5, 10000)], 6, None);
    check(&policy, &[(0, 5), (0, 5), (4, 9), (5, 1000)], 6, None);
}

#[test]
fn trigger_3() {
    check(&policy(3), &[(0, 50), (0, 50), (5, 30)], 6, Some((3, 5)));
    check(&policy(3), &[(0, 50), (3, 60), (5, 1000)], 6, None);
}

#[test]
fn too_many_runs_are_compacted_whatever_their_size() {
    check(&policy(5), &[(0, 1), (0, 10), (0, 100), (0, 1000), (0, 10000), (5, 100_000)], 6, Some((5, 4)));
    check(&policy(3), &[(0, 1), (0, 100), (3, 1000), (5, 100_000)], 6, Some((2, 2)));
}

#[test]
fn early_full_triggers() {
    let runs = [(0, 10), (5, 1000)];
    let with = |early_full| Policy { early_full, ..policy(5) };
    let interval = with(EarlyFull { interval_millis: Some(100), ..EarlyFull::default() });
    let at = |last| Moment { now_millis: 1000, hour: 0, last_full_millis: last };
    check_at(&interval, &runs, 6, at(None), Some((2, 5)));
    check_at(&interval, &runs, 6, at(Some(899)), Some((2, 5)));
    check_at(&interval, &runs, 6, at(Some(900)), None);
    check(&with(EarlyFull { total_size: Some(1011), ..EarlyFull::default() }), &runs, 6, Some((2, 5)));
    check(&with(EarlyFull { total_size: Some(1010), ..EarlyFull::default() }), &runs, 6, None);
    check(&with(EarlyFull { incremental_size: Some(9), ..EarlyFull::default() }), &runs, 6, Some((2, 5)));
    check(&with(EarlyFull { incremental_size: Some(10), ..EarlyFull::default() }), &runs, 6, None);
    // One run is never compacted early.
    check(&interval, &[(5, 1000)], 6, None);
}

#[test]
fn off_peak_hours_widen_the_ratio() {
    let night = Policy { off_peak: Some(OffPeak { start_hour: 22, end_hour: 4, ratio: 100 }), ..policy(3) };
    let runs = [(0, 50), (3, 60), (5, 10000)];
    let at = |hour| Moment { hour, ..Moment::default() };
    check_at(&night, &runs, 6, at(12), None);
    check_at(&night, &runs, 6, at(23), Some((2, 4)));
    check_at(&night, &runs, 6, at(3), Some((2, 4)));
    check_at(&night, &runs, 6, at(4), None);
}

#[test]
fn a_full_compaction_takes_everything_unless_it_is_done() {
    let full = |runs: &[(i32, i64)]| pick_full(&levels(runs, 6), |_| false).map(|c| (c.files.len(), c.output_level));
    assert_eq!(full(&[]), None);
    assert_eq!(full(&[(5, 10)]), None);
    assert_eq!(full(&[(4, 10)]), Some((1, 5)));
    assert_eq!(full(&[(0, 1), (5, 10)]), Some((2, 5)));
    let rewritten = pick_full(&levels(&[(5, 10)], 6), |f| f.file_size == 10).map(|c| c.files.len());
    assert_eq!(rewritten, Some(1));
}

#[test]
fn deletes_are_dropped_only_above_nothing() {
    let of = |runs: &[(i32, i64)], output| drops_deletes(&levels(runs, 6), output, false);
    assert!(of(&[(0, 1), (5, 10)], 5));
    assert!(!of(&[(0, 1), (5, 10)], 4));
    assert!(of(&[(0, 1), (3, 10)], 4));
    assert!(!of(&[(0, 1)], 0));
    assert!(drops_deletes(&levels(&[(0, 1), (5, 10)], 6), 4, true));
}
