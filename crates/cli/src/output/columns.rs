//! Small results that a command makes itself, as one batch.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, StringArray};
use arrow::datatypes::{DataType, Field, Schema};
use arrow::record_batch::RecordBatch;
use linn::Result;

use super::OutputFormat;
use super::{Style, sink};

/// Columns of equal length.
#[derive(Debug, Default)]
pub(crate) struct Columns {
    fields: Vec<Field>,
    arrays: Vec<ArrayRef>,
}

impl Columns {
    /// No columns.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Adds texts.
    #[must_use]
    pub(crate) fn text<S: AsRef<str>>(mut self, name: &str, values: impl IntoIterator<Item = S>) -> Self {
        self.fields.push(Field::new(name, DataType::Utf8, true));
        // Collected as optional values: those who call do not always know how many there are.
        self.arrays.push(Arc::new(values.into_iter().map(Some).collect::<StringArray>()));
        self
    }

    /// Adds numbers, some of which may not be known.
    #[must_use]
    pub(crate) fn number<N: Into<Option<i64>>>(mut self, name: &str, values: impl IntoIterator<Item = N>) -> Self {
        self.fields.push(Field::new(name, DataType::Int64, true));
        self.arrays.push(Arc::new(values.into_iter().map(Into::into).collect::<Int64Array>()));
        self
    }

    /// Writes them to standard output.
    ///
    /// # Errors
    /// `Unavailable` when the output is gone.
    pub(crate) fn show(self, format: OutputFormat) -> Result<()> {
        let schema = Arc::new(Schema::new(self.fields));
        let batch = RecordBatch::try_new(Arc::clone(&schema), self.arrays)?;
        let mut sink = sink(format, schema, &Style::default())?;
        sink.write(&batch)?;
        sink.finish().map(|_| ())
    }
}

/// Milliseconds since the epoch, as text in UTC.
pub(crate) fn time(millis: i64) -> String {
    match chrono::DateTime::from_timestamp_millis(millis) {
        Some(time) => time.format("%Y-%m-%d %H:%M:%S%.3fZ").to_string(),
        None => millis.to_string(),
    }
}

/// Bytes for people.
pub(crate) fn size(bytes: i64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let (mut value, mut unit) = (bytes.max(0) as f64, 0);
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let digits = usize::from(unit > 0);
    format!("{value:.digits$} {}", UNITS[unit])
}

/// So many of something: `1 file`, `2 files`.
pub(crate) fn count(number: impl std::fmt::Display, noun: &str) -> String {
    let number = number.to_string();
    let end = if number == "1" { "" } else { "s" };
    format!("{number} {noun}{end}")
}

/// A number with commas between its thousands.
pub(crate) fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A time span in the largest unit that it is a whole number of: `30 d`, `90 min`.
pub(crate) fn span(time: std::time::Duration) -> String {
    let units = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1_000, "s"), (1, "ms")];
    let millis = time.as_millis();
    let unit = units.into_iter().find(|(unit, _)| millis.is_multiple_of(*unit) && millis > 0);
    unit.map_or_else(|| "0 ms".to_owned(), |(unit, name)| format!("{} {name}", millis / unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_short() {
        assert_eq!(size(0), "0 B");
        assert_eq!(size(1536), "1.5 KiB");
        assert_eq!(size(3 << 30), "3.0 GiB");
    }

    #[test]
    fn thousands_have_commas() {
        assert_eq!([0, 999, 1000, 1234567].map(thousands), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn one_of_something_is_one() {
        assert_eq!(
            (count(1, "row"), count(0, "row"), count(21, "row")),
            ("1 row".into(), "0 rows".into(), "21 rows".into())
        );
        let span = |seconds| span(std::time::Duration::from_secs(seconds));
        assert_eq!(
            (span(2_592_000), span(5_400), span(61), span(0)),
            ("30 d".into(), "90 min".into(), "61 s".into(), "0 ms".into())
        );
    }
}
