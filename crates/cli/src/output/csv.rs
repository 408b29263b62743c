//! CSV: a null is its text without quotes, nothing by default; an empty text is quoted, so that both are told apart.

use std::io::Write;

use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use linn::Result;

use super::cell::{Cells, Spelling};
use super::flat::flat;
use super::gone;

/// Bytes that are gathered before they are written.
const BUFFER: usize = 64 << 10;

/// Writes rows with a header.
pub(super) struct Writer<W: Write> {
    out: W,
    delimiter: u8,
    null: String,
    buffer: Vec<u8>,
}

impl<W: Write> Writer<W> {
    /// Writes the header.
    pub(super) fn new(out: W, delimiter: u8, null: &str, schema: &SchemaRef) -> Result<Self> {
        let mut writer = Self { out, delimiter, null: null.to_owned(), buffer: Vec::new() };
        for (at, field) in schema.fields().iter().enumerate() {
            if at > 0 {
                writer.buffer.push(delimiter);
            }
            let name = field.name();
            quote(name.as_bytes(), delimiter, name.is_empty() || name.trim() != name, &mut writer.buffer);
        }
        writer.buffer.push(b'\n');
        Ok(writer)
    }

    /// Writes a batch.
    pub(super) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let batch = flat(batch)?;
        let cells = batch.columns().iter().map(|column| Cells::new(column, Spelling::Iso));
        let cells = cells.collect::<Result<Vec<_>>>()?;
        let mut text = String::new();
        for row in 0..batch.num_rows() {
            for (at, cell) in cells.iter().enumerate() {
                if at > 0 {
                    self.buffer.push(self.delimiter);
                }
                text.clear();
                if cell.write(row, &mut text) {
                    quote(text.as_bytes(), self.delimiter, text == self.null, &mut self.buffer);
                } else {
                    self.buffer.extend_from_slice(self.null.as_bytes());
                }
            }
            self.buffer.push(b'\n');
            if self.buffer.len() >= BUFFER {
                self.pass_on()?;
            }
        }
        Ok(())
    }

    fn pass_on(&mut self) -> Result<()> {
        self.out.write_all(&self.buffer).map_err(gone)?;
        self.buffer.clear();
        Ok(())
    }

    /// Makes what was written visible.
    pub(super) fn flush(&mut self) -> Result<()> {
        self.pass_on()?;
        self.out.flush().map_err(gone)
    }
}

/// Appends a field, in quotes where they are needed or wanted.
pub(crate) fn quote(field: &[u8], delimiter: u8, wanted: bool, out: &mut Vec<u8>) {
    let needed = |byte: &u8| *byte == delimiter || matches!(byte, b'"' | b'\n' | b'\r');
    if !wanted && !field.iter().any(needed) {
        out.extend_from_slice(field);
        return;
    }
    out.push(b'"');
    for byte in field {
        if *byte == b'"' {
            out.push(b'"');
        }
        out.push(*byte);
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Float64Array, StringArray};

    use super::*;

    fn written(null: &str) -> String {
        let texts: ArrayRef = Arc::new(StringArray::from(vec![Some(""), None, Some("NULL"), Some("a,\"b\"\n")]));
        let floats: ArrayRef =
            Arc::new(Float64Array::from(vec![Some(f64::NAN), Some(f64::NEG_INFINITY), None, Some(1.5)]));
        let batch = RecordBatch::try_from_iter_with_nullable([("t", texts, true), (" f", floats, true)]).unwrap();
        let mut out = Vec::new();
        let mut writer = Writer::new(&mut out, b',', null, &batch.schema()).unwrap();
        writer.write(&batch).unwrap();
        writer.flush().unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn null_is_told_from_text() {
        assert_eq!(written(""), "t,\" f\"\n\"\",NaN\n,-Infinity\nNULL,\n\"a,\"\"b\"\"\n\",1.5\n");
        assert_eq!(written("NULL"), "t,\" f\"\n,NaN\nNULL,-Infinity\n\"NULL\",NULL\n\"a,\"\"b\"\"\n\",1.5\n");
    }
}
