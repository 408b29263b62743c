//! Rows from files into tables, in bounded memory: a chunk is read, converted, and handed to the writer.

pub(crate) mod aside;
pub(crate) mod chunk;
pub(crate) mod columnar;
pub(crate) mod convert;
pub(crate) mod csv;
pub(crate) mod infer;
pub(crate) mod json;
pub(crate) mod load;
pub(crate) mod source;
pub(crate) mod target;

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use indicatif::ProgressBar;
use linn::format::types::{DataField, fields_from_arrow};
use linn::{Error, Result, ResultExt};

use crate::args::{FileKind, ImportArgs};
use chunk::{Chunks, Wanted};
use source::Source;

/// How text files are written.
#[derive(Debug, Clone)]
pub(crate) struct Dialect {
    pub(crate) delimiter: u8,
    pub(crate) null: String,
    pub(crate) header: bool,
}

impl Default for Dialect {
    fn default() -> Self {
        Self { delimiter: b',', null: String::new(), header: true }
    }
}

impl Dialect {
    /// What the flags say.
    ///
    /// # Errors
    /// `Invalid` for a delimiter that is not one byte.
    pub(crate) fn of(args: &ImportArgs) -> Result<Self> {
        let delimiter = u8::try_from(args.delimiter).ok().filter(u8::is_ascii).ok_or_else(|| {
            Error::invalid(format!("{:?} cannot be a delimiter", args.delimiter)).with_hint("use an ASCII character")
        })?;
        Ok(Self { delimiter, null: args.null.clone(), header: !args.no_header })
    }

    fn csv(&self, names: Option<Vec<String>>) -> csv::Dialect {
        csv::Dialect { delimiter: self.delimiter, null: self.null.clone(), names }
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
        FileKind::Csv => {
            let names = (!dialect.header).then(|| wanted.into_iter().map(|column| column.name).collect());
            let rows = csv::Rows::new(source.reader(bar)?, dialect.csv(names), keep).context("file", source.name())?;
            Ok((Arc::clone(rows.schema()), Box::new(rows)))
        }
        FileKind::Ndjson => {
            let rows = json::Rows::new(source.reader(bar)?, wanted, keep);
            Ok((Arc::clone(rows.schema()), Box::new(rows)))
        }
        FileKind::Parquet | FileKind::Arrow => columnar::open(source, keep),
    }
}

/// The columns of a table that takes this input.
///
/// # Errors
/// `Invalid` when the input is not what it should be, `Unsupported` for types that no table has.
pub(crate) fn infer(source: &Source, dialect: &Dialect) -> Result<Vec<DataField>> {
    match source.kind {
        FileKind::Csv if !dialect.header => {
            Err(Error::invalid("a CSV file without a header does not name its columns")
                .with("file", source.name())
                .with_hint("create the table first with `linn table create`"))
        }
        FileKind::Csv => {
            let (schema, rows) = open(source, dialect, Vec::new(), false, &ProgressBar::hidden())?;
            let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
            infer::of_text(&names, rows)
        }
        FileKind::Ndjson => infer::of_json(source),
        FileKind::Parquet | FileKind::Arrow => {
            let (schema, _) = columnar::open(source, false)?;
            fields_from_arrow(&schema)
        }
    }
}
