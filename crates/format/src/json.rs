//! JSON as the reference implementation prints it: two spaces an object level, `"key" : value`, arrays on one line
//! (spec: format.md C.2, C.3). Only the look differs from other writers; every reader takes any JSON.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{CharEscape, Formatter, Serializer};

use crate::{Error, Result};

/// Prints a value; keys come in the order in which it serialises them.
pub(crate) fn to_vec<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>> {
    let mut out = Vec::with_capacity(1024);
    value
        .serialize(&mut Serializer::with_formatter(&mut out, Spaced::default()))
        .map_err(|e| Error::internal("value does not serialise to JSON").with_source(e))?;
    Ok(out)
}

#[derive(Default)]
struct Spaced {
    depth: usize,
    filled: bool,
}

impl Spaced {
    fn line<W: ?Sized + Write>(&self, out: &mut W) -> io::Result<()> {
        out.write_all(b"\n")?;
        (0..self.depth).try_for_each(|_| out.write_all(b"  "))
    }
}

impl Formatter for Spaced {
    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.filled = false;
        out.write_all(b"[")
    }

    fn end_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.filled = true;
        out.write_all(b" ]")
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        out.write_all(if first { b" " } else { b", " })
    }

    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.depth += 1;
        self.filled = false;
        out.write_all(b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.depth -= 1;
        if self.filled {
            self.line(out)?;
        } else {
            out.write_all(b" ")?;
        }
        self.filled = true;
        out.write_all(b"}")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        if !first {
            out.write_all(b",")?;
        }
        self.line(out)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        out.write_all(b" : ")
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.filled = true;
        Ok(())
    }

    fn write_char_escape<W: ?Sized + Write>(&mut self, out: &mut W, escape: CharEscape) -> io::Result<()> {
        match escape {
            CharEscape::Quote => out.write_all(b"\\\""),
            CharEscape::ReverseSolidus => out.write_all(b"\\\\"),
            CharEscape::Solidus => out.write_all(b"\\/"),
            CharEscape::Backspace => out.write_all(b"\\b"),
            CharEscape::FormFeed => out.write_all(b"\\f"),
            CharEscape::LineFeed => out.write_all(b"\\n"),
            CharEscape::CarriageReturn => out.write_all(b"\\r"),
            CharEscape::Tab => out.write_all(b"\\t"),
            CharEscape::AsciiControl(byte) => write!(out, "\\u{byte:04X}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn looks_as_the_reference_prints() {
        let value = json!({"a": 1, "e": {}, "l": [], "n": [1, 2], "f": [{"id": 0, "t": "x\u{1}"}, {"id": 1}]});
        let text = String::from_utf8(super::to_vec(&value).unwrap()).unwrap();
        let want = "{\n  \"a\" : 1,\n  \"e\" : { },\n  \"l\" : [ ],\n  \"n\" : [ 1, 2 ],\n  \"f\" : [ {\n    \"id\" : 0,\n    \
                    \"t\" : \"x\\u0001\"\n  }, {\n    \"id\" : 1\n  } ]\n}";
        assert_eq!(text, want);
    }
}
