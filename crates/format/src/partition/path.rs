//! Escaping of path components, and `key=value` paths.

use crate::{Error, Result};

/// Whether the reference escapes this character in a partition directory.
fn is_escaped(c: char) -> bool {
    matches!(c, '\0'..='\u{1f}' | '\u{7f}')
        || matches!(c, '"' | '#' | '%' | '\'' | '*' | '/' | ':' | '=' | '?' | '\\' | '{' | '}' | '[' | ']' | '^')
}

/// `%XX` for every character that is special in a path.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_escaped(c) {
            out.push_str(&format!("%{:02X}", u32::from(c)));
        } else {
            out.push(c);
        }
    }
    out
}

/// The text that [`escape`] was given; a `%` without two hexadecimal digits stands for itself.
pub fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let code = rest.get(..2).filter(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit()));
        match code.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(code) => {
                out.push(char::from(code));
                rest = &rest[2..];
            }
            None => out.push('%'),
        }
    }
    out.push_str(rest);
    out
}

/// Keys and values of a partition path such as `dt=2024-04-18/hr=12`, unescaped, in path order.
///
/// # Errors
/// `Invalid` when a component is not `key=value`.
pub fn parse_partition_path(path: &str) -> Result<Vec<(String, String)>> {
    let components = path.split('/').filter(|component| !component.is_empty());
    let parse = |component: &str| {
        let pair = component.split_once('=').filter(|(key, value)| !key.is_empty() && !value.is_empty());
        let (key, value) =
            pair.ok_or_else(|| Error::invalid(format!("path component {component:?} is not key=value")))?;
        Ok((unescape(key), unescape(value)))
    };
    components.map(parse).collect()
}
