//! What the values of a lookup file are made of, and the names of lookup files that lie beside their data file.

use crate::row::{Front, put_var_int};
use crate::{Error, Result};

/// Version of keys and values in file names.
pub const VERSION: &str = "v1";

/// What is kept of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Processor {
    /// The row, its sequence number and its kind.
    Value,
    /// Its position in the data file in addition.
    PositionAndValue,
    /// Its position alone.
    Position,
    /// That it is there.
    Empty,
}

/// What a value says; absent parts were not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LookupValue<'a> {
    /// The row, compacted.
    pub row: Option<&'a [u8]>,
    /// Its position in the data file.
    pub position: Option<u64>,
    /// Its sequence number; 0 where it was not kept.
    pub sequence: i64,
    /// Its kind, 0 to 3; 0 where it was not kept.
    pub kind: i8,
}

impl Processor {
    /// The word in file names.
    pub fn word(self) -> &'static str {
        match self {
            Self::Value => "value",
            Self::PositionAndValue => "position-and-value",
            Self::Position => "position",
            Self::Empty => "empty",
        }
    }

    fn from_word(word: &str) -> Option<Self> {
        [Self::Value, Self::PositionAndValue, Self::Position, Self::Empty].into_iter().find(|p| p.word() == word)
    }

    /// Whether rows are kept.
    pub fn has_rows(self) -> bool {
        matches!(self, Self::Value | Self::PositionAndValue)
    }

    /// Whether positions are kept.
    pub fn has_positions(self) -> bool {
        matches!(self, Self::PositionAndValue | Self::Position)
    }

    /// Appends the value of a row; what is not kept is not looked at.
    pub fn put(self, row: &[u8], position: u64, sequence: i64, kind: i8, out: &mut Vec<u8>) {
        match self {
            Self::Empty => return,
            Self::Position => return put_var_int(out, position),
            Self::Value => out.extend_from_slice(row),
            Self::PositionAndValue => {
                out.extend_from_slice(row);
                out.extend(position.to_le_bytes());
            }
        }
        out.extend(sequence.to_le_bytes());
        out.extend(kind.to_le_bytes());
    }

    /// Takes a value apart.
    ///
    /// # Errors
    /// `Corrupt` when it is too short or names no row kind.
    pub fn split(self, value: &[u8]) -> Result<LookupValue<'_>> {
        let short = || Error::corrupt(format!("a lookup value of {} bytes as {}", value.len(), self.word()));
        let nothing = LookupValue { row: None, position: None, sequence: 0, kind: 0 };
        if !self.has_rows() {
            let mut front = Front(value);
            let position = if self.has_positions() { Some(front.var::<64>()?) } else { None };
            return if front.0.is_empty() { Ok(LookupValue { position, ..nothing }) } else { Err(short()) };
        }
        let (rest, kind) = value.split_last_chunk::<1>().ok_or_else(short)?;
        let (rest, sequence) = rest.split_last_chunk::<8>().ok_or_else(short)?;
        let (row, position) = match self.has_positions() {
            true => {
                rest.split_last_chunk::<8>().map(|(row, p)| (row, Some(u64::from_le_bytes(*p)))).ok_or_else(short)?
            }
            false => (rest, None),
        };
        let kind = i8::from_le_bytes(*kind);
        if !(0..4).contains(&kind) {
            return Err(Error::corrupt(format!("row kind {kind} is not one of 0 to 3")));
        }
        Ok(LookupValue { row: Some(row), position, sequence: i64::from_le_bytes(*sequence), kind })
    }
}

/// The name of a lookup file beside its data file:
/// `<data file>.<length>.<processor>.<version>.lookup`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteName {
    /// What its values are.
    pub processor: Processor,
    /// Version of keys and values.
    pub version: String,
}

impl RemoteName {
    /// The name for a lookup file of `len` bytes.
    pub fn format(data_file: &str, len: u64, processor: Processor) -> String {
        format!("{data_file}.{len}.{}.{VERSION}.lookup", processor.word())
    }

    /// Reads a name; `None` when it is none of a lookup file, or of one that is not known.
    pub fn parse(name: &str) -> Option<Self> {
        let mut parts = name.strip_suffix(".lookup")?.rsplit('.');
        let version = parts.next()?.to_owned();
        Some(Self { processor: Processor::from_word(parts.next()?)?, version })
    }
}
