//! Roaring containers that list their values or their runs, united as they lie in bytes.
//!
//! Bits, containers that are damaged, and those whose best form is in doubt are left to the library, whose bytes are the same.

use linn_format::{Error, Result};

use super::cursor::Cursor;

/// Values up to which a container lists them.
const LISTED: u32 = 4096;
/// Bytes of a container of bits.
const BITS_BYTES: u32 = 8192;

/// A container that is a list.
#[derive(Debug, Clone, Copy)]
pub(super) struct Few<'a> {
    cardinality: u32,
    /// Whether the list is of runs: start and length less one. Else it is of values.
    runs: bool,
    body: &'a [u8],
}

impl<'a> Few<'a> {
    /// Reads a list of values.
    ///
    /// # Errors
    /// `Corrupt` when it is none.
    pub(super) fn values(cardinality: u32, input: &mut Cursor<'a>) -> Result<Self> {
        if cardinality > LISTED {
            return Err(many());
        }
        Ok(Self { cardinality, runs: false, body: input.take(cardinality as usize * 2)? })
    }

    /// Reads a list of runs, and how many there are.
    ///
    /// # Errors
    /// `Corrupt` when it is none.
    pub(super) fn runs(cardinality: u32, input: &mut Cursor<'a>) -> Result<Self> {
        let runs = input.u16()?;
        Ok(Self { cardinality, runs: true, body: input.take(usize::from(runs) * 4)? })
    }
}

/// The error of what is no list, which is never told.
pub(super) fn many() -> Error {
    Error::corrupt("not a short container")
}

/// What containers come to. It can be used again.
#[derive(Debug, Default)]
pub(super) struct United {
    /// First and last value of each run.
    runs: Vec<(u16, u16)>,
    /// Values.
    pub(super) cardinality: u32,
    /// Whether the list of runs takes less room than that of values.
    pub(super) is_runs: bool,
}

impl United {
    /// Unites one container or two.
    ///
    /// # Errors
    /// When the library has to.
    pub(super) fn unite(&mut self, first: Few<'_>, second: Option<Few<'_>>) -> Result<()> {
        self.runs.clear();
        self.cardinality = 0;
        let mut walks = (Walk::new(first)?, second.map(Walk::new).transpose()?);
        loop {
            let other = walks.1.as_ref().and_then(|walk| walk.head);
            let (start, end) = match (walks.0.head, other, &mut walks.1) {
                (None, None, _) => break,
                (Some(mine), Some(theirs), Some(walk)) if theirs.0 < mine.0 => walk.step(theirs)?,
                (Some(mine), _, _) => walks.0.step(mine)?,
                (None, Some(theirs), Some(walk)) => walk.step(theirs)?,
                (None, Some(_), None) => return Err(many()),
            };
            match self.runs.last_mut() {
                Some((_, last)) if u32::from(start) <= u32::from(*last) + 1 => *last = end.max(*last),
                _ => self.runs.push((start, end)),
            }
        }
        if !walks.0.is_done() || walks.1.as_ref().is_some_and(|walk| !walk.is_done()) {
            return Err(many());
        }
        self.cardinality = self.runs.iter().map(|(start, end)| u32::from(end - start) + 1).sum();
        let as_runs = 2 + 4 * self.runs.len() as u32;
        let otherwise = if self.cardinality <= LISTED { 2 * self.cardinality } else { BITS_BYTES };
        self.is_runs = as_runs < otherwise;
        // A container stays what it is where both forms are as long, and which one that is only the library knows.
        let in_doubt = as_runs == otherwise && (first.runs || second.is_some_and(|second| second.runs));
        if in_doubt || self.cardinality == 0 || (!self.is_runs && self.cardinality > LISTED) {
            return Err(many());
        }
        Ok(())
    }

    /// Appends the list.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        if self.is_runs {
            out.extend_from_slice(&(self.runs.len() as u16).to_le_bytes());
        }
        for &(start, end) in &self.runs {
            if self.is_runs {
                out.extend_from_slice(&start.to_le_bytes());
                out.extend_from_slice(&(end - start).to_le_bytes());
            } else {
                (start..=end).for_each(|value| out.extend_from_slice(&value.to_le_bytes()));
            }
        }
    }
}

/// The runs of a container one by one; a value is one of its own.
struct Walk<'a> {
    container: Few<'a>,
    rest: &'a [u8],
    head: Option<(u16, u16)>,
    seen: u32,
}

impl<'a> Walk<'a> {
    fn new(container: Few<'a>) -> Result<Self> {
        let mut walk = Self { container, rest: container.body, head: None, seen: 0 };
        walk.advance(None)?;
        Ok(walk)
    }

    /// Gives the head out.
    fn step(&mut self, head: (u16, u16)) -> Result<(u16, u16)> {
        self.advance(Some(head.1))?;
        Ok(head)
    }

    /// The next run, which must lie behind `last`, and not right behind it where runs are listed.
    fn advance(&mut self, last: Option<u16>) -> Result<()> {
        let run = match (self.container.runs, self.rest) {
            (false, [a, b, rest @ ..]) => {
                self.rest = rest;
                let value = u16::from_le_bytes([*a, *b]);
                (value, value)
            }
            (true, [a, b, c, d, rest @ ..]) => {
                self.rest = rest;
                let start = u16::from_le_bytes([*a, *b]);
                (start, start.checked_add(u16::from_le_bytes([*c, *d])).ok_or_else(many)?)
            }
            _ => {
                self.head = None;
                return Ok(());
            }
        };
        let gap = u32::from(self.container.runs);
        if last.is_some_and(|last| u32::from(run.0) <= u32::from(last) + gap) {
            return Err(many());
        }
        self.seen += u32::from(run.1 - run.0) + 1;
        self.head = Some(run);
        Ok(())
    }

    /// Whether it had as many values as it says.
    fn is_done(&self) -> bool {
        self.head.is_none() && self.rest.is_empty() && self.seen == self.container.cardinality
    }
}
