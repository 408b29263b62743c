//! Names of files in two parts: the many files of one writer differ only in the end of their names, so what comes before is kept
//! once a manifest.

use std::fmt;

/// Shorter beginnings are not worth a place of their own.
const SHORTEST_HEAD: usize = 16;

/// The name of a file. Equal names have equal parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileName<'a> {
    head: &'a str,
    tail: &'a str,
}

impl<'a> FileName<'a> {
    /// The name that these parts make, which [`split`] has made.
    pub(super) fn of(head: &'a str, tail: &'a str) -> Self {
        Self { head, tail }
    }

    /// The name as one text, which lies in `scratch`.
    pub fn in_one<'s>(&self, scratch: &'s mut String) -> &'s str {
        scratch.clear();
        scratch.push_str(self.head);
        scratch.push_str(self.tail);
        scratch
    }
}

impl fmt::Display for FileName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.head)?;
        f.write_str(self.tail)
    }
}

impl From<FileName<'_>> for String {
    fn from(name: FileName<'_>) -> Self {
        [name.head, name.tail].concat()
    }
}

impl From<FileName<'_>> for Box<str> {
    fn from(name: FileName<'_>) -> Self {
        String::from(name).into_boxed_str()
    }
}

/// A name as text in two parts, the first one up to its last hyphen. Only the name decides where.
pub(super) fn split(name: &[u8]) -> (&[u8], &[u8]) {
    let head = name.iter().rposition(|byte| *byte == b'-').map_or(0, |hyphen| hyphen + 1);
    name.split_at(if head < SHORTEST_HEAD { 0 } else { head })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_behind_their_last_hyphen() {
        let of = |name: &'static str| {
            let (head, tail) = split(name.as_bytes());
            (std::str::from_utf8(head).unwrap(), std::str::from_utf8(tail).unwrap())
        };
        let uuid = "data-9e3779b9-7f4a-47ce-8157-b915374a9e7c-";
        assert_eq!(of("data-9e3779b9-7f4a-47ce-8157-b915374a9e7c-17.parquet"), (uuid, "17.parquet"));
        assert_eq!(of("data-1.orc"), ("", "data-1.orc"));
        assert_eq!(of(""), ("", ""));
        assert_eq!(of("a_name_without_any_hyphen.avro"), ("", "a_name_without_any_hyphen.avro"));
        assert_eq!(of("dätä-dätä-dätä-ü"), ("dätä-dätä-dätä-", "ü"));
    }

    #[test]
    fn a_name_reads_as_one() {
        let (head, tail) = ("data-0123456789ab-", "3.orc");
        let name = FileName::of(head, tail);
        assert_eq!(name.to_string(), "data-0123456789ab-3.orc");
        assert_eq!(String::from(name), name.to_string());
        assert_eq!(name.in_one(&mut "before".to_owned()), name.to_string());
    }
}
