//! Schemas of the reference round-trip to the letter.

use std::fs;
use std::path::PathBuf;

use super::*;
use crate::ErrorKind;

fn files() -> Vec<(PathBuf, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/schemas");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "json"));
    files.sort();
    files.into_iter().map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect()
}

/// The text with the lines of the options sorted; their order is that of the writer's hash map.
fn with_sorted_options(text: &str) -> String {
    let (head, rest) = text.split_once("  \"options\" : {").unwrap();
    let (body, tail) = rest.split_once("  }").unwrap();
    let mut lines: Vec<&str> = body.lines().map(|line| line.trim_end_matches(',')).collect();
    lines.sort_unstable();
    format!("{head}{}{tail}", lines.join("\n"))
}

#[test]
fn files_of_the_reference_are_read_and_written_to_the_byte() {
    let files = files();
    assert!(files.len() > 20);
    for (path, text) in files {
        let schema = TableSchema::from_json(text.as_bytes()).unwrap();
        let written = String::from_utf8(schema.to_json()).unwrap();
        if schema.version == SCHEMA_VERSION {
            assert_eq!(with_sorted_options(&written), with_sorted_options(&text), "{}", path.display());
        }
        assert_eq!(TableSchema::from_json(written.as_bytes()).unwrap(), TableSchema { version: 3, ..schema.clone() });
        if schema.options.file_format() != "blob" {
            validate(&schema).unwrap_or_else(|e| panic!("{}: {e:?}", path.display()));
        }
    }
}

#[test]
fn old_versions_get_the_defaults_of_their_time() {
    let text = r#"{"id":0,"fields":[{"id":0,"name":"a","type":"INT"}],"highestFieldId":0,"partitionKeys":[],"primaryKeys":[],"options":{}}"#;
    let schema = TableSchema::from_json(text.as_bytes()).unwrap();
    assert_eq!(
        (schema.version, schema.options.raw("bucket"), schema.options.raw("file.format")),
        (1, Some("1"), Some("orc"))
    );
    let two = text.replace("{\"id\":0,\"fields\"", "{\"version\":2,\"id\":0,\"fields\"");
    let schema = TableSchema::from_json(two.as_bytes()).unwrap();
    assert_eq!((schema.options.raw("bucket"), schema.options.raw("file.format")), (None, Some("orc")));
}

#[test]
fn bad_files_are_corrupt() {
    let good = r#"{"version":3,"id":0,"fields":[{"id":0,"name":"a","type":"INT"}],"highestFieldId":0,"partitionKeys":[],"primaryKeys":[],"options":{}}"#;
    TableSchema::from_json(good.as_bytes()).unwrap();
    for (from, to) in [
        ("\"INT\"", "\"INT(\""),
        ("\"id\":0,\"name\"", "\"id\":5000000000,\"name\""),
        ("\"primaryKeys\":[]", "\"primaryKeys\":[\"b\"]"),
        ("\"options\":{}", "\"options\":{\"a\":1}"),
        ("{\"version\"", "{{\"version\""),
        ("\"INT\"", "{\"type\":\"ARRAY\"}"),
    ] {
        let e = TableSchema::from_json(good.replace(from, to).as_bytes()).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Corrupt, "{to}: {e}");
    }
    let e = TableSchema::from_json(good.replace("INT", "GEOMETRY").as_bytes()).unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Unsupported);
    let deep = format!("{}\"INT\"{}", "{\"type\":\"ARRAY\",\"element\":".repeat(5000), "}".repeat(5000));
    assert_eq!(
        TableSchema::from_json(good.replace("\"INT\"", &deep).as_bytes()).unwrap_err().kind(),
        ErrorKind::Corrupt
    );
}

#[test]
fn data_files_of_keyed_tables_start_with_the_key() {
    let schema = keyed(&[("bucket", "1")]).unwrap();
    let layout: Vec<(String, i32)> = schema.key_value_fields().into_iter().map(|f| (f.name, f.id)).take(4).collect();
    let want = [("_KEY_k", 1_073_741_823), ("_SEQUENCE_NUMBER", i32::MAX - 1), ("_VALUE_KIND", i32::MAX - 2), ("k", 0)];
    assert_eq!(layout, want.map(|(name, id)| (name.to_owned(), id)));
    let thin = keyed(&[("bucket", "1"), ("data-file.thin-mode", "true")]).unwrap();
    assert_eq!(thin.key_value_fields()[0].name, "_SEQUENCE_NUMBER");
}
