//! Rows from files into tables, in bounded memory: a chunk is read, converted, and handed to the writer.

mod advance;
pub(crate) mod ahead;
pub(crate) mod aside;
pub(crate) mod chunk;
pub(crate) mod columnar;
pub(crate) mod convert;
pub(crate) mod csv;
pub(crate) mod guard;
pub(crate) mod infer;
pub(crate) mod json;
pub(crate) mod load;
pub(crate) mod source;
pub(crate) mod target;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use indicatif::ProgressBar;
use linn::format::types::DataField;
use linn::{Error, Result, ResultExt};

use crate::args::{FileKind, InputArgs};
use chunk::{Chunks, Wanted};
use source::Source;

/// What happens to columns of a file that the table does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unknown {
    /// They are a mistake.
    Refused,
    /// They are left out.
    Ignored,
}

/// How files are read.
#[derive(Debug, Clone)]
pub(crate) struct Dialect {
    /// Delimiter of CSV; the one of the file's format when not given.
    pub(crate) delimiter: Option<u8>,
    pub(crate) null: String,
    pub(crate) header: bool,
    pub(crate) unknown: Unknown,
    /// Columns of a CSV file without a header that has that many; else it has those that are wanted.
    all: Vec<String>,
}

impl Dialect {
    /// What the flags say.
    ///
    /// # Errors
    /// `Invalid` for a delimiter that is not one byte.
    pub(crate) fn of(args: &InputArgs, unknown: Unknown) -> Result<Self> {
        let ascii = |delimiter: char| {
            u8::try_from(delimiter).ok().filter(u8::is_ascii).ok_or_else(|| {
                Error::invalid(format!("{delimiter:?} cannot be a delimiter")).with_hint("use an ASCII character")
            })
        };
        let delimiter = args.delimiter.map(ascii).transpose()?;
        Ok(Self { delimiter, null: args.null.clone(), header: !args.no_header, unknown, all: Vec::new() })
    }

    /// The same for files that may have all columns of a table where only some are wanted.
    pub(crate) fn with_all(self, all: Vec<String>) -> Self {
        Self { all, ..self }
    }

    fn csv(&self, kind: FileKind, names: Option<Vec<String>>) -> csv::Dialect {
        let usual = if kind == FileKind::Tsv { b'\t' } else { b',' };
        csv::Dialect {
            delimiter: self.delimiter.unwrap_or(usual),
            null: self.null.clone(),
            names,
            all: self.all.clone(),
        }
    }
}

/// The chunks of an input and the columns in them. `wanted` are the columns of the table.
///
/// # Errors
/// `Invalid` when the input is not what it should be.
pub(crate) fn open(
    source: &Source,
    dialect: &Dialect,
    wanted: Vec<Wanted>,
    keep: bool,
    bar: &ProgressBar,
) -> Result<(SchemaRef, Chunks)> {
    match source.kind {
        FileKind::Csv | FileKind::Tsv => {
            let names = (!dialect.header).then(|| wanted.into_iter().map(|column| column.name).collect());
            let dialect = dialect.csv(source.kind, names);
            let rows = csv::Rows::new(source.reader(bar)?, dialect, keep).context("file", source.name())?;
            Ok((Arc::clone(rows.schema()), Box::new(rows.chunks())))
        }
        FileKind::Ndjson => {
            let rows = json::Rows::new(source.reader(bar)?, wanted, dialect.unknown, keep);
            Ok((Arc::clone(rows.schema()), Box::new(rows.chunks())))
        }
        FileKind::Parquet | FileKind::Orc | FileKind::Avro | FileKind::Arrow => {
            let (schema, chunks) = columnar::open(source, keep)?;
            Ok((schema, advance::advancing(chunks, source, bar)))
        }
    }
}

/// The columns of a table that takes this input.
///
/// # Errors
/// `Invalid` when the input is not what it should be, `Unsupported` for types that no table has.
pub(crate) fn infer(source: &Source, dialect: &Dialect, bar: &ProgressBar) -> Result<Vec<DataField>> {
    match source.kind {
        FileKind::Csv | FileKind::Tsv if !dialect.header => {
            Err(Error::invalid("a CSV file without a header does not name its columns")
                .with("file", source.name())
                .with_hint("create the table first with `linn table create`"))
        }
        FileKind::Csv | FileKind::Tsv => {
            let (schema, rows) = open(source, dialect, Vec::new(), false, bar)?;
            let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
            infer::of_text(&names, rows)
        }
        FileKind::Ndjson => infer::of_json(source, bar),
        FileKind::Parquet | FileKind::Orc | FileKind::Avro | FileKind::Arrow => columnar::fields(source),
    }
}
