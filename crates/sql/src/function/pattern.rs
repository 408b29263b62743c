//! Patterns of dates as Java and PostgreSQL write them, as those of chrono.
//!
//! A pattern with `%` is one of chrono already.

use datafusion::error::{DataFusionError, Result};

/// How a pattern is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Spelling {
    /// `yyyy-MM-dd HH:mm:ss.SSS`
    Java,
    /// `YYYY-MM-DD HH24:MI:SS.MS`
    PostgreSql,
}

/// The pattern as chrono writes it.
///
/// # Errors
/// `Plan` for what it cannot say.
pub(super) fn chrono(pattern: &str, spelling: Spelling) -> Result<String> {
    if pattern.contains('%') {
        return Ok(pattern.to_owned());
    }
    match spelling {
        Spelling::Java => java(pattern),
        Spelling::PostgreSql => Ok(postgresql(pattern)),
    }
}

fn java(pattern: &str) -> Result<String> {
    let mut out = String::new();
    let mut rest = pattern.chars().peekable();
    while let Some(letter) = rest.next() {
        if letter == '\'' {
            quoted(&mut rest, &mut out);
            continue;
        }
        if !letter.is_ascii_alphabetic() {
            out.push(letter);
            continue;
        }
        let mut count = 1;
        while rest.next_if_eq(&letter).is_some() {
            count += 1;
        }
        out.push_str(java_field(letter, count).ok_or_else(|| unknown(letter, count, pattern))?);
    }
    Ok(out)
}

/// Text between quotes; two quotes are one.
fn quoted(rest: &mut std::iter::Peekable<std::str::Chars<'_>>, out: &mut String) {
    if rest.next_if_eq(&'\'').is_some() {
        return out.push('\'');
    }
    while let Some(letter) = rest.next() {
        if letter != '\'' {
            out.push(letter);
        } else if rest.next_if_eq(&'\'').is_some() {
            out.push('\'');
        } else {
            return;
        }
    }
}

fn java_field(letter: char, count: usize) -> Option<&'static str> {
    Some(match (letter, count) {
        ('y' | 'u', 2) => "%y",
        ('y' | 'u', 1 | 4) => "%Y",
        ('M' | 'L', 1) => "%-m",
        ('M' | 'L', 2) => "%m",
        ('M' | 'L', 3) => "%b",
        ('M' | 'L', 4) => "%B",
        ('d', 1) => "%-d",
        ('d', 2) => "%d",
        ('D', 3) => "%j",
        ('D', 1) => "%-j",
        ('H', 1) => "%-H",
        ('H', 2) => "%H",
        ('h', 1) => "%-I",
        ('h', 2) => "%I",
        ('m', 1) => "%-M",
        ('m', 2) => "%M",
        ('s', 1) => "%-S",
        ('s', 2) => "%S",
        ('S', 3) => "%3f",
        ('S', 6) => "%6f",
        ('S', 9) => "%9f",
        ('a', _) => "%p",
        ('E', 1..=3) => "%a",
        ('E', 4) => "%A",
        _ => return None,
    })
}

fn unknown(letter: char, count: usize, pattern: &str) -> DataFusionError {
    let field: String = std::iter::repeat_n(letter, count).collect();
    DataFusionError::Plan(format!(
        "the pattern '{pattern}' has '{field}', which is not supported; known are y, M, d, D, H, h, m, s, SSS, a and E, and \
         patterns with % such as '%Y-%m-%d'"
    ))
}

/// Fields of PostgreSQL, the longer ones first; case tells how names are written.
const FIELDS: [(&str, &str); 25] = [
    ("HH24", "%H"),
    ("HH12", "%I"),
    ("YYYY", "%Y"),
    ("IYYY", "%G"),
    ("MONTH", "%B"),
    ("Month", "%B"),
    ("DDD", "%j"),
    ("DAY", "%A"),
    ("Day", "%A"),
    ("MON", "%b"),
    ("Mon", "%b"),
    ("HH", "%I"),
    ("YY", "%y"),
    ("MM", "%m"),
    ("DD", "%d"),
    ("DY", "%a"),
    ("Dy", "%a"),
    ("MI", "%M"),
    ("SS", "%S"),
    ("MS", "%3f"),
    ("US", "%6f"),
    ("IW", "%V"),
    ("AM", "%p"),
    ("PM", "%p"),
    ("ID", "%u"),
];

fn postgresql(pattern: &str) -> String {
    let mut out = String::new();
    let mut rest = pattern;
    'next: while let Some(letter) = rest.chars().next() {
        if let Some(text) = rest.strip_prefix('"') {
            let (inside, behind) = text.split_once('"').unwrap_or((text, ""));
            out.push_str(inside);
            rest = behind;
            continue;
        }
        for (field, chrono) in FIELDS {
            // Numbers are written in capitals or not.
            let lower = field.to_ascii_lowercase();
            if let Some(behind) = rest.strip_prefix(field).or_else(|| rest.strip_prefix(lower.as_str())) {
                out.push_str(chrono);
                rest = behind;
                continue 'next;
            }
        }
        out.push(letter);
        rest = rest.get(letter.len_utf8()..).unwrap_or_default();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_spelled_as_chrono_does() {
        for (pattern, expected) in [
            ("yyyy-MM-dd HH:mm:ss.SSS", "%Y-%m-%d %H:%M:%S.%3f"),
            ("yyyyMMdd", "%Y%m%d"),
            ("d.M.yy 'Uhr' h a", "%-d.%-m.%y Uhr %-I %p"),
            ("yyyy''MM", "%Y'%m"),
            ("%Y", "%Y"),
        ] {
            assert_eq!(chrono(pattern, Spelling::Java).unwrap(), expected);
        }
        for (pattern, expected) in [
            ("YYYY-MM-DD HH24:MI:SS.US", "%Y-%m-%d %H:%M:%S.%6f"),
            ("yyyymmdd", "%Y%m%d"),
            ("\"day\" DDD", "day %j"),
            ("%H", "%H"),
        ] {
            assert_eq!(chrono(pattern, Spelling::PostgreSql).unwrap(), expected);
        }
        assert!(chrono("yyyy-ww", Spelling::Java).unwrap_err().to_string().contains("'ww'"));
    }
}
