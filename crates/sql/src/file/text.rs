//! Texts as values: which type all texts of a column have, and a column of texts as one of that type.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, BinaryBuilder, StringArray};
use datafusion::arrow::compute::{CastOptions, cast_with_options};
use datafusion::arrow::datatypes::DataType as ArrowType;
use linn::Error;
use linn::format::limit;
use linn::format::types::{DataField, Kind, arrow_type};

/// The longest text.
const LONGEST: u32 = i32::MAX.unsigned_abs();
/// Digits of the longest DECIMAL.
const DIGITS: usize = 38;

/// What the texts of a column may all be.
#[derive(Debug, Clone, Copy)]
pub(super) struct Guess {
    any: bool,
    boolean: bool,
    integer: bool,
    long: bool,
    number: bool,
    date: bool,
    timestamp: bool,
}

impl Default for Guess {
    fn default() -> Self {
        Self { any: false, boolean: true, integer: true, long: true, number: true, date: true, timestamp: true }
    }
}

impl Guess {
    /// Looks at one text.
    pub(super) fn see(&mut self, text: &str) {
        self.any = true;
        self.boolean &= text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false");
        let digits = text.strip_prefix('-').unwrap_or(text);
        // A zero in front is part of a text, such as a number of a phone.
        let whole = !digits.is_empty()
            && digits.bytes().all(|b| b.is_ascii_digit())
            && (digits.len() == 1 || !digits.starts_with('0'));
        self.integer &= whole && text.parse::<i64>().is_ok();
        self.long &= whole && digits.len() <= DIGITS;
        self.number &= is_number(digits, whole);
        self.date &= is_date(text);
        self.timestamp &= is_timestamp(text);
    }

    /// The narrowest type of all texts seen.
    pub(super) fn kind(&self) -> Kind {
        match self {
            Self { any: false, .. } => Kind::Varchar(LONGEST),
            Self { boolean: true, .. } => Kind::Boolean,
            Self { integer: true, .. } => Kind::BigInt,
            Self { long: true, .. } => Kind::Decimal { precision: 38, scale: 0 },
            Self { number: true, .. } => Kind::Double,
            Self { date: true, .. } => Kind::Date,
            Self { timestamp: true, .. } => Kind::Timestamp(6),
            _ => Kind::Varchar(LONGEST),
        }
    }
}

/// A number that a DOUBLE gives back as it was written, as far as digits go.
fn is_number(digits: &str, whole: bool) -> bool {
    /// Digits that a DOUBLE always holds.
    const EXACT: usize = 17;
    if whole {
        return digits.len() <= EXACT;
    }
    let mantissa = digits.split(['e', 'E']).next().unwrap_or_default();
    let (before, behind) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let plain = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    plain(before)
        && plain(behind)
        && !(before.is_empty() && behind.is_empty())
        && !(before.len() > 1 && before.starts_with('0'))
        && before.len() + behind.len() <= EXACT
        && digits.parse::<f64>().is_ok_and(f64::is_finite)
}

fn is_date(text: &str) -> bool {
    text.len() == 10 && chrono::NaiveDate::parse_from_str(text, "%Y-%m-%d").is_ok()
}

fn is_timestamp(text: &str) -> bool {
    let parse = |format| chrono::NaiveDateTime::parse_from_str(text, format).is_ok();
    let fraction = text.split_once('.').map_or(0, |(_, digits)| digits.len());
    fraction <= 6 && (parse("%Y-%m-%d %H:%M:%S%.f") || parse("%Y-%m-%dT%H:%M:%S%.f"))
}

