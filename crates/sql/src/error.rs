//! Errors of DataFusion as Linn's, and the reverse, with what was wrong kept whole, in the words of SQL: a table of rewrites
//! says what becomes of the library's messages.

mod rewrite;

use std::error::Error as StdError;

use datafusion::arrow::error::ArrowError;
use datafusion::common::{Column, SchemaError};
use datafusion::error::DataFusionError;
use datafusion::sql::sqlparser::tokenizer::Location;
use linn::format::suggest::did_you_mean;
use linn::{Error, ErrorKind};

use crate::parse::{at, refused};
use rewrite::in_words;
pub(crate) use rewrite::unmarked;

/// Linn's error for one of DataFusion's; one of ours that travelled inside comes out as it was.
pub(crate) fn ours(error: DataFusionError) -> Error {
    match error {
        DataFusionError::External(inner) => match inner.downcast::<Error>() {
            Ok(error) => *error,
            Err(other) => match other.downcast::<DataFusionError>() {
                Ok(error) => ours(*error),
                Err(other) => Error::internal("the query failed").with_source(other),
            },
        },
        DataFusionError::Diagnostic(diagnostic, inner) => {
            let error = ours(*inner);
            match diagnostic.span {
                Some(span) => at(error, Location { line: span.start.line, column: span.start.column }),
                None => error,
            }
        }
        DataFusionError::Context(_, inner) => ours(*inner),
        DataFusionError::Collection(mut errors) if !errors.is_empty() => ours(errors.remove(0)),
        DataFusionError::SQL(error, _) => refused(&error, &[]),
        DataFusionError::SchemaError(error, _) => of_columns(*error),
        DataFusionError::ArrowError(inner, _) if is_users(&inner) => {
            Error::invalid(format!("SQL: {}", in_words(&inner.to_string())))
        }
        other => match travelled(&other) {
            Some(error) => error,
            None => foreign(other),
        },
    }
}

fn foreign(error: DataFusionError) -> Error {
    match error {
        DataFusionError::ArrowError(inner, _) => (*inner).into(),
        DataFusionError::ParquetError(inner) => Error::corrupt("the Parquet file cannot be read").with_source(*inner),
        DataFusionError::Shared(inner) => Error::new(kind(&inner), in_words(&inner.strip_backtrace())),
        other => Error::new(kind(&other), format!("SQL: {}", in_words(&other.message()))),
    }
}

/// An error of ours somewhere among the causes of another.
fn travelled(error: &DataFusionError) -> Option<Error> {
    let mut cause: Option<&(dyn StdError + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(found) = error.downcast_ref::<Error>() {
            let mut copy = Error::new(found.kind(), found.message());
            for (key, value) in found.context() {
                copy = copy.with(key, value);
            }
            return Some(match (found.hint(), found.source()) {
                (Some(hint), _) => copy.with_hint(hint),
                (None, Some(source)) => copy.with_source(source.to_string()),
                (None, None) => copy,
            });
        }
        cause = match error.downcast_ref::<DataFusionError>() {
            Some(DataFusionError::External(inner)) => Some(inner.as_ref()),
            Some(DataFusionError::ObjectStore(inner)) => Some(inner.as_ref()),
            Some(DataFusionError::ParquetError(inner)) => Some(inner.as_ref()),
            Some(DataFusionError::ArrowError(inner, _)) => Some(inner.as_ref()),
            _ => error.source(),
        };
    }
    None
}

/// What is wrong with the name of a column.
fn of_columns(error: SchemaError) -> Error {
    let shown = |column: &Column| match &column.relation {
        Some(table) => format!("{}.{}", plain(table.table()), column.name),
        None => column.name.clone(),
    };
    match error {
        SchemaError::FieldNotFound { field, valid_fields } => {
            let place = field.spans().first();
            let error = Error::invalid(format!("SQL: there is no column {}", shown(&field)));
            let error = match place {
                Some(span) => at(error, Location { line: span.start.line, column: span.start.column }),
                None => error,
            };
            let names: Vec<String> = valid_fields.iter().map(|column| column.name.clone()).collect();
            let full: Vec<String> = valid_fields.iter().map(shown).collect();
            let near = did_you_mean(&field.name, names.iter().map(String::as_str));
            // The table may be the slip.
            let near = near.or_else(|| {
                let found = full.iter().zip(&names).find(|(_, name)| **name == field.name);
                found.map(|(full, _)| format!("did you mean {full}?"))
            });
            match near {
                Some(hint) => error.with_hint(hint),
                None if names.is_empty() => error,
                None => error.with_hint(format!("columns are {}", listed(&names))),
            }
        }
        SchemaError::AmbiguousReference { field } => {
            let error = Error::invalid(format!("SQL: the column {} is ambiguous", field.name));
            error.with_hint(format!("say which: table.{}", field.name))
        }
        SchemaError::DuplicateQualifiedField { qualifier, name } => {
            Error::invalid(format!("SQL: two columns are called {}.{name}", plain(qualifier.table())))
                .with_hint("give one of them, or its table, another name: AS name")
        }
        SchemaError::DuplicateUnqualifiedField { name } => {
            Error::invalid(format!("SQL: two columns are called {name}"))
                .with_hint("give one of them another name: AS name")
        }
    }
}

/// A table's name without the marks that it has here.
fn plain(name: &str) -> &str {
    name.split(['\u{1}', '\u{2}']).next().unwrap_or(name)
}

fn listed(names: &[String]) -> String {
    const MOST: usize = 20;
    let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
    names.dedup();
    let more = names.len().saturating_sub(MOST);
    names.truncate(MOST);
    if more > 0 { format!("{} and {more} more", names.join(", ")) } else { names.join(", ") }
}

/// DataFusion's error that carries one of ours.
pub(crate) fn theirs(error: Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

/// Whether values of a query are at fault, not the machinery.
fn is_users(error: &ArrowError) -> bool {
    if let ArrowError::InvalidArgumentError(text) = error {
        return text.contains("to store in a Decimal");
    }
    matches!(
        error,
        ArrowError::CastError(_)
            | ArrowError::ParseError(_)
            | ArrowError::ComputeError(_)
            | ArrowError::DivideByZero
            | ArrowError::ArithmeticOverflow(_)
    )
}

fn kind(error: &DataFusionError) -> ErrorKind {
    match error.find_root() {
        DataFusionError::ArrowError(inner, _) if is_users(inner) => ErrorKind::Invalid,
        DataFusionError::SQL(..)
        | DataFusionError::Plan(_)
        | DataFusionError::SchemaError(..)
        | DataFusionError::Configuration(_)
        | DataFusionError::Execution(_) => ErrorKind::Invalid,
        DataFusionError::NotImplemented(_) => ErrorKind::Unsupported,
        DataFusionError::ResourcesExhausted(_) | DataFusionError::IoError(_) => ErrorKind::Unavailable,
        _ => ErrorKind::Internal,
    }
}
