//! The columns of a text with delimiters, and the types that all of its first rows have.

use std::io::BufRead;

use linn::format::types::{DataField, DataType, Kind};
use linn::{Error, Result};

use super::super::options::FileOptions;
use super::super::text::Guess;
use super::record::{Record, Records};

/// Names and types of the columns, from the first line and the first rows.
///
/// # Errors
/// What reading yields, and `Invalid` for an empty file.
pub(in crate::file) fn infer<R: BufRead>(
    input: R,
    path: &str,
    options: &FileOptions,
    failed: impl Fn(std::io::Error) -> Error,
) -> Result<Vec<DataField>> {
    let mut records = Records::new(input, super::read::marks(options, path));
    let mut record = Record::default();
    if !records.next(&mut record).map_err(&failed)? {
        return Err(Error::invalid("the file is empty").with("file", path));
    }
    let names = if options.header { header(&record, path)? } else { numbered(record.len()) };
    let mut guesses = vec![Guess::default(); names.len()];
    let mut rows = 0usize;
    let mut more = if options.header { records.next(&mut record).map_err(&failed)? } else { true };
    while more && options.sample.is_none_or(|most| rows < most) {
        for (at, guess) in guesses.iter_mut().enumerate() {
            let Some((bytes, quoted)) = record.field(at) else { continue };
            if !quoted && bytes == options.null.as_bytes() {
                continue;
            }
            guess.see(std::str::from_utf8(bytes).unwrap_or("\u{fffd}"));
        }
        rows += 1;
        more = records.next(&mut record).map_err(&failed)?;
    }
    let kind = |guess: &Guess| if options.texts { Kind::Varchar(i32::MAX.unsigned_abs()) } else { guess.kind() };
    let fields = names.into_iter().zip(&guesses).zip(0i32..);
    Ok(fields.map(|((name, guess), id)| DataField::new(id, name, DataType::nullable(kind(guess)))).collect())
}

/// The names in the first line; empty ones are numbered, and those that were there before get a number.
pub(super) fn header(record: &Record, path: &str) -> Result<Vec<String>> {
    let mut names: Vec<String> = Vec::with_capacity(record.len());
    for at in 0..record.len() {
        let (bytes, _) = record.field(at).unwrap_or_default();
        let text = std::str::from_utf8(bytes)
            .map_err(|e| Error::corrupt("the first line is not UTF-8").with("file", path).with_source(e))?;
        // A mark of the byte order is not part of the name.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut name = if text.is_empty() { format!("column{}", at + 1) } else { text.to_owned() };
        let mut number = 1;
        while names.contains(&name) {
            name = format!("{text}_{number}");
            number += 1;
        }
        names.push(name);
    }
    Ok(names)
}

/// `column1`, `column2` and so on.
pub(super) fn numbered(count: usize) -> Vec<String> {
    (1..=count).map(|number| format!("column{number}")).collect()
}
