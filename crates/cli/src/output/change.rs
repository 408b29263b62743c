//! Changes on standard output as they come: lines for people, Debezium events, or rows with their kind.

use std::io::Write;

use arrow::array::AsArray;
use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use linn::core::system::CommitStamp;
use linn::{Error, Result};
use serde_json::{Value, json};

use super::OutputFormat;
use super::cell::{Cells, Spelling};
use super::style::Style;
use super::{Out, Sink, gone, json};

/// What was printed of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Printed {
    /// Changes: rows, or events.
    pub(crate) changes: usize,
    /// Whether that was all of the batch.
    pub(crate) whole: bool,
}

/// Writes batches of changes, whose first column is their kind.
pub(crate) struct ChangeSink<W: Write + Send = Out> {
    inner: Inner<W>,
    style: Style,
}

enum Inner<W: Write + Send> {
    Lines(Lines<W>),
    Debezium { out: W, database: String, table: String },
    Rows(Sink<W>),
}

impl ChangeSink {
    /// A sink for changes of a table.
    ///
    /// # Errors
    /// `Unavailable` when the output is gone.
    pub(crate) fn new(format: OutputFormat, schema: &SchemaRef, table: &str, style: &Style) -> Result<Self> {
        Self::to(Out::new(), format, schema, table, style)
    }
}

impl<W: Write + Send> ChangeSink<W> {
    fn to(out: W, format: OutputFormat, schema: &SchemaRef, table: &str, style: &Style) -> Result<Self> {
        let inner = match format {
            OutputFormat::Table => Inner::Lines(Lines::new(out, schema)),
            OutputFormat::Debezium => {
                let (database, table) = table.split_once('.').unwrap_or(("", table));
                Inner::Debezium { out, database: database.to_owned(), table: table.to_owned() }
            }
            other => Inner::Rows(Sink::styled(out, other, SchemaRef::clone(schema), style)?),
        };
        Ok(Self { inner, style: style.clone() })
    }

    /// Writes at most so many changes of a batch.
    pub(crate) fn write(&mut self, rows: &RecordBatch, stamp: CommitStamp, most: usize) -> Result<Printed> {
        let shown = rows.slice(0, rows.num_rows().min(most));
        match &mut self.inner {
            Inner::Lines(lines) => lines.write(&shown)?,
            Inner::Rows(sink) => sink.write(&shown)?,
            Inner::Debezium { out, database, table } => {
                let CommitStamp { snapshot, time_millis } = stamp;
                let source = json!({
                    "connector": "linn", "db": database, "table": table, "snapshot": snapshot.0, "ts_ms": time_millis,
                });
                let events = events(rows, &source, time_millis, &self.style)?;
                for event in events.iter().take(most) {
                    writeln!(out, "{event}").map_err(gone)?;
                }
                return Ok(Printed { changes: events.len().min(most), whole: events.len() <= most });
            }
        }
        Ok(Printed { changes: shown.num_rows(), whole: shown.num_rows() == rows.num_rows() })
    }

    /// Makes what was written visible.
    pub(crate) fn flush(&mut self) -> Result<()> {
        match &mut self.inner {
            Inner::Lines(Lines { out, .. }) | Inner::Debezium { out, .. } => out.flush().map_err(gone),
            Inner::Rows(sink) => sink.flush(),
        }
    }

    /// Completes the document.
    pub(crate) fn finish(mut self) -> Result<()> {
        match self.inner {
            Inner::Rows(sink) => sink.finish().map(|_| ()),
            _ => self.flush(),
        }
    }
}

/// Aligned lines whose columns grow with what comes.
struct Lines<W: Write> {
    out: W,
    names: Vec<String>,
    right: Vec<bool>,
    widths: Vec<usize>,
    begun: bool,
}

impl<W: Write> Lines<W> {
    fn new(out: W, schema: &SchemaRef) -> Self {
        let mut names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
        if let Some(kind) = names.first_mut() {
            // The kinds speak for themselves.
            kind.clear();
        }
        let right = schema.fields().iter().map(|field| field.data_type().is_numeric()).collect();
        let kind = "+I".len();
        let widths =
            names.iter().enumerate().map(|(at, name)| name.chars().count().max(if at == 0 { kind } else { 0 }));
        let widths = widths.collect();
        Self { out, names, right, widths, begun: false }
    }

    fn write(&mut self, rows: &RecordBatch) -> Result<()> {
        let columns = rows.columns().iter().map(|column| Cells::new(column, Spelling::People));
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let cell = |text: String| text.replace('\n', "\\n").replace('\r', "\\r");
        let cells: Vec<Vec<String>> = (0..rows.num_rows())
            .map(|row| columns.iter().map(|column| cell(column.text(row, "NULL"))).collect())
            .collect();
        for row in &cells {
            for (width, cell) in self.widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count());
            }
        }
        if !std::mem::replace(&mut self.begun, true) {
            let names = self.names.clone();
            self.line(&names)?;
        }
        cells.iter().try_for_each(|row| self.line(row))
    }

    fn line(&mut self, cells: &[String]) -> Result<()> {
        let mut line = String::new();
        for ((cell, width), right) in cells.iter().zip(&self.widths).zip(&self.right) {
            let pad = " ".repeat(width.saturating_sub(cell.chars().count()));
            let (before, after) = if *right { (pad.as_str(), "") } else { ("", pad.as_str()) };
            line.push_str(&format!("{before}{cell}{after}  "));
        }
        writeln!(self.out, "{}", line.trim_end()).map_err(gone)
    }
}

