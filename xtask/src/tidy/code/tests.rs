//! What counts as code, as text, and as a test.

use super::*;

fn check(source: &str, expected: &str) {
    assert_eq!(without_tests(&without_text(source)), expected);
}

#[test]
fn comments_and_strings_are_blanked() {
    check("a // b()\nc", "a       \nc");
    check("f(\"x \\\" y\", 'z', '\\n', '\\'') g", "f(        ,    ,     ,     ) g");
    check("r#\"a\"b\"#; x", "        ; x");
    check("/* a /* b */ c */d", "                 d");
}

#[test]
fn lifetimes_are_code() {
    check("fn f<'a>(x: &'a str) {}", "fn f<'a>(x: &'a str) {}");
}

#[test]
fn characters_of_several_bytes_are_text() {
    let blanked = without_text("m('é', '😀').unwrap()");
    assert!(blanked.ends_with(".unwrap()"));
    assert!(blanked.is_ascii());
}

#[test]
fn test_items_are_blanked_to_their_brace() {
    let left = without_tests("fn a() {}\n#[cfg(test)]\nmod t { fn b() { } }\nfn c() {}");
    assert!(left.contains("fn a") && left.contains("fn c") && !left.contains("fn b"));
    let left = without_tests("#[cfg(test)]\nmod t;\nfn c() {}");
    assert!(left.contains("fn c") && !left.contains("mod t"));
}

#[test]
fn modules_behind_cfg_test_are_test_files() {
    let rust = BTreeMap::from([
        ("crates/a/src/x.rs", "//! x\n#[cfg(test)]\nmod golden;\n".to_owned()),
        ("crates/a/src/x/golden.rs", "//! g".to_owned()),
        ("crates/a/src/x/real.rs", "//! r".to_owned()),
    ]);
    let found = test_files(&rust);
    assert!(found.contains("crates/a/src/x/golden.rs"));
    assert!(!found.contains("crates/a/src/x/real.rs"));
}
