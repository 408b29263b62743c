//! What the values of a column have been so far, and the narrowest type that takes them all as they are written.

use chrono::{NaiveDate, NaiveDateTime};
use linn::format::types::{DataType, Kind};

use super::super::convert::number::{Exact, is_double, is_whole};

/// Digits of a DECIMAL at the most.
const PRECISION: u32 = 38;

/// A guess at the type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Guess {
    Nothing,
    Boolean,
    Number(Numbers),
    /// NaN and the infinities: floats beside numbers, words alone.
    Special,
    Date,
    Timestamp,
    Text,
}

/// What numbers have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Numbers {
    /// Digits before the point at the most.
    whole: u32,
    /// Digits behind the point at the most.
    scale: u32,
    /// Whether BIGINT holds them all.
    are_bigints: bool,
    /// Whether none has a point or an exponent.
    are_whole: bool,
    /// Whether DOUBLE shows them all with their digits.
    are_doubles: bool,
}

impl Numbers {
    /// A number by its text; `None` for other text, and for a number with more digits than any type has.
    fn of(text: &str) -> Option<Self> {
        let are_doubles = is_double(text);
        let (whole, scale) = match Exact::parse(text)?.shape() {
            Some(shape) => shape,
            None if are_doubles => (PRECISION, PRECISION),
            None => return None,
        };
        Some(Self { whole, scale, are_bigints: text.parse::<i64>().is_ok(), are_whole: is_whole(text), are_doubles })
    }

    fn and(self, other: Self) -> Self {
        Self {
            whole: self.whole.max(other.whole),
            scale: self.scale.max(other.scale),
            are_bigints: self.are_bigints && other.are_bigints,
            are_whole: self.are_whole && other.are_whole,
            are_doubles: self.are_doubles && other.are_doubles,
        }
    }

    fn data_type(self) -> DataType {
        let precision = (self.whole + self.scale).max(1);
        let decimal =
            u8::try_from(precision).ok().zip(u8::try_from(self.scale).ok()).filter(|_| precision <= PRECISION);
        match decimal {
            _ if self.are_bigints => DataType::nullable(Kind::BigInt),
            _ if self.are_doubles && !self.are_whole => DataType::nullable(Kind::Double),
            Some((precision, scale)) => DataType::nullable(Kind::Decimal { precision, scale }),
            None => DataType::string(),
        }
    }
}

impl Guess {
    /// The guess for text without a type.
    pub(super) fn of(text: &str) -> Self {
        let text = text.trim();
        let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
        // Numbers with leading zeros are codes: 007 is not 7.
        let code = unsigned.len() > 1 && unsigned.starts_with('0') && is_whole(unsigned);
        if text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false") {
            return Self::Boolean;
        }
        if code {
            return Self::Text;
        }
        match Numbers::of(text) {
            Some(numbers) => Self::Number(numbers),
            None => Self::of_string(text),
        }
    }

    /// The guess for a JSON number.
    pub(super) fn of_number(text: &str) -> Self {
        Numbers::of(text).map_or(Self::Text, Self::Number)
    }

    /// The guess for text that is no number.
    pub(super) fn of_string(text: &str) -> Self {
        if matches!(text, "NaN" | "Infinity" | "-Infinity") {
            Self::Special
        } else if is_date(text) {
            Self::Date
        } else if is_timestamp(text) {
            Self::Timestamp
        } else {
            Self::Text
        }
    }

    /// The guess for the values of both.
    pub(super) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Nothing, one) | (one, Self::Nothing) => one,
            (Self::Number(a), Self::Number(b)) => Self::Number(a.and(b)),
            (Self::Number(numbers), Self::Special) | (Self::Special, Self::Number(numbers)) if numbers.are_doubles => {
                Self::Number(Numbers { are_bigints: false, are_whole: false, ..numbers })
            }
            (a, b) if a == b => a,
            (Self::Date, Self::Timestamp) | (Self::Timestamp, Self::Date) => Self::Timestamp,
            _ => Self::Text,
        }
    }

    /// The type of the column.
    pub(super) fn data_type(self) -> DataType {
        match self {
            Self::Boolean => DataType::nullable(Kind::Boolean),
            Self::Number(numbers) => numbers.data_type(),
            Self::Date => DataType::nullable(Kind::Date),
            Self::Timestamp => DataType::nullable(Kind::Timestamp(6)),
            Self::Nothing | Self::Special | Self::Text => DataType::string(),
        }
    }
}

fn is_date(text: &str) -> bool {
    text.len() == 10 && NaiveDate::parse_from_str(text, "%Y-%m-%d").is_ok()
}

/// Whether a text is a timestamp that microseconds hold.
fn is_timestamp(text: &str) -> bool {
    let digits = text.split_once('.').map_or(0, |(_, fraction)| fraction.trim_end_matches(['0', 'Z']).len());
    text.len() > 10
        && digits <= 6
        && ["%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%dT%H:%M:%S%.fZ"]
            .iter()
            .any(|format| NaiveDateTime::parse_from_str(text, format).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(values: &[&str], expected: &str) {
        let guess = values.iter().fold(Guess::Nothing, |guess, value| guess.and(Guess::of(value)));
        assert_eq!(guess.data_type().to_string(), expected, "{values:?}");
    }

    #[test]
    fn the_narrowest_type_that_takes_all_values() {
        check(&["1", "-20"], "BIGINT");
        check(&["1", "2.5"], "DOUBLE");
        check(&["1", "x"], "STRING");
        check(&["007"], "STRING");
        check(&["2013-01-01", "2013-01-02 10:00:00"], "TIMESTAMP(6)");
        check(&["2013-01-01 10:00:00.1234567"], "STRING");
        check(&["true", "FALSE"], "BOOLEAN");
        check(&["NaN"], "STRING");
        check(&["NaN", "1"], "DOUBLE");
        check(&[], "STRING");
    }

    #[test]
    fn digits_are_kept() {
        check(&["99999999999999999999", "1"], "DECIMAL(20, 0)");
        check(&["100000000000000000000"], "DECIMAL(21, 0)");
        check(&["9007199254740993", "1.5"], "DECIMAL(17, 1)");
        check(&["0.12345678901234567891"], "DECIMAL(20, 20)");
        check(&["1e300", "-2.5e-300"], "DOUBLE");
        check(&["1e400"], "STRING");
        check(&["123456789012345678901234567890123456789"], "STRING");
    }
}
