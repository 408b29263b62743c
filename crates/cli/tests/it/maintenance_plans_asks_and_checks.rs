//! Expiry, partitions, orphans, checks: the plan is printed, nothing goes unasked, and the table stays whole.

use crate::run::Place;

/// Two days of events in five snapshots.
fn events() -> Place {
    let place = Place::new();
    place.write("e.csv", "day,id,what\n2024-01-01,1,a\n2024-01-02,2,b\n");
    let create = ["table", "import", "default.e", "e.csv", "--create", "--primary-key", "day,id"];
    let ended = place.run(&[&create[..], &["--partition-by", "day", "-O", "bucket=1"]].concat());
    assert_eq!(ended.code, 0, "{}", ended.err);
    for _ in 0..4 {
        place.ok(&["table", "upsert", "default.e", "e.csv"]);
    }
    place
}

fn lines(place: &Place, args: &[&str]) -> Vec<String> {
    place.ok(&[&["-o", "csv"], args].concat()).lines().skip(1).map(str::to_owned).collect()
}

fn snapshots(place: &Place) -> usize {
    lines(place, &["snapshot", "list", "default.e"]).len()
}

#[test]
fn snapshots_expire_when_told_to() {
    let place = events();
    let expire = ["snapshot", "expire", "default.e", "--retain-max", "2"];
    let refused = place.fails(&expire, 2);
    assert!(refused.contains("--yes") && refused.contains("--dry-run"), "{refused}");
    let plan = lines(&place, &[&expire[..], &["--dry-run"]].concat());
    let all = snapshots(&place);
    assert!(all >= 5, "{all}");
    assert_eq!(plan.iter().filter(|line| line.starts_with("history,")).count(), all - 2, "{plan:?}");
    place.ok(&[&expire[..], &["--yes"]].concat());
    assert_eq!(snapshots(&place), 2);
    for line in &plan {
        let path = line.split(',').nth(1).unwrap();
        assert!(!place.path().join("warehouse").join(path).exists(), "{path}");
    }
    assert_eq!(lines(&place, &["table", "read", "default.e"]).len(), 2);
    assert_eq!(lines(&place, &["check", "default.e", "--deep"]), Vec::<String>::new());
    assert!(place.run(&["changelog", "expire", "default.e", "--all"]).err.contains("No changelog"));
}

#[test]
fn partitions_are_listed_dropped_expired_and_marked() {
    let place = events();
    let listed = lines(&place, &["partition", "list", "default.e"]);
    assert!(listed.len() == 2 && listed[0].starts_with("day="), "{listed:?}");
    place.fails(&["partition", "drop", "default.e", "day=1999-01-01", "--yes"], 3);
    place.fails(&["partition", "expire", "default.e", "--dry-run"], 2);
    place.ok(&["partition", "drop", "default.e", "day=2024-01-01", "--yes"]);
    assert_eq!(lines(&place, &["partition", "list", "default.e"]).len(), 1);
    place.ok(&["partition", "mark-done", "default.e", "day=2024-01-02"]);
    // Beside the data, whose folders have the numbers of days.
    let marks = |day: &str| place.path().join(format!("warehouse/default.db/e/day={day}/_SUCCESS")).exists();
    assert!(marks("19724") && !marks("2024-01-02"));
    let idle = ["partition", "mark-done", "default.e", "--idle", "0 ms", "--time-interval", "1 d"];
    assert_eq!(lines(&place, &[&idle[..], &["--dry-run"]].concat()), Vec::<String>::new(), "it is marked");
    place.ok(&["table", "upsert", "default.e", "e.csv"]);
    assert!(place.run(&idle).err.contains("day=19723/_SUCCESS."));
    let updated = [
        "partition",
        "expire",
        "default.e",
        "--expiration-time",
        "1 ms",
        "-O",
        "partition.expiration-strategy=update-time",
    ];
    place.ok(&[&updated[..], &["--yes"]].concat());
    assert_eq!(lines(&place, &["table", "read", "default.e"]), Vec::<String>::new());
    assert_eq!(lines(&place, &["check", "default"]), Vec::<String>::new());
}

