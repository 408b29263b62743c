//! Typed access to options, defaults and fallback keys.

use std::collections::HashSet;
use std::time::Duration;

use super::table::{compaction, file, key};
use super::*;

fn options(pairs: &[(&str, &str)]) -> Options {
    pairs.iter().copied().collect()
}

#[test]
fn keys_are_unique_and_defaults_are_values() {
    let mut keys = HashSet::new();
    for def in OPTIONS {
        assert!(keys.insert(def.key), "{} stands twice", def.key);
        if let Some(default) = def.default {
            check_value(def, default).unwrap();
        }
        assert!(!def.description.is_empty(), "{}", def.key);
    }
    assert_eq!(OPTIONS.len(), 342);
}

#[test]
fn sizes_and_times_are_read_in_all_spellings() {
    for (text, bytes) in [("128 mb", 128 << 20), ("64kb", 64 << 10), ("17", 17), (" 1 G ", 1 << 30), ("500 B", 500)] {
        assert_eq!(parse_memory(text).unwrap(), bytes, "{text}");
    }
    for text in ["", "mb", "1 pb", "-1", "99999999999999999999", "9000000000 gb"] {
        assert!(parse_memory(text).is_err(), "{text}");
    }
    for (text, millis) in [
        ("1 h", 3_600_000),
        ("10s", 10_000),
        ("1 d", 86_400_000),
        ("250", 250),
        ("PT1H30M", 5_400_000),
        ("P1DT0.5S", 86_400_500),
        ("2 minutes", 120_000),
    ] {
        assert_eq!(parse_duration(text).unwrap(), Duration::from_millis(millis), "{text}");
    }
    for text in ["", "h", "1 week", "P", "PT", "P1H", "1.5 h", "18446744073709551615 d"] {
        assert!(parse_duration(text).is_err(), "{text}");
    }
}

#[test]
fn values_fall_back_to_older_keys_and_defaults() {
    assert!(!Options::new().ignore_delete().unwrap());
    assert!(options(&[("first-row.ignore-delete", "TRUE")]).ignore_delete().unwrap());
    let both = options(&[("ignore-delete", "false"), ("first-row.ignore-delete", "true")]);
    assert!(!both.ignore_delete().unwrap());
    assert!(options(&[("write.compaction-skip", "true")]).write_only().unwrap());
    let e = options(&[("first-row.ignore-delete", "maybe")]).ignore_delete().unwrap_err();
    assert!(e.message().contains("first-row.ignore-delete") && e.message().contains("maybe"), "{e}");
}

#[test]
fn unknown_words_name_what_is_allowed() {
    let e = options(&[("merge-engine", "upsert")]).merge_engine().unwrap_err();
    for part in ["merge-engine", "upsert", "deduplicate", "first-row"] {
        assert!(e.message().contains(part), "{e}");
    }
    assert_eq!(options(&[("merge-engine", "Partial-Update")]).merge_engine().unwrap(), MergeEngine::PartialUpdate);
}

#[test]
fn lists_are_trimmed() {
    let options = options(&[("sequence.field", " f1 ,f2 ,  f3 "), ("fields.g1,g2.sequence-group", "a, b")]);
    assert_eq!(options.sequence_fields(), ["f1", "f2", "f3"]);
    assert_eq!(options.sequence_groups(), [(vec!["g1", "g2"], vec!["a", "b"])]);
}

#[test]
fn levels_and_triggers_follow_one_another() {
    let plain = Options::new();
    assert_eq!(
        (plain.compaction_trigger().unwrap(), plain.stop_trigger().unwrap(), plain.num_levels().unwrap()),
        (5, 8, 6)
    );
    let tuned = options(&[("num-sorted-run.compaction-trigger", "7"), ("num-sorted-run.stop-trigger", "2")]);
    assert_eq!((tuned.stop_trigger().unwrap(), tuned.num_levels().unwrap()), (7, 8));
    assert!(options(&[("num-levels", "0")]).num_levels().is_err());
    assert_eq!(plain.target_file_size(true).unwrap(), 128 << 20);
    assert_eq!(plain.target_file_size(false).unwrap(), 256 << 20);
    assert_eq!(plain.small_file_size(true).unwrap(), 93_952_409);
}

#[test]
fn levels_have_formats_of_their_own() {
    let options = options(&[
        ("file.format", "ORC"),
        ("file.format.per.level", "0:Avro, 3:parquet"),
        ("fields.a.stats-mode", "none"),
    ]);
    assert_eq!(options.file_format_of_level(0).unwrap(), "avro");
    assert_eq!(options.file_format_of_level(1).unwrap(), "orc");
    assert_eq!(options.stats_mode_word("a", 0).unwrap(), "none");
    assert_eq!(options.stats_mode_word("b", 0).unwrap(), "truncate(16)");
    assert!(self::options(&[("file.format.per.level", "avro")]).file_format_of_level(0).is_err());
}

#[test]
fn the_scan_mode_follows_the_other_options() {
    assert_eq!(Options::new().scan_mode().unwrap(), ScanMode::LatestFull);
    assert_eq!(options(&[("scan.snapshot-id", "3")]).scan_mode().unwrap(), ScanMode::FromSnapshot);
    assert_eq!(options(&[("incremental-between", "1,2")]).scan_mode().unwrap(), ScanMode::Incremental);
    assert_eq!(options(&[("scan.mode", "latest"), ("scan.snapshot-id", "3")]).scan_mode().unwrap(), ScanMode::Latest);
}

#[test]
fn some_rows_of_the_table() {
    assert_eq!(compaction::COMPACTION_SIZE_RATIO.default, Some("1"));
    assert_eq!(key::MERGE_ENGINE.default, Some("deduplicate"));
    let immutable = |key| option(key).unwrap().immutable;
    assert!(immutable("merge-engine") && !immutable("deletion-vectors.enabled"));
    assert_eq!(Options::new().require(&file::FILE_READER_ASYNC_THRESHOLD).unwrap(), 10 << 20);
    assert_eq!(option("orc.write.batch-size").unwrap().key, "write.batch-size");
    assert!(Options::new().require(&compaction::NUM_LEVELS).is_err());
    let merged = options(&[("a", "1"), ("b", "2")]).merged(&options(&[("b", "3")]));
    assert_eq!(merged.iter().collect::<Vec<_>>(), [("a", "1"), ("b", "3")]);
}

#[test]
fn options_are_compared_as_values() {
    let same = |key: &str, a: &str, b: &str| {
        let of = |value: &str| [(key, value)].into_iter().collect::<Options>();
        of(a).means_the_same(&of(b), key)
    };
    for (key, a, b) in [
        ("bucket", "4", " 04 "),
        ("target-file-size", "128 mb", "131072kb"),
        ("snapshot.time-retained", "1 h", "PT60M"),
        ("deletion-vectors.enabled", "TRUE", "true"),
        ("merge-engine", "Partial-Update", "partial-update"),
        ("no.such.option", "x", "x"),
    ] {
        assert!(same(key, a, b), "{key}: {a} and {b}");
    }
    for (key, a, b) in [
        ("bucket", "4", "40"),
        ("target-file-size", "128 mb", "128 kb"),
        ("snapshot.time-retained", "1 h", "1 d"),
        ("sequence.field", "a", "A"),
        ("no.such.option", "1", "01"),
    ] {
        assert!(!same(key, a, b), "{key}: {a} and {b}");
    }
    let (none, default) = (Options::new(), [("force-lookup", "False")].into_iter().collect::<Options>());
    assert!(none.means_the_same(&default, "force-lookup"));
}
