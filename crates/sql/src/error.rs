//! Errors of DataFusion as Linn's, and the reverse, with what was wrong kept whole.

use datafusion::arrow::error::ArrowError;
use datafusion::error::DataFusionError;
use linn::{Error, ErrorKind};

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
        DataFusionError::ArrowError(inner, _) if is_users(&inner) => Error::invalid(format!("SQL: {inner}")),
        DataFusionError::ArrowError(inner, _) => (*inner).into(),
        DataFusionError::Context(_, inner) | DataFusionError::Diagnostic(_, inner) => ours(*inner),
        DataFusionError::Shared(inner) => Error::new(kind(&inner), inner.strip_backtrace()),
        other => Error::new(kind(&other), format!("SQL: {}", plain(&other))),
    }
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

/// The message without the prefix that names DataFusion's kind, which ours says already.
fn plain(error: &DataFusionError) -> String {
    error.message().into_owned()
}
