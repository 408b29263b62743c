//! Small results that a command makes itself, as one batch.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, StringArray};
use arrow::datatypes::{DataType, Field, Schema};
use arrow::record_batch::RecordBatch;
use linn::Result;

use super::{Out, Sink};
use crate::args::OutputFormat;

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
        let mut sink = Sink::new(Out::new(), format, schema)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_short() {
        assert_eq!(size(0), "0 B");
        assert_eq!(size(1536), "1.5 KiB");
        assert_eq!(size(3 << 30), "3.0 GiB");
    }
}