#[test]
fn orphans_go_and_broken_tables_are_told() {
    let place = events();
    let folder = place.path().join("warehouse/default.db/e/manifest");
    std::fs::write(folder.join("manifest-lost-0"), "x").unwrap();
    let old = std::fs::File::options().write(true).open(folder.join("manifest-lost-0")).unwrap();
    old.set_modified(std::time::UNIX_EPOCH).unwrap();
    let plan = lines(&place, &["orphan", "clean", "default.*", "--dry-run"]);
    assert_eq!(plan, ["data,default.db/e/manifest/manifest-lost-0,1"]);
    place.fails(&["orphan", "clean", "default.e"], 2);
    place.fails(&["orphan", "clean", "default.e", "--older-than", "9999-01-01", "--yes"], 2);
    place.ok(&["orphan", "clean", "default.e", "--yes"]);
    assert!(!folder.join("manifest-lost-0").exists());
    let counts = lines(&place, &["manifest", "compact", "default.e", "--dry-run"]);
    assert!(counts.len() == 1 && !counts[0].starts_with("1,"), "{counts:?}");
    place.ok(&["manifest", "compact", "default.e"]);
    assert!(lines(&place, &["manifest", "compact", "default.e", "--dry-run"])[0].starts_with("1,"));
    assert!(place.run(&["manifest", "repair", "default.e"]).err.contains("No manifest"));
    assert_eq!(lines(&place, &["check", "default.e", "--deep"]), Vec::<String>::new());

    let lost = lines(&place, &["files", "list", "default.e"]).len();
    let bucket = place.path().join("warehouse/default.db/e");
    let partition =
        std::fs::read_dir(bucket).unwrap().flatten().find(|d| d.file_name().to_string_lossy().contains('='));
    std::fs::remove_dir_all(partition.unwrap().path()).unwrap();
    let broken = place.run(&["-o", "csv", "check", "default.e"]);
    assert_eq!(broken.code, 9, "{}", broken.err);
    assert!(broken.out.contains("fault,reachable"), "{}", broken.out);
    place.ok(&["files", "repair", "default.e", "--yes"]);
    assert!(lines(&place, &["files", "list", "default.e"]).len() < lost);
    assert_eq!(lines(&place, &["table", "read", "default.e"]).len(), 1);
    place.fails(&["table", "purge", "default.e"], 2);
    let plan = lines(&place, &["table", "purge", "default.e", "--dry-run"]);
    assert!(plan[0].starts_with("data,") && !plan.iter().any(|line| line.starts_with("schema,")), "{plan:?}");
    assert_eq!(lines(&place, &["table", "read", "default.e"]).len(), 1);
    place.ok(&["table", "purge", "default.e", "--yes"]);
    assert_eq!((snapshots(&place), lines(&place, &["check", "default.e"]).len()), (1, 0));
}

#[test]
fn lost_metadata_is_left_out() {
    let place = events();
    let table = place.path().join("warehouse/default.db/e");
    let first = snapshots(&place) - 1;
    std::fs::remove_file(table.join(format!("snapshot/snapshot-{first}"))).unwrap();
    let last = (first + 1).to_string();
    place.fails(&["snapshot", "repair-earliest", "default.e", "2", "--yes"], 2);
    place.fails(&["snapshot", "repair-earliest", "default.e", &last], 2);
    place.ok(&["snapshot", "repair-earliest", "default.e", &last, "--yes"]);
    assert_eq!(std::fs::read_to_string(table.join("snapshot/EARLIEST")).unwrap(), last);

    let sql = "SELECT file_name FROM \"e$manifests\" ORDER BY num_added_files DESC LIMIT 1";
    let manifest = lines(&place, &["sql", "-c", sql]).remove(0);
    std::fs::remove_file(table.join("manifest").join(&manifest)).unwrap();
    let plan = lines(&place, &["manifest", "repair", "default.e", "--dry-run"]);
    assert!(plan.len() == 1 && plan[0].contains(&manifest), "{plan:?}");
    place.fails(&["manifest", "repair", "default.e"], 2);
    place.ok(&["manifest", "repair", "default.e", "--yes"]);
    place.ok(&["table", "read", "default.e"]);
}

#[test]
fn the_doctor_looks_at_the_store() {
    let place = Place::new();
    let report = lines(&place, &["doctor"]);
    assert!(report.len() > 8 && report.iter().any(|line| line.starts_with("exclusive creation,pass")), "{report:?}");
    assert!(!report.iter().any(|line| line.contains(",fail,")), "{report:?}");
}
