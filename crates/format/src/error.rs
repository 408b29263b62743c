//! One error type for every layer; its kind says what the caller can do about it.

use std::error::Error as StdError;
use std::fmt;

/// Result with Linn's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What the caller should do about an [`Error`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A named thing (table, snapshot, file, column) does not exist.
    NotFound,
    /// A thing that should be created exists already.
    AlreadyExists,
    /// The request or the input is wrong; repeating it cannot help.
    Invalid,
    /// The request is valid, but Linn does not do this (yet); the message names the feature.
    Unsupported,
    /// Someone else changed the table in a way that rules this change out; plan again.
    Conflict,
    /// The store or a service could not be reached or is overloaded; retrying later may help.
    Unavailable,
    /// The effect may or may not have happened; read back before repeating, and delete nothing.
    UnknownOutcome,
    /// Bytes that were read contradict the format.
    Corrupt,
    /// A fault of Linn's own.
    Internal,
}

impl ErrorKind {
    /// The kind in words, as the command line prints it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotFound => "not found",
            Self::AlreadyExists => "already exists",
            Self::Invalid => "invalid",
            Self::Unsupported => "unsupported",
            Self::Conflict => "conflict",
            Self::Unavailable => "unavailable",
            Self::UnknownOutcome => "unknown outcome",
            Self::Corrupt => "corrupt",
            Self::Internal => "internal",
        }
    }
}

/// An error with a kind, a message (lower case, no full stop), context pairs such as `table` or `path`,
/// an optional hint that tells the user what to do, and an optional source.
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    message: String,
    context: Vec<(&'static str, String)>,
    hint: Option<String>,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

impl Error {
    /// An error of `kind` that says `message`.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner { kind, message: message.into(), context: Vec::new(), hint: None, source: None }))
    }

    /// [`ErrorKind::NotFound`] with a message.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::NotFound, message)
    }

    /// [`ErrorKind::AlreadyExists`] with a message.
    pub fn already_exists(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::AlreadyExists, message)
    }

    /// [`ErrorKind::Invalid`] with a message.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Invalid, message)
    }

    /// [`ErrorKind::Unsupported`] with a message that names the feature.
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unsupported, message)
    }

    /// [`ErrorKind::Conflict`] with a message.
    pub fn conflict(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Conflict, message)
    }

    /// [`ErrorKind::Unavailable`] with a message.
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unavailable, message)
    }

    /// [`ErrorKind::UnknownOutcome`] with a message.
    pub fn unknown_outcome(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::UnknownOutcome, message)
    }

    /// [`ErrorKind::Corrupt`] with a message; add the path with [`Error::with`].
    pub fn corrupt(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Corrupt, message)
    }

    /// [`ErrorKind::Internal`] with a message.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Internal, message)
    }

    /// Adds where it happened, for example `.with("path", path)`. What is said already is not said twice: a path that is the
    /// end of the path there is the same one.
    #[must_use]
    pub fn with(mut self, key: &'static str, value: impl fmt::Display) -> Self {
        let value = value.to_string();
        let said = |(other, said): &(&str, String)| {
            *other == key && (*said == value || (key == "path" && said.ends_with(&format!("/{value}"))))
        };
        if !self.0.context.iter().any(said) {
            self.0.context.push((key, value));
        }
        self
    }

    /// Adds what the user can do about it.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// Adds the error that caused this one.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// What the caller should do.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The message without context.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Where it happened, outermost last.
    pub fn context(&self) -> &[(&'static str, String)] {
        &self.0.context
    }

    /// What the user can do about it.
    pub fn hint(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.kind.as_str(), self.0.message)?;
        if !self.0.context.is_empty() {
            f.write_str(" (")?;
            for (i, (key, value)) in self.0.context.iter().enumerate() {
                write!(f, "{}{key}: {value}", if i == 0 { "" } else { ", " })?;
            }
            f.write_str(")")?;
        }
        if let Some(source) = &self.0.source {
            write!(f, ": {source}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)?;
        if let Some(hint) = &self.0.hint {
            write!(f, "; hint: {hint}")?;
        }
        Ok(())
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_ref().map(|s| &**s as &(dyn StdError + 'static))
    }
}

/// Context for results, so that a path or a column is named where it is known.
pub trait ResultExt<T> {
    /// Adds a context pair to the error, if it is one.
    fn context(self, key: &'static str, value: impl fmt::Display) -> Result<T>;
}

impl<T> ResultExt<T> for Result<T> {
    fn context(self, key: &'static str, value: impl fmt::Display) -> Result<T> {
        self.map_err(|e| e.with(key, value))
    }
}

impl From<arrow_schema::ArrowError> for Error {
    fn from(e: arrow_schema::ArrowError) -> Self {
        match e {
            arrow_schema::ArrowError::ExternalError(inner) => match inner.downcast::<Self>() {
                Ok(ours) => *ours,
                Err(other) => Self::internal("arrow computation failed").with_source(other),
            },
            other => Self::internal("arrow computation failed").with_source(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_said_once() {
        let e =
            Error::corrupt("x").with("path", "file:/w/db/t/f").with("path", "db/t/f").with("path", "t/g").with("at", 1);
        let said = [("path", "file:/w/db/t/f"), ("path", "t/g"), ("at", "1")];
        assert_eq!(e.context(), said.map(|(key, value)| (key, value.to_owned())));
    }
}
