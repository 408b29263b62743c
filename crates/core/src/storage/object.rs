//! Object stores through OpenDAL. Creation is one conditional put that nothing repeats behind the caller's back, because
//! only the caller can tell its own file from another's (spec: reliability.md H1, H4).

use std::ops::Range;

use async_trait::async_trait;
use bytes::Bytes;
use linn_format::{Error, Result, ResultExt};
use opendal::options::{DeleteOptions, ReadOptions, WriteOptions};
use opendal::{ErrorKind, Operator};

use super::path;
use crate::seam::{Entry, Storage, StorageWriter};

/// Bytes of one part of a streamed upload; S3 wants 5 MiB at least.
const PART_SIZE: usize = 8 << 20;

/// A prefix of a bucket.
#[derive(Debug, Clone)]
pub(super) struct Object {
    /// Repeats what may be repeated.
    patient: Operator,
    /// Repeats nothing.
    once: Operator,
    uri: String,
}

impl Object {
    /// A store whose idempotent calls go to `patient`, and its conditional writes to `once`.
    pub(super) fn new(patient: Operator, once: Operator, uri: String) -> Self {
        Self { patient, once, uri }
    }

    fn at(&self, path: &str) -> String {
        format!("{}/{path}", self.uri)
    }

    /// Stores answer a range beyond the end in many ways; the size of the file tells it from a store that fails.
    async fn read_failed(&self, path: &str, range: Option<Range<u64>>, e: opendal::Error) -> Error {
        if let (Some(range), false) = (range, e.kind() == ErrorKind::NotFound)
            && let Ok(meta) = self.patient.stat(path).await
            && meta.content_length() < range.end
        {
            return super::short(&range, meta.content_length()).with("path", self.at(path));
        }
        read_failed(e).with("path", self.at(path))
    }
}

#[async_trait]
impl Storage for Object {
    async fn stat(&self, path: &str) -> Result<Entry> {
        let path = path::normal(path)?;
        let meta = self.patient.stat(path).await.map_err(read_failed).context("path", self.at(path))?;
        Ok(entry(path, &meta))
    }

    async fn read(&self, path: &str, range: Option<Range<u64>>) -> Result<Bytes> {
        let path = path::normal(path)?;
        let wanted = range.as_ref().map(|range| range.end.saturating_sub(range.start));
        if wanted == Some(0) {
            return Ok(Bytes::new());
        }
        let options = ReadOptions { range: range.clone().map(Into::into).unwrap_or_default(), ..Default::default() };
        let buffer = match self.patient.read_options(path, options).await {
            Ok(buffer) => buffer,
            Err(e) => return Err(self.read_failed(path, range, e).await),
        };
        match (range, wanted) {
            (Some(range), Some(wanted)) if buffer.len() as u64 != wanted => {
                let size = range.start.saturating_add(buffer.len() as u64);
                Err(super::short(&range, size).with("path", self.at(path)))
            }
            _ => Ok(buffer.to_bytes()),
        }
    }

    async fn put(&self, path: &str, bytes: Bytes) -> Result<()> {
        let path = path::normal(path)?;
        self.patient.write(path, bytes).await.map(drop).map_err(write_failed).context("path", self.at(path))
    }

    async fn create(&self, path: &str, bytes: Bytes) -> Result<()> {
        let path = path::normal(path)?;
        if !self.once.info().capability().write_with_if_not_exists {
            return Err(no_conditional_put().with("path", self.at(path)));
        }
        let options = WriteOptions { if_not_exists: true, ..Default::default() };
        let result = self.once.write_options(path, bytes, options).await;
        result.map(drop).map_err(create_failed).context("path", self.at(path))
    }

    async fn writer(&self, path: &str) -> Result<Box<dyn StorageWriter>> {
        let path = path::normal(path)?;
        let options = WriteOptions { chunk: Some(PART_SIZE), concurrent: 2, ..Default::default() };
        let writer =
            self.patient.writer_options(path, options).await.map_err(write_failed).context("path", self.at(path))?;
        Ok(Box::new(ObjectWriter { writer, path: self.at(path) }))
    }

    async fn list(&self, dir: &str) -> Result<Vec<Entry>> {
        let dir = path::folder(dir)?;
        let prefix = if dir.is_empty() { "/".to_owned() } else { format!("{dir}/") };
        let found = match self.patient.list(&prefix).await {
            Ok(found) => found,
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(e) => return Err(read_failed(e).with("path", self.at(dir))),
        };
        let mut entries: Vec<Entry> = found
            .iter()
            .filter(|child| child.path() != prefix && !child.path().is_empty() && child.path() != "/")
            .map(|child| entry(child.path(), child.metadata()))
            .collect();
        entries.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(entries)
    }

    async fn delete(&self, path: &str) -> Result<()> {
        let path = path::normal(path)?;
        absent_is_fine(self.patient.delete(path).await).context("path", self.at(path))
    }

