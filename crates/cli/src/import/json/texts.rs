//! The rows of a JSON file as text, one after the other: its lines, its values where these take several lines, the elements
//! when the whole file is one array, or the features when it is a GeoJSON collection of them.

use std::io::{BufRead, Chain, Cursor, Read};

use linn::{Error, Result};

use super::collection;
use super::outline;
use crate::import::source::unreadable;

/// Bytes that are looked at to tell the form of a file.
const LOOK: usize = 64 << 10;

/// Bytes of a row at the most.
const LONGEST: usize = 256 << 20;

/// Reads the rows of a JSON file.
pub(crate) struct Texts<R> {
    input: Option<R>,
    head: Option<Chain<Cursor<Vec<u8>>, R>>,
    form: Form,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Each line is a row, whatever it is.
    Lines,
    /// Values one behind the other.
    Values,
    /// Elements of the array that is the file, or of one in it.
    Array {
        collection: bool,
        first: bool,
    },
    End,
}

impl<R: BufRead> Texts<R> {
    /// The rows of this input.
    pub(crate) fn new(input: R) -> Self {
        Self { input: Some(input), head: None, form: Form::End }
    }

    /// Puts the next row into `text`; false at the end.
    ///
    /// # Errors
    /// `Unavailable` when the input cannot be read, `Invalid` for an array without an end.
    pub(crate) fn next(&mut self, text: &mut Vec<u8>) -> Result<bool> {
        text.clear();
        if let Some(input) = self.input.take() {
            self.begin(input)?;
        }
        match self.form {
            Form::Lines => self.line(text),
            Form::Values => self.value(text),
            Form::Array { collection, first } => self.element(text, collection, first),
            Form::End => Ok(false),
        }
    }

    /// Looks at the beginning of the input and goes to its first row.
    fn begin(&mut self, mut input: R) -> Result<()> {
        let mut head = Vec::new();
        let mut more = true;
        while more && (line_of(&head).is_none() || spans_lines(&head)) && head.len() < LOOK {
            let buffer = input.fill_buf().map_err(unreadable)?;
            let taken = buffer.len();
            head.extend_from_slice(buffer);
            input.consume(taken);
            more = taken > 0;
        }
        if head.starts_with(b"\xef\xbb\xbf") {
            head.drain(..3);
        }
        let start = head.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(head.len());
        head.drain(..start);
        let features = collection::features(&head);
        let skipped = match (features, head.first()) {
            (Some(at), _) => {
                self.form = Form::Array { collection: true, first: true };
                at
            }
            (None, Some(b'[')) => {
                self.form = Form::Array { collection: false, first: true };
                1
            }
            _ => {
                self.form = if spans_lines(&head) { Form::Values } else { Form::Lines };
                0
            }
        };
        head.drain(..skipped);
        self.head = Some(Cursor::new(head).chain(input));
        Ok(())
    }

    fn input(&mut self) -> Result<&mut Chain<Cursor<Vec<u8>>, R>> {
        self.head.as_mut().ok_or_else(|| Error::internal("the input was not begun"))
    }

    fn line(&mut self, text: &mut Vec<u8>) -> Result<bool> {
        loop {
            let most = LONGEST as u64;
            if self.input()?.take(most).read_until(b'\n', text).map_err(unreadable)? == 0 {
                return Ok(false);
            }
            if text.len() >= LONGEST {
                return Err(too_long());
            }
            if !text.trim_ascii().is_empty() {
                return Ok(true);
            }
            text.clear();
        }
    }

    fn value(&mut self, text: &mut Vec<u8>) -> Result<bool> {
        if self.peek()?.is_none() {
            return Ok(false);
        }
        let mut nesting = Nesting::default();
        self.take(text, |byte| nesting.ends_after(byte))?;
        Ok(true)
    }

    fn element(&mut self, text: &mut Vec<u8>, collection: bool, first: bool) -> Result<bool> {
        let mut next = self.peek()?;
        if !first && next == Some(b',') {
            self.input()?.consume(1);
            next = self.peek()?;
            if next == Some(b']') {
                return Err(Error::invalid("the JSON array ends with a comma"));
            }
        }
        if next == Some(b']') {
            self.input()?.consume(1);
            self.form = Form::End;
            return self.end(collection).map(|()| false);
        }
        self.form = Form::Array { collection, first: false };
        let mut nesting = Nesting::default();
        match self.take(text, |byte| if nesting.ends_before(byte) { End::Before } else { End::Not })? {
            true => Ok(true),
            false => Err(Error::invalid("the JSON array is not closed")),
        }
    }

    /// What stands behind the array.
    fn end(&mut self, collection: bool) -> Result<()> {
        if !collection {
            return match self.peek()? {
                None => Ok(()),
                Some(_) => Err(Error::invalid("the input continues after the JSON array")),
            };
        }
        let mut rest = b"{\"features\":[]".to_vec();
        self.input()?.take(LONGEST as u64).read_to_end(&mut rest).map_err(unreadable)?;
        let rest = std::str::from_utf8(&rest).map_err(|e| Error::invalid("the input is not UTF-8").with_source(e))?;
        outline::check(rest).map_err(|e| Error::invalid("what follows the features is not JSON").with_source(e))
    }

