//! Records of text with delimiters, taken apart byte by byte.

use std::io::{self, BufRead};

/// The bytes that mean something.
#[derive(Debug, Clone, Copy)]
pub(super) struct Marks {
    /// Between fields.
    pub(super) delimiter: u8,
    /// Around fields.
    pub(super) quote: u8,
    /// Before a quote in a quoted field.
    pub(super) escape: u8,
}

/// A record: its fields one after the other, where each ends, and whether it was quoted.
#[derive(Debug, Default)]
pub(super) struct Record {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    quoted: Vec<bool>,
}

impl Record {
    /// How many fields it has.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// A field and whether it was quoted.
    pub(super) fn field(&self, at: usize) -> Option<(&[u8], bool)> {
        let start = if at == 0 { 0 } else { *self.ends.get(at - 1)? };
        Some((self.bytes.get(start..*self.ends.get(at)?)?, *self.quoted.get(at)?))
    }

    /// Whether the line was empty.
    pub(super) fn is_blank(&self) -> bool {
        self.ends.len() == 1 && self.bytes.is_empty() && self.quoted == [false]
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
        self.quoted.clear();
    }

    fn end_field(&mut self, quoted: bool) {
        self.ends.push(self.bytes.len());
        self.quoted.push(quoted);
    }
}

/// Where in a record a byte stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// At the begin of a field.
    Start,
    /// In a field without quotes.
    Plain,
    /// Inside of quotes.
    Quoted,
    /// Behind an escape inside of quotes.
    Escaped,
    /// Behind a quote inside of quotes: the field ends, or it stood for itself.
    Closing,
}

/// Takes records from bytes.
pub(super) struct Records<R> {
    input: R,
    marks: Marks,
    /// The line that the next record begins at, from 1.
    line: u64,
    /// Whether the last record ended with a carriage return, whose line feed may follow.
    returned: bool,
}

impl<R: BufRead> Records<R> {
    pub(super) fn new(input: R, marks: Marks) -> Self {
        Self { input, marks, line: 1, returned: false }
    }

    /// The line at which the next record begins.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// Takes the next record; false at the end.
    ///
    /// # Errors
    /// Of the bytes, and `InvalidData` for a quote that is not closed.
    pub(super) fn next(&mut self, record: &mut Record) -> io::Result<bool> {
        record.clear();
        let (mut state, mut quoted, mut any) = (State::Start, false, false);
        loop {
            let bytes = self.input.fill_buf()?;
            if bytes.is_empty() {
                if matches!(state, State::Quoted | State::Escaped) {
                    return Err(io::Error::new(io::ErrorKind::InvalidData, "a quote is not closed"));
                }
                if any {
                    record.end_field(quoted);
                }
                return Ok(any);
            }
            let mut used = 0;
            let mut done = false;
            for &byte in bytes {
                used += 1;
                if std::mem::take(&mut self.returned) && byte == b'\n' {
                    continue;
                }
                any = true;
                let Marks { delimiter, quote, escape } = self.marks;
                match state {
                    State::Quoted if byte == quote => state = State::Closing,
                    State::Quoted if byte == escape => state = State::Escaped,
                    State::Quoted => {
                        self.line += u64::from(byte == b'\n');
                        record.bytes.push(byte);
                    }
                    State::Escaped => {
                        record.bytes.push(byte);
                        state = State::Quoted;
                    }
                    State::Closing if byte == quote && escape == quote => {
                        record.bytes.push(byte);
                        state = State::Quoted;
                    }
                    State::Start if byte == quote => (state, quoted) = (State::Quoted, true),
                    _ if byte == delimiter => {
                        record.end_field(std::mem::take(&mut quoted));
                        state = State::Start;
                    }
                    _ if byte == b'\n' || byte == b'\r' => {
                        record.end_field(quoted);
                        self.returned = byte == b'\r';
                        self.line += 1;
                        done = true;
                        break;
                    }
                    _ => {
                        record.bytes.push(byte);
                        state = State::Plain;
                    }
                }
            }
            self.input.consume(used);
            if done {
                return Ok(true);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&[&str]]) {
        // A small buffer, so that records cross its borders.
        let input = std::io::BufReader::with_capacity(3, text.as_bytes());
        let mut records = Records::new(input, Marks { delimiter: b',', quote: b'"', escape: b'"' });
        let mut record = Record::default();
        let mut found = Vec::new();
        while records.next(&mut record).unwrap() {
            let fields = (0..record.len()).map(|at| {
                let (bytes, quoted) = record.field(at).unwrap();
                let text = std::str::from_utf8(bytes).unwrap();
                if quoted { format!("<{text}>") } else { text.to_owned() }
            });
            found.push(fields.collect::<Vec<_>>());
        }
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn records_are_taken_apart() {
        check("a,b\n1,2\n", &[&["a", "b"], &["1", "2"]]);
        check("a,b\r\n1,2", &[&["a", "b"], &["1", "2"]]);
        check("a\rb\r", &[&["a"], &["b"]]);
        check("\"\",,\"a,\"\"b\"\"\nc\"\n", &[&["<>", "", "<a,\"b\"\nc>"]]);
        check("a\"b,\"c\"d\n", &[&["a\"b", "<cd>"]]);
        check("x\n\ny\n", &[&["x"], &[""], &["y"]]);
        check("", &[]);
        check("a,", &[&["a", ""]]);
        check("日本,😀\n", &[&["日本", "😀"]]);
    }

    #[test]
    fn an_open_quote_is_an_error() {
        let marks = Marks { delimiter: b',', quote: b'"', escape: b'\\' };
        let mut records = Records::new("\"a\\\"b\",c\n\"d".as_bytes(), marks);
        let mut record = Record::default();
        assert!(records.next(&mut record).unwrap());
        assert_eq!(record.field(0).unwrap(), (&b"a\"b"[..], true));
        assert_eq!(records.line(), 2);
        assert!(records.next(&mut record).is_err());
    }
}