    async fn delete_dir(&self, dir: &str) -> Result<()> {
        let dir = path::normal(dir)?;
        let options = DeleteOptions { recursive: true, ..Default::default() };
        absent_is_fine(self.patient.delete_options(&format!("{dir}/"), options).await).context("path", self.at(dir))
    }

    async fn rename_dir(&self, from: &str, _to: &str) -> Result<()> {
        Err(Error::unsupported("moving a folder, which object stores cannot do in one step")
            .with("path", self.at(from)))
    }

    fn root(&self) -> &str {
        &self.uri
    }
}

struct ObjectWriter {
    writer: opendal::Writer,
    path: String,
}

#[async_trait]
impl StorageWriter for ObjectWriter {
    async fn write(&mut self, bytes: Bytes) -> Result<()> {
        self.writer.write(bytes).await.map_err(write_failed).context("path", &self.path)
    }

    async fn close(&mut self) -> Result<()> {
        self.writer.close().await.map(drop).map_err(write_failed).context("path", &self.path)
    }

    async fn abort(&mut self) -> Result<()> {
        self.writer.abort().await.map_err(write_failed).context("path", &self.path)
    }
}

fn entry(path: &str, meta: &opendal::Metadata) -> Entry {
    let modified = meta.last_modified().map(|time| time.into_inner().as_millisecond());
    Entry {
        path: path.to_owned(),
        size: if meta.is_dir() { 0 } else { meta.content_length() },
        modified_millis: modified,
    }
}

fn absent_is_fine(result: opendal::Result<()>) -> Result<()> {
    match result {
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(()),
        other => other.map_err(write_failed),
    }
}

/// What a failure means whatever was asked; `None` where that depends on whether something was being changed.
fn definite(e: &opendal::Error) -> Option<Error> {
    let error = match e.kind() {
        ErrorKind::NotFound => Error::not_found("no such file"),
        ErrorKind::PermissionDenied => {
            Error::invalid("the store does not permit this").with_hint("check the credentials and the bucket's policy")
        }
        ErrorKind::ConfigInvalid => Error::invalid("the store refused the configuration")
            .with_hint("check the bucket, the endpoint and the region"),
        ErrorKind::RangeNotSatisfied => Error::corrupt("the file is shorter than the requested range"),
        ErrorKind::IsADirectory | ErrorKind::NotADirectory => Error::invalid("a folder is not a file"),
        ErrorKind::Unsupported => Error::unsupported("this store cannot do this"),
        ErrorKind::RateLimited => Error::unavailable("the store asks for fewer requests"),
        _ => return None,
    };
    Some(error)
}

fn read_failed(e: opendal::Error) -> Error {
    definite(&e).unwrap_or_else(|| Error::unavailable("the store could not be read")).with_source(e)
}

fn write_failed(e: opendal::Error) -> Error {
    definite(&e)
        .unwrap_or_else(|| Error::unknown_outcome("the store did not tell whether the file exists"))
        .with_source(e)
}

fn create_failed(e: opendal::Error) -> Error {
    match e.kind() {
        // 412: the file is there.
        ErrorKind::ConditionNotMatch | ErrorKind::AlreadyExists => {
            Error::already_exists("a file of this name exists already").with_source(e)
        }
        // 409: another conditional put is under way, and perhaps neither wins; nothing of ours was written.
        ErrorKind::Conflict => Error::unavailable("another write of this file is in progress").with_source(e),
        ErrorKind::Unexpected if !e.is_temporary() && e.to_string().contains("NotImplemented") => {
            no_conditional_put().with_source(e)
        }
        _ => write_failed(e),
    }
}

fn no_conditional_put() -> Error {
    Error::unsupported(
        "this store has no conditional writes (If-None-Match), so two commits could overwrite each other",
    )
    .with_hint("use a store that has them, or a catalog that commits itself")
}

#[cfg(test)]
mod tests {
    use linn_format::ErrorKind as Kind;

    use super::*;

    fn check(kind: ErrorKind, temporary: bool, message: &str, expected: Kind) {
        let error = opendal::Error::new(kind, message.to_owned()).with_temporary(temporary);
        assert_eq!(create_failed(error).kind(), expected, "{kind:?} {message}");
    }

    #[test]
    fn regress_a_conflict_in_flight_is_not_a_lost_race() {
        check(ErrorKind::ConditionNotMatch, false, "412", Kind::AlreadyExists);
        check(ErrorKind::Conflict, true, "409", Kind::Unavailable);
        check(ErrorKind::RateLimited, true, "SlowDown", Kind::Unavailable);
        check(ErrorKind::Unexpected, true, "operation timeout reached", Kind::UnknownOutcome);
        check(ErrorKind::Unexpected, false, "code: NotImplemented", Kind::Unsupported);
        check(ErrorKind::PermissionDenied, false, "403", Kind::Invalid);
    }
}
