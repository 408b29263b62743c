//! How much of a column's statistics is kept (`metadata.stats-mode`, `fields.<f>.stats-mode`).

use crate::datum::Datum;
use crate::{Error, Result};

/// How much of a column's statistics is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatsMode {
    /// Nothing.
    None,
    /// The null count.
    Counts,
    /// Null count, minimum and maximum.
    Full,
    /// As full, with strings cut to this many characters and binaries to this many bytes.
    Truncate(usize),
}

impl StatsMode {
    /// Parses `none`, `counts`, `full` or `truncate(n)`, in any case.
    ///
    /// # Errors
    /// `Invalid` for anything else, and for n = 0.
    pub fn parse(text: &str) -> Result<Self> {
        let lower = text.to_ascii_lowercase();
        let length = || lower.strip_prefix("truncate(")?.strip_suffix(')')?.parse().ok().filter(|n| *n > 0);
        match lower.as_str() {
            "none" => Ok(Self::None),
            "counts" => Ok(Self::Counts),
            "full" => Ok(Self::Full),
            _ => length().map(Self::Truncate).ok_or_else(|| {
                Error::invalid(format!("stats mode {text:?} is not one of none, counts, full, truncate(n)"))
            }),
        }
    }

    /// The bounds that this mode keeps of a true minimum and maximum; both or none.
    pub(super) fn bounds(self, min: Option<Datum>, max: Option<Datum>) -> (Option<Datum>, Option<Datum>) {
        match self {
            Self::None | Self::Counts => (None, None),
            Self::Full => (min, max),
            Self::Truncate(length) => match max.map(|max| cut_max(max, length)) {
                Some(Some(max)) => (min.map(|min| cut_min(min, length)), Some(max)),
                _ => (None, None),
            },
        }
    }
}

/// As much of a text as tells its bounds of `length` characters: whether it is longer, too.
pub(super) fn cut_text(text: &str, length: usize) -> &str {
    text.char_indices().nth(length.saturating_add(1)).map_or(text, |(end, _)| &text[..end])
}

/// As much of bytes as tells their bounds of `length` bytes: whether there are more, too.
pub(super) fn cut_bytes(bytes: &[u8], length: usize) -> &[u8] {
    &bytes[..bytes.len().min(length.saturating_add(1))]
}

fn cut_min(value: Datum, length: usize) -> Datum {
    match value {
        Datum::String(text) => Datum::String(text.chars().take(length).collect()),
        Datum::Bytes(bytes) if bytes.len() > length => Datum::Bytes(bytes.slice(..length)),
        other => other,
    }
}

/// The least value of at most `length` that is not less; `None` when there is none.
fn cut_max(value: Datum, length: usize) -> Option<Datum> {
    match value {
        Datum::String(text) => match text.char_indices().nth(length) {
            Some((end, _)) => next_string(&text[..end]).map(Datum::String),
            None => Some(Datum::String(text)),
        },
        Datum::Bytes(bytes) if bytes.len() > length => {
            let mut cut = bytes[..length].to_vec();
            while let Some(last) = cut.pop() {
                if last < u8::MAX {
                    cut.push(last + 1);
                    return Some(Datum::Bytes(cut.into()));
                }
            }
            None
        }
        other => Some(other),
    }
}

/// The text with its last character that can be incremented incremented, and nothing behind it.
fn next_string(text: &str) -> Option<String> {
    let mut chars: Vec<char> = text.chars().collect();
    while let Some(last) = chars.pop() {
        // Surrogates are no characters.
        let next = if last == '\u{d7ff}' { Some('\u{e000}') } else { char::from_u32(u32::from(last) + 1) };
        if let Some(next) = next {
            chars.push(next);
            return Some(chars.into_iter().collect());
        }
    }
    None
}
