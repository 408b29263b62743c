//! A list of values as its values one after the other; anything else stays.

use std::io::{self, Read};

/// Where in the text a byte stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing but blanks was seen.
    Before,
    /// Not inside of a list that is taken apart.
    Outside,
    /// Inside of it, this deep.
    Inside(usize),
    /// Inside of a text in it.
    Text(usize),
    /// Behind a backslash in such a text.
    Escaped(usize),
    /// Behind the list.
    Behind,
}

/// Takes the brackets of an outermost list, and the commas between its values, out of the bytes of a reader.
pub(in crate::file) struct Unlisted<R> {
    input: R,
    state: State,
}

impl<R: Read> Unlisted<R> {
    pub(in crate::file) fn new(input: R) -> Self {
        Self { input, state: State::Before }
    }

    fn next(&mut self, byte: u8) -> Option<u8> {
        use State::{Before, Behind, Escaped, Inside, Outside, Text};
        let (state, byte) = match (self.state, byte) {
            (Before, b'[') => (Inside(0), b' '),
            // A mark of the byte order.
            (Before, 0xEF | 0xBB | 0xBF) => (Before, b' '),
            (Before, b' ' | b'\t' | b'\r' | b'\n') => (Before, byte),
            (Before | Outside, _) => (Outside, byte),
            (Inside(depth), b'"') => (Text(depth), byte),
            (Inside(0), b']') => (Behind, b' '),
            (Inside(0), b',') => (Inside(0), b'\n'),
            (Inside(depth), b'[' | b'{') => (Inside(depth + 1), byte),
            (Inside(depth), b']' | b'}') => (Inside(depth.saturating_sub(1)), byte),
            (Inside(depth), _) => (Inside(depth), byte),
            (Text(depth), b'\\') => (Escaped(depth), byte),
            (Text(depth), b'"') => (Inside(depth), byte),
            (Text(depth) | Escaped(depth), _) => (Text(depth), byte),
            (Behind, b' ' | b'\t' | b'\r' | b'\n') => (Behind, byte),
            (Behind, _) => return None,
        };
        self.state = state;
        Some(byte)
    }
}

impl<R: Read> Read for Unlisted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        for byte in buffer.iter_mut().take(read) {
            let Some(new) = self.next(*byte) else {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "the file continues after the end of the list"));
            };
            *byte = new;
        }
        if read == 0
            && !buffer.is_empty()
            && matches!(self.state, State::Inside(_) | State::Text(_) | State::Escaped(_))
        {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the list is not closed"));
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<&str>) {
        let mut out = String::new();
        let read = Unlisted::new(text.as_bytes()).read_to_string(&mut out);
        assert_eq!(read.ok().map(|_| out), expected.map(str::to_owned), "{text}");
    }

    #[test]
    fn values_come_out_of_a_list() {
        check("[{\"a\":[1,2]},{\"b\":\"],[\\\"\"}]", Some(" {\"a\":[1,2]}\n{\"b\":\"],[\\\"\"} "));
        check("{\"a\":1}\n{\"a\":2}", Some("{\"a\":1}\n{\"a\":2}"));
        check("", Some(""));
        check("[1,2", None);
        check("[1] 2", None);
    }
}
