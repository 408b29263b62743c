//! Rust text without a parser: comments, strings and test items blanked out, line numbers kept. Good enough to look for a few calls.

use std::collections::{BTreeMap, BTreeSet};

/// Replaces comments and the insides of string and character literals by spaces.
pub(super) fn without_text(source: &str) -> String {
    let bytes = source.as_bytes();
    let mut out = source.to_owned().into_bytes();
    let mut i = 0;
    while i < bytes.len() {
        let end = literal_end(bytes, i);
        if end > i {
            blank(&mut out, i, end);
            i = end;
        } else {
            i += 1;
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// The string literals of a source with their lines, escapes of line ends and quotes undone.
pub(super) fn strings(source: &str) -> Vec<(usize, String)> {
    let bytes = source.as_bytes();
    let (mut found, mut i, mut line) = (Vec::new(), 0, 1);
    while i < bytes.len() {
        let end = literal_end(bytes, i).max(i + 1);
        let literal = source.get(i..end).unwrap_or_default();
        let inside = literal.trim_start_matches(['r', '#']);
        if literal.len() > 1 && inside.starts_with('"') {
            found.push((line, unescaped(inside.trim_matches(['"', '#']))));
        }
        line += bytes[i..end].iter().filter(|byte| **byte == b'\n').count();
        i = end;
    }
    found
}

/// A literal's text: a backslash at the end of a line takes the blanks after it along.
fn unescaped(literal: &str) -> String {
    let mut lines = literal.split("\\\n");
    let mut text = lines.next().unwrap_or_default().to_owned();
    lines.for_each(|line| text.push_str(line.trim_start()));
    text.replace("\\\"", "\"").replace("\\n", " ")
}

/// The end of the comment or literal that begins at `i`, or `i` when none does.
fn literal_end(bytes: &[u8], i: usize) -> usize {
    let rest = &bytes[i..];
    if rest.starts_with(b"//") {
        return i + rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
    }
    if rest.starts_with(b"/*") {
        return block_comment_end(bytes, i);
    }
    match rest[0] {
        b'"' => string_end(bytes, i + 1),
        b'r' if i == 0 || !is_word(bytes[i - 1]) || bytes[i - 1] == b'b' => raw_string_end(bytes, i),
        b'\'' => char_end(bytes, i),
        _ => i,
    }
}

fn block_comment_end(bytes: &[u8], start: usize) -> usize {
    let (mut depth, mut i) = (0usize, start);
    while i < bytes.len() {
        if bytes[i..].starts_with(b"/*") {
            depth += 1;
            i += 2;
        } else if bytes[i..].starts_with(b"*/") {
            depth -= 1;
            i += 2;
            if depth == 0 {
                return i;
            }
        } else {
            i += 1;
        }
    }
    bytes.len()
}

fn string_end(bytes: &[u8], mut i: usize) -> usize {
    while i < bytes.len() {
        match bytes[i] {
            b'\\' => i += 2,
            b'"' => return i + 1,
            _ => i += 1,
        }
    }
    bytes.len()
}

fn raw_string_end(bytes: &[u8], start: usize) -> usize {
    let hashes = bytes[start + 1..].iter().take_while(|b| **b == b'#').count();
    let open = start + 1 + hashes;
    if bytes.get(open) != Some(&b'"') {
        return start;
    }
    let mut close = vec![b'"'];
    close.resize(hashes + 1, b'#');
    let inside = &bytes[open + 1..];
    let length = inside.windows(close.len()).position(|w| w == close);
    length.map_or(bytes.len(), |n| open + 1 + n + close.len())
}

/// A character literal; a lifetime is none.
fn char_end(bytes: &[u8], start: usize) -> usize {
    if bytes.get(start + 1) == Some(&b'\\') {
        let tail = bytes.get(start + 3..).unwrap_or_default();
        return tail.iter().position(|b| *b == b'\'').map_or(start, |n| start + 4 + n);
    }
    let tail = bytes.get(start + 1..).unwrap_or_default();
    let width = tail.iter().take(5).skip(1).position(|b| *b == b'\'');
    match width {
        Some(0) => start + 3,
        Some(n) if tail[0] >= 0x80 => start + 3 + n,
        _ => start,
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn blank(out: &mut [u8], from: usize, to: usize) {
    for byte in &mut out[from..to] {
        if *byte != b'\n' {
            *byte = b' ';
        }
    }
}

/// Blanks the items behind `#[cfg(test)]` (takes the result of [`without_text`]).
pub(super) fn without_tests(plain: &str) -> String {
    const MARK: &str = "#[cfg(test)]";
    let mut out = plain.to_owned().into_bytes();
    let mut from = 0;
    while let Some(found) = plain[from..].find(MARK) {
        let start = from + found;
        let end = item_end(plain.as_bytes(), start + MARK.len());
        blank(&mut out, start, end);
        from = end;
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn item_end(bytes: &[u8], start: usize) -> usize {
    let mut depth = 0usize;
    for (i, byte) in bytes.iter().enumerate().skip(start) {
        match byte {
            b';' if depth == 0 => return i + 1,
            b'{' => depth += 1,
            b'}' if depth <= 1 => return i + 1,
            b'}' => depth -= 1,
            _ => {}
        }
    }
    bytes.len()
}

/// Files that hold only tests: under a `tests` folder, named `tests.rs`, or declared as `#[cfg(test)] mod name;`.
pub(super) fn test_files(rust: &BTreeMap<&str, String>) -> BTreeSet<String> {
    let mut found: BTreeSet<String> = rust
        .keys()
        .filter(|f| f.ends_with("/tests.rs") || f.contains("/tests/") || f.starts_with("tests/"))
        .map(|f| (*f).to_owned())
        .collect();
    for (file, text) in rust {
        for name in test_modules(text) {
            let folder = module_folder(file);
            found.insert(format!("{folder}/{name}.rs"));
            let inside = format!("{folder}/{name}/");
            found.extend(rust.keys().filter(|f| f.starts_with(&inside)).map(|f| (*f).to_owned()));
        }
    }
    found
}

fn test_modules(text: &str) -> Vec<String> {
    let plain = without_text(text);
    plain
        .split("#[cfg(test)]")
        .skip(1)
        .filter_map(|after| {
            let item = after.trim_start().split(';').next()?;
            let name = item.trim_start_matches("pub(crate) ").strip_prefix("mod ")?;
            (!name.contains('{')).then(|| name.trim().to_owned())
        })
        .collect()
}

/// The folder where a file's child modules are.
fn module_folder(file: &str) -> String {
    let (folder, name) = file.rsplit_once('/').unwrap_or(("", file));
    match name {
        "mod.rs" | "lib.rs" | "main.rs" => folder.to_owned(),
        _ => format!("{folder}/{}", name.trim_end_matches(".rs")),
    }
}

#[cfg(test)]
mod tests;
