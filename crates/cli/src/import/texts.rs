//! The rows of a JSON file as text, one after the other: its lines, or the elements when the whole file is one array.

use std::io::BufRead;

use linn::{Error, Result};

use super::source::unreadable;

/// Reads the rows of a JSON file.
pub(crate) struct Texts<R> {
    input: R,
    form: Form,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Unknown,
    Lines,
    Array,
    End,
}

impl<R: BufRead> Texts<R> {
    /// The rows of this input.
    pub(crate) fn new(input: R) -> Self {
        Self { input, form: Form::Unknown }
    }

    /// Puts the next row into `text`; false at the end.
    ///
    /// # Errors
    /// `Unavailable` when the input cannot be read, `Invalid` for an array without an end.
    pub(crate) fn next(&mut self, text: &mut Vec<u8>) -> Result<bool> {
        text.clear();
        if self.form == Form::Unknown {
            self.form = match self.peek()? {
                Some(b'[') => {
                    self.input.consume(1);
                    Form::Array
                }
                _ => Form::Lines,
            };
        }
        match self.form {
            Form::Lines => self.line(text),
            Form::Array => self.element(text),
            Form::Unknown | Form::End => Ok(false),
        }
    }

    fn line(&mut self, text: &mut Vec<u8>) -> Result<bool> {
        while self.input.read_until(b'\n', text).map_err(unreadable)? > 0 {
            if !text.trim_ascii().is_empty() {
                return Ok(true);
            }
            text.clear();
        }
        Ok(false)
    }

    fn element(&mut self, text: &mut Vec<u8>) -> Result<bool> {
        if self.peek()? == Some(b',') {
            self.input.consume(1);
        }
        if self.peek()? == Some(b']') {
            self.input.consume(1);
            self.form = Form::End;
            return match self.peek()? {
                None => Ok(false),
                Some(_) => Err(Error::invalid("something follows behind the JSON array")),
            };
        }
        let mut nesting = Nesting::default();
        loop {
            let buffer = self.input.fill_buf().map_err(unreadable)?;
            if buffer.is_empty() {
                return Err(Error::invalid("the JSON array has no end"));
            }
            let end = buffer.iter().position(|byte| nesting.ends_before(*byte));
            let taken = end.unwrap_or(buffer.len());
            text.extend_from_slice(buffer.get(..taken).unwrap_or_default());
            self.input.consume(taken);
            if end.is_some() {
                return Ok(true);
            }
        }
    }

    /// The next byte that is not white space; what is before it is skipped.
    fn peek(&mut self) -> Result<Option<u8>> {
        loop {
            let buffer = self.input.fill_buf().map_err(unreadable)?;
            let found = buffer.iter().copied().enumerate().find(|(_, byte)| !byte.is_ascii_whitespace());
            let (skipped, empty) = (found.map_or(buffer.len(), |(at, _)| at), buffer.is_empty());
            self.input.consume(skipped);
            if found.is_some() || empty {
                return Ok(found.map(|(_, byte)| byte));
            }
        }
    }
}

/// Where a byte stands in an element of an array.
#[derive(Debug, Default)]
struct Nesting {
    depth: usize,
    quoted: bool,
    escaped: bool,
}

impl Nesting {
    /// Whether the element is over before this byte, which is counted otherwise.
    fn ends_before(&mut self, byte: u8) -> bool {
        if self.quoted {
            self.quoted = self.escaped || byte != b'"';
            self.escaped = !self.escaped && byte == b'\\';
            return false;
        }
        match byte {
            b',' | b']' if self.depth == 0 => return true,
            b'"' => self.quoted = true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        false
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
        assert_eq!(read("\n{\"a\":1}\n\n{\"a\":2}").unwrap(), ["{\"a\":1}", "{\"a\":2}"]);
        let array = " [ {\"a\": [1, {\"b\": \"],}\\\"\"}]},\n {\"a\":\n2}, 3 ]\n";
        assert_eq!(read(array).unwrap(), ["{\"a\": [1, {\"b\": \"],}\\\"\"}]}", "{\"a\":\n2}", "3"]);
        assert!(read("").unwrap().is_empty() && read("[]").unwrap().is_empty());
    }

    #[test]
    fn arrays_must_end() {
        assert!(read("[{\"a\":1}").is_err() && read("[{\"a\":1}] x").is_err());
    }
}