/// The changes as events: `c` and `d`, and `u` for what has an old row, or may have one that nobody told of.
fn events(rows: &RecordBatch, source: &Value, committed: Option<i64>, style: &Style) -> Result<Vec<String>> {
    let kinds = rows.columns().first().and_then(|c| c.as_string_opt::<i32>());
    let kinds = kinds.ok_or_else(|| Error::internal("changes without their kinds"))?;
    let values: Vec<usize> = (1..rows.num_columns()).collect();
    let mut images = json::lines(&rows.project(&values)?, style.decimals)?;
    let committed = committed.map_or_else(|| "null".to_owned(), |millis| millis.to_string());
    // As text, so that numbers keep their digits.
    let event = |op: &str, before: String, after: String| {
        format!("{{\"before\":{before},\"after\":{after},\"op\":\"{op}\",\"source\":{source},\"ts_ms\":{committed}}}")
    };
    let null = || "null".to_owned();
    let mut events = Vec::with_capacity(rows.num_rows());
    let mut image = |row: usize| images.get_mut(row).map(std::mem::take).unwrap_or_else(null);
    let mut row = 0;
    while row < rows.num_rows() {
        let next = (row + 1 < rows.num_rows()).then(|| kinds.value(row + 1));
        match (kinds.value(row), next) {
            ("-U", Some("+U")) => {
                events.push(event("u", image(row), image(row + 1)));
                row += 1;
            }
            ("+U", _) => events.push(event("u", null(), image(row))),
            ("-U" | "-D", _) => events.push(event("d", image(row), null())),
            _ => events.push(event("c", null(), image(row))),
        }
        row += 1;
    }
    Ok(events)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int32Array, StringArray};
    use linn::SnapshotId;

    use super::*;

    fn batch() -> RecordBatch {
        let kinds: ArrayRef = Arc::new(StringArray::from(vec!["+I", "-U", "+U", "-D", "+U", "-U"]));
        let numbers: ArrayRef = Arc::new(Int32Array::from(vec![1, 1, 1, 1, 20, 3]));
        let texts: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), Some("a"), None, Some("x\ny"), None, None]));
        RecordBatch::try_from_iter_with_nullable([("rowkind", kinds, false), ("k", numbers, false), ("v", texts, true)])
            .unwrap()
    }

    fn written(format: OutputFormat, most: usize) -> (String, Printed) {
        let (mut bytes, batch) = (Vec::new(), batch());
        let mut sink = ChangeSink::to(&mut bytes, format, &batch.schema(), "db.t", &Style::default()).unwrap();
        let printed = sink
            .write(&batch, CommitStamp { snapshot: SnapshotId(7), time_millis: Some(1_700_000_000_123) }, most)
            .unwrap();
        sink.finish().unwrap();
        (String::from_utf8(bytes).unwrap(), printed)
    }

    #[test]
    fn lines_are_for_people() {
        let (text, printed) = written(OutputFormat::Table, 5);
        let expected = ["     k  v", "+I   1  a", "-U   1  a", "+U   1  NULL", "-D   1  x\\ny", "+U  20  NULL"];
        assert_eq!(text.lines().collect::<Vec<_>>(), expected);
        assert_eq!(printed, Printed { changes: 5, whole: false });
    }

    #[test]
    fn updates_are_one_debezium_event() {
        let (text, printed) = written(OutputFormat::Debezium, 100);
        let events: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let ops: Vec<&str> = events.iter().map(|e| e["op"].as_str().unwrap()).collect();
        assert_eq!(ops, ["c", "u", "d", "u", "d"]);
        assert_eq!(printed, Printed { changes: 5, whole: true });
        assert_eq!(events[1]["before"], json!({"k": 1, "v": "a"}));
        assert_eq!(events[1]["after"], json!({"k": 1, "v": null}));
        assert_eq!((&events[2]["after"], &events[3]["before"]), (&Value::Null, &Value::Null));
        assert_eq!(
            events[0]["source"],
            json!({"connector": "linn", "db": "db", "table": "t", "snapshot": 7, "ts_ms": 1_700_000_000_123_i64})
        );
        assert_eq!(events[0]["ts_ms"], 1_700_000_000_123_i64);
    }

    #[test]
    fn rows_have_their_kind() {
        let (text, printed) = written(OutputFormat::Ndjson, 1);
        assert_eq!(text, "{\"rowkind\":\"+I\",\"k\":1,\"v\":\"a\"}\n");
        assert!(!printed.whole);
    }
}
