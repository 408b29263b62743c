//! Imports that go up, cycles, and what does not count.

use super::*;

/// The findings of a crate of these files, whose order this is.
fn findings(order: &[&str], files: &[(&str, &str)]) -> Vec<String> {
    let modules = Modules { folder: "c/src".to_owned(), order: order.iter().map(|m| (*m).to_owned()).collect() };
    let paths: Vec<(String, &str)> = files.iter().map(|(file, text)| (format!("c/src/{file}"), *text)).collect();
    let sources = paths.iter().map(|(file, text)| (file.as_str(), (*text).to_owned())).collect();
    judge("c", &modules, &sources).iter().map(ToString::to_string).collect()
}

fn one(order: &[&str], files: &[(&str, &str)], part: &str) {
    let found = findings(order, files);
    assert!(found.len() == 1 && found[0].contains(part), "{found:?}");
}

#[test]
fn a_module_uses_those_before_it() {
    let down = [("lib.rs", "mod a;\nmod b;"), ("a.rs", "//! a"), ("b.rs", "use crate::a::X;")];
    assert!(findings(&["a", "b"], &down).is_empty());
    one(&["b", "a"], &down, "c/src/b.rs:1: `b` uses `a`, which comes after it");
}

#[test]
fn paths_and_lists_count_at_every_depth() {
    for source in [
        "\nfn f() { crate::b::g() }",
        "\nuse crate::{c::Y, b::{self, X}};",
        "\nuse super::super::b::X;",
        "\npub(crate) use crate::b;",
    ] {
        one(&["c", "a", "b"], &[("a/x.rs", source), ("b/mod.rs", ""), ("c.rs", "")], "c/src/a/x.rs:2: `a` uses `b`");
    }
    one(&["a", "b"], &[("a/mod.rs", "use super::b::X;"), ("b.rs", "")], "`a` uses `b`");
}

#[test]
fn a_cycle_is_shown_with_its_way() {
    let files = [("a.rs", "use crate::b::X;"), ("b.rs", "use crate::c::X;"), ("c.rs", "use crate::a::X;")];
    let found = findings(&[], &files);
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found[0].contains("`a` uses `b`, which uses it in turn (b -> c -> a)"), "{found:?}");
    assert!(findings(&[], &files[..2]).is_empty());
}

#[test]
fn what_is_inside_of_a_module_does_not_count() {
    let within =
        [("a/mod.rs", "mod b;\nuse crate::a::b::X;"), ("a/b.rs", "use super::Y;"), ("b.rs", "use crate::a::Y;")];
    assert!(findings(&["a", "b"], &within).is_empty());
}

#[test]
fn tests_comments_and_texts_do_not_count() {
    let files = [
        ("a.rs", "// crate::b\nconst X: &str = \"crate::b\";\n#[cfg(test)]\nmod tests {\n    use crate::b::X;\n}\n"),
        ("a/tests.rs", "use crate::b::X;"),
        ("b.rs", "use crate::a::X;"),
        ("fixture.rs", "use crate::b::X;"),
        ("lib.rs", "mod a;\nmod b;\n#[cfg(test)]\nmod fixture;"),
    ];
    assert!(findings(&["a", "b"], &files).is_empty());
}

#[test]
fn an_order_names_all_modules_and_no_others() {
    one(&["a"], &[("a.rs", ""), ("b.rs", "")], "module `b` of c has no place");
    one(&["a", "z"], &[("a.rs", "")], "no module `z`");
}
