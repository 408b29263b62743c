//! Results that are no rows: a document in JSON where that is asked for, else text for people.

use linn::Result;
use serde_json::Value;

use super::OutputFormat;
use super::print;

/// Something to be shown in either form.
pub(crate) struct Document {
    /// As JSON.
    pub(crate) json: Value,
    /// For people.
    pub(crate) text: String,
}

impl Document {
    /// Writes it to standard output: as JSON, as JSON on one line, or as text.
    ///
    /// # Errors
    /// `Unavailable` when the output is gone.
    pub(crate) fn show(&self, format: OutputFormat) -> Result<()> {
        match format {
            OutputFormat::Json => print(&format!("{:#}", self.json)),
            OutputFormat::Ndjson => match &self.json {
                Value::Array(items) if items.is_empty() => Ok(()),
                Value::Array(items) => print(&items.iter().map(Value::to_string).collect::<Vec<_>>().join("\n")),
                other => print(&other.to_string()),
            },
            _ => print(&self.text),
        }
    }
}
