//! Snapshots, tags and consumers of the reference round-trip.

use std::time::Duration;

use super::*;
use crate::ErrorKind;

const JAVA_2_1: &str = r#"{
  "version" : 3,
  "uuid" : "4b93e1bb-2c2c-47a1-9912-4962f35173cd",
  "id" : 2,
  "schemaId" : 0,
  "baseManifestList" : "manifest-list-8aed087a-83c6-42d6-8972-6f00f5030871-3",
  "baseManifestListSize" : 1108,
  "deltaManifestList" : "manifest-list-8aed087a-83c6-42d6-8972-6f00f5030871-4",
  "deltaManifestListSize" : 1108,
  "changelogManifestList" : "manifest-list-8aed087a-83c6-42d6-8972-6f00f5030871-5",
  "changelogManifestListSize" : 1108,
  "commitUser" : "fx-user",
  "writerVersion" : "java-2.1-SNAPSHOT-5dacde516bf6e29b583aff8b32bab321bfc6e64f",
  "commitIdentifier" : 2,
  "commitKind" : "APPEND",
  "timeMillis" : 1795963616741,
  "totalRecordCount" : 2,
  "deltaRecordCount" : 1,
  "changelogRecordCount" : 1,
  "nextRowId" : 0
}"#;

const JAVA_0_9: &str = r#"{
  "version" : 3,
  "id" : 2,
  "schemaId" : 0,
  "baseManifestList" : "manifest-list-de9ee935-3db4-438c-8138-8b8b91b5ba2e-2",
  "deltaManifestList" : "manifest-list-de9ee935-3db4-438c-8138-8b8b91b5ba2e-3",
  "changelogManifestList" : null,
  "commitUser" : "fx-user",
  "commitIdentifier" : 2,
  "commitKind" : "APPEND",
  "timeMillis" : 1795961718531,
  "logOffsets" : { },
  "totalRecordCount" : 10,
  "deltaRecordCount" : 5,
  "changelogRecordCount" : 0,
  "tagCreateTime" : [ 2026, 11, 29, 14, 15, 18, 557621460 ],
  "tagTimeRetained" : 8640000000.000000000
}"#;

#[test]
fn writes_what_the_reference_writes() {
    let snapshot = Snapshot::from_json(JAVA_2_1.as_bytes()).unwrap();
    assert_eq!(snapshot.id, SnapshotId(2));
    assert_eq!(snapshot.commit_kind, CommitKind::Append);
    assert_eq!(String::from_utf8(snapshot.to_json().unwrap()).unwrap(), JAVA_2_1);
}

#[test]
fn reads_nulls_and_unknown_fields_of_old_writers() {
    let snapshot = Snapshot::from_json(JAVA_0_9.as_bytes()).unwrap();
    assert_eq!(snapshot.changelog_manifest_list, None);
    assert_eq!(snapshot.changelog_record_count, Some(0));
}

#[test]
fn tag_times_survive() {
    let tag = Tag::from_json(JAVA_0_9.as_bytes()).unwrap();
    assert_eq!(tag.time_retained, Some(Duration::from_secs(8_640_000_000)));
    let text = String::from_utf8(tag.to_json().unwrap()).unwrap();
    let tail = "\n  \"tagCreateTime\" : [ 2026, 11, 29, 14, 15, 18, 557621460 ],\n  \"tagTimeRetained\" : 8640000000.000000000\n}";
    assert!(text.ends_with(tail), "{text}");
    assert_eq!(Tag::from_json(text.as_bytes()).unwrap(), tag);

    let plain = Tag { create_time: None, time_retained: None, ..tag.clone() };
    assert_eq!(plain.to_json().unwrap(), tag.snapshot.to_json().unwrap());
}

#[test]
fn tag_times_in_other_spellings() {
    let check = |extra: &str, create: Option<&str>, retained: Option<f64>| {
        let text = JAVA_2_1.replace("\n}", &format!(",\n{extra}\n}}"));
        let tag = Tag::from_json(text.as_bytes()).unwrap();
        assert_eq!(tag.create_time.map(|t| t.to_string()).as_deref(), create);
        assert_eq!(tag.time_retained, retained.map(Duration::from_secs_f64));
    };
    check(r#""tagCreateTime":[2026,1,2,3,4]"#, Some("2026-01-02 03:04:00"), None);
    check(
        r#""tagCreateTime":"2026-01-02T03:04:05.5","tagTimeRetained":1.25"#,
        Some("2026-01-02 03:04:05.500"),
        Some(1.25),
    );
    check(r#""tagCreateTime":null,"tagTimeRetained":"P1DT2H3M4.5S""#, None, Some(93_784.5));
}

#[test]
fn garbled_files_are_corrupt() {
    for bad in [
        "",
        "{",
        "null",
        "[]",
        "{}",
        &JAVA_2_1.replace("APPEND", "APPENDIX"),
        &JAVA_2_1.replace("\"id\" : 2", "\"id\" : 0"),
    ] {
        assert_eq!(Snapshot::from_json(bad.as_bytes()).unwrap_err().kind(), ErrorKind::Corrupt, "{bad}");
    }
    let bad = JAVA_0_9.replace("2026, 11", "2026, 13");
    assert_eq!(Tag::from_json(bad.as_bytes()).unwrap_err().kind(), ErrorKind::Corrupt);
}

#[test]
fn consumers_and_hints() {
    let consumer = Consumer { next_snapshot: SnapshotId(2) };
    assert_eq!(consumer.to_json().unwrap(), b"{\n  \"nextSnapshot\" : 2\n}");
    assert_eq!(Consumer::from_json(b"{\"nextSnapshot\":2,\"x\":1}").unwrap(), consumer);
    assert_eq!(Consumer::from_json(b"").unwrap_err().kind(), ErrorKind::Corrupt);
    assert_eq!(parse_hint(b"8\n"), Some(SnapshotId(8)));
    assert_eq!(parse_hint(b""), None);
    assert_eq!(parse_hint(b"x"), None);
    assert_eq!(format_hint(SnapshotId(8)), b"8");
}
