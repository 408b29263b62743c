//! The records of a CSV file (RFC 4180), with what a quoted field is told from: `""` is an empty text, nothing is none.
//!
//! Lines end with `\n`, `\r\n` or `\r`. A quote within a field that does not begin with one is text.

use std::io::BufRead;

use linn::Result;

use crate::import::source::unreadable;

/// Bytes of a record at the most.
const LONGEST: usize = 256 << 20;

/// The fields of a record; used again for the next one.
#[derive(Debug, Default)]
pub(super) struct Record {
    /// The fields one behind the other.
    text: Vec<u8>,
    /// Where each field ends, and whether it was quoted.
    ends: Vec<(usize, bool)>,
    /// What is wrong with the record.
    pub(super) fault: Option<&'static str>,
}

impl Record {
    /// Number of fields.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Bytes of all fields.
    pub(super) fn bytes(&self) -> usize {
        self.text.len()
    }

    /// Whether the line was empty.
    pub(super) fn is_blank(&self) -> bool {
        self.text.is_empty() && self.ends.as_slice() == [(0, false)]
    }

    /// The fields, and whether each was quoted; `None` when they are not UTF-8.
    pub(super) fn fields(&self) -> Option<impl Iterator<Item = (&str, bool)>> {
        let text = std::str::from_utf8(&self.text).ok()?;
        let mut start = 0;
        Some(self.ends.iter().map(move |(end, quoted)| {
            // Fields end at delimiters, which are ASCII.
            let field = text.get(start..*end).unwrap_or_default();
            start = *end;
            (field, *quoted)
        }))
    }

    fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
        self.fault = None;
    }

    fn end(&mut self, quoted: bool) {
        self.ends.push((self.text.len(), quoted));
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    /// The beginning of a field.
    Start,
    /// In a field without quotes.
    Plain,
    /// Within quotes.
    Quoted,
    /// Behind a quote within quotes: the end of the field, or the first of two.
    Closed,
}

/// Reads records.
pub(super) struct Records<R> {
    input: R,
    delimiter: u8,
    begun: bool,
    /// Whether a `\n` belongs to the line before.
    after_return: bool,
}

impl<R: BufRead> Records<R> {
    /// The records of this input.
    pub(super) fn new(input: R, delimiter: u8) -> Self {
        Self { input, delimiter, begun: false, after_return: false }
    }

    /// Reads the next record; false at the end.
    ///
    /// # Errors
    /// `Unavailable` and `Invalid` when the input cannot be read or unpacked.
    pub(super) fn read(&mut self, record: &mut Record) -> Result<bool> {
        record.clear();
        self.begin()?;
        let (mut at, mut any) = (At::Start, false);
        loop {
            let buffer = self.input.fill_buf().map_err(unreadable)?;
            if buffer.is_empty() {
                if at == At::Quoted {
                    record.fault = Some("a quoted field is not closed");
                }
                if any {
                    record.end(matches!(at, At::Quoted | At::Closed));
                }
                return Ok(any);
            }
            let mut taken = 0;
            let mut over = false;
            for byte in buffer {
                taken += 1;
                if std::mem::take(&mut self.after_return) && *byte == b'\n' && !any {
                    continue;
                }
                any = true;
                at = step(at, *byte, self.delimiter, record);
                if at == At::Start && matches!(byte, b'\n' | b'\r') {
                    self.after_return = *byte == b'\r';
                    over = true;
                    break;
                }
            }
            self.input.consume(taken);
            if over {
                return Ok(true);
            }
            if record.text.len() > LONGEST {
                return Err(linn::Error::invalid(format!("a row is longer than {} MiB", LONGEST >> 20))
                    .with_hint("a quoted field may not be closed"));
            }
        }
    }

    /// Skips a byte order mark.
    fn begin(&mut self) -> Result<()> {
        if std::mem::replace(&mut self.begun, true) {
            return Ok(());
        }
        if self.input.fill_buf().map_err(unreadable)?.starts_with(b"\xef\xbb\xbf") {
            self.input.consume(3);
        }
        Ok(())
    }
}

/// Takes a byte. At the end of a line or field the place is [`At::Start`].
fn step(at: At, byte: u8, delimiter: u8, record: &mut Record) -> At {
    match (at, byte) {
        (At::Start, b'"') => At::Quoted,
        (At::Quoted, b'"') => At::Closed,
        (At::Quoted, _) => {
            record.text.push(byte);
            At::Quoted
        }
        (At::Closed, b'"') => {
            record.text.push(b'"');
            At::Quoted
        }
        (_, b'\n' | b'\r') => {
            record.end(at == At::Closed);
            At::Start
        }
        (_, byte) if byte == delimiter => {
            record.end(at == At::Closed);
            At::Start
        }
        (At::Closed, _) => {
            record.fault = Some("text follows the closing quote of a field");
            record.text.push(byte);
            At::Closed
        }
        (At::Start | At::Plain, _) => {
            record.text.push(byte);
            At::Plain
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    fn read(text: &str) -> Vec<Vec<(String, bool)>> {
        // A buffer of four bytes meets every place where a buffer can end, and holds a byte order mark.
        let mut records = Records::new(BufReader::with_capacity(4, text.as_bytes()), b',');
        let (mut record, mut all) = (Record::default(), Vec::new());
        while records.read(&mut record).unwrap() {
            all.push(record.fields().unwrap().map(|(text, quoted)| (text.to_owned(), quoted)).collect());
        }
        all
    }

    fn plain(rows: &[&[&str]]) -> Vec<Vec<(String, bool)>> {
        let field = |text: &&str| match text.strip_prefix('q') {
            Some(text) => (text.to_owned(), true),
            None => ((*text).to_owned(), false),
        };
        rows.iter().map(|row| row.iter().map(field).collect()).collect()
    }

    #[test]
    fn quoted_is_told_from_plain() {
        assert_eq!(read("a,\"\",,\"b,\"\"\n\"\n"), plain(&[&["a", "q", "", "qb,\"\n"]]));
        assert_eq!(read("\u{feff}\"a\"\r\nb\rc\n\nd"), plain(&[&["qa"], &["b"], &["c"], &[""], &["d"]]));
        assert_eq!(read("a\"b,c \"d\""), plain(&[&["a\"b", "c \"d\""]]));
        assert_eq!(read("a,\n,"), plain(&[&["a", ""], &["", ""]]));
        assert!(read("").is_empty());
    }

    #[test]
    fn faults_are_told() {
        let fault = |text: &str| {
            let mut record = Record::default();
            Records::new(text.as_bytes(), b',').read(&mut record).unwrap();
            record.fault
        };
        assert_eq!(fault("a,\"b\nc"), Some("a quoted field is not closed"));
        assert_eq!(fault("\"a\"b,c\n"), Some("text follows the closing quote of a field"));
        assert_eq!(fault("a\"b\n"), None);
    }
}
