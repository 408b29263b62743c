//! Finding the features of a GeoJSON file in its first bytes.

/// Where the first feature of a collection may stand: behind the bracket of `features`. `None` for what is no collection.
pub(super) fn features(head: &[u8]) -> Option<usize> {
    let mut at = Position { text: head, at: 0 };
    at.pass(b'{')?;
    let mut is_collection = false;
    loop {
        let key = at.value()?;
        at.pass(b':')?;
        if key == b"\"features\"" && at.peek()? == b'[' {
            at.at += 1;
            return (is_collection || holds_feature(head.get(at.at..)?)).then_some(at.at);
        }
        let value = at.value()?;
        is_collection |= key == b"\"type\"" && value == b"\"FeatureCollection\"";
        at.pass(b',')?;
    }
}

/// Whether an array begins with an object of the type `Feature`, for collections that tell their own type at their end.
fn holds_feature(text: &[u8]) -> bool {
    let mut at = Position { text, at: 0 };
    let mut first = || {
        at.pass(b'{')?;
        let key = at.value()?;
        at.pass(b':')?;
        Some(key == b"\"type\"" && at.value()? == b"\"Feature\"")
    };
    first().unwrap_or(false)
}

struct Position<'t> {
    text: &'t [u8],
    at: usize,
}

impl<'t> Position<'t> {
    /// The next byte that is not white space.
    fn peek(&mut self) -> Option<u8> {
        while self.text.get(self.at)?.is_ascii_whitespace() {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    fn pass(&mut self, byte: u8) -> Option<()> {
        let found = self.peek()? == byte;
        self.at += 1;
        found.then_some(())
    }

    /// The whole of a value; `None` when its end is not there.
    fn value(&mut self) -> Option<&'t [u8]> {
        self.peek()?;
        let start = self.at;
        let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
        loop {
            let byte = *self.text.get(self.at)?;
            if quoted {
                quoted = escaped || byte != b'"';
                escaped = !escaped && byte == b'\\';
            } else {
                match byte {
                    b'"' => quoted = true,
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' if depth > 0 => depth -= 1,
                    b',' | b':' | b'}' | b']' if depth == 0 => break,
                    _ => {}
                }
            }
            self.at += 1;
        }
        Some(self.text.get(start..self.at)?.trim_ascii())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collections_are_found() {
        let found = |text: &str| features(text.as_bytes());
        assert_eq!(found("{\"type\":\"FeatureCollection\",\"features\":["), Some(40));
        assert!(found("{ \"name\" : \"a, b\", \"features\" : [ { \"type\" : \"Feature\", ").is_some());
        assert_eq!(found("{\"type\":\"Other\",\"features\":[1,2]}"), None);
        assert_eq!(found("{\"a\":1}"), None);
    }
}