/// Texts as values of a column; the first row that is none, with the error.
pub(super) fn typed(texts: &StringArray, field: &DataField) -> Result<ArrayRef, (usize, Error)> {
    let to = arrow_type(&field.data_type).map_err(|e| (0, e))?;
    let refused = |row: usize| {
        let bare = field.data_type.clone().with_nullable(true);
        let text = if texts.is_valid(row) { texts.value(row) } else { "null" };
        let shown: String = text.chars().take(50).collect();
        let error = Error::invalid(format!("'{shown}' is not of type {bare}")).with("column", &field.name);
        (row, error.with_hint("give the types: columns = {'name': 'TYPE', …}, or all_varchar = true"))
    };
    if !field.data_type.nullable && texts.null_count() > 0 {
        let row = (0..texts.len()).find(|row| texts.is_null(*row)).unwrap_or_default();
        return Err((row, Error::invalid("the column is NOT NULL").with("column", &field.name)));
    }
    match to {
        ArrowType::Utf8 => return Ok(Arc::new(texts.clone())),
        ArrowType::Binary => return binary(texts).map_err(refused),
        _ => {}
    }
    let options = CastOptions { safe: true, ..CastOptions::default() };
    let values = cast_with_options(texts, &to, &options).map_err(|e| {
        (
            0,
            Error::unsupported(format!("reading {} from text", field.data_type))
                .with("column", &field.name)
                .with_source(e),
        )
    })?;
    if values.null_count() > texts.null_count() {
        let row = (0..texts.len()).find(|row| values.is_null(*row) && texts.is_valid(*row)).unwrap_or_default();
        return Err(refused(row));
    }
    limit::cut_seconds(&values, &field.data_type).map_err(|e| (0, e))
}

/// Bytes from their digits in hexadecimal, as they are written; the first row that has others.
fn binary(texts: &StringArray) -> Result<ArrayRef, usize> {
    let mut values = BinaryBuilder::new();
    let mut bytes = Vec::new();
    for (row, text) in texts.iter().enumerate() {
        let Some(text) = text else {
            values.append_null();
            continue;
        };
        let digits = text.strip_prefix("\\x").unwrap_or(text).as_bytes();
        bytes.clear();
        for pair in digits.chunks(2) {
            let byte = std::str::from_utf8(pair).ok().filter(|pair| pair.len() == 2);
            bytes.push(byte.and_then(|pair| u8::from_str_radix(pair, 16).ok()).ok_or(row)?);
        }
        values.append_value(&bytes);
    }
    Ok(Arc::new(values.finish()))
}

#[cfg(test)]
mod tests {
    use linn::format::types::DataType;

    use super::*;

    #[test]
    fn the_narrowest_type_is_found() {
        for (texts, expected) in [
            (&["1", "-20"][..], "BIGINT"),
            (&["1", "007"], "STRING"),
            (&["0", "0.5"], "DOUBLE"),
            (&["9223372036854775808", "1"], "DECIMAL(38, 0)"),
            (&["123456789012345678.5"], "STRING"),
            (&["123456789012345678", "0.5"], "STRING"),
            (&["true", "FALSE"], "BOOLEAN"),
            (&["2026-01-31"], "DATE"),
            (&["2026-02-31"], "STRING"),
            (&["2026-01-31 10:00:00.5", "2026-01-31T10:00:00"], "TIMESTAMP(6)"),
            (&["NaN"], "STRING"),
            (&[], "STRING"),
            (&["1e3", "1"], "DOUBLE"),
        ] {
            let mut guess = Guess::default();
            texts.iter().for_each(|text| guess.see(text));
            assert_eq!(guess.kind().to_string(), expected, "{texts:?}");
        }
    }

    #[test]
    fn what_is_no_value_is_told_by_its_row() {
        let field = |sql| DataField::new(0, "c", DataType::parse(sql).unwrap());
        let (row, error) = typed(&StringArray::from(vec![Some("1"), None, Some("x")]), &field("INT")).unwrap_err();
        assert_eq!(row, 2);
        assert!(error.message().contains("'x' is not of type INT"), "{error}");
        assert_eq!(typed(&StringArray::from(vec!["00ff"]), &field("BYTES")).unwrap().len(), 1);
        assert_eq!(typed(&StringArray::from(vec!["00f"]), &field("BYTES")).unwrap_err().0, 0);
    }
}
