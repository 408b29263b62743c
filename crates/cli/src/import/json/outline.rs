//! The parts of JSON text as they stand there, with the digits that numbers have. The text must be JSON.

use std::borrow::Cow;

use serde::de::IgnoredAny;

/// Whether a text is JSON, or why it is not.
///
/// # Errors
/// What is wrong, and where.
pub(crate) fn check(text: &str) -> Result<(), String> {
    serde_json::from_str::<IgnoredAny>(text).map(|_| ()).map_err(|e| e.to_string())
}

/// A value as the text of a cell: a string without its quotes, anything else as it stands; nothing for null.
///
/// # Errors
/// For a string whose escapes mean no text.
pub(crate) fn cell(value: &str) -> Result<Option<Cow<'_, str>>, String> {
    match value.as_bytes().first() {
        Some(b'n') => Ok(None),
        Some(b'"') => string(value).map(Some),
        _ => Ok(Some(Cow::Borrowed(value))),
    }
}

fn string(value: &str) -> Result<Cow<'_, str>, String> {
    let inner = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(value);
    if !inner.contains('\\') {
        return Ok(Cow::Borrowed(inner));
    }
    serde_json::from_str::<String>(value).map(Cow::Owned).map_err(|e| e.to_string())
}

/// The members of an object; `None` for anything else.
pub(crate) fn members(text: &str) -> Option<impl Iterator<Item = Result<(Cow<'_, str>, &str), String>>> {
    let mut parts = parts(text, b'{')?;
    Some(std::iter::from_fn(move || {
        let (key, value) = (parts.next()?, parts.next()?);
        Some(string(key).map(|key| (key, value)))
    }))
}

/// The elements of an array; `None` for anything else.
pub(crate) fn elements(text: &str) -> Option<impl Iterator<Item = &str>> {
    parts(text, b'[')
}

/// The values of an array, or the keys and values of an object.
fn parts(text: &str, open: u8) -> Option<impl Iterator<Item = &str>> {
    let inside = text.trim_ascii().as_bytes().first().filter(|byte| **byte == open)?;
    debug_assert_eq!(*inside, open);
    let mut rest = text.trim_ascii().get(1..)?;
    Some(std::iter::from_fn(move || {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == ',' || c == ':');
        let (value, behind) = rest.split_at_checked(length(rest.as_bytes()))?;
        rest = behind;
        (!value.is_empty()).then_some(value)
    }))
}

/// Bytes of the value at the beginning; none at the end of an array or object.
fn length(text: &[u8]) -> usize {
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    for (at, byte) in text.iter().enumerate() {
        if quoted {
            quoted = escaped || *byte != b'"';
            escaped = !escaped && *byte == b'\\';
            if !quoted && depth == 0 {
                return at + 1;
            }
            continue;
        }
        match byte {
            b'"' => quoted = true,
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth == 0 => return at,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            b',' | b':' | b' ' | b'\t' | b'\n' | b'\r' if depth == 0 => return at,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_keep_their_text() {
        let text = " {\"a\" : 1.10, \"b,\\\"\":[1, {\"x\":\"]\"}] ,\"\":null,\"s\":\"\\u00e4,\"} ";
        check(text).unwrap();
        let all: Vec<_> = members(text).unwrap().map(Result::unwrap).collect();
        let all: Vec<_> = all.iter().map(|(key, value)| (key.as_ref(), *value)).collect();
        let expected = [("a", "1.10"), ("b,\"", "[1, {\"x\":\"]\"}]"), ("", "null"), ("s", "\"\\u00e4,\"")];
        assert_eq!(all, expected);
        assert_eq!(cell(all[3].1).unwrap().unwrap(), "ä,");
        assert_eq!(elements("[ ]").unwrap().count(), 0);
        assert_eq!(
            elements("[12345678901234567890.10,\"a\" ]").unwrap().collect::<Vec<_>>(),
            ["12345678901234567890.10", "\"a\""]
        );
        assert!(members("[1]").is_none() && elements("{}").is_none());
    }

    #[test]
    fn escapes_must_be_text() {
        assert!(check("\"\\ud800\"").is_ok());
        assert!(cell("\"\\ud800\"").is_err());
    }
}
