//! What a record does to its key.

use crate::{Error, Result};

/// What a record does to its key; the byte value is the one on disk (spec: format.md C.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum RowKind {
    /// `+I`: a new row.
    Insert = 0,
    /// `-U`: the row as it was before an update.
    UpdateBefore = 1,
    /// `+U`: the row as it is after an update.
    UpdateAfter = 2,
    /// `-D`: the row is removed.
    Delete = 3,
}

impl RowKind {
    /// The kind of a `_VALUE_KIND` byte.
    ///
    /// # Errors
    /// `Corrupt` for any byte but 0 to 3.
    pub fn from_byte(byte: u8) -> Result<Self> {
        match byte {
            0 => Ok(Self::Insert),
            1 => Ok(Self::UpdateBefore),
            2 => Ok(Self::UpdateAfter),
            3 => Ok(Self::Delete),
            other => Err(Error::corrupt(format!("row kind {other} is not one of 0 to 3"))),
        }
    }

    /// The byte on disk.
    pub fn as_byte(self) -> u8 {
        self as u8
    }

    /// `+I`, `-U`, `+U` or `-D`.
    pub fn short(self) -> &'static str {
        match self {
            Self::Insert => "+I",
            Self::UpdateBefore => "-U",
            Self::UpdateAfter => "+U",
            Self::Delete => "-D",
        }
    }

    /// Parses `+I`, `-U`, `+U`, `-D`, with a letter of either case.
    ///
    /// # Errors
    /// `Invalid` for anything else.
    pub fn parse(text: &str) -> Result<Self> {
        match text {
            "+I" | "+i" => Ok(Self::Insert),
            "-U" | "-u" => Ok(Self::UpdateBefore),
            "+U" | "+u" => Ok(Self::UpdateAfter),
            "-D" | "-d" => Ok(Self::Delete),
            other => Err(Error::invalid(format!("row kind {other:?} is not one of +I, -U, +U, -D"))),
        }
    }

    /// Whether the row is there after this record (`+I`, `+U`).
    pub fn is_add(self) -> bool {
        matches!(self, Self::Insert | Self::UpdateAfter)
    }

    /// Whether the record takes something back (`-U`, `-D`).
    pub fn is_retract(self) -> bool {
        !self.is_add()
    }
}
