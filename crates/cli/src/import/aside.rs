//! What happens to rows that do not fit: the import ends, or they go to a file of their own.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use linn::{Error, Result};

use super::chunk::Bad;

/// Where rows that do not fit go.
#[derive(Debug)]
pub(crate) enum OnReject {
    /// The first one ends the import.
    Fail,
    /// They are written to a file as JSON lines, and the import goes on.
    Skip {
        /// The file.
        path: PathBuf,
        /// Open from the first such row on.
        out: Option<BufWriter<File>>,
        /// How many there were.
        count: u64,
    },
}

impl OnReject {
    /// Parses `fail` or `skip:FILE`.
    ///
    /// # Errors
    /// `Invalid` for anything else.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        match (text, text.strip_prefix("skip:")) {
            ("fail", _) => Ok(Self::Fail),
            (_, Some(path)) if !path.is_empty() => Ok(Self::Skip { path: path.into(), out: None, count: 0 }),
            _ => Err(Error::invalid(format!("{text:?} is not a value of --on-error"))
                .with_hint("use `fail`, or `skip:FILE` to write the rows that do not fit to a file")),
        }
    }

    /// Whether the text of rows is needed.
    pub(crate) fn keeps(&self) -> bool {
        matches!(self, Self::Skip { .. })
    }

    /// Rows written aside so far.
    pub(crate) fn count(&self) -> u64 {
        match self {
            Self::Fail => 0,
            Self::Skip { count, .. } => *count,
        }
    }

    /// Takes rows that do not fit.
    ///
    /// # Errors
    /// `Invalid` naming the first one's row and column when such rows end the import, `Unavailable` when the file cannot be
    /// written.
    pub(crate) fn take(&mut self, file: &str, rows: &[Bad]) -> Result<()> {
        let Some(first) = rows.first() else { return Ok(()) };
        let Self::Skip { path, out, count } = self else { return Err(refused(file, first)) };
        let failed =
            |e| Error::unavailable("the rows set aside cannot be written").with("file", path.display()).with_source(e);
        let out = match out {
            Some(out) => out,
            None => out.insert(BufWriter::new(File::create(&*path).map_err(failed)?)),
        };
        for bad in rows {
            let line = serde_json::json!({
                "file": file, "row": bad.row, "column": bad.column, "reason": bad.reason, "original": bad.original,
            });
            writeln!(out, "{line}").map_err(failed)?;
            *count += 1;
        }
        out.flush().map_err(failed)
    }
}

fn refused(file: &str, bad: &Bad) -> Error {
    let place = match &bad.column {
        Some(column) => format!("row {}, column {column}", bad.row),
        None => format!("row {}", bad.row),
    };
    Error::invalid(format!("{place}: {}", bad.reason))
        .with("file", file)
        .with_hint("fix the row, or set such rows aside with --on-error skip:FILE")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bad() -> Bad {
        Bad {
            row: 17,
            column: Some("dep_delay".into()),
            reason: "\"abc\" is not an INT".into(),
            original: "abc".into(),
        }
    }

    #[test]
    fn failing_names_row_and_column() {
        let error = OnReject::parse("fail").unwrap().take("f.csv", &[bad()]).unwrap_err();
        assert_eq!(error.message(), "row 17, column dep_delay: \"abc\" is not an INT");
    }

    #[test]
    fn skipping_writes_text_and_reason() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("bad");
        let mut aside = OnReject::parse(&format!("skip:{}", path.display())).unwrap();
        aside.take("f.csv", &[bad(), bad()]).unwrap();
        assert_eq!(aside.count(), 2);
        let text = std::fs::read_to_string(path).unwrap();
        let line: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        assert_eq!((line["row"].as_u64(), line["original"].as_str()), (Some(17), Some("abc")));
        assert!(OnReject::parse("skip:").is_err() && OnReject::parse("skop:x").is_err());
    }
}