    /// Takes bytes until `end` says so; false at the end of the input.
    fn take(&mut self, text: &mut Vec<u8>, mut end: impl FnMut(u8) -> End) -> Result<bool> {
        let input = self.input()?;
        loop {
            let buffer = input.fill_buf().map_err(unreadable)?;
            if buffer.is_empty() {
                return Ok(false);
            }
            let found = buffer.iter().enumerate().find_map(|(at, byte)| match end(*byte) {
                End::Not => None,
                End::Before => Some(at),
                End::After => Some(at + 1),
            });
            let taken = found.unwrap_or(buffer.len());
            text.extend_from_slice(buffer.get(..taken).unwrap_or_default());
            input.consume(taken);
            if found.is_some() {
                return Ok(true);
            }
            if text.len() > LONGEST {
                return Err(too_long());
            }
        }
    }

    /// The next byte that is not white space; what is before it is skipped.
    fn peek(&mut self) -> Result<Option<u8>> {
        let input = self.input()?;
        loop {
            let buffer = input.fill_buf().map_err(unreadable)?;
            let found = buffer.iter().copied().enumerate().find(|(_, byte)| !byte.is_ascii_whitespace());
            let (skipped, empty) = (found.map_or(buffer.len(), |(at, _)| at), buffer.is_empty());
            input.consume(skipped);
            if found.is_some() || empty {
                return Ok(found.map(|(_, byte)| byte));
            }
        }
    }
}

fn too_long() -> Error {
    Error::invalid(format!("a row is longer than {} MiB", LONGEST >> 20))
        .with_hint("an object or array may not be closed")
}

/// The first line that is not blank, when all of it is there.
fn line_of(head: &[u8]) -> Option<&[u8]> {
    let start = head.iter().position(|byte| !byte.is_ascii_whitespace())?;
    let line = head.get(start..)?;
    line.iter().position(|byte| *byte == b'\n').and_then(|end| line.get(..end))
}

/// Whether the first value goes on behind the end of its line.
fn spans_lines(head: &[u8]) -> bool {
    let mut nesting = Nesting::default();
    line_of(head).is_some_and(|line| {
        line.starts_with(b"{") && line.iter().all(|byte| !matches!(nesting.ends_after(*byte), End::After))
    })
}

enum End {
    Not,
    Before,
    After,
}

/// Where a byte stands in a value.
#[derive(Debug, Default)]
struct Nesting {
    depth: usize,
    quoted: bool,
    escaped: bool,
}

impl Nesting {
    /// Whether an element of an array is over before this byte, which is counted otherwise.
    fn ends_before(&mut self, byte: u8) -> bool {
        if !self.quoted && self.depth == 0 && matches!(byte, b',' | b']') {
            return true;
        }
        self.count(byte);
        false
    }

    /// Whether a value is over after this byte, or before it.
    fn ends_after(&mut self, byte: u8) -> End {
        let was_inside = self.quoted || self.depth > 0;
        if !was_inside && byte.is_ascii_whitespace() {
            return End::Before;
        }
        self.count(byte);
        if was_inside && !self.quoted && self.depth == 0 { End::After } else { End::Not }
    }

    fn count(&mut self, byte: u8) {
        if self.quoted {
            self.quoted = self.escaped || byte != b'"';
            self.escaped = !self.escaped && byte == b'\\';
            return;
        }
        match byte {
            b'"' => self.quoted = true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    fn read(text: &str) -> Result<Vec<String>> {
        // A buffer of two bytes meets every place where a buffer can end.
        let mut texts = Texts::new(BufReader::with_capacity(2, text.as_bytes()));
        let (mut all, mut one) = (Vec::new(), Vec::new());
        while texts.next(&mut one)? {
            all.push(String::from_utf8_lossy(&one).trim().to_owned());
        }
        Ok(all)
    }

    #[test]
    fn lines_and_elements_are_rows() {
        assert_eq!(read("\u{feff}\n{\"a\":1}\n\n{\"a\":2}").unwrap(), ["{\"a\":1}", "{\"a\":2}"]);
        let array = " [ {\"a\": [1, {\"b\": \"],}\\\"\"}]},\n {\"a\":\n2}, 3 ]\n";
        assert_eq!(read(array).unwrap(), ["{\"a\": [1, {\"b\": \"],}\\\"\"}]}", "{\"a\":\n2}", "3"]);
        assert!(read("").unwrap().is_empty() && read("[]").unwrap().is_empty());
    }

    #[test]
    fn a_broken_line_takes_no_other_with_it() {
        assert_eq!(read("{\"a\":1}\n{\"a\":\n{\"a\":3}").unwrap(), ["{\"a\":1}", "{\"a\":", "{\"a\":3}"]);
    }

    #[test]
    fn values_may_take_several_lines() {
        assert_eq!(read("{\n \"a\": \"}\"\n}\n{\"a\":2} {\n}").unwrap(), ["{\n \"a\": \"}\"\n}", "{\"a\":2}", "{\n}"]);
    }

    #[test]
    fn features_of_a_collection_are_rows() {
        let text = "{\"type\": \"FeatureCollection\",\n\"crs\": {\"x\": [1]},\n\"features\": [\n{\"a\":1},\n{\"a\":[2]}]\n, \"n\": 1}";
        assert_eq!(read(text).unwrap(), ["{\"a\":1}", "{\"a\":[2]}"]);
        assert!(read("{\"type\":\"FeatureCollection\",\"features\":[]}").unwrap().is_empty());
        assert!(read("{\"type\":\"FeatureCollection\",\"features\":[{}]").is_err());
    }

    #[test]
    fn arrays_must_end() {
        assert!(read("[{\"a\":1}").is_err() && read("[{\"a\":1}] x").is_err() && read("[{},]").is_err());
    }
}
